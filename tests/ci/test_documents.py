# SPDX-License-Identifier: Apache-2.0
"""A file may hold several XML documents, one after the other, and text beside them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwci.ci.results.model import FileResults, merged
from hwci.ci.results.read import ResultsFileError, read_results
from hwci.ci.results.verdicts import BUILT_IN
from hwci.ci.results.xml.junit import junit_results

HEAD = b'<?xml version="1.0" encoding="UTF-8" ?>\n'
ADC = (
    b"<testsuites>\n<testsuite name='adc' time='1'><testcase name='zero'/></testsuite>\n"
    b"</testsuites>\n"
)
DAC = (
    b"<testsuite name='dac' time='2'>\n<testcase name='full'>"
    b"<failure>1 != 2</failure></testcase></testsuite>"
)


def read(content: bytes, size: int = 1 << 18) -> FileResults:
    chunks = [content[at : at + size] for at in range(0, len(content), size)]
    return junit_results(chunks, BUILT_IN)


def rows(results: FileResults) -> list[tuple[str, str]]:
    return [(attempt.test_id, attempt.outcome.value) for attempt in results.attempts]


@pytest.mark.parametrize(
    "content",
    [
        *(HEAD + ADC + DAC, HEAD + ADC + HEAD + DAC, ADC.strip() + DAC, ADC + b"\n\n \t\n" + DAC),
        *(HEAD + ADC + b"<!-- next -->" + DAC, HEAD + ADC + b"<?next group?>\n" + HEAD + DAC),
        HEAD + ADC + b"\xef\xbb\xbf" + HEAD + DAC,
    ],
)
@pytest.mark.parametrize("size", [1, 7, 64, 1 << 18])
def test_every_document_of_a_file_is_read(content: bytes, size: int) -> None:
    results = read(content, size)

    assert rows(results) == [("adc.zero", "pass"), ("dac.full", "fail")]
    assert (results.duration_s, results.faults) == (3, ())


@pytest.mark.parametrize("size", [1, 50, 1 << 18])
@pytest.mark.parametrize(
    "content",
    [
        HEAD + ADC + b"[==========] Running 1 test(s).\n" + HEAD + DAC,
        HEAD + ADC + b"rx < 3 & tx > 4 <ok>\n" * 40 + DAC + b"\nbye\n",
        b"booting ...\nuart: <ok>\n" + HEAD + ADC + DAC,
        HEAD + ADC + DAC + b"\x00\x1a\n",
        HEAD + ADC + DAC + b"Segmentation fault",
    ],
)
def test_text_beside_documents_costs_no_test_and_is_said(content: bytes, size: int) -> None:
    results = read(content, size)

    assert rows(results) == [("adc.zero", "pass"), ("dac.full", "fail")]
    assert results.faults == ()
    assert any("text beside its XML documents" in note for note in results.notes)


@pytest.mark.parametrize(
    ("content", "line", "what"),
    [
        (HEAD + ADC + DAC[:-3], 6, "Its XML is broken: unclosed token"),
        (HEAD + ADC + b"ok\n" + DAC[:40], 7, "Its XML is broken: unclosed token"),
        (HEAD + ADC + DAC[:-12], 6, "It was cut short: not every element is closed"),
        (HEAD + ADC + b"ok\n" + b"<testsui", 6, "Its last document was cut short"),
        (HEAD + ADC + b"ase/></testsuite>" + DAC, 5, "Its XML is broken: an element ends behind"),
        (HEAD + ADC + b"\n</testsuites>\n", 6, "Its XML is broken: an element ends behind"),
        (HEAD + ADC + DAC.replace(b"1 != 2", b"&odd;"), 6, "Its XML is broken: undefined entity"),
    ],
)
@pytest.mark.parametrize("size", [1, 1 << 18])
def test_a_document_that_breaks_off_costs_itself_and_makes_no_success(
    content: bytes, line: int, what: str, size: int
) -> None:
    results = read(content, size)

    assert rows(results)[0] == ("adc.zero", "pass")
    [fault] = results.faults
    assert fault.startswith(f":{line}:")
    assert what in fault


TEXTS = st.sampled_from([b"", b"\n", b"log line\n", b"a < b\n", b"<!-- c -->", HEAD])


@given(st.lists(st.tuples(TEXTS, st.booleans()), min_size=1, max_size=6), st.integers(1, 90))
def test_documents_are_found_wherever_the_chunks_end(
    parts: list[tuple[bytes, bool]], size: int
) -> None:
    content = HEAD + ADC + b"".join(text + (ADC if adc else DAC) for text, adc in parts)

    results = read(content, size)

    assert results == read(content)
    assert [name for name, _ in rows(results)] == [
        "adc.zero",
        *("adc.zero" if adc else "dac.full" for _, adc in parts),
    ]


def test_a_text_that_holds_no_document_is_no_result_file(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("booting\nok\n")

    with pytest.raises(ResultsFileError):
        read_results(path, BUILT_IN)


def test_a_page_behind_the_results_is_text() -> None:
    results = read(HEAD + ADC + b"<html>")

    assert rows(results) == [("adc.zero", "pass")]
    assert merged([results]).succeeded


@pytest.mark.parametrize(
    ("second", "what"),
    [
        (b"<report><page/></report>", "It is not JUnit XML: its first element is <report>"),
        (b"<!DOCTYPE testsuite []>\n<testsuite/>", "It declares a document type"),
    ],
)
@pytest.mark.parametrize("size", [1, 1 << 18])
def test_a_document_that_is_refused_takes_no_tests_of_those_before(
    second: bytes, what: str, size: int
) -> None:
    results = read(ADC + DAC + HEAD + second, size)

    assert rows(results) == [("adc.zero", "pass"), ("dac.full", "fail")]
    [fault] = results.faults
    assert what in fault
    assert "2 tests before that counted" in fault


def test_the_last_test_of_a_whole_document_of_pytest_is_in_no_doubt() -> None:
    results = read(b"<testsuite name='pytest' tests='1'><testcase name='a'/></testsuite>" + HEAD)

    assert rows(results) == [("pytest.a", "pass")]
    assert len(results.faults) == 1


@pytest.mark.parametrize(
    ("declared", "notes"),
    [
        (("gbk", "UTF-8"), ["GB18030 and a later one UTF-8"]),
        ((None, "iso-8859-1"), ["UTF-8 and a later one ISO8859-1"]),
        (("utf-8", "klingon"), ["UTF-8 and a later one KLINGON"]),
        *(
            (("gbk", "GB2312"), []),
            (("gbk", None), []),
            (("UTF8", "utf-16"), []),
            ((None, None), []),
        ),
    ],
)
def test_a_document_in_another_encoding_than_the_first_is_named(
    declared: tuple[str | None, str | None], notes: list[str]
) -> None:
    heads = [f"<?xml version='1.0' encoding='{name}'?>" if name else "" for name in declared]
    results = read(heads[0].encode() + ADC + heads[1].encode() + DAC)

    assert rows(results) == [("adc.zero", "pass"), ("dac.full", "fail")]
    assert list(results.notes) == [
        f": Its first document is {note}; it is read as the first. Let all of them be UTF-8"
        for note in notes
    ]
