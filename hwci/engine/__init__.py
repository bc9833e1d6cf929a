# SPDX-License-Identifier: Apache-2.0
"""The engine: from the facts that CI sent to everything that people see.

It decides labels, groups, classes, figures and tables. It does no I/O, reads no clock and knows no
library. A store answers the questions of `history.History`, `rules` decide, `page` puts the answers
together, and `full_history.FullHistory` is the definition that every store must equal.
"""
