# SPDX-License-Identifier: Apache-2.0
"""The rules. To see why a failure has its class, read in this order: `reports.py` (which commit is
later, what a report carries), `labels.py` (label and group), `changes.py` (the changes under test),
`walk.py` (from the failure to its fix), `classify.py` (the reason table). The words are in
`hwci/contract/vocabulary.py`.

Beside these: `reviews.py`, `merges.py` (merges checked on hardware) and `flakiness.py`.
"""
