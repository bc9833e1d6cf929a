# SPDX-License-Identifier: Apache-2.0
"""A machine notices when a report would replace that of another job in silence."""

import os
from pathlib import Path

import pytest

from hwci.ci import reported
from hwci.ci.reported import Reported
from hwci.engine.vocabulary import Outcome
from tests.ci.test_summary import report

ONE = report("bench-1", ("a", Outcome.FAIL, 1), suite="s")


@pytest.fixture
def known(tmp_path: Path) -> Reported:
    found = Reported(tmp_path / "state")
    found.keep([ONE])
    return found


def test_the_same_report_again_replaces_nobody_elses(known: Reported) -> None:
    assert not known.replaces_others(report("bench-1", ("a", Outcome.PASS, 3), suite="s"))


@pytest.mark.parametrize(
    "other",
    [
        report("bench-1", ("b", Outcome.FAIL, 1), suite="s"),
        report("bench-1", ("a", Outcome.FAIL, 1), suite="t"),
        report("bench-1", suite="s"),
    ],
    ids=["other tests", "another product", "no tests"],
)
def test_a_report_of_something_else_under_the_same_identity_is_noticed(
    known: Reported, other: object
) -> None:
    assert known.replaces_others(other)  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["run_id", "run_attempt"])
def test_another_run_or_attempt_is_another_report(known: Reported, field: str) -> None:
    assert not known.replaces_others(report("bench-1", ("b", Outcome.FAIL, 1), **{field: 2}))
    assert not known.replaces_others(report("bench-2", ("b", Outcome.FAIL, 1)))


def test_where_nothing_can_be_remembered_nothing_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (None, tmp_path / "file"):
        nowhere = Reported(folder)
        nowhere.keep([ONE])
        assert not nowhere.replaces_others(report("bench-1", suite="t"))


def test_only_the_newest_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reported, "KEPT", 2)
    known = Reported(tmp_path)
    for run_id in (1, 2, 3):
        known.keep([report(run_id=run_id)])
        newest = max((tmp_path / "reported").iterdir(), key=lambda path: path.stat().st_mtime_ns)
        os.utime(newest, ns=(run_id, run_id))

    assert len(list((tmp_path / "reported").iterdir())) == 2
    noticed = [known.replaces_others(report(run_id=number, suite="t")) for number in (1, 2, 3)]
    assert noticed == [False, True, True]
