# SPDX-License-Identifier: Apache-2.0
"""The driver for PostgreSQL: one database for any number of servers."""
