# SPDX-License-Identifier: Apache-2.0
"""The rules: from facts that CI sent to everything that a person sees.

This room decides labels, groups, classes, figures and tables. It does no I/O, reads no clock and
knows no library: a store answers the questions of `history.History`, `page` puts the answers
together, and `full.FullHistory` is the definition that every store must equal.
"""
