# SPDX-License-Identifier: Apache-2.0
"""Writes the words that the dashboard shares with the terminal as a module of JavaScript, so that
none is written twice: what its scripts import of it, from the module of `hwci/contract` that has
it. `docs/generate.py` calls it.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from hwci.contract.shape import camel

PACKAGE = Path(__file__).parents[1] / "hwci"
SHAPES = PACKAGE / "contract"
SCRIPTS = PACKAGE / "server/web/static/js"
WORDS = SCRIPTS / "words.js"
HEAD = """\
// SPDX-License-Identifier: Apache-2.0
// Words that the terminal shows too. `python -m docs.generate` writes this file from
// hwci/contract: each constant that a script imports of it.
"""


def script() -> str:
    """Return `words.js`: each constant that the scripts import of it, under its name."""
    modules = map(_module, sorted(SHAPES.rglob("[a-z]*.py")))
    constants = {name: value for module in modules for name, value in vars(module).items()}
    words = {name: _plain(constants[name]) for name in sorted({*_imported()})}
    lines = (
        f"export const {name} = {json.dumps(value, indent=2, ensure_ascii=False)};"
        for name, value in words.items()
    )
    return "\n".join([HEAD, *lines, ""])


def _module(path: Path) -> object:
    return resolve_name(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts))


def _imported() -> Iterator[str]:
    for path in SCRIPTS.rglob("*.js"):
        for names, module in re.findall(r'import \{([^}]*)\} from "(.*)"', path.read_text()):
            if (path.parent / module).resolve() == WORDS:
                yield from re.findall(r"\w+", names)


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever words are kept in
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "_asdict"):
        return {camel(name): _plain(item) for name, item in value._asdict().items()}
    return [*map(_plain, value)] if isinstance(value, tuple) else value


FILES: dict[Path, Callable[[], str]] = {WORDS: script}
