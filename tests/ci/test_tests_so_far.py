# SPDX-License-Identifier: Apache-2.0
"""The tests of a run as its files show them while they are written."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from hwci.ci.reporting import tests_so_far as module
from hwci.ci.reporting import times_of
from hwci.ci.reporting.tests_so_far import TestsSoFar
from hwci.wire import limits

State = tuple[str, str | None, int | None]


def news(tests: TestsSoFar) -> Sequence[State]:
    return [(one.id, one.outcome, one.attempts) for batch in tests.news() for one in batch.events]


def junit(*names: str) -> str:
    return "".join(f'<testcase classname="t" name="{name}"/>' for name in names)


def twister(**cases: str) -> str:
    found = [{"identifier": name, "status": status} for name, status in cases.items()]
    suite = {"name": "a", "platform": "b", "runnable": True, "testcases": found}
    return json.dumps({"testsuites": [suite]})


def plugin(*lines: Mapping[str, object]) -> str:
    head: Mapping[str, object] = {"kind": "hwci-results", "version": 1}
    return "".join(json.dumps(line) + "\n" for line in (head, *lines))


def test_a_file_of_twister_is_read_again_once_it_was_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "twister.json"
    tests = TestsSoFar([str(path)], {})

    assert news(tests) == []
    path.write_text(twister(boot="passed", i2c="failed"))
    assert news(tests) == [("a.boot", "pass", 1), ("a.i2c", "fail", 1)]
    assert news(tests) == []
    path.write_text(twister(boot="passed")[:30])  # while it is written
    assert news(tests) == []
    path.write_text(twister(boot="passed", i2c="failed", spi="passed"))
    assert news(tests) == [("a.spi", "pass", 1)]


def test_a_test_that_is_tried_again_runs_until_that_try_ends(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    tests = TestsSoFar([str(path)], {})
    begun, failed = {"begun": "t.py::a"}, {"tried": "t.py::a", "outcome": "fail", "again": True}

    path.write_text(plugin(begun)[:-4])  # its line is not whole
    assert news(tests) == []
    path.write_text(plugin(begun))
    assert news(tests) == [("t.a", None, None)]
    path.write_text(plugin(begun, failed))
    assert news(tests) == [("t.a", "fail", 1)]
    path.write_text(plugin(begun, failed, begun))
    assert news(tests) == [("t.a", None, None)]
    path.write_text(plugin(begun, failed, begun, {"tried": "t.py::a", "outcome": "pass"}))
    assert news(tests) == [("t.a", "pass", 2)]


@pytest.mark.parametrize("by_file", [False, True])
def test_tests_of_several_files_are_named_as_they_will_be_reported(
    tmp_path: Path, by_file: bool
) -> None:
    for board in ("frdm", "nucleo"):
        (tmp_path / f"{board}.xml").write_text(f"<testsuite>{junit('a')}</testsuite>")
    tests = TestsSoFar([str(tmp_path / "*.xml")], {}, by_file=by_file)

    names = ["t.a"] if by_file else ["frdm.t.a", "nucleo.t.a"]
    assert news(tests) == [(name, "pass", 1) for name in names]


def test_a_batch_that_was_not_taken_comes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "RUN_EVENTS_MAX", 2)
    (tmp_path / "r.xml").write_text(f"<testsuite>{junit('a', 'b', 'c')}</testsuite>")
    tests = TestsSoFar([str(tmp_path / "*.xml")], {})

    batches = tests.news()
    next(batches)
    assert [one.id for one in next(batches).events] == ["t.c"]
    batches.close()

    assert news(tests) == [("t.c", "pass", 1)]


def test_what_was_there_before_the_run_or_is_no_file_or_is_too_large_has_no_news(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BYTES_MAX", 100)
    (tmp_path / "old.xml").write_text(f"<testsuite>{junit('old')}</testsuite>")
    pattern = str(tmp_path / "*")
    tests = TestsSoFar([pattern], times_of([pattern]))
    (tmp_path / "folder.xml").mkdir()
    (tmp_path / "noise.xml").write_bytes(bytes(range(32)))
    (tmp_path / "large.xml").write_text(f"<testsuite>{junit('a', 'b', 'c')}</testsuite>")

    assert news(tests) == []


def test_a_live_run_has_no_more_tests_than_the_server_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LIVE_TESTS_MAX", 2)
    (tmp_path / "r.xml").write_text(f"<testsuite>{junit('a', 'b', 'c')}</testsuite>")

    assert [name for name, _, _ in news(TestsSoFar([str(tmp_path / "r.xml")], {}))] == [
        "t.a",
        "t.b",
    ]
