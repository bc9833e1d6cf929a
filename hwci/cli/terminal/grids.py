# SPDX-License-Identifier: Apache-2.0
"""How a table is laid out in a terminal: which of its columns stand in the line of a row, and which
below it. What a column is, `tables.py` decides; this writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from hwci.cli.terminal import lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rich.text import Text

    from hwci.cli.terminal.tables import Column, Layout

Row = TypeVar("Row")

ID_DIGITS = 8
"""As many digits of an id a list shows at least; each command takes them."""
_BETWEEN = "  "


def laid_out(
    layout: Layout[Row],
    rows: Sequence[Row],
    room: int,
    *,
    safe: Callable[[str], str],
    ascii_only: bool,
) -> Text:
    """Lay rows out in lines of so many columns. The columns of a table that do not fit beside each
    other stand below each row, under their names, or once below all rows where these say the same.
    `safe`: makes a cell inert.
    """
    grid = _Grid.of(layout, rows, room, safe)
    if grid.below:
        grid = _Grid.of(layout.briefly(), rows, room, safe)
    return grid.text(ascii_only=ascii_only)


@dataclass(frozen=True)
class _Grid:
    """The cells of a table, as a terminal shows them in lines of `room` columns."""

    columns: Sequence[Column[Any]]
    cells: Sequence[Sequence[str]]
    room: int

    @classmethod
    def of(
        cls, layout: Layout[Row], rows: Sequence[Row], room: int, safe: Callable[[str], str]
    ) -> _Grid:
        cells = [[*map(safe, layout.shown(row))] for row in rows]
        for at, column in enumerate(layout.columns):
            if column.unique:
                _shorten(cells, at)
        filled = [at for at in range(len(layout.columns)) if any(line[at] for line in cells)]
        columns = [layout.columns[at] for at in filled]
        return cls(columns, [[line[at] for at in filled] for line in cells], room)

    @cached_property
    def headers(self) -> list[str]:
        return [column.header for column in self.columns]

    @cached_property
    def widths(self) -> dict[int, int]:
        """The columns in the line of a row, by place, with their widths: the first, then as many
        others as fit with whole cells. Spare ones come last, and after them those that say the same
        in all rows.
        """
        least = [self._least(at) for at in range(len(self.columns))]
        others = sorted(
            range(1, len(least)), key=lambda at: (self._alike(at), self.columns[at].spare)
        )
        widths = {0: min(least[0], self.room)}
        for at in others:
            if _line(widths) + len(_BETWEEN) + least[at] <= self.room:
                widths[at] = least[at]
        return self._shared(dict(sorted(widths.items())))

    @cached_property
    def below(self) -> list[int]:
        """The columns that stand below the line of a row, by place."""
        return [at for at in range(len(self.columns)) if at not in self.widths]

    def text(self, *, ascii_only: bool) -> Text:
        """Return the table, without an end of its last line."""
        from rich.text import Text

        alike = [at for at in self.below if self._alike(at)]
        own = [at for at in self.below if at not in alike]
        headers = "".join(f"{line}\n" for line in self._header_lines())
        rule = ("-" if ascii_only else "─") * _line(self.widths)
        table = Text.assemble((headers, "bold"), rule, no_wrap=True, overflow="ignore")
        for cells in self.cells:
            for line in lines.broken(self._line_of(cells), self.room):
                table.append(f"\n{line}")
            for line in lines.beside(self._facts(cells, own), self.room, ascii_only=ascii_only):
                table.append(f"\n{line}", style="dim")
        if facts := [*self._facts(self.cells[0], alike)]:
            line_of_all = ["In all rows", *facts]
            for line in lines.beside(line_of_all, self.room, ascii_only=ascii_only):
                table.append(f"\n{line}", style="dim")
        return table

    def _alike(self, at: int) -> bool:
        """Return whether a column tells rows apart by nothing."""
        return len(self.cells) > 1 and len({cells[at] for cells in self.cells}) == 1

    def _least(self, at: int) -> int:
        """Return how wide a column is at least: no cell is broken, and no word of its header."""
        texts = [*self.headers[at].split(), *(cells[at] for cells in self.cells)]
        return max(map(lines.columns_of, texts), default=0)

    def _shared(self, widths: Mapping[int, int]) -> dict[int, int]:
        """Give what is left of a line to the columns that need least more for the whole of their
        header.
        """
        shared, room = dict(widths), self.room - _line(widths)
        more = {at: lines.columns_of(self.headers[at]) - width for at, width in widths.items()}
        missing = sorted((columns, at) for at, columns in more.items() if columns > 0)
        for index, (columns, at) in enumerate(missing):
            share = max(0, min(columns, room // (len(missing) - index)))
            shared[at] += share
            room -= share
        return shared

    def _header_lines(self) -> list[str]:
        """Return the headers, each in as many lines as it takes, the last of them in one line."""
        broken = {
            at: lines.broken(self.headers[at], width, further="")
            for at, width in self.widths.items()
        }
        most = max(map(len, broken.values()))
        full = {at: [""] * (most - len(parts)) + parts for at, parts in broken.items()}
        return [self._line_of({at: full[at][number] for at in full}) for number in range(most)]

    def _line_of(self, texts: Sequence[str] | Mapping[int, str]) -> str:
        padded = (
            lines.padded(texts[at], width, right=self.columns[at].right)
            for at, width in self.widths.items()
        )
        return _BETWEEN.join(padded).rstrip()

    def _facts(self, cells: Sequence[str], places: Iterable[int]) -> Iterator[str]:
        for at in places:
            if cells[at]:
                yield ": ".join(filter(None, (self.headers[at], cells[at])))


def _line(widths: Mapping[int, int]) -> int:
    """Return how long a line of these columns is."""
    return sum(widths.values()) + len(_BETWEEN) * (len(widths) - 1)


def _shorten(cells: Sequence[list[str]], at: int) -> None:
    """Cut ids to as many digits as tell those of this list apart."""
    ids = {line[at] for line in cells}
    digits = ID_DIGITS
    while len({text[:digits] for text in ids}) < len(ids):
        digits += 1
    for line in cells:
        line[at] = line[at][:digits].rstrip("-")
