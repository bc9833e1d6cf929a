# SPDX-License-Identifier: Apache-2.0
"""What a new, replaced or removed report changes in what is derived from reports.

`rows.py` has the questions that a store answers and the changes that it writes; `order.py` decides
the order of commits on a branch, `episodes.py` which failures are one group, `days.py` what is
summed for each day, and `settlement.py` what a write touches. A store finds and writes rows; it
decides nothing. `full_history.FullHistory` is the definition of all of it.
"""
