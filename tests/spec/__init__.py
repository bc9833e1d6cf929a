# SPDX-License-Identifier: Apache-2.0
"""The specification, row by row: each row of its tables and lists is quoted and shown over HTTP."""
