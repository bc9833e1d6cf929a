# SPDX-License-Identifier: Apache-2.0
"""What people see. `reading.py` counts and decides a period, `tables.py` cuts its tables into
pages, `failures.py` describes one failure with its evidence, `over_time.py` draws the trend and
flaky tests, `plan.py` compares two configurations.
"""
