# SPDX-License-Identifier: Apache-2.0
"""Writes the words that the dashboard shares with the terminal (`hwci/contract/words.py`) as a
module of JavaScript, so that none is written twice. `docs/generate.py` calls it.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hwci.contract import words
from hwci.contract.shape import camel

WORDS = Path(__file__).parents[1] / "hwci/server/web/static/js/words.js"
HEAD = """\
// SPDX-License-Identifier: Apache-2.0
// Words that the terminal shows too. `python -m docs.generate` writes this file from
// hwci/contract/words.py.
"""


def script() -> str:
    """Return `words.js`: each constant of the words, under its name."""
    constants = {name: value for name, value in vars(words).items() if name.isupper()}
    del constants["REASONS"]
    lines = (
        f"export const {name} = {json.dumps(_plain(value), indent=2, ensure_ascii=False)};"
        for name, value in constants.items()
    )
    return "\n".join([HEAD, *lines, ""])


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever words are kept in
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "_asdict"):
        return {camel(name): _plain(item) for name, item in value._asdict().items()}
    return [*map(_plain, value)] if isinstance(value, tuple) else value


FILES: dict[Path, Callable[[], str]] = {WORDS: script}
