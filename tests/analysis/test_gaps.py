# SPDX-License-Identifier: Apache-2.0
"""What filling a gap decides is within the range that was said, whatever CI really left out."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from hwci.analysis.failures.gaps import Decides, Filling, budget
from hwci.contract.failures.explanations import Gaps
from hwci.contract.runs.commits import ChangeList, Commit
from hwci.contract.vocabulary import FailureClass, Gap, Label, Outcome, Verdict
from hwci.engine.facts import Facts, Product, Report, SuiteConfig
from hwci.engine.history import OutOfTimeError
from hwci.engine.rules.classify import Classifier
from hwci.engine.rules.labels import Group, groups_of
from tests.analysis.hurried import HurriedRuns
from tests.engine.timeline import (
    ALL,
    CONFIG,
    EVER,
    ORG,
    REPO,
    SUITE,
    Past,
    changes,
    commit,
    minute,
    report,
    seen,
)
from tests.support.outcomes import FullRecordedRuns
from tests.support.soak import rounds

Counts = tuple[list[tuple[Gap, int, int, int]], tuple[int, int, int], int, int]
NONE: Counts = ([], (0, 0, 0), 0, 0)


def counted(found: Gaps) -> Counts:
    """Return the numbers of an answer: of each gap, of all together, and of how many failures."""
    gaps = [(one.gap, one.failures, one.at_least, one.at_most) for one in found.gaps]
    all_gaps = found.together
    together = (all_gaps.failures, all_gaps.at_least, all_gaps.at_most)
    return gaps, together, found.ambiguous, found.looked_at


def whole(draw: random.Random) -> Facts:
    """Draw commits that one box ran in order, each with all that CI can send. Some commits are
    pushed together, and only the last of a push is tested.
    """
    reports: list[Report] = []
    before = "0" * 7
    listed = []
    for number in range(1, 16):
        sha = f"{number:07x}"
        words = draw.choice(["fw", "fw", "fw", "hs", "fw hs", "doc"])
        listed.append(commit(sha, words))
        if draw.random() < 0.3:
            continue
        outcome = draw.choice("FFFIPPP")
        reports.append(report(f"{sha}:{outcome}", number, sent=changes(before, *listed)))
        before, listed = sha, []
    return Facts(reports=tuple(reports), configs={Product(REPO, SUITE): CONFIG})


def spoiled(draw: random.Random, facts: Facts, gap: Gap) -> Facts:
    """Leave out what makes a gap."""
    if gap is Gap.NO_CONFIGURATION:
        return replace(facts, configs={})
    reports = (without(draw, one, gap) if draw.random() < 0.4 else one for one in facts.reports)
    return replace(facts, reports=tuple(reports))


def without(draw: random.Random, one: Report, gap: Gap) -> Report:
    lists = one.changes
    if lists is None:
        return one
    if gap is Gap.NO_VERDICT:
        if one.tests[0].outcome is Outcome.PASS:
            return one
        return replace(one, tests=(replace(one.tests[0], verdict=Verdict.UNKNOWN),))
    if gap is not Gap.CUT_LISTS:
        return replace(one, changes=None)
    if len(lists.commits) > 1 and draw.random() < 0.5:
        cut = replace(lists, commits=lists.commits[1:], truncated=True)
    else:
        first = replace(lists.commits[0], files=lists.commits[0].files[:-1], files_truncated=True)
        cut = replace(lists, commits=(first, *lists.commits[1:]))
    return replace(one, changes=cut)


def ambiguous(facts: Facts) -> Iterator[tuple[FullRecordedRuns, Group]]:
    history = FullRecordedRuns(ORG, facts)
    for group in groups_of(history, history.failures(ALL, EVER)):
        if group.label is Label.RESOLVED and class_of(facts, group) is FailureClass.AMBIGUOUS:
            yield history, group


def recorded(past: Past) -> FullRecordedRuns:
    return FullRecordedRuns(ORG, past.facts)


def class_of(facts: Facts, group: Group) -> FailureClass:
    history = FullRecordedRuns(ORG, facts)
    now = next(
        one
        for one in groups_of(history, history.failures(ALL, EVER))
        if one.first.id == group.first.id
    )
    return Classifier(history).automatic(now).failure_class


@pytest.mark.parametrize("gap", Gap)
def test_the_hidden_answer_lies_within_the_stated_range(gap: Gap) -> None:
    said: Counter[tuple[bool, bool, bool]] = Counter()
    for seed in range(rounds(50, 1_000)):
        draw = random.Random(f"{gap} {seed}")
        truth = whole(draw)
        for history, group in ambiguous(spoiled(draw, truth, gap)):
            found = Filling(history).of(group).alone
            if found.keys() != {gap}:
                continue
            always, at_best = found[gap]
            decided = class_of(truth, group) is not FailureClass.AMBIGUOUS
            assert always <= decided <= at_best, (seed, group.first.key.sha)
            said[always, decided, at_best] += 1

    assert said[False, True, True] + said[True, True, True] > 5


def test_what_all_gaps_together_decide_is_found_by_trying_every_way_for_real() -> None:
    said: Counter[Decides] = Counter()
    for seed in range(rounds(50, 500)):
        draw = random.Random(f"together {seed}")
        truth = whole(draw)
        facts = truth
        for gap in draw.sample([*Gap], draw.choice([2, 3])):
            facts = spoiled(draw, facts, gap)
        for history, group in ambiguous(facts):
            alone, together = Filling(history).of(group)
            decided = set()
            for one in every_filling(facts, history, group):
                decided.add(class_of(one, group) is not FailureClass.AMBIGUOUS)
                if len(decided) > 1:
                    break
            assert together == Decides(decided == {True}, True in decided), (seed, alone)
            assert together.always <= (class_of(truth, group) is not FailureClass.AMBIGUOUS)
            if len(alone) > 1:
                said[together] += 1

    assert said.keys() >= {Decides(always=True, at_best=True), Decides(always=False, at_best=True)}


def test_failures_of_one_run_are_told_apart_by_their_verdict_and_their_fix() -> None:
    said: Counter[int] = Counter()
    for seed in range(rounds(30, 300)):
        draw = random.Random(f"run {seed}")
        facts = spoiled(draw, whole(draw), draw.choice([*Gap]))
        facts = replace(facts, reports=tuple(with_more_tests(draw, one) for one in facts.reports))
        found = [*ambiguous(facts)]
        shared = Filling(FullRecordedRuns(ORG, facts))
        for history, group in found:
            assert shared.of(group) == Filling(history).of(group), (seed, group.first.key)
        of_runs: dict[str, set[tuple[Any, ...]]] = defaultdict(set)
        for _, group in found:
            of_runs[group.first.key.sha].add((*shared.of(group).alone.items(),))
        said.update(map(len, of_runs.values()))

    assert min(said[1], said[2]) > 5


def with_more_tests(draw: random.Random, one: Report) -> Report:
    """Draw what four more tests gave in the same run, or which of them did not run."""
    (test,) = one.tests
    more = (
        replace(
            test,
            id=f"more-{number}",
            outcome=draw.choice([Outcome.FAIL, Outcome.PASS]),
            verdict=draw.choice([Verdict.UNKNOWN, Verdict.DEVICE]),
        )
        for number in range(4)
        if draw.random() < 0.7
    )
    return replace(one, tests=(test, *more))


def every_filling(facts: Facts, history: FullRecordedRuns, group: Group) -> Iterator[Facts]:
    """Yield the facts with all that is missing, in every way."""
    lists: tuple[tuple[str, ...], ...] = (("**",), ())
    every = [replace(CONFIG, firmware_paths=fw, harness_paths=hs) for fw in lists for hs in lists]
    for config in list(facts.configs.values()) or every:
        ways = _files_of(config)
        verdicts = {group.first.first.verdict} - {Verdict.UNKNOWN} or {
            Verdict.DEVICE,
            Verdict.INFRA,
        }
        goals = [(), (Commit(group.last.key.sha),)]
        for verdict, unsent, cut, fix, goal in product(verdicts, ways, ways, ways, goals):
            reports = [_blaming(one, group, verdict) for one in facts.reports]
            reports = [_with_first_list(one, group, unsent) for one in reports]
            reports = [_whole_lists(one, cut, goal, group) for one in reports]
            if Classifier(history).walk(group) is None:
                reports.append(_connecting(facts, group, fix))
            yield Facts(reports=tuple(reports), configs={Product(REPO, SUITE): config})


def _files_of(config: SuiteConfig) -> list[tuple[str, ...]]:
    """Return the files that a commit may have changed, one way for each kind."""
    if config == CONFIG:
        return [(), ("src/own.c",), ("ci/own.py",), ("src/own.c", "ci/own.py")]
    return [(), ("own",)]


def _blaming(one: Report, group: Group, verdict: Verdict) -> Report:
    if one.sha != group.first.key.sha:
        return one
    return replace(one, tests=(replace(one.tests[0], verdict=verdict),))


def _with_first_list(one: Report, group: Group, files: tuple[str, ...]) -> Report:
    if one.sha != group.first.key.sha or one.changes is not None:
        return one
    return replace(one, changes=changes("f" * 7, Commit("e" * 7, files=files)))


def _whole_lists(
    one: Report, files: tuple[str, ...], goal: tuple[Commit, ...], group: Group
) -> Report:
    """Only what ran after the failure may list its last commit: else that would move."""
    if one.changes is None:
        return one
    commits = tuple(
        replace(of, files=(*of.files, *files), files_truncated=False) if of.files_truncated else of
        for of in one.changes.commits
    )
    if one.changes.truncated:
        goal = goal if one.started_at > group.last.place.started_at else ()
        commits = (*goal, Commit("d" * 7, files=files), *commits)
    return replace(one, changes=ChangeList(one.changes.base_sha, commits))


def _connecting(facts: Facts, group: Group, files: tuple[str, ...]) -> Report:
    """Return a report that connects the failure to the last commit that its fix is connected to."""
    based = {
        of.sha: one.changes.base_sha
        for one in facts.reports
        if one.changes is not None and not one.changes.truncated
        for of in one.changes.commits
    }
    end = str(group.fix)
    places = [one.sha for one in facts.reports]
    while (base := based.get(end)) in places[places.index(group.last.key.sha) + 1 :]:
        end = str(base)
    (ran,) = (one for one in facts.reports if one.sha == end)
    sent = changes(group.last.key.sha, Commit(end, files=files))
    return replace(ran, run_id=0, box_key="box-2", tests=(), changes=sent, workflow="other")


def test_the_gap_that_would_decide_most_comes_first() -> None:
    past = seen(
        "box-1 | a:P b:U c:P d:U e:P f:F g:P h:F i:P",
        changed=dict.fromkeys("bcdef", "fw") | {"g": "fw ~", "h": "fw", "i": "fw hs"},
    )

    assert counted(budget(recorded(past), ALL, EVER)) == (
        [(Gap.NO_VERDICT, 2, 2, 2), (Gap.CUT_LISTS, 1, 0, 1)],
        (3, 2, 3),
        4,
        4,
    )


def test_a_first_report_without_changes_is_decided_in_any_way_if_firmware_fixed_it() -> None:
    past = Past(
        [
            report("a:F", 1),
            report("b:P", 2, sent=changes("a", commit("b", "fw"))),
        ]
    )

    assert counted(budget(recorded(past), ALL, EVER))[0] == [(Gap.NO_CHANGES, 1, 1, 1)]


def test_a_product_without_a_configuration_may_have_mixed_fixes() -> None:
    past = seen("box-1 | a:P b:F c:P", changed={"b": "fw", "c": "fw"}).configured()

    assert counted(budget(recorded(past), ALL, EVER))[0] == [(Gap.NO_CONFIGURATION, 1, 0, 1)]


def test_what_is_known_before_a_fix_counts_where_the_rest_is_filled() -> None:
    past = Past(
        [
            report("a:P", 1),
            report("b:F", 2, sent=changes("a", commit("b", "fw"))),
            report("c:P", 3, box="box-2"),
            report("d:P", 4, sent=changes("c", commit("d", "fw ~"))),
        ]
    ).configured(replace(CONFIG, harness_paths=()))

    assert counted(budget(recorded(past), ALL, EVER))[0] == [(Gap.UNCONNECTED_FIX, 1, 0, 0)]


def test_a_reviewed_failure_and_one_of_another_time_have_no_gap() -> None:
    past = seen("box-1 | a:P b:U c:P", changed={"b": "fw", "c": "fw"})
    before = replace(EVER, end=minute(0.5))

    assert counted(budget(recorded(past.reviewed("b", "confirm")), ALL, EVER)) == NONE
    assert counted(budget(recorded(past), ALL, before)) == NONE


def test_when_the_time_is_over_the_newest_failures_were_looked_at() -> None:
    past = seen("box-1 | a:P b:U c:P d:U e:P f:U g:P", changed=dict.fromkeys("bcdefg", "fw"))
    reached = set()
    for looks in range(400):
        try:
            found = budget(HurriedRuns(past.facts, looks), ALL, EVER)
        except OutOfTimeError:
            continue
        assert found.ambiguous == 3
        looked_at = found.looked_at
        assert counted(found)[0] == [(Gap.NO_VERDICT, looked_at, looked_at, looked_at)]
        reached.add(found.looked_at)

    assert reached == {1, 2, 3}
