# SPDX-License-Identifier: Apache-2.0
"""What the examples are made of: the stages of a Jenkinsfile, and command lines."""

import re
from typing import Any

import typer.main

from hwci.cli.main import app


def stages(text: str) -> dict[str, str]:
    """Return the stages of a Jenkinsfile, or of a stage of it, by name; not those inside them."""
    found: dict[str, str] = {}
    ends = 0
    for begin in re.finditer(r"stage\('(\w+)'\) (?=\{)", text):
        if begin.start() >= ends:
            depth = 0
            for sign in re.finditer(r"[{}]", text[begin.end() :]):
                depth += 1 if sign[0] == "{" else -1
                if depth == 0:
                    ends = begin.end() + sign.end()
                    break
            found[begin[1]] = text[begin.end() : ends]
    return found


def accepted(arguments: list[str]) -> Any:
    """Parse arguments as `hwci` would, without running the command; raises on wrong usage."""
    command = typer.main.get_command(app)
    name, *rest = arguments
    return command.commands[name].make_context(name, rest)  # type: ignore[attr-defined]  # a group
