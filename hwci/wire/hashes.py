# SPDX-License-Identifier: Apache-2.0
"""What a commit's hash is in a report, whole or short (spec, "Run report"), and how much of it is
shown to people. Which commit it names is not known here.
"""

import re

from hwci.wire import limits

HASH = re.compile(rf"[0-9a-fA-F]{{{limits.SHA_MIN},{limits.SHA_MAX}}}")

SHOWN = 12
"""Digits of a commit that people read."""


def is_hash(text: str) -> bool:
    """Tell whether a report may hold a text as a commit."""
    return HASH.fullmatch(text) is not None


def names_a_commit(text: str) -> bool:
    """Tell whether a text is a hash of some commit: git and the CI systems write zeros for none."""
    return is_hash(text) and text.strip("0") != ""


def short(sha: str) -> str:
    """Abbreviate a commit for reading; what a program reads carries it whole."""
    return sha[:SHOWN]
