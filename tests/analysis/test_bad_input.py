# SPDX-License-Identifier: Apache-2.0
"""Histories that say too little, or contradict themselves: each answer says so, and none fails."""

from collections.abc import Sequence

import pytest

from hwci.analysis.benches.report import KnownOfBoxes, benches
from hwci.analysis.failures.gaps import budget
from hwci.analysis.failures.incidents import incidents
from hwci.analysis.failures.what_if import what_if
from hwci.analysis.flaky.suspects import flaky_tests
from hwci.analysis.merges.merge_plan import plan
from hwci.analysis.merges.unchecked import explain
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import Label
from hwci.engine.facts import Facts, Report
from hwci.engine.rules.labels import groups_of
from hwci.wire.queries import SuspectsQuery
from tests.analysis.bad_histories import HISTORIES, RUNS, rebased
from tests.engine.timeline import (
    ALL,
    EVER,
    MAIN,
    ORG,
    REPO,
    SUITE,
    minute,
)
from tests.support.outcomes import FullRecordedRuns
from tests.support.reading import read_period

QUERY = SuspectsQuery()


@pytest.mark.parametrize("name", HISTORIES)
def test_no_answer_fails_or_compares_what_cannot_be_compared(name: str) -> None:
    merge = Merge(REPO, SUITE, "fffffff", MAIN, minute(1))
    history = FullRecordedRuns(ORG, Facts((merge,), tuple(HISTORIES[name])))
    about = history, ALL, EVER
    compared = benches(*about, 100, KnownOfBoxes({}, {}))
    suspects = flaky_tests(*about, QUERY.selection, QUERY.rank_by)
    found = incidents(*about)
    merges = read_period(*about).unchecked_merges

    assert not any(box.comparison for box in compared.boxes)
    assert not compared.tests
    assert all(one.found or one.missing for one in suspects.items)
    assert len(explain(history, merges)) == len(merges) == 1
    planned = plan(*about, merges)
    assert len(planned.runs) + len(planned.unplanned) == 1
    assert bool(planned.runs) == bool(HISTORIES[name])
    budget(*about)
    groups = groups_of(history, history.failures(ALL, EVER))
    failing = [one for one in groups if one.label is not Label.FLAKE]
    assert sum(len(one.failed) for one in found) == len(failing)
    assert max((one.times for one in found), default=1) == 1
    for group in failing[:20]:
        what_if(history, group)


def test_a_circle_of_commits_has_no_order_and_gives_no_figure() -> None:
    listed = {sha for one in HISTORIES["rebased in circles"] for sha in _shas(one)}
    assert len(listed) == RUNS
    history = FullRecordedRuns(ORG, Facts(reports=tuple(rebased())))
    [one] = flaky_tests(history, ALL, EVER, QUERY.selection, QUERY.rank_by).items
    assert one.found is None
    assert (one.missing or "").startswith("the order of the commits is not known")


def _shas(one: Report) -> Sequence[str]:
    return [] if one.changes is None else [each.sha for each in one.changes.commits]
