# SPDX-License-Identifier: Apache-2.0
"""A command whose help shows its flags in groups: those of a `rich_help_panel` under its name. The
library draws them only with frames, which a pasted example does not survive. What a value is stands
there in words, not as a type of Python.
"""

import inspect
import re
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from hwci.cli.terminal import lines

_WHOLE = 10_000  # letters
_NAMES = 30  # columns
_TYPES = {"str": "TEXT", "int": "NUMBER", "int range": "NUMBER", "path": "FILE", "UUID": "ID"}
"""A word for each type of Python; a choice is shown as its words."""
_FAULTS = (
    (r"^Value error, ", ""),
    (r"^Input should be a valid integer\b.*", "it should be a whole number"),
    (r"^Input should be a valid number\b.*", "it should be a number"),
    (r"^Input should be a valid UUID\b.*", "it should be a whole id, as the list shows it"),
    (r"^Input should be greater than or equal to ", "it should be at least "),
    (r"^Input should be less than or equal to ", "it should be at most "),
)
"""The library names a fault of a value in the words of pydantic."""


def in_words(room: typer.Typer) -> None:
    """Show the help of every command of a room in groups and words."""
    for command in room.registered_commands:
        command.cls = Grouped
    for group in room.registered_groups:
        group.cls = Group
        if group.typer_instance is not None:
            in_words(group.typer_instance)


class Group(TyperGroup):
    """A group of commands as people read it."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - typer's own signature
        """Write what the group is for."""
        _write_paragraphs(self.help or "", formatter)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - typer's own signature
        """Return the command that a word names; of one that names none, tell the nearest."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            from hwci.cli.terminal.usage import no_command
            from hwci.client.explained import ExplainedError

            raise ExplainedError(no_command(ctx, args))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's own signature
        """Write each command with the whole of its sentence: the library cuts it to a line."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [
            (name, command.get_short_help_str(limit=_WHOLE))
            for name, command in commands
            if command is not None and not command.hidden
        ]
        with formatter.section("Commands"):
            _write_list(rows, formatter)


class Grouped(TyperCommand):
    """A command as people read it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer's own signature
        """Parse the command line; what a value has to be is stated in words."""
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as fault:
            fault.ctx = ctx  # type: ignore[attr-defined]  # the library forgets it here and there
            for pattern, words in _FAULTS:
                fault.message = re.sub(pattern, words, fault.message)
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401 - typer's own signature
        """Return the words of the usage line: one in brackets may be left out, others may not."""
        return [re.sub(r"[{}]", "", piece) for piece in super().collect_usage_pieces(ctx)]

    def format_help_text(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - typer's own signature
        """Write what the command does, and examples that can be pasted."""
        _write_paragraphs(self.help or "", formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's own signature
        """Write the arguments, then each group of flags; those without one come last."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        others: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            if (record := param.get_help_record(ctx)) is None:
                continue
            if param.param_type_name == "argument":
                groups["Arguments"].append(_argument(*record))
            elif (panel := getattr(param, "rich_help_panel", None)) is not None:
                groups.setdefault(panel, []).append(_option(*record))
            else:
                others.append(_option(*record))
        for name, records in {**groups, "Options": others}.items():
            if records:
                with formatter.section(name):
                    _write_list(records, formatter)


def _write_paragraphs(text: str, formatter: Any) -> None:  # noqa: ANN401 - of the library
    """Write a docstring: what is indented there is a command, which may be broken by hand."""
    room = formatter.width - formatter.indent_increment
    for paragraph in inspect.cleandoc(text).replace("\b\n", "").split("\n\n"):
        words = " ".join(paragraph.replace("\\\n", " ").split())
        is_command = paragraph.startswith(" ")
        broken = (
            [f"  {line}" for line in lines.command(words, room - 2)]
            if is_command
            else lines.broken(words, room, further="")
        )
        formatter.write_paragraph()
        for line in broken:
            formatter.write(f"  {line}\n")


def _write_list(rows: Sequence[tuple[str, str]], formatter: Any) -> None:  # noqa: ANN401 - of the library
    """Write names with what they are beside them; in a narrow terminal below them. The library
    would break words at their hyphens, and no name.
    """
    longest = max(lines.columns_of(name) for name, _ in rows)
    beside = min(longest, _NAMES, formatter.width - _NAMES)
    between = " " * formatter.indent_increment
    for name, words in rows:
        texts = lines.broken(words, formatter.width - beside - 2 * len(between), "")
        if lines.columns_of(name) <= beside:
            names = [f"{lines.padded(name, beside)}{between}{texts.pop(0)}"]
        else:
            names = lines.broken(name, formatter.width - len(between))
        below = (f"{' ' * beside}{between}{text}" for text in texts)
        for line in (*names, *below):
            formatter.write(f"{between}{line}\n")


def _argument(name: str, words: str) -> tuple[str, str]:
    """Return the name without its type: an argument is named for what it is."""
    return re.sub(r" <.*>$", "", name), _range_in_words(words)


def _option(name: str, words: str) -> tuple[str, str]:
    shown = re.sub(r"<(.+)>$", lambda match: _TYPES.get(match[1], match[1]), name)
    return shown, _range_in_words(words)


def _range_in_words(words: str) -> str:
    between = re.sub(r"(-?\d+)<=x<=(\d+)", r"\1 to \2", words)
    return re.sub(r"x>=(\d+)", r"at least \1", between)
