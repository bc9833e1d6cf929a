# SPDX-License-Identifier: Apache-2.0
"""Commands that messages name, made to work when pasted: they repeat the flags of this command
that say where, such as `--url` and `--database`. Which flags these are is decided where they stand:
`callback=kept`.
"""

import re
import shlex
from typing import Any

import typer

_NAMED = re.compile(r"\bhwci((?: [a-z]+(?:-[a-z]+)*)+)(?=([^`;,()]*))")
"""The words behind `hwci`, of which the first name a command; and what else may belong to it."""
_given: dict[str, str] = {}
"""The flags that were given to the command that runs, by name."""
_root: list[typer.Context] = []


def begin(root: typer.Context) -> None:
    """Forget the flags of the command before: a process may run several."""
    _root[:] = [root]
    _given.clear()


def kept(param: typer.CallbackParam, value: str | None) -> str | None:
    """Keep a flag that was given, to repeat it."""
    if value and param.name:
        _given[param.name] = value
    return value


def forget(name: str) -> None:
    """Repeat a flag no more: what it says holds without it from now on."""
    _given.pop(name, None)


def in_full(line: str) -> str:
    """Return a line whose commands repeat the flags that were given, where they take them."""
    return _NAMED.sub(_repeating, line) if _given else line


def _repeating(named: re.Match[str]) -> str:
    words = named[1].split()
    command: Any = _root[0].command
    length = 0
    while hasattr(command, "get_command") and length < len(words):
        command = command.get_command(_root[0], words[length])
        command = getattr(command, "itself", command)
        length += 1
    flags = {param.name: param.opts[0] for param in command.params} if command else {}
    again = [
        f"{flag} {shlex.quote(_given[name])}"
        for name, flag in flags.items()
        if name in _given and flag not in named[2]
    ]
    return " ".join(("hwci", *words[:length], *again, *words[length:]))
