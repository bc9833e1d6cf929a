# SPDX-License-Identifier: Apache-2.0
"""A result file is read in whatever encoding its tool writes, also where it declares another."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwci.ci.results.read import read_results
from hwci.ci.results.verdicts import BUILT_IN
from hwci.ci.results.xml.encoding import InUtf8

CHINESE, JAPANESE, KOREAN, WESTERN, RUSSIAN = (
    "串口",
    "シリアル表",
    "직렬 포트",
    "Gerät größer",
    "порт",
)


def document(name: str, declared: str | None) -> str:
    head = "" if declared is None else f'<?xml version="1.0" encoding="{declared}"?>\n'
    case = f'<testcase name="{name}"><failure message="{name}"/></testcase>'
    return f'{head}<testsuite name="s">{case}</testsuite>'


def names_of(path: Path) -> list[str]:
    return [attempt.test_id for attempt in read_results(path, BUILT_IN).attempts]


@pytest.mark.parametrize(
    ("declared", "encoding", "name"),
    [
        *((name, "gb2312", CHINESE) for name in ("GB2312", "gbk", "GB18030", "x-gbk", "cp936")),
        *((name, "gbk", "臺灣") for name in ("GB2312", "GBK", "gb18030", "windows-936")),
        ("gb18030", "gb18030", "\U0001f600 串口"),
        ("hz-gb-2312", "hz", CHINESE),
        *(
            (name, "shift_jis", JAPANESE)
            for name in ("Shift_JIS", "shift-jis", "Windows-31J", "x-sjis")
        ),
        ("Shift_JIS", "cp932", "①髙"),
        *((name, "euc_jp", JAPANESE) for name in ("EUC-JP", "eucjp")),
        ("ISO-2022-JP", "iso2022_jp", JAPANESE),
        *(
            (name, "euc_kr", KOREAN)
            for name in ("EUC-KR", "ks_c_5601-1987", "cp949", "windows-949")
        ),
        ("EUC-KR", "cp949", "똠방각하"),
        *((name, "big5", "串列埠") for name in ("Big5", "big5-hkscs", "cp950")),
        *((f"iso-8859-{part}", f"iso-8859-{part}", WESTERN) for part in (1, 2, 9, 15)),
        *((name, "cp1252", "Gerät € größer") for name in ("windows-1252", "Cp1252", "CP1252")),
        *((name, name, RUSSIAN) for name in ("windows-1251", "koi8-r", "iso-8859-5", "cp866")),
        ("windows-874", "cp874", "พอร์ต"),
        ("us-ascii", "ascii", "port"),
        ("ibm850", "cp850", WESTERN),
    ],
)
def test_a_declared_encoding_is_read(
    tmp_path: Path, declared: str, encoding: str, name: str
) -> None:
    path = tmp_path / "results.xml"
    path.write_bytes(document(name, declared).encode(encoding))

    file = read_results(path, BUILT_IN)

    assert [attempt.test_id for attempt in file.attempts] == [f"s.{name}"]
    assert [attempt.message for attempt in file.attempts] == [name]
    assert (file.faults, file.notes) == ((), ())


@pytest.mark.parametrize("mark", [True, False])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("declared", [None, "utf-8", "UTF-16", "us-ascii", "GB2312", "no-such"])
def test_two_and_four_bytes_a_letter_are_told_by_the_bytes(
    tmp_path: Path, declared: str | None, encoding: str, mark: bool
) -> None:
    path = tmp_path / "results.xml"
    path.write_bytes(("\ufeff" * mark + document(CHINESE, declared)).encode(encoding))

    assert names_of(path) == [f"s.{CHINESE}"]


@pytest.mark.parametrize("mark", [True, False])
@pytest.mark.parametrize("declared", ["UTF-16", "utf-16le", "UTF-32", "ISO-10646-UCS-2", "utf8"])
def test_utf_8_that_is_called_utf_16_is_read(tmp_path: Path, declared: str, mark: bool) -> None:
    """A writer into a text of .NET declares UTF-16, and the file has another encoding."""
    path = tmp_path / "results.xml"
    path.write_bytes(("\ufeff" * mark + document(WESTERN, declared)).encode())

    assert names_of(path) == [f"s.{WESTERN}"]


def test_a_mark_of_utf_8_wins_over_what_is_declared(tmp_path: Path) -> None:
    path = tmp_path / "results.xml"
    path.write_bytes(("\ufeff" + document(CHINESE, "GB2312")).encode())

    assert names_of(path) == [f"s.{CHINESE}"]


@pytest.mark.parametrize("declared", ["GB2312", "Shift_JIS", "EUC-KR", "windows-1252", "Big5"])
def test_bytes_that_are_no_letters_cost_no_test_in_any_encoding(
    tmp_path: Path, declared: str
) -> None:
    path = tmp_path / "results.xml"
    content = document("a", declared).encode()
    path.write_bytes(content.replace(b"<failure", b"<system-out>\xff\x81\x1b</system-out><failure"))

    file = read_results(path, BUILT_IN)

    assert [attempt.test_id for attempt in file.attempts] == ["s.a"]
    assert file.faults == ()
    assert any("bytes that are not" in note for note in file.notes)


def test_twister_json_in_utf_16_is_read(tmp_path: Path) -> None:
    path = tmp_path / "twister.json"
    case = {"identifier": "kernel.a", "status": "passed"}
    suite = {"name": "kernel", "platform": "b", "status": "passed", "testcases": [case]}
    path.write_text(json.dumps({"testsuites": [suite]}), encoding="utf-16")

    assert names_of(path) == ["kernel.a"]


ENCODINGS = st.sampled_from(
    ["utf-8", "gb18030", "cp932", "cp949", "euc_jp", "iso2022_jp", "big5", "utf-16-le", "utf-32-be"]
)


@given(ENCODINGS, st.text(st.sampled_from("a<\n串口表木中"), max_size=900), st.integers(1, 700))
def test_letters_are_whole_wherever_the_chunks_end(encoding: str, text: str, size: int) -> None:
    declared = "utf-8" if encoding.startswith("utf") else encoding
    whole = f'<?xml version="1.0" encoding="{declared}"?>{text}'
    content = whole.encode(encoding)

    def chunks() -> Iterator[bytes]:
        yield from (content[at : at + size] for at in range(0, len(content), size))

    read = InUtf8(chunks())

    assert b"".join(read).decode() == whole
    assert read.notes() == ()
