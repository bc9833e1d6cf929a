# SPDX-License-Identifier: Apache-2.0
"""Text from outside on a terminal, in JSON and in a spreadsheet, and the form of tables."""

import csv
import json
import sys
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from hwci.cli.commands.organizations import keys_layout
from hwci.cli.terminal import again, lines, render
from hwci.cli.terminal.tables import Column, Layout, View, ago, product, when
from hwci.contract.people import Actor
from hwci.contract.runs.commits import CommitSubject
from hwci.said import counted, short

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("two\nlines\ttab\r", "two\\nlines\\ttab\\r"),
        ("\x9b31m", "\\x9b31m"),
        ("\x7f\x08\x07", "\\x7f\\x08\\x07"),
        ("left\u202eright", "left\\u202eright"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("line\u2028end", "line\\u2028end"),
        ("\udcff", "\\udcff"),
        ("Größe ✓ 試験", "Größe ✓ 試験"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_escaped(raw: str, shown: str) -> None:
    assert render.safe(raw) == shown
    assert render.safe(shown) == shown


def test_what_passes_as_printable_is_never_hidden() -> None:
    letters = [chr(number) for number in range(sys.maxunicode + 1)]
    hidden = {letter for letter in letters if unicodedata.category(letter) in render._HIDDEN}

    assert [letter for letter in hidden if letter.isprintable()] == []


@pytest.mark.parametrize("raw", ["\x1b[2J", "\x9b", "\x7f", "\u202e", 'quote " and \\ slash\n'])
def test_json_escapes_the_same_and_says_the_same(
    raw: str, capsys: pytest.CaptureFixture[str]
) -> None:
    render.emit_json(CommitSubject(sha="a" * 40, subject=raw))
    out = capsys.readouterr().out

    assert json.loads(out)["subject"] == raw
    assert not any(render.safe(letter) != letter for letter in out.replace("\n", ""))


def test_a_spreadsheet_gets_numbers_as_people_write_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    render.emit_csv(["a"], [[100 / 3], [12.0], [0.5], [1000000.0], [7], [0.00012345]])

    written = ["a", "33.333", "12", "0.5", "1000000", "7", "0.000123"]
    assert capsys.readouterr().out.split() == written


def test_a_spreadsheet_gets_a_list_as_people_write_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    render.emit_csv(["a", "b"], [[["bench-1", "bench-2"], ["bench-2"]]])

    assert capsys.readouterr().out.splitlines()[1] == '"bench-1; bench-2",bench-2'


def test_a_spreadsheet_runs_no_formula(capsys: pytest.CaptureFixture[str]) -> None:
    render.emit_csv(["a", "b", "c"], [["=1+1", -5, None], ["@x", "a,b", 'say "hi"']])

    assert capsys.readouterr().out.splitlines() == [
        "a,b,c",
        "'=1+1,-5,",
        '\'@x,"a,b","say ""hi"""',
    ]


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("  =1+1", "'  =1+1"),
        ("\u3000\uff1d1", "'\u3000\uff1d1"),
        ("\ufe631", "'\ufe631"),
        ("\t=1", "\\t=1"),
        ("a;b", '"a;b"'),
        ("a;=1", '"a;\'=1"'),
        ('a; "-1', '"a;\' ""-1"'),
        ("a-b=c", "a-b=c"),
        ("-5", "'-5"),
        (-5, "-5"),
        (-1.5, "-1.5"),
        (True, "true"),
        (None, ""),
    ],
)
def test_text_is_no_formula_wherever_a_spreadsheet_parts_it_and_numbers_stay(
    cell: object, written: str, capsys: pytest.CaptureFixture[str]
) -> None:
    render.emit_csv(["a", "b"], [["x", cell]])

    assert capsys.readouterr().out.splitlines()[1] == f"x,{written}"


SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20 \t\u00a0;,\"'a1"


@given(st.lists(st.text(SIGNS, max_size=8), min_size=2, max_size=4))
def test_no_cell_begins_a_formula_whichever_sign_parts_the_cells(cells: list[str]) -> None:
    with redirect_stdout(StringIO()) as out:
        render.emit_csv(["a"], [["x", *cells]])
    line = out.getvalue().splitlines()[1]

    for delimiter in (",", ";"):
        for cell in next(csv.reader([line], delimiter=delimiter)):
            assert cell.strip(' \u00a0"')[:1] not in set("=+-@\uff1d\uff0b\uff0d\uff20"), line


@pytest.mark.parametrize(
    "line", ["::error::x", "  ::set-output name=a::b", "\u00a0::add-mask::1", "##[error]x"]
)
@pytest.mark.parametrize("write", [render.write, render.note, lambda line: render.draw(Text(line))])
def test_no_line_of_data_is_a_command_to_a_ci_system(
    line: str, write: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    write(render.safe(line))

    shown = "".join(capsys.readouterr()).strip()
    assert not shown.startswith(("::", "##["))
    assert shown.replace(" ", "") == line.strip().replace(" ", "")


@pytest.mark.parametrize("obeyed", ["##vso[task.x]", "##[error]", "##teamcity[x]", "##VSO[x]"])
def test_what_an_agent_obeys_anywhere_in_a_line_is_broken(obeyed: str) -> None:
    assert render.safe(f"see {obeyed}") == f"see # {obeyed[1:]}"


def test_a_table_that_folds_an_id_begins_no_line_with_a_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    for length in range(60):
        subject = "a" * length + "::error::x" * 5
        render.draw(Text(subject, overflow="fold"))

    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith(": :") for line in lines)
    assert not any(line.strip().startswith("::") for line in lines)


def test_an_id_within_a_line_can_be_copied_and_our_own_commands_are_commands(
    capsys: pytest.CaptureFixture[str],
) -> None:
    render.write("test tests/uart.py::test_echo")
    render.command_line("::warning title=hwci::x")

    out = capsys.readouterr().out
    assert out == "test tests/uart.py::test_echo\n::warning title=hwci::x\n"


def test_markdown_of_data_is_inert() -> None:
    assert render.md("a|b <img> `c` *d* [e](f) & \\ \n") == (
        "a\\|b &lt;img> \\`c\\` \\*d\\* \\[e\\](f) &amp; \\\\ \\\\n"
    )


def test_output_without_a_terminal_is_plain_and_no_line_of_it_is_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    render.draw(Text("x" * 1_000, style="bold red"))

    assert capsys.readouterr().out == f"{'x' * 1_000}\n"


ROW = Actor(id=UUID(int=0), name="Ada")
LAYOUT: Layout[Actor] = Layout(
    "actors",
    "Actors",
    [
        Column("ID", lambda row: f"{row.id.int:08}"),
        Column("Name", lambda _: "bench number seven"),
        Column("Branch", lambda _: "release-2026", spare=True),
        Column("Box", lambda row: f"bench-{row.id.int}"),
        Column("Test", lambda row: "t" * 50 if row.id.int else "short"),
        Column("Note", lambda _: ""),
    ],
    "id name",
    "",
)


def drawn(columns: str, rows: Sequence[Actor]) -> list[str]:
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out:
        patch.setenv("COLUMNS", columns)
        render.draw(render.grid(LAYOUT, rows))
    return out.getvalue().splitlines()


def test_what_a_line_has_no_room_for_stands_below_it() -> None:
    two = [replace(ROW, id=UUID(int=number)) for number in (1, 2)]

    assert drawn("120", two)[0].split() == ["ID", "Name", "Branch", "Box", "Test"]
    assert drawn("60", two) == [
        "ID        Name                Branch        Box",
        "-" * 51,
        "00000001  bench number seven  release-2026  bench-1",
        "00000002  bench number seven  release-2026  bench-2",
        "  In all rows",
        f"  Test: {'t' * 50}",
    ]
    assert drawn("30", two[:1]) == [
        "ID        Name",
        "-" * 28,
        "00000001  bench number seven",
        "  Branch: release-2026",
        "  Box: bench-1",
        "  Test:",
        f"    {'t' * 26}",
        f"    {'t' * 24}",
    ]


def test_a_first_column_that_no_line_holds_is_broken_after_a_sign() -> None:
    layout: Layout[Actor] = Layout(
        "actors", "Actors", [Column("Test", lambda _: "tests.hil.test_everything[x]")], "id", ""
    )
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out:
        patch.setenv("COLUMNS", "20")
        render.draw(render.grid(layout, [ROW]))

    assert out.getvalue().splitlines()[2:] == ["tests.hil.test_", "  everything[x]"]


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("one two three four five six", ["one two three four", "  five six"]),
        ("  one two three four five", ["  one two three four", "    five"]),
        ("say: hwci runs list --days 9", ["say:", "  hwci runs list \\", "  --days 9"]),
        ("試験試験試験試験試験試験試験", ["試験試験試験試験試", "  験試験試験"]),
        ("see https://ci.example.org/a/b", ["see", "  https://ci.example.org/a/b"]),
        ("a fix: hwci runs; x y", ["a fix: hwci runs; x", "  y"]),
        ('  pip install "http://h/a.b.whl#c d"', ['  pip install "http://h/a.b.whl#c d"']),
        ('eval "$(hwci x --url http://h -y)"', ['eval "$(hwci x --url http://h -y)"']),
        ("  A=https://b hwci serve --c d.pem", ["  A=https://b hwci serve \\", "    --c d.pem"]),
        (
            "hwci exec --box 'a --b c d e f' -x",
            ["hwci exec \\", "  --box 'a --b c d e f' \\", "  -x"],
        ),
        ("git checkout -d abc && hwci exec", ["git checkout \\", "  -d abc \\", "  && hwci exec"]),
        ("hwci env shows it. What is not", ["hwci env shows it.", "  What is not"]),
        ("note: hwci.toml: is no command", ["note: hwci.toml: is", "  no command"]),
    ],
)
def test_a_text_is_broken_between_words_and_a_command_can_be_pasted(
    text: str, broken: list[str]
) -> None:
    assert lines.broken(text, 20) == broken


def test_an_empty_list_is_a_sentence_on_stderr(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(again, "_given", {})  # a command that this process ran before had some
    render.emit(keys_layout(View(NOW)), [], render.Format.TABLE)

    assert capsys.readouterr() == ("", "No key yet: hwci keys create NAME\n")


def test_a_list_is_json_also_when_it_is_empty(capsys: pytest.CaptureFixture[str]) -> None:
    render.emit_json([])
    render.emit_json([Actor(id=UUID(int=0), name="A")])

    out = capsys.readouterr().out
    assert out.startswith("[]\n[\n")


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(hours=47, minutes=59), "47 hours ago"),
        (timedelta(days=6), "6 days ago"),
        (timedelta(minutes=119), "119 minutes ago"),
        (timedelta(days=13), "13 days ago"),
        (timedelta(days=45), "6 weeks ago"),
        (timedelta(days=60), "2 months ago"),
        (timedelta(days=800), "2 years ago"),
        (timedelta(minutes=-5), "just now"),
        (timedelta(minutes=-6), "in the future"),
        (timedelta(days=-1), "in the future"),
    ],
)
def test_times_are_written_as_people_say_them(passed: timedelta, words: str) -> None:
    assert ago(NOW - passed, NOW) == words


def test_a_time_stands_both_ways() -> None:
    assert when(NOW - timedelta(days=2), NOW) == "2026-01-29 12:00 (2 days ago)"


def test_small_words() -> None:
    assert (counted(1, "test"), counted(2_001, "test")) == ("1 test", "2,001 tests")
    assert (product("r", "s"), product("r", None)) == ("r:s", "r (Unassigned)")
    assert short("a" * 40) == "a" * 12
