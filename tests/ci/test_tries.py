# SPDX-License-Identifier: Apache-2.0
"""Results of one name: tries only where something says so, else different tests, else repeats of
which every one has to pass.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwci.ci.results.model import BoxResults, FileResults, merged
from hwci.ci.results.places import Attempt, Place
from hwci.ci.results.read import read_results
from hwci.ci.results.verdicts import BUILT_IN
from hwci.contract.vocabulary import Outcome, Verdict

SAMPLES = Path(__file__).parent / "samples"

Row = tuple[str, str, int]
Read = Callable[..., BoxResults]


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Read files of one box, given as names with their text, in this order."""
    monkeypatch.chdir(tmp_path)

    def from_texts(files: Mapping[str, str], *, by_file: bool = False) -> BoxResults:
        for name, text in files.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text, encoding="utf-8")
        return merged([read_results(Path(name), BUILT_IN) for name in files], by_file=by_file)

    return from_texts


def rows(results: BoxResults) -> list[Row]:
    return [(item.id, item.outcome.value, item.attempts) for item in results.tests]


def suite(name: str, attributes: str = "", **tests: str) -> str:
    """Return a suite with the outcomes of its tests: `p`, `f`, or several in a row."""
    cases = "".join(
        f'<testcase classname="t" name="{test}" time="1">{"<failure/>" * (sign == "f")}</testcase>'
        for test, signs in tests.items()
        for sign in signs
    )
    return f'<testsuite name="{name}" {attributes}>{cases}</testsuite>'


def within(name: str, *suites: str) -> str:
    """Return suites in one around them."""
    return f'<testsuite name="{name}">{"".join(suites)}</testsuite>'


def document(*suites: str) -> str:
    """Return a file of suites."""
    return f"<testsuites>{''.join(suites)}</testsuites>"


def board(name: str) -> str:
    return f'<properties><property name="platform" value="{name}"/></properties>'


def with_board(text: str, name: str) -> str:
    return text.replace("><testcase", f">{board(name)}<testcase", 1)


# Different tests


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (
            {"1.xml": suite("frdm", a="f"), "2.xml": suite("nucleo", a="p")},
            ("frdm.t.a", "nucleo.t.a"),
        ),
        (
            {
                "1.xml": with_board(suite("hil", a="f"), "frdm"),
                "2.xml": with_board(suite("hil", a="p"), "nucleo"),
            },
            ("frdm.t.a", "nucleo.t.a"),
        ),
        (
            {
                "1.xml": suite("hil", 'platform="frdm"', a="f"),
                "2.xml": suite("hil", 'platform="nucleo"', a="p"),
            },
            ("frdm.t.a", "nucleo.t.a"),
        ),
        (
            {
                "1.xml": suite("pytest", 'hostname="bench-a"', a="f"),
                "2.xml": suite("pytest", 'hostname="bench-b"', a="p"),
            },
            ("bench-a.t.a", "bench-b.t.a"),
        ),
        (
            {
                "1.xml": within("frdm", suite("x", a="f")),
                "2.xml": within("nucleo", suite("x", a="p")),
            },
            ("frdm.x.t.a", "nucleo.x.t.a"),
        ),
        (
            {
                "1.xml": suite("hil", 'configuration="debug"', a="f"),
                "2.xml": suite("hil", 'configuration="release"', a="p"),
            },
            ("debug.t.a", "release.t.a"),
        ),
        (
            {"frdm.xml": suite("Uart", a="f"), "nucleo.xml": suite("Uart", a="p")},
            ("frdm.t.a", "nucleo.t.a"),
        ),
        (
            {"frdm/r.xml": suite("U", a="f"), "nucleo/r.xml": suite("U", a="p")},
            ("frdm.t.a", "nucleo.t.a"),
        ),
        (
            {
                "frdm.xml": suite("U", 'hostname="3f9ac0b1d2e4"', a="f"),
                "nucleo.xml": suite("U", 'hostname="a09ac0b1d2e5"', a="p"),
            },
            ("frdm.t.a", "nucleo.t.a"),
        ),
    ],
    ids=[
        "suite",
        "property",
        "attribute",
        "host",
        "path",
        "variant",
        "file",
        "folder",
        "containers",
    ],
)
def test_a_pass_in_another_place_heals_no_failure(
    read: Read, files: Mapping[str, str], names: tuple[str, str]
) -> None:
    expected = [(names[0], "fail", 1), (names[1], "pass", 1)]

    assert rows(read(files)) == expected
    assert sorted(rows(read(dict(reversed(list(files.items())))))) == expected


def test_places_of_one_file_are_told_apart_as_those_of_several(read: Read) -> None:
    case = '<testcase classname="t" name="a">{0}</testcase>'
    boards = [case.format(board("frdm") + "<failure/>"), case.format(board("nucleo"))]
    nested = [within("frdm", suite("x", a="f")), within("nucleo", suite("x", a="p"))]

    assert rows(read({"1.xml": within("x", *boards)})) == [
        ("frdm.t.a", "fail", 1),
        ("nucleo.t.a", "pass", 1),
    ]
    assert rows(read({"1.xml": document(*nested)})) == [
        ("frdm.x.t.a", "fail", 1),
        ("nucleo.x.t.a", "pass", 1),
    ]


def test_all_tests_of_files_that_share_a_name_get_the_prefix_and_those_of_others_none(
    read: Read,
) -> None:
    results = read(
        {
            "frdm.xml": suite("U", a="p", b="p"),
            "nucleo.xml": suite("U", a="p"),
            "host.xml": suite("U", c="p"),
        }
    )

    assert [row[0] for row in rows(results)] == ["frdm.t.a", "frdm.t.b", "nucleo.t.a", "t.c"]
    [note] = results.notes
    assert note.startswith(
        "2 files hold tests of the same names: they are different tests, and are named after where"
        " they ran: frdm, nucleo. "
    )


def test_what_tells_apart_is_as_little_as_does_it(read: Read) -> None:
    """Two boards run two suites each: neither the board nor the suite is enough."""
    results = read(
        {
            f"{name}.xml": document(suite("smoke", a="p"), suite("full", a="p"))
            for name in ("frdm", "nucleo")
        }
    )

    assert [row[0] for row in rows(results)] == [
        "smoke.frdm.t.a",
        "full.frdm.t.a",
        "smoke.nucleo.t.a",
        "full.nucleo.t.a",
    ]


def test_a_name_does_not_depend_on_what_was_skipped(read: Read) -> None:
    skipped = '<testcase classname="t" name="a"><skipped/></testcase>'
    results = read({"1.xml": document(suite("frdm", a="p"), within("nucleo", skipped))})

    assert rows(results) == [("frdm.t.a", "pass", 1)]


def test_failures_outside_any_test_change_no_name_and_are_named_by_their_files(
    read: Read,
) -> None:
    outside = '<testsuite name="NonTestSuiteFailure"><failure message="x"/></testsuite>'
    results = read(
        {f"{name}.xml": document(suite("U", **{name: "p"}), outside) for name in ("adc", "spi")}
    )

    assert rows(results) == [
        ("t.adc", "pass", 1),
        ("adc.NonTestSuiteFailure", "fail", 1),
        ("t.spi", "pass", 1),
        ("spi.NonTestSuiteFailure", "fail", 1),
    ]


def test_boards_of_several_files_of_twister_are_different_tests(read: Read) -> None:
    def of(platform: str, status: str) -> str:
        case = {"identifier": "k.sem", "status": status, "execution_time": "1.5"}
        one = {"name": "k", "platform": platform, "status": status, "testcases": [case]}
        return json.dumps({"testsuites": [one]})

    results = read(
        {"1/twister.json": of("frdm", "failed"), "2/twister.json": of("nucleo", "passed")}
    )

    assert rows(results) == [("frdm.k.sem", "fail", 1), ("nucleo.k.sem", "pass", 1)]


# Tries


FIRST = suite("hil", a="p", b="f", c="f")


@pytest.mark.parametrize("second", ["second.xml", "lf.xml", "x/first.xml", "a.xml"])
def test_a_later_file_of_nothing_but_failed_tests_tried_them_again(read: Read, second: str) -> None:
    results = read({"first.xml": FIRST, second: suite("hil", b="p", c="f")})

    assert rows(results) == [("t.a", "pass", 1), ("t.b", "pass", 2), ("t.c", "fail", 2)]
    [note] = results.notes
    assert note == (
        f"{second}: 2 tests counted as tried again: all of them had failed before, in first.xml,"
        " and nothing else is there."
    )


def test_failures_are_tried_again_as_often_as_files_say(read: Read) -> None:
    results = read(
        {
            "1.xml": FIRST,
            "2.xml": suite("hil", b="p", c="f"),
            "3.xml": suite("hil", c="f"),
            "4.xml": suite("hil", c="p"),
        }
    )

    assert rows(results) == [("t.a", "pass", 1), ("t.b", "pass", 2), ("t.c", "pass", 4)]


def test_one_file_tries_the_failures_of_several_again(read: Read) -> None:
    results = read(
        {
            "adc.xml": suite("x", a="p", b="f"),
            "spi.xml": suite("x", c="f"),
            "again.xml": suite("x", b="p", c="p"),
        }
    )

    assert rows(results) == [("t.a", "pass", 1), ("t.b", "pass", 2), ("t.c", "pass", 2)]


def test_a_later_suite_of_one_file_tries_failures_again(read: Read) -> None:
    later = suite("hil", b="p", c="f")
    results = read({"1.xml": document(FIRST, later)})

    assert rows(results) == [("t.a", "pass", 1), ("t.b", "pass", 2), ("t.c", "fail", 2)]


@pytest.mark.parametrize(
    "second",
    [
        suite("hil", a="p", b="p", c="p"),  # all tests: another configuration
        suite("hil", b="p", d="p"),  # a test that had not run before
        suite("hil", 'hostname="bench-b"', b="p", c="p"),
    ],
)
def test_a_file_that_holds_more_or_ran_elsewhere_tried_nothing_again(
    read: Read, second: str
) -> None:
    results = read({"one.xml": FIRST, "two.xml": second})

    assert ("one.t.b", "fail", 1) in rows(results) or ("t.b", "fail", 1) in rows(results)
    assert all(attempts == 1 for _, _, attempts in rows(results))


def test_where_everything_failed_a_second_file_may_be_another_board(read: Read) -> None:
    results = read({"one.xml": suite("x", a="f"), "two.xml": suite("x", a="p")})

    assert rows(results) == [("one.t.a", "fail", 1), ("two.t.a", "pass", 1)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("first.xml", "second.xml"),
        ("hil.xml", "hil-lf.xml"),
        ("hil-20261128.xml", "failed-hil-20261129.xml"),
        ("first.xml", "last-failed.xml"),
        ("first.xml", "2nd/again.xml"),
    ],
)
def test_where_everything_failed_the_name_of_the_second_file_may_say_what_it_is(
    read: Read, first: str, second: str
) -> None:
    results = read({first: suite("x", a="f", b="f"), second: suite("x", a="p", b="f")})

    assert rows(results) == [("t.a", "pass", 2), ("t.b", "fail", 2)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("first_board.xml", "second_board.xml"),
        ("nucleo.xml", "frdm_failed.xml"),
        ("1/nucleo.xml", "2/third-nrf52.xml"),
    ],
)
def test_a_word_in_the_name_of_another_board_s_file_heals_no_failure(
    read: Read, first: str, second: str
) -> None:
    results = read({first: suite("x", a="f"), second: suite("x", a="p")})

    assert [row[1:] for row in rows(results)] == [("fail", 1), ("pass", 1)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("hil.xml", "hil_rerun.xml"),
        ("attempt-1/o.xml", "attempt-2/o.xml"),
        ("o_try9.xml", "o_try10.xml"),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_what_failed_in_the_last_try_failed_in_whatever_order_the_files_are_named(
    read: Read, first: str, second: str, turned: bool
) -> None:
    files = {first: suite("x", a="f", b="p", c="p"), second: suite("x", a="p", b="f", c="p")}
    results = read(dict(reversed(files.items())) if turned else files)

    assert sorted(rows(results)) == [("t.a", "pass", 2), ("t.b", "fail", 1), ("t.c", "pass", 1)]


def test_a_prefix_has_only_the_folders_that_differ(read: Read) -> None:
    paths = ("m1/a.xml", "m1/b.xml", "m2/a.xml", "m2/b.xml")
    results = read({path: suite("x", a="f", b="p") for path in paths})

    assert [name for name, *_ in rows(results)][::2] == [
        f"{path.removesuffix('.xml')}.t.a" for path in paths
    ]


def test_what_ran_at_the_same_time_was_not_tried_again(read: Read) -> None:
    first = suite("hil", 'time="60" timestamp="2026-11-28T12:00:00Z"', a="p", b="f", c="f")

    def second(at: str) -> list[Row]:
        later = suite("hil", f'time="1" timestamp="2026-11-28T12:{at}Z"', b="p", c="p")
        return rows(read({"1.xml": first, "2.xml": later}))

    assert second("01:00") == [("t.a", "pass", 1), ("t.b", "pass", 2), ("t.c", "pass", 2)]
    assert [row[1:] for row in second("00:30")] == [
        *(("pass", 1), ("fail", 1), ("fail", 1)),
        *(("pass", 1), ("pass", 1)),
    ]


def test_files_are_in_the_order_in_which_their_tests_began(read: Read) -> None:
    later = suite("x", 'timestamp="2026-11-28T12:09:00Z"', b="p")
    first = suite("x", 'timestamp="2026-11-28T12:00:00Z"', a="p", b="f")

    assert rows(read({"a-lf.xml": later, "all.xml": first})) == [
        ("t.a", "pass", 1),
        ("t.b", "pass", 2),
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("results.xml", "results-rerun.xml"),
        ("results.xml", "retry.xml"),
        ("attempt-1.xml", "attempt-2.xml"),
        ("attempt_1/hil.xml", "attempt_2/hil.xml"),
        ("hil/test.xml", "hil/test_attempts/attempt_1.xml"),
        ("out/hil (try 1 of 2).xml", "out/hil (try 2 of 2).xml"),
        ("rerun1.xml", "rerun2.xml"),
    ],
)
def test_a_name_that_says_so_makes_a_try(read: Read, first: str, second: str) -> None:
    """Even of everything again."""
    results = read({first: suite("x", a="f"), second: suite("x", a="p")})

    assert rows(results) == [("t.a", "pass", 2)]


def test_a_suite_whose_name_says_so_is_a_try(read: Read) -> None:
    suites = [suite("hil", a="f", b="p"), suite("hil (attempt 2)", a="p", b="p")]

    assert rows(read({"1.xml": document(*suites)})) == [
        ("t.a", "pass", 2),
        ("t.b", "pass", 1),
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("frdm-retry.xml", "nucleo-retry.xml"),
        ("retry/frdm.xml", "retry/nucleo.xml"),
        ("frdm/retry.xml", "nucleo/retry.xml"),
        ("frdm.xml", "nucleo-rerun.xml"),
        ("RetryTest.xml", "Backoff.xml"),
        ("entry.xml", "country.xml"),
    ],
)
def test_a_try_of_one_file_is_none_of_another(read: Read, first: str, second: str) -> None:
    results = read({first: suite("x", a="f"), second: suite("x", a="p")})

    assert [row[1:] for row in rows(results)] == [("fail", 1), ("pass", 1)]


def test_suites_that_test_retries_are_no_tries(read: Read) -> None:
    suites = [suite("Retry", a="f"), suite("Attempt", a="p")]

    assert rows(read({"1.xml": document(*suites)})) == [
        ("Retry.t.a", "fail", 1),
        ("Attempt.t.a", "pass", 1),
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("", 'retry="1"'),
        ("", 'rerun="true"'),
        ('attempt="1"', 'attempt="2"'),
        ('retry="0"', 'retry="1"'),
        ('status="failed"', 'retry-count="1"'),
    ],
)
def test_a_number_of_the_try_makes_a_try(read: Read, first: str, second: str) -> None:
    cases = f'<testcase name="a" {first}><failure/></testcase><testcase name="a" {second}/>'

    assert rows(read({"1.xml": within("x", cases)})) == [("x.a", "pass", 2)]


def test_a_number_of_the_iteration_makes_no_try(read: Read) -> None:
    cases = '<testcase name="a"><failure/></testcase><testcase name="a" iteration="1"/>'

    assert rows(read({"1.xml": within("x", cases)})) == [("x.a", "fail", 1)]


@pytest.mark.parametrize("said", ['retries="2"', 'reruns="2"'])
def test_a_test_was_tried_as_often_as_its_result_says(read: Read, said: str) -> None:
    cases = f'<testcase name="a" {said}/><testcase name="b" {said}><failure/></testcase>'

    assert rows(read({"1.xml": within("x", cases)})) == [("x.a", "pass", 3), ("x.b", "fail", 3)]


@pytest.mark.parametrize("many", ["0", "-1", "no", "", "99999999"])
def test_a_number_of_tries_that_is_none_or_too_large_has_bounds(read: Read, many: str) -> None:
    [(_, outcome, attempts)] = rows(
        read({"1.xml": within("x", f'<testcase name="a" retries="{many}"/>')})
    )

    assert (outcome, attempts) == ("pass", 1001 if many == "99999999" else 1)


# Repeats


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pytest/stress-1.0.1.xml", {"ping": ("pass", 1), "flaky": ("fail", 1)}),
        # Its one try that failed is told from its repeats by what the suite counts.
        (
            "pytest/stress-1.0.1-rerunfailures-16.7.xml",
            {"ping": ("pass", 1), "flaky": ("pass", 2)},
        ),
        ("pytest/keep-duplicates-9.2.xml", {"ping": ("pass", 1), "flaky": ("fail", 1)}),
        ("pytest/repeat-0.9.4.xml", {"ping[1-3]": ("pass", 1), "flaky[2-3]": ("fail", 1)}),
        ("nextest_stress.xml", {"bench::adc.boots": ("pass", 1), "bench::adc.reads": ("fail", 1)}),
        ("robot_suites.xml", {"R.Dup.Boots": ("fail", 1)}),
        ("gotestsum.xml", {"TestEcho": ("pass", 1), "TestBaud/115200": ("fail", 1)}),
        # It marks no rerun: TestFlaky failed and then passed, TestBaud failed three times.
        ("gotestsum_rerun.xml", {"TestFlaky": ("fail", 1), "TestBaud": ("fail", 1)}),
        (
            "nextest_retries.xml",
            {"bench::adc.flaky": ("pass", 2), "bench::adc.broken": ("fail", 3)},
        ),
    ],
)
def test_soaks_and_duplicates_of_real_tools_are_no_tries(
    name: str, expected: Mapping[str, tuple[str, int]]
) -> None:
    results = merged([read_results(SAMPLES / name, BUILT_IN)])
    found = {item.id: (item.outcome.value, item.attempts) for item in results.tests}

    for test, row in expected.items():
        assert [own for own_id, own in found.items() if own_id.endswith(test)] == [row]


@given(st.lists(st.text("pf", min_size=1, max_size=4), min_size=1, max_size=4))
def test_a_test_that_is_repeated_passes_if_every_repeat_does(suites: list[str]) -> None:
    """However its repeats are spread over suites of one name."""
    attempts = [
        Attempt(
            "a",
            Outcome.FAIL if sign == "f" else Outcome.PASS,
            1.0,
            Verdict.UNKNOWN,
            place=Place(("x",), number=number),
        )
        for number, signs in enumerate(suites)
        for sign in signs
    ]
    [item] = merged([FileResults(attempts, 0, None, 0.0)]).tests

    assert item.outcome == ("fail" if "f" in "".join(suites) else "pass")
    assert (item.attempts, item.duration_s) == (1, len(attempts))


OUTCOMES = st.dictionaries(st.sampled_from("abcd"), st.sampled_from("pf"), min_size=1)


@given(st.lists(OUTCOMES, min_size=1, max_size=4), st.booleans())
def test_without_a_word_of_tries_no_failure_is_lost(
    files: Sequence[Mapping[str, str]], boards: bool
) -> None:
    """On boards of their own; or in files of which each holds the same tests."""
    held = files if boards else [{**files[0], **file} for file in files]
    same = {test for file in held for test in file}
    held = held if boards else [{**dict.fromkeys(same, "p"), **file} for file in held]
    read = [
        FileResults(
            [
                Attempt(
                    test,
                    Outcome.FAIL if sign == "f" else Outcome.PASS,
                    1.0,
                    Verdict.UNKNOWN,
                    place=Place(("x",), board=f"board{number}" if boards else ""),
                )
                for test, sign in file.items()
            ],
            0,
            None,
            0.0,
            path=f"file{number}.xml",
        )
        for number, file in enumerate(held)
    ]
    results = merged(read)

    assert len(results.tests) == sum(map(len, held))
    assert sum(item.outcome == "fail" for item in results.tests) == sum(
        sign == "f" for file in held for sign in file.values()
    )
    assert {item.attempts for item in results.tests} == {1}
    assert merged(read, by_file=True).succeeded == results.succeeded


# One run in several files


def test_one_run_that_twister_wrote_into_two_files_counts_once(read: Read) -> None:
    xml = (
        '<testsuites><testsuite name="frdm" timestamp="2026-11-28T12:00:00.4Z" time="3">'
        '<testcase classname="k" name="k.sem" time="1.50"/>'
        '<testcase classname="k" name="k.fifo" time="0.70"><failure message="x"/></testcase>'
        '<testcase classname="k" name="k.pipe" time="0.31"/>'
        "</testsuite></testsuites>"
    )
    cases = [
        {"identifier": "k.sem", "status": "passed", "execution_time": "1.50"},
        {"identifier": "k.fifo", "status": "failed", "execution_time": "0.70"},
        {"identifier": "k.pipe", "status": "passed", "execution_time": "0.31"},
    ]
    one = {"name": "k", "platform": "frdm", "runnable": True, "testcases": cases}
    environment = {"run_date": "2026-11-28T12:00:00+00:00"}
    results = read(
        {
            "twister.xml": xml,
            "frdm.xml": xml,
            "twister.json": json.dumps({"environment": environment, "testsuites": [one]}),
        }
    )

    assert rows(results) == [("k.sem", "pass", 1), ("k.fifo", "fail", 1), ("k.pipe", "pass", 1)]
    assert [note.partition(":")[0] for note in results.notes] == ["frdm.xml", "twister.json"]


@pytest.mark.parametrize(
    "second",
    [
        suite("x", 'timestamp="2026-11-28T12:00:00Z"', a="p", b="f"),
        suite("x", 'timestamp="2026-11-28T12:00:00Z"', a="p", b="p"),
        suite("x", 'timestamp="2026-11-28T12:05:00Z"', a="p", b="p"),
        suite("x", a="p", b="p"),
        suite("x", 'timestamp="2026-11-28T12:00:00Z"', a="p", b="p").replace("1", "2", 1),
    ],
)
def test_files_that_differ_or_may_be_of_two_boards_are_no_copies(read: Read, second: str) -> None:
    first = suite("x", 'timestamp="2026-11-28T12:00:00Z"', a="p", b="p")

    assert len(rows(read({"one.xml": first, "two.xml": second}))) == 4


# Names that a history has


def test_each_file_may_name_its_tests_by_itself_and_heals_none_of_another(read: Read) -> None:
    files = {"1.xml": suite("frdm", a="f", b="p"), "2.xml": suite("n", a="p", c="p")}
    results = read(files, by_file=True)

    assert rows(results) == [("t.a", "fail", 1), ("t.b", "pass", 1), ("t.c", "pass", 1)]
    assert "1 test ran several times" in results.notes[0]


def test_by_file_boards_of_one_file_keep_their_prefix_and_failures_are_tried_again(
    read: Read,
) -> None:
    suites = [suite("frdm", a="f", b="p"), suite("nucleo", a="p", b="p")]
    results = read(
        {"1.xml": document(*suites), "2.xml": suite("frdm", a="p")},
        by_file=True,
    )

    assert rows(results)[0] == ("frdm.t.a", "pass", 2)
    assert {attempts for _, _, attempts in rows(results)[1:]} == {1}
