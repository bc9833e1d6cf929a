# SPDX-License-Identifier: Apache-2.0
"""The statements of both databases, each written once.

`accounts`, `reports`, `history` and `runs` hold them by subject; `records.py` is what services ask
of reports, `transaction.py` everything together, and `codec.py` how columns hold values.
"""
