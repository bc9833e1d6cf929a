# SPDX-License-Identifier: Apache-2.0
"""The rules: labels, classes, reviews, checked merges and flakiness.

To see why a failure has its class, read `labels.py`, `classify.py`, `questions.py`, `files.py` and
`walk.py`, in this order.
"""
