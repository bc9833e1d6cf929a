# SPDX-License-Identifier: Apache-2.0
"""Control characters, which XML forbids and serial logs are full of, cost no result."""

import gzip
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwci.ci.results.model import FileResults
from hwci.ci.results.read import read_results
from hwci.ci.results.verdicts import BUILT_IN
from hwci.ci.results.xml.escaping import CONTROLS, EscapedControls
from hwci.ci.results.xml.junit import junit_results
from hwci.contract.vocabulary import Verdict

LOG = b"""<testsuite name="hil" time="3">
<testcase name="boot"><system-out><![CDATA[\x1b[32mok\x1b[0m\x07]]></system-out></testcase>
<testcase name="flash"><failure message="\x1b[31mError: No J-Link device found"/></testcase>
<testcase name="adc[\x01]"/><testcase name="adc[\x02]"><failure>\x0b</failure></testcase>
</testsuite>
"""

TEXT = st.text(st.sampled_from("ab é\n]"), max_size=6).map(str.encode)
REFERENCES = st.sampled_from([0, 7, 0x1B, 0x1F, 0xD800, 0xFFFE, 0x110000]).flatmap(
    lambda one: st.sampled_from(
        [b"&#%d;" % one, b"&#x%X;" % one, b"&#x%06x;" % one, b"&#%060d;" % one]
    )
)
NOISE = st.lists(
    st.one_of(
        TEXT,
        st.sampled_from([bytes([one]) for one in CONTROLS]),
        REFERENCES,
        st.sampled_from([b"&amp;#27;", b"&#9;", b"&#xe9;", b"&#128512;"]),
    ),
    max_size=4,
)
"""What a board says: text, control characters, and references to them and to others."""
REFERENCE = re.compile(rb"&#(?:(\d+)|x([\da-fA-F]+));")
CASES = st.lists(st.tuples(NOISE, NOISE, NOISE), max_size=5)
CUTS = st.lists(st.integers(min_value=0, max_value=2_000), max_size=20)


def document(cases: Sequence[tuple[list[bytes], list[bytes], list[bytes]]]) -> bytes:
    """Write a case with noise in its name, its text and its CDATA."""
    form = b'<testcase name="%d%s"><failure>%s</failure><system-out><![CDATA[%s]]></system-out>'
    written = (
        form % (number, b"".join(name), b"".join(text), b"".join(log)) + b"</testcase>"
        for number, (name, text, log) in enumerate(cases)
    )
    return b'<testsuite name="x">\n' + b"\n".join(written) + b"</testsuite>"


def cut(content: bytes, cuts: list[int]) -> Iterator[bytes]:
    places = sorted({0, len(content), *(place for place in cuts if place < len(content))})
    return (content[begin:end] for begin, end in pairwise(places))


def controls_of(content: bytes) -> list[int]:
    """Return where controls and references to what XML forbids are."""
    forbidden = {0, 7, 0x1B, 0x1F, 0xD800, 0xFFFE, 0x110000}
    numbers = (
        (it.start(), int(it[1] or it[2], 10 if it[1] else 16)) for it in REFERENCE.finditer(content)
    )
    references = [place for place, number in numbers if number in forbidden]
    return sorted(references + [at for at, one in enumerate(content) if one in CONTROLS])


def spelled(content: bytes) -> bytes:
    """Spell controls and references to them one by one."""
    for place in reversed(controls_of(content)):
        found = REFERENCE.match(content, place)
        number = int(found[1] or found[2], 10 if found[1] else 16) if found else content[place]
        end = found.end() if found else place + 1
        content = content[:place] + rb"\x%02x" % number + content[end:]
    return content


def summary(results: FileResults) -> list[tuple[object, ...]]:
    return [(one.test_id, one.outcome, one.verdict) for one in results.attempts]


@given(CASES, CUTS)
def test_controls_say_what_they_would_say_spelled_out(
    cases: list[tuple[list[bytes], list[bytes], list[bytes]]], cuts: list[int]
) -> None:
    content = document(cases)
    many = len(controls_of(content))

    read = junit_results(cut(content, cuts), BUILT_IN)

    assert summary(read) == summary(junit_results([spelled(content)], BUILT_IN))
    assert len(read.attempts) == len(cases)
    assert read.faults == ()
    assert len(read.notes) == bool(many)
    if many:
        line = 1 + content.count(b"\n", 0, controls_of(content)[0])
        have = "1 character" if many == 1 else f"{many:,} characters"
        assert read.notes[0].startswith(f":{line}: It holds {have} that XML forbids, read as text")


@given(st.one_of(st.text(max_size=1_000).map(str.encode), NOISE.map(b"".join)), CUTS)
def test_a_file_is_spelled_as_it_is_read_chunk_by_chunk(content: bytes, cuts: list[int]) -> None:
    """So it is never held whole, and what holds no control is handed on as it is."""
    taken: list[bytes] = []

    def chunks() -> Iterator[bytes]:
        for chunk in cut(b"<x>" + content, cuts):
            taken.append(chunk)
            yield chunk

    given_on = []
    for number, chunk in enumerate(EscapedControls(chunks()), start=1):
        assert len(taken) == number or chunk.startswith(b"&")  # what the last chunk may have begun
        assert b"&" in content or chunk is taken[-1] or chunk != taken[-1]
        given_on.append(chunk)
    assert b"".join(given_on) == spelled(b"<x>" + content)


FOREIGN = st.lists(
    st.one_of(TEXT, st.integers(0x80, 0xFF).map(lambda one: bytes([one]))), max_size=6
)


@given(FOREIGN, CUTS)
def test_bytes_that_are_not_utf8_cost_no_test(noise: list[bytes], cuts: list[int]) -> None:
    content = document([([], noise, noise), ([], [], [])])
    in_words = content.decode("utf-8", "backslashreplace").encode()

    read = junit_results(cut(content, cuts), BUILT_IN)

    assert summary(read) == summary(junit_results([in_words], BUILT_IN))
    assert len(read.attempts) == 2
    assert read.faults == ()
    notes = [": It holds bytes that are not UTF-8; they are read as text, such as \\xe9. Let what"]
    assert [note[: len(notes[0])] for note in read.notes] == notes * (in_words != content)


@pytest.mark.parametrize("encoding", ["us-ascii", "ASCII", "utf8", "UTF-8"])
@pytest.mark.parametrize("letter", ["é".encode(), "é".encode("latin-1")])
def test_letters_in_a_file_that_is_called_ascii_cost_no_test(encoding: str, letter: bytes) -> None:
    head = f'<?xml version="1.0" encoding="{encoding}"?><testsuite name="x"><testcase name="'
    read = junit_results([head.encode() + letter + b'"/></testsuite>'], BUILT_IN)

    name = letter.decode(errors="backslashreplace")
    assert [one.test_id for one in read.attempts] == [f"x.{name}"]
    assert read.faults == ()


def test_a_file_in_another_encoding_is_read_in_it() -> None:
    content = (
        '<?xml version="1.0" encoding="ISO-8859-1"?>\n<testsuite name="x"><testcase name="é"/>'
    )
    read = junit_results([f"{content}</testsuite>".encode("latin-1")], BUILT_IN)

    assert [one.test_id for one in read.attempts] == ["x.é"]
    assert read.notes == ()


@pytest.mark.parametrize("packed", [False, True])
def test_a_log_of_a_board_ends_no_file(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "results.xml"
    path.write_bytes(gzip.compress(LOG) if packed else LOG)

    read = read_results(path, BUILT_IN)

    assert [one.test_id for one in read.attempts] == [
        "hil.boot",
        "hil.flash",
        r"hil.adc[\x01]",
        r"hil.adc[\x02]",
    ]
    assert read.attempts[1].verdict is Verdict.INFRA
    assert read.faults == ()
    said = r"that XML forbids, read as text, such as \x1b. Let what writes the file leave them out"
    assert read.notes == (f"{path}:2: It holds 7 characters {said}",)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_halves_of_letters_are_no_controls(encoding: str) -> None:
    """In UTF-16, U+1B1B holds two bytes of an escape."""
    text = '<testsuite name="x"><testcase name="\u1b1b\u0b0c"/></testsuite>'
    if encoding != "utf-16":
        text = f'<?xml version="1.0" encoding="utf-16"?>{text}'

    read = junit_results([text.encode(encoding)], BUILT_IN)

    assert [one.test_id for one in read.attempts] == ["x.\u1b1b\u0b0c"]
    assert read.notes == ()


def test_a_control_in_a_file_of_another_encoding_is_spelled() -> None:
    text = (
        '<?xml version="1.0" encoding="iso-8859-1"?><testsuite><testcase name="ü\x1b"/></testsuite>'
    )

    read = junit_results([text.encode("latin-1")], BUILT_IN)

    assert [one.test_id for one in read.attempts] == [r"ü\x1b"]


@pytest.mark.parametrize(
    "noise", ["&#27;[31m", "&#x1B;[31m", "&#0000000000027;", "&#xFFFF;", "\0", "\0" * 100, "&#0;"]
)
def test_a_test_whose_words_xml_forbids_is_read(noise: str) -> None:
    text = f'<testsuite><testcase name="a{noise}"><failure message="{noise}"/></testcase>'

    read = junit_results([f'{text}<testcase name="b"/></testsuite>'.encode()], BUILT_IN)

    assert len(read.attempts) == 2
    assert read.faults == ()
    assert len(read.notes) == 1


def test_a_sector_of_zeros_ends_the_file() -> None:
    """A machine that crashed leaves it: nobody can tell how many tests stood there."""
    text = '<testsuite><testcase name="a"/><testcase name="b"><system-out>' + "\0" * 512

    read = junit_results([f"{text}</system-out></testcase></testsuite>".encode()], BUILT_IN)

    assert [one.test_id for one in read.attempts] == ["a"]
    assert len(read.faults) == 1
