# SPDX-License-Identifier: Apache-2.0
"""The hint of an error that names something unknown: the nearest of the names that are known. What
they are names of, only the caller knows.
"""

from collections.abc import Iterable
from difflib import get_close_matches

_LISTED = 15
_COMPARED = 2_000
_LONGEST = 200  # characters


def hint(name: str, known: Iterable[str]) -> str:
    """Return the nearest known names as a question, else the names if they are few, else ""."""
    names = {_compared(word): word for word in list(known)[:_COMPARED]}
    near = get_close_matches(_compared(name[:_LONGEST]), names, n=2)
    if near:
        return f"did you mean {' or '.join(names[word] for word in near)}?"
    return f"known: {', '.join(names.values())}" if 0 < len(names) <= _LISTED else ""


def _compared(name: str) -> str:
    """Return what of a name is compared: the dashes that all flags begin with make none nearer."""
    return name.lower().lstrip("-")
