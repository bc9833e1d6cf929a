# SPDX-License-Identifier: Apache-2.0
"""What people see. `overview.py` makes the metrics page, `reading.py` reads and decides whole
tables, `tables.py` cuts them into pages, `failures.py` describes one failure with its evidence,
`over_time.py` draws the trend and flaky tests, `plan.py` compares two configurations.
"""
