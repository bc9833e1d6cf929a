# SPDX-License-Identifier: Apache-2.0
"""Limits of what an answer decides and a query asks alike. No shape stands here: each command reads
the limits of the wire, and a shape takes a millisecond to make.
"""

AT_ONCE_MAX = 8
"""The most runs of a bisection that are chosen together."""
