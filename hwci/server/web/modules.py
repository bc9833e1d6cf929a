# SPDX-License-Identifier: Apache-2.0
"""Which modules a page loads: those that its first ones import, those that these import, and so on.

A module that is loaded later, by a call of `import(…)`, is none of them.
"""

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence

_IMPORTED = re.compile(r'\bfrom ?"(\.[^"]+)"')


def loaded_with(first: Iterable[str], sources: Mapping[str, bytes]) -> Sequence[str]:
    """Give the names of all modules that are loaded with the first ones, each once: those of the
    first of them come first.
    """
    found: dict[str, None] = {}
    for name in first:
        found.update(dict.fromkeys(sorted(_closure(name, sources))))
    return list(found)


def _closure(first: str, sources: Mapping[str, bytes]) -> set[str]:
    found: set[str] = set()
    waiting = [first]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        folder = posixpath.dirname(name)
        imported = _IMPORTED.findall(sources[name].decode())
        waiting += (posixpath.normpath(posixpath.join(folder, one)) for one in imported)
    return found
