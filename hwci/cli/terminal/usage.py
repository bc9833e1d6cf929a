# SPDX-License-Identifier: Apache-2.0
"""How a wrong call of the command line is told: in the three lines of every error. What was wrong
comes from the library, which has words of its own for it.
"""

from typing import Any

import typer

from hwci.client.explained import ErrorMessage, ExitCode
from hwci.wire.nearest import hint


def message_of(fault: typer.TyperException) -> ErrorMessage:
    """Return what was wrong, why, and what to do next."""
    context: Any = getattr(fault, "ctx", None)
    command = context.command_path if context else "hwci"
    what, cause = _told(fault, context, command)
    return ErrorMessage(what, cause, f"See how it is called: {command} --help", ExitCode.USAGE)


def no_command(group: str, name: str, known: list[str]) -> ErrorMessage:
    """Return the error of a word that names no command of a group."""
    return ErrorMessage(
        f"{group} has no command {name!r}",
        hint(name, known) or "it is none of its commands",
        f"See its commands: {group} --help",
        ExitCode.USAGE,
    )


def _told(fault: Any, context: Any, command: str) -> tuple[str, str]:  # noqa: ANN401 - of the library
    if hasattr(fault, "possibilities"):
        params = context.command.get_params(context)
        flags = sorted(flag for param in params for flag in param.opts)
        near = hint(fault.option_name, flags)
        return f"{command} has no flag {fault.option_name}", near or "it is none of its flags"
    if hasattr(fault, "option_name"):
        return f"{fault.option_name} is not understood", _begun(fault.message)
    param: Any = getattr(fault, "param", None)
    if param is None:
        return f"{command} is called wrongly", _begun(fault.format_message())
    option = param.param_type_name == "option"
    name = param.opts[0] if option else param.metavar or param.name.upper()
    if hasattr(fault, "param_type"):
        return f"{command} needs {name}", "it was left out"
    variable = f" (or {param.envvar})" if getattr(param, "envvar", None) else ""
    return f"{name}{variable} is not understood", _begun(fault.message)


def _begun(text: str) -> str:
    """Return a sentence as it stands behind a colon."""
    return f"{text[:1].lower()}{text[1:].rstrip('.')}"
