# SPDX-License-Identifier: Apache-2.0
"""Hashes of commits: which texts a report may hold as one (spec, "Run report")."""

import re

from hwci.wire import limits

HASH = re.compile(rf"[0-9a-fA-F]{{{limits.SHA_MIN},{limits.SHA_MAX}}}")


def is_hash(text: str) -> bool:
    """Whether a report may hold a text as a commit."""
    return HASH.fullmatch(text) is not None


def names_a_commit(text: str) -> bool:
    """Whether a text is the hash of a commit: git and the CI systems write zeros for none."""
    return is_hash(text) and text.strip("0") != ""
