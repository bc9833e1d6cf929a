# SPDX-License-Identifier: Apache-2.0
"""The only place that writes to the terminal: data to stdout, all else to stderr.

What comes from outside (test ids, branches, commit subjects) is data: its control characters are
shown escaped, its markup is inert, no line of it is a command to a CI system, and no cell a formula
to a spreadsheet (contract, "Command line"). Which columns a table has is decided in `tables.py`.
"""

import json
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeVar

from hwci.cli.terminal import lines
from hwci.cli.terminal.again import in_full
from hwci.said import counted
from hwci.wire import limits

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from hwci.cli.terminal.tables import Layout
    from hwci.contract.shape import ListPage

Row = TypeVar("Row")
Links = Callable[[object], Mapping[str, str]]

WITHOUT_TERMINAL = 100_000  # letters in a line: what reads a pipe breaks lines itself
USUAL_HEIGHT = 25
DELETE = 0x7F  # the one control character that JSON leaves as it is
# Controls, invisible formatting (bidirectional overrides among them), surrogates, line separators.
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# What the agents of Azure, GitHub and TeamCity obey wherever it stands in a line of a job's output.
_OBEYED = re.compile(r"##(?=vso\[|teamcity\[|\[)", re.IGNORECASE)
# What GitHub obeys where a line begins with it, blanks aside; within a line it is part of many ids.
_OBEYED_FIRST = re.compile(r"^(\s*):(?=:)")
# Where a spreadsheet begins a cell (where `;` parts them, in the middle of ours, too), and what it
# takes for a formula there: the signs, and their wide and small forms.
_FORMULA = re.compile(
    r"""(^|;)(?=[\s"']*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b])"""
)


class Format(StrEnum):
    """How data is written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MD = "md"


def safe(text: object) -> str:
    r"""Show what a terminal would obey or hide: `\x1b` for an escape, `\n` for a line break; what a
    CI agent would obey is broken up.
    """
    shown = _OBEYED.sub("# #", str(text))
    return _visible(shown)


def _visible(text: str) -> str:
    if text.isprintable():  # then no letter is hidden, and most texts are looked at once
        return text
    return "".join(
        letter.encode("unicode_escape", "surrogatepass").decode("ascii")
        if unicodedata.category(letter) in _HIDDEN
        else letter
        for letter in text
    )


def write(line: str = "") -> None:
    """Write a line of data."""
    _put(sys.stdout, safe(line))


def write_prose(line: str) -> None:
    """Write a line of data that is a sentence, in a terminal in as many lines as it takes."""
    for part in _in_lines(line):
        _put(sys.stdout, part)


def note(line: str) -> None:
    """Write a line that is not data, in a terminal in as many as it takes. Where it cannot be
    written, because its reader is gone or the disk of the log is full, the work goes on: the report
    matters more.
    """
    text = safe(in_full(line))
    room = lines.width(sys.stderr) if sys.stderr.isatty() else None
    try:
        for part in [text] if room is None else lines.broken(text, room):
            _put(sys.stderr, part)
    except OSError:
        sys.stderr = nowhere()


def command_line(line: str) -> None:
    """Write a line that the CI system obeys: one of `hwci.ci.reporting.summary`, made for that."""
    try:
        sys.stdout.write(_visible(line) + "\n")
        sys.stdout.flush()
    except OSError:
        sys.stdout = nowhere()


def nowhere() -> TextIO:
    """Return a stream that drops what is written, in place of one that cannot be written."""
    return Path(os.devnull).open("w", encoding="utf-8")


def _put(stream: TextIO, line: str) -> None:
    """Write a line in which letters are shown as they are to be: all but CI commands go here."""
    stream.write(_OBEYED_FIRST.sub(r"\1: ", line) + "\n")
    stream.flush()


@contextmanager
def progress(shown: Callable[[], str]) -> Iterator[None]:
    """Show the progress of something long, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    screen = Console(stderr=True)
    with Live(get_renderable=lambda: Text(safe(shown())), console=screen, transient=True):
        yield


def emit_json(answer: object) -> None:
    """Write an answer, or several, as the API writes them; what a terminal would obey stays
    escaped.
    """
    from hwci.wire.codec import plain

    write_json(json.dumps(plain(answer), indent=2, ensure_ascii=False))


def write_json(text: str) -> None:
    """Write JSON: only its strings can hold hidden letters, and each of these can be escaped."""
    shown = _OBEYED.sub(r"#\\u0023", text).split("\n")
    lines_shown = (
        line if line.isprintable() else "".join(map(_json_escape, line)) for line in shown
    )
    # At once, as there may be a million lines: none of JSON begins with what a CI obeys.
    sys.stdout.write("\n".join(lines_shown) + "\n")
    sys.stdout.flush()


def _json_escape(letter: str) -> str:
    if unicodedata.category(letter) in _HIDDEN:
        return json.dumps(letter)[1:-1] if ord(letter) != DELETE else "\\u007f"
    return letter


def emit_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write rows for a spreadsheet, one line each."""
    for row in (header, *rows):
        _put(sys.stdout, ",".join(map(_csv_cell, row)))


def _csv_cell(cell: object) -> str:
    """Return a cell as a line has it. Text gets an apostrophe where a spreadsheet would begin
    a formula, and quotes where one would part it; a number stays as it is.
    """
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"  # as in JSON
    if isinstance(cell, float):
        if abs(cell) < 1:
            return f"{cell:.3g}"  # a small chance is not 0
        return f"{cell:.3f}".rstrip("0").rstrip(".")  # as people write it: 33.333, 12.5, 12
    if isinstance(cell, int):
        return str(cell)
    plain = _csv_text(cell)
    text = _FORMULA.sub(r"\1'", safe(plain))
    return '"{}"'.format(text.replace('"', '""')) if any(sign in text for sign in ',;"') else text


def _csv_text(cell: object) -> object:
    """Return a list of words as people write one, and what else has parts as JSON."""
    if isinstance(cell, list) and all(isinstance(part, str) for part in cell):
        return "; ".join(cell)  # a pattern of paths may have a comma
    return json.dumps(cell, ensure_ascii=False) if isinstance(cell, dict | list) else cell


def emit_md(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a Markdown table."""
    write(_md_row(header))
    write(_md_row(["---"] * len(header)))
    for row in rows:
        write(_md_row([md(cell) for cell in row]))


def md(text: str) -> str:
    """Make text inert in Markdown."""
    inert = safe(text).replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    for letter in "|`*_[]":
        inert = inert.replace(letter, f"\\{letter}")
    return inert


def _md_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def console() -> "Console":
    """Return a console on stdout; if that is not a terminal, it is plain and lines are not cut.

    The size is given: the library takes each terminal that has no colours for one of 80 columns.
    """
    from rich.console import Console

    return Console(
        width=lines.width(sys.stdout) or WITHOUT_TERMINAL,
        height=USUAL_HEIGHT,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=False,
    )


def piped() -> bool:
    """Return whether stdout is read by a program: no terminal, and no width is given."""
    return lines.width(sys.stdout) is None


def draw(*parts: "RenderableType | str", links: Mapping[str, str] | None = None) -> None:
    """Draw parts one below the other; a string is lines as they are to be. `links`: words that lead
    somewhere, with the addresses.
    """
    from hwci.cli.terminal.links import linked

    target = console()
    text = "".join(_drawn(target, part) for part in parts)
    text = linked(text, links) if links else text
    for line in text.removesuffix("\n").split("\n"):
        _put(sys.stdout, line)


def _drawn(target: "Console", part: "RenderableType | str") -> str:
    if isinstance(part, str):  # a console would write blanks for its tabs
        return part
    with target.capture() as drawn:
        target.print(part)
    return drawn.get()


def indented(texts: Iterable[str]) -> "Text":
    """Return lines that stay indented where they are broken, and an empty one below them."""
    from rich.text import Text

    whole = "".join(f"{line}\n" for text in texts for line in _in_lines(f"  {text}"))
    return Text(whole, no_wrap=True, overflow="ignore")


def paragraph(text: str, style: str) -> "Text":
    """Return a text in as many lines of the terminal as it takes."""
    from rich.text import Text

    return Text("\n".join(_in_lines(text)), style=style, no_wrap=True, overflow="ignore")


def _in_lines(text: str) -> list[str]:
    room = lines.width(sys.stdout)
    return [safe(text)] if room is None else lines.broken(safe(text), room)


def takes_links() -> bool:
    """Return whether stdout is a terminal that may show links."""
    return sys.stdout.isatty() and not console().is_dumb_terminal


def unicode_fits() -> bool:
    """Return whether stdout can show more than ASCII."""
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")


def grid(layout: "Layout[Row]", rows: Sequence[Row]) -> "Text | str":
    """Lay rows out for people; for a program, as lines with a tab between two cells."""
    if piped():
        return tabbed((layout.headers(), *map(layout.shown, rows)))
    from hwci.cli.terminal.grids import laid_out

    return laid_out(layout, rows, console().width, safe=safe, ascii_only=not unicode_fits())


def tabbed(lines: Iterable[Sequence[str]]) -> str:
    """Return rows for `cut` and `awk`: a line each, a tab between two cells."""
    return "".join("\t".join(map(safe, line)) + "\n" for line in lines)


def emit(
    layout: "Layout[Row]",
    rows: Sequence[Row],
    form: Format,
    links: Links | None = None,
) -> None:
    """Write the rows of one table in the form that was asked for. `links`: asked for those of the
    rows, as `draw` takes them.
    """
    if form is Format.JSON:
        emit_json(rows)
    elif form is Format.CSV:
        emit_csv(layout.keys, (layout.exact(row) for row in rows))
    elif form is Format.MD:
        emit_md(layout.headers(), (layout.shown(row) for row in rows))
    elif rows:
        draw(grid(layout, rows), links=links(rows) if links else None)
        for text in layout.notes(rows):
            note(text)
    else:
        note(layout.empty)


def emit_found(
    rows: "ListPage[Row] | list[Row]",
    layout: "Layout[Row]",
    form: Format,
    noun: str,
    links: Links,
) -> None:
    """Write the whole of a list, or a page of it and the way to the others. JSON is the page as the
    API gives it.
    """
    if isinstance(rows, list):
        emit(layout, rows, form, links)
        return
    if form is Format.JSON:
        emit_json(rows)
        return
    beyond = rows.total and not rows.items
    if not (beyond and form is Format.TABLE):
        emit(layout, rows.items, form, links)
    if hint := other_pages(noun, rows.total, len(rows.items), rows.page, rows.limit):
        note(hint)


def other_pages(noun: str, total: int, shown: int, page: int, limit: int) -> str:
    """Return the way to what this page does not show."""
    flag = "" if limit == limits.PAGE_LIMIT_DEFAULT else f" --limit {limit}"
    if not shown and total:
        last = -(-total // limit)
        ends = f"{counted(total, noun)} on {counted(last, 'page')}"
        return f"Page {page} is beyond the end: {ends}. The last one: --page {last}{flag}"
    rest = total - (page - 1) * limit - shown
    return f"… {rest} more: --page {page + 1}{flag}" if rest > 0 else ""
