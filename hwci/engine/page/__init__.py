# SPDX-License-Identifier: Apache-2.0
"""What people see. `overview.py` makes the metrics page, `reading.py` reads and decides whole
tables, `tables.py` cuts them into pages. `failures.py` describes a failure as a row, `evidence.py`
with all that its class rests on, `merges.py` and `runs.py` a merge and a run. `over_time.py` makes
the trend and flaky tests over time, `plan.py` compares two configurations.
"""
