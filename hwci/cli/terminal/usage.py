# SPDX-License-Identifier: Apache-2.0
"""How a wrong call of the command line is told: in the three lines of every error. What was wrong
comes from the library, which has words of its own for it.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import typer

from hwci.cli.terminal.lists import LISTS
from hwci.client.explained import ErrorMessage, ExitCode
from hwci.wire.nearest import hint

_NOT_ONE = re.compile(r"'(.*)' is not one of (.*)")
"""What the library says of a word that is not among those that a flag takes."""
_OF = [command.removesuffix(" list") for command in LISTS if command.endswith(" list")]

MEANT: Mapping[str, str] = {
    "hwci list": f"hwci NAME list, of {', '.join(_OF)}; or hwci products",
    "hwci flaky": "hwci metrics --table flakiest-tests",
    "hwci flakes": "hwci failures list --label flake",
    "hwci bugs": "hwci metrics --table real-bugs",
    "hwci announce": "hwci merge-announce",
    "--csv": "-o csv",
    "--md": "-o md",
    "--table": "-o table",
}
"""What is meant by words and flags that there are not. The other number of a name needs no row."""


def message_of(fault: typer.TyperException) -> ErrorMessage:
    """Return what was wrong, why, and what to do next."""
    context: Any = getattr(fault, "ctx", None)
    command = context.command_path if context else "hwci"
    what, cause = _told(fault, context, command)
    return ErrorMessage(what, cause, f"See how it is called: {command} --help", ExitCode.USAGE)


def no_command(context: Any, words: Sequence[str]) -> ErrorMessage:  # noqa: ANN401 - of the library
    """Return the error of words of which the first names no command of a group."""
    group, name = context.command_path, words[0]
    what = f"{group} has no command {name!r}"
    if meant := MEANT.get(f"{group} {name}"):
        return ErrorMessage(what, "it is called otherwise", f"Use {meant}", ExitCode.USAGE)
    if meant := _in_other_number(context, words):
        return ErrorMessage(what, f"did you mean {meant}?", f"Use {meant}", ExitCode.USAGE)
    known = context.command.list_commands(context)
    near = hint(name, known) or "it is none of its commands"
    return ErrorMessage(what, near, f"See its commands: {group} --help", ExitCode.USAGE)


def _in_other_number(context: Any, words: Sequence[str]) -> str | None:  # noqa: ANN401 - of the library
    """Return the command of a group that is called `boxes` where `box` was written, or `box` where
    `boxes` was.
    """
    outer = context.parent
    if outer is not None:
        own = context.info_name
        others = (name for name in outer.command.list_commands(outer) if name != own)
        twins = [name for name in others if _singular(name) == _singular(own)]
        has = [name for name in twins if words[0] in _commands(outer, name)]
        return f"{outer.command_path} {has[0]} {words[0]}" if has else None
    for name in context.command.list_commands(context):
        if _singular(name) == _singular(words[0]):
            rest = [word for word in words[1:2] if word in _commands(context, name)]
            return " ".join((context.command_path, name, *rest))
    return None


def _commands(context: Any, name: str) -> Collection[str]:  # noqa: ANN401 - of the library
    command = context.command.get_command(context, name)
    return getattr(getattr(command, "itself", command), "commands", ())


def _singular(word: str) -> str:
    return re.sub(r"(?<=x)es$|s$", "", word)


def _told(fault: Any, context: Any, command: str) -> tuple[str, str]:  # noqa: ANN401 - of the library
    if hasattr(fault, "possibilities"):
        options = [
            param
            for param in context.command.get_params(context)
            if param.param_type_name == "option"
        ]
        flags = sorted(flag for option in options for flag in option.opts)
        what = f"{command} has no flag {fault.option_name}"
        meant = MEANT.get(fault.option_name)
        if meant and meant.split()[0] in flags:
            return what, f"did you mean {meant}?"
        return what, hint(fault.option_name, flags) or "it is none of its flags"
    if hasattr(fault, "option_name"):
        return f"{fault.option_name} is not understood", _begun(fault.message)
    param: Any = getattr(fault, "param", None)
    if param is None:
        return f"{command} is called wrongly", _begun(fault.format_message())
    option = param.param_type_name == "option"
    name = param.opts[0] if option else param.metavar or param.name.upper()
    if hasattr(fault, "param_type"):
        return f"{command} needs {name}", "it was left out"
    if none := _NOT_ONE.match(fault.message):
        near = hint(none[1], re.findall(r"'([^']*)'", none[2]))
        if near.startswith("did"):
            return f"{name} is not understood", f"there is no {none[1]!r}; {near}"
    variable = f" (or {param.envvar})" if getattr(param, "envvar", None) else ""
    return f"{name}{variable} is not understood", _begun(fault.message)


def _begun(text: str) -> str:
    """Return a sentence as it stands behind a colon."""
    return f"{text[:1].lower()}{text[1:].rstrip('.')}"
