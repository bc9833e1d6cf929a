# SPDX-License-Identifier: Apache-2.0
"""A machine notices when a report would replace that of another job in silence."""

import os
from pathlib import Path

import pytest

from hwci.ci import reported
from hwci.ci.reported import Reported
from hwci.engine.vocabulary import Outcome
from hwci.wire.reports import RunReport
from tests.ci.test_summary import report

ONE = report("bench-1", ("a", Outcome.FAIL, 1), suite="s")


@pytest.fixture
def known(tmp_path: Path) -> Reported:
    found = Reported(tmp_path / "state")
    found.keep([ONE])
    return found


def test_the_same_report_again_replaces_nobody_elses(known: Reported) -> None:
    assert known.replaced(report("bench-1", ("a", Outcome.PASS, 3), suite="s")) is None


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (report("bench-1", ("b", Outcome.FAIL, 1), suite="s"), "one of other tests"),
        (report("bench-1", suite="s"), "one of other tests"),
        (report("bench-1", ("a", Outcome.FAIL, 1), suite="t"), "one of product s"),
        (report("bench-1", ("b", Outcome.FAIL, 1), suite="t"), "one of product s"),
    ],
    ids=["other tests", "no tests", "another product", "both"],
)
def test_a_report_of_something_else_under_the_same_identity_is_noticed(
    known: Reported, other: RunReport, said: str
) -> None:
    assert known.replaced(other) == said


@pytest.mark.parametrize("field", ["run_id", "run_attempt"])
def test_another_run_or_attempt_is_another_report(known: Reported, field: str) -> None:
    assert known.replaced(report("bench-1", ("b", Outcome.FAIL, 1), **{field: 2})) is None
    assert known.replaced(report("bench-2", ("b", Outcome.FAIL, 1))) is None


def test_what_is_taken_back_was_never_remembered(known: Reported) -> None:
    other, new = report("bench-1", suite="t"), report("bench-2", suite="t")

    known.keep([other, new])()

    assert known.replaced(other) == "one of product s"
    assert known.replaced(report("bench-2", suite="u")) is None


def test_where_nothing_can_be_remembered_nothing_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (None, tmp_path / "file"):
        nowhere = Reported(folder)
        nowhere.keep([ONE])
        assert nowhere.replaced(report("bench-1", suite="t")) is None


def test_only_the_newest_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reported, "KEPT", 2)
    known = Reported(tmp_path)
    folder = tmp_path / "reported"
    folder.mkdir()
    (folder / ".new-half").touch()  # of a process that was killed
    for run_id in (1, 2, 3):
        before = set(folder.iterdir())
        known.keep([report(run_id=run_id)])
        (new,) = set(folder.iterdir()) - before
        os.utime(new, ns=(run_id, run_id))

    assert len(list(folder.iterdir())) == 2
    noticed = [known.replaced(report(run_id=number, suite="t")) for number in (1, 2, 3)]
    assert [said is not None for said in noticed] == [False, True, True]
