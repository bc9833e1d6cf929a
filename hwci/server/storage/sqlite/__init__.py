# SPDX-License-Identifier: Apache-2.0
"""The embedded driver: one SQLite file, one process, one writer (design: `schema.sql`)."""
