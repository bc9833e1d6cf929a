# SPDX-License-Identifier: Apache-2.0
"""Answers to the engine's questions (`hwci/engine/history.py`), one file for each kind.

Of a period: `periods.py` has merges, run reports and tests, `failures.py` failures and lanes,
`decisions.py` episodes, `boxes.py` tests by box, `passes.py` last passes. `changes.py` has commits,
configurations and reviews, `known_failures.py` the rules of people, `shown.py` what tables show,
`outcomes.py` the questions of the analysis. `questions.py` joins them.
"""
