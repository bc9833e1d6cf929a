# SPDX-License-Identifier: Apache-2.0
"""The only place that writes to the terminal: data to stdout, all else to stderr.

What comes from outside (test ids, branches, commit subjects) is data: its control characters are
shown escaped, its markup is inert, no line of it is a command to a CI system, and no cell a formula
to a spreadsheet (contract, "Command line"). Which columns a table has is decided in `tables.py`.
"""

import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO, TypeVar

from hwci.cli.terminal.again import in_full
from hwci.said import counted
from hwci.wire import limits

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console, JustifyMethod, RenderableType
    from rich.table import Table
    from rich.text import Text

    from hwci.cli.terminal.tables import Layout
    from hwci.wire.base import ListPage

Row = TypeVar("Row", bound="BaseModel")
Links = Callable[[Sequence["BaseModel"]], Mapping[str, str]]

WITHOUT_TERMINAL = 100_000  # letters in a line: what reads a pipe breaks lines itself
ID_DIGITS = 8
"""As many digits of an id a list shows at least; each command takes them."""
NAME_LETTERS = 24
"""As many letters of a name stand in one line before a column of less use is left out for it."""
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


def note(line: str) -> None:
    """Write a line that is not data. Where it cannot be written, because its reader is gone or
    the disk of the log is full, the work goes on: the report matters more.
    """
    try:
        _put(sys.stderr, safe(in_full(line)))
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


def emit_json(value: "BaseModel | Sequence[BaseModel]") -> None:
    """Write models as the API writes them; what a terminal would obey stays escaped."""
    plain = (
        [item.model_dump(mode="json", by_alias=True) for item in value]
        if isinstance(value, Sequence)
        else value.model_dump(mode="json", by_alias=True)
    )
    write_json(json.dumps(plain, indent=2, ensure_ascii=False))


def write_json(text: str) -> None:
    """Write JSON: only its strings can hold hidden letters, and each of these can be escaped."""
    for line in _OBEYED.sub(r"#\\u0023", text).split("\n"):
        write(line if line.isprintable() else "".join(map(_json_escape, line)))


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

    width, height = shutil.get_terminal_size()
    if piped():
        width = WITHOUT_TERMINAL
    return Console(
        width=width, height=height, highlight=False, markup=False, emoji=False, soft_wrap=False
    )


def piped() -> bool:
    """Return whether stdout is read by a program: no terminal, and no width is given."""
    return not (sys.stdout.isatty() or os.environ.get("COLUMNS"))


class Grid(NamedTuple):
    """Rows that are laid out; for a program, as lines with a tab between two cells. `left_out`: a
    note about the columns that have no room.
    """

    table: "Table | str"
    left_out: str = ""


def draw(*parts: "RenderableType | Grid", links: Mapping[str, str] | None = None) -> None:
    """Draw parts one below the other, then note what they leave out. `links`: words that lead
    somewhere, with the addresses.
    """
    from hwci.cli.terminal.links import linked

    target = console()
    text = "".join(_drawn(target, part) for part in parts)
    text = linked(text, links) if links else text
    for line in text.removesuffix("\n").split("\n"):
        _put(sys.stdout, line)
    for part in parts:
        if isinstance(part, Grid) and part.left_out:
            note(part.left_out)


def _drawn(target: "Console", part: "RenderableType | Grid") -> str:
    shape = part.table if isinstance(part, Grid) else part
    if isinstance(shape, str):  # a console would write blanks for its tabs
        return shape
    with target.capture() as drawn:
        target.print(shape)
    return drawn.get()


def indented(lines: Iterable[str]) -> "Text":
    """Return lines that stay indented where they are broken, and an empty one below them."""
    from rich.text import Text

    target = console()
    broken = Text("\n".join(map(safe, lines))).wrap(target, target.width - _BETWEEN)
    return Text("".join(f"{' ' * _BETWEEN}{line.plain.rstrip()}\n" for line in broken))


def takes_links() -> bool:
    """Return whether stdout is a terminal that may show links."""
    return sys.stdout.isatty() and not console().is_dumb_terminal


def unicode_fits() -> bool:
    """Return whether stdout can show more than ASCII."""
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")


def grid(layout: "Layout[Row]", rows: Sequence[Row]) -> Grid:
    """Lay rows out for people: as a table, or one below the other where a line is too short."""
    if piped():
        return Grid(tabbed((layout.headers(), *map(layout.shown, rows))))
    width = console().width
    cells = _cells(layout, rows)
    widths = _in_one_line(layout, cells, width)
    if widths is None:
        layout = layout.briefly()
        cells = _cells(layout, rows)
        widths = _widths(layout, cells, width)
    if widths is None:
        return Grid(_records(layout, cells, width))
    return Grid(_table(layout, cells, widths), _left_out(layout, cells, widths))


def tabbed(lines: Iterable[Sequence[str]]) -> str:
    """Return rows for `cut` and `awk`: a line each, a tab between two cells."""
    return "".join("\t".join(map(safe, line)) + "\n" for line in lines)


def _table(
    layout: "Layout[Row]", cells: Sequence[Sequence[str]], widths: Mapping[int, int]
) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for at, letters in widths.items():
        column = layout.columns[at]
        header = Text(_broken(safe(column.header), letters))
        justify: JustifyMethod = "right" if column.right else "left"
        table.add_column(header, justify=justify, width=letters, overflow="fold")
    for line in cells:
        table.add_row(*(Text(_broken(line[at], letters)) for at, letters in widths.items()))
    return table


def _cells(layout: "Layout[Row]", rows: Iterable[Row]) -> list[list[str]]:
    """Return the cells of the rows, their ids cut to as many digits as tell those of this list
    apart.
    """
    cells = [[*map(safe, layout.shown(row))] for row in rows]
    for at, column in enumerate(layout.columns):
        if column.unique:
            ids = {line[at] for line in cells}
            digits = ID_DIGITS
            while len({text[:digits] for text in ids}) < len(ids):
                digits += 1
            for line in cells:
                line[at] = line[at][:digits].rstrip("-")
    return cells


def _in_one_line(
    layout: "Layout[Row]", cells: Sequence[Sequence[str]], width: int
) -> dict[int, int] | None:
    """Return all columns with their letters if a line holds a row with all of it."""
    widths = {
        at: max(map(len, (column.header, *(line[at] for line in cells))))
        for at, column in enumerate(layout.columns)
    }
    return widths if sum(widths.values()) + _BETWEEN * len(widths) <= width else None


def _left_out(
    layout: "Layout[Row]", cells: Sequence[Sequence[str]], widths: Mapping[int, int]
) -> str:
    """Say which columns have no room: of one whose rows are alike, the value."""
    alike, others = [], []
    for at, column in enumerate(layout.columns):
        if at in widths or not column.header:
            continue
        values = {line[at] for line in cells}
        if len(cells) > 1 and len(values) == 1 and (value := values.pop()):
            alike.append(f"{column.header} {value}")
        else:
            others.append(column.header)
    parts = [f"in all rows {', '.join(alike)}"] if alike else []
    if others:
        parts.append(f"{', '.join(others)} left out, as the terminal is narrow (all: --output csv)")
    return f"{layout.title}: {'; '.join(parts)}" if parts else ""


def _records(layout: "Layout[Row]", cells: Iterable[Sequence[str]], width: int) -> "Table":
    """Lay rows out one below the other, with a line for each cell that is not empty."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, _BETWEEN, 0, 0))
    names = min(_SENTENCE, max(len(column.header) for column in layout.columns))
    room = width - names - 2 * _BETWEEN
    for line in cells:
        for column, text in zip(layout.columns, line, strict=True):
            if text:
                name = Text(_broken(safe(column.header), names), style="bold")
                table.add_row(name, Text(_broken(text, room)))
        table.add_row()
    return table


_BETWEEN = 2  # letters
_SPARE_MOST = 2
_SENTENCE = 14
"""As many letters of several words stand in one line, if the words are shorter."""
_PIECE = re.compile(r"\s*\S+?(?=\s|$|(?<=[/:._-])[^\W\d_])")
"""What stays in one line: a word, or a part of it that ends in a sign before a letter."""


def _broken(text: str, letters: int) -> str:
    """Break a text into lines of so many letters, between its pieces."""
    lines = [""]
    for piece in _PIECE.findall(text):
        if lines[-1] and len(lines[-1]) + len(piece) > letters:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return "\n".join(lines)


def _widths(
    layout: "Layout[Row]", cells: Sequence[Sequence[str]], width: int
) -> dict[int, int] | None:
    """Return the columns to draw, by place, each with its letters in a line; None where they need
    more than a line has.

    As few spare columns are left out as it takes to break no word; where no line holds a long name,
    as it takes to break no other.
    """
    pieces, names, roomy, words, wanted = {}, {}, {}, {}, {}
    for at, column in enumerate(layout.columns):
        texts = [column.header, *(line[at] for line in cells)]
        longest = max(map(len, texts))
        cell = max(map(len, texts[1:]), default=0)  # a header may stand in several lines
        word = max((len(word) for text in texts for word in text.split()), default=0)
        piece = max((len(one.strip()) for text in texts for one in _PIECE.findall(text)), default=0)
        of_header = max(map(len, column.header.split()), default=0)
        fixed = column.width if width < WITHOUT_TERMINAL else None
        wanted[at] = fixed or longest
        pieces[at] = max(cell, of_header) if column.whole else fixed or piece
        names[at] = max(pieces[at], min(word, fixed or NAME_LETTERS))
        roomy[at] = max(names[at], min(cell, fixed or _SENTENCE))
        words[at] = max(roomy[at], fixed or word)
    spare = [
        (column.spare - _all_alike(cells, at), -at)
        for at, column in enumerate(layout.columns)
        if column.spare
    ]
    gone = [-at for _, at in sorted(spare)]
    choices = [[at for at in wanted if at not in gone[:n]] for n in range(len(gone) + 1)]
    ways = [*product((words, roomy), choices), (names, choices[-1]), (pieces, choices[-1])]
    for needed, kept in ways:
        least = {at: needed[at] for at in kept}
        if (room := width - sum(least.values()) - _BETWEEN * len(least)) >= 0:
            return _shared(least, wanted, room)
    return None


def _all_alike(cells: Sequence[Sequence[str]], at: int) -> int:
    """Return more than any rank of a spare column if all rows have the same value: it tells rows
    apart by nothing, so it is left out first.
    """
    return _SPARE_MOST if len(cells) > 1 and len({line[at] for line in cells}) == 1 else 0


def _shared(least: Mapping[int, int], wanted: Mapping[int, int], room: int) -> dict[int, int]:
    """Give what is left of the line to the columns that need least more to hold each cell in one
    line.
    """
    widths = dict(least)
    missing = sorted((wanted[at] - letters, at) for at, letters in least.items())
    for index, (more, at) in enumerate(missing):
        given = max(0, min(more, room // (len(missing) - index)))
        widths[at] += given
        room -= given
    return widths


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
    found: "ListPage[Row] | list[Row]",
    layout: "Layout[Row]",
    form: Format,
    noun: str,
    links: Links,
) -> None:
    """Write the whole of a list, or a page of it and the way to the others. JSON is the page as the
    API gives it.
    """
    if isinstance(found, list):
        emit(layout, found, form, links)
        return
    if form is Format.JSON:
        emit_json(found)
        return
    beyond = found.total and not found.items
    if not (beyond and form is Format.TABLE):
        emit(layout, found.items, form, links)
    if hint := other_pages(noun, found.total, len(found.items), found.page, found.limit):
        note(hint)


def other_pages(noun: str, total: int, shown: int, page: int, limit: int) -> str:
    """Return the way to what this page does not show."""
    kept = "" if limit == limits.PAGE_LIMIT_DEFAULT else f" --limit {limit}"
    if not shown and total:
        last = -(-total // limit)
        ends = f"{counted(total, noun)} on {counted(last, 'page')}"
        return f"Page {page} is beyond the end: {ends}. The last one: --page {last}{kept}"
    rest = total - (page - 1) * limit - shown
    return f"… {rest} more: --page {page + 1}{kept}" if rest > 0 else ""
