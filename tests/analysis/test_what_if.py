# SPDX-License-Identifier: Apache-2.0
"""Each edit that is named, made in the facts themselves, gives the class that was said; and no edit
of the table that would change the class is left out.
"""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from uuid import UUID

from hwci.analysis.failures.what_if import Edit, Trying, what_if, with_pattern
from hwci.contract.failures.failures import Review
from hwci.contract.people import Actor
from hwci.contract.runs.commits import ChangeList
from hwci.contract.vocabulary import EditKind, FileKind, Verdict
from hwci.engine.facts import Facts, Product, Report, StoredReview, SuiteConfig
from hwci.engine.rules.classify import Classification, Classifier
from hwci.engine.rules.labels import Group, group_of
from hwci.engine.rules.reports import report_order
from tests.analysis.drawn import drawn, resolved
from tests.engine.timeline import ORG, changes, commit
from tests.server.storage.histories import NOON
from tests.support.outcomes import FullRecordedRuns
from tests.support.soak import rounds


def made(facts: Facts, group: Group, edit: Edit) -> Facts:
    """Make an edit for real."""
    key, lane = group.first.key, group.first.key.lane
    if edit.kind is EditKind.REVIEW:
        assert edit.action is not None
        review = Review(edit.action, Actor(UUID(int=2), "Bob"), NOON)
        return replace(facts, reviews={**facts.reviews, key: StoredReview(key, review, 10**6)})
    if edit.pattern is not None:
        config = configured(facts, lane.product, edit)
        return replace(facts, configs={**facts.configs, lane.product: config})
    reports = tuple(
        sent(one, group, edit) if one.repo_key == lane.repo_key else one for one in facts.reports
    )
    assert reports != facts.reports
    return replace(facts, reports=reports)


def configured(facts: Facts, product: Product, edit: Edit) -> SuiteConfig:
    assert edit.pattern is not None
    config = facts.configs.get(product) or SuiteConfig(*product, (), ())
    firmware = edit.paths is FileKind.FIRMWARE
    patterns = config.firmware_paths if firmware else config.harness_paths
    if edit.kind is EditKind.PATTERN_ADDED:
        changed = with_pattern(patterns, edit.pattern)
    else:
        changed = tuple(one for one in patterns if one != edit.pattern)
    assert changed != patterns
    if firmware:
        return replace(config, firmware_paths=changed)
    return replace(config, harness_paths=changed)


def sent(report: Report, group: Group, edit: Edit) -> Report:
    """The report as it is sent with an edit."""
    first, key = group.first.first, group.first.key
    if edit.kind is EditKind.VERDICT:
        run = (first.started_at, first.run_id, first.run_attempt, key.lane.box_key)
        if report_order(report) != run:
            return report
        assert edit.verdict is not None
        tests = (
            replace(one, verdict=edit.verdict) if one.id == key.lane.test_id else one
            for one in report.tests
        )
        return replace(report, tests=tuple(tests))
    if edit.run is not None:
        if report_order(report) != edit.run.order:
            return report
        return replace(report, changes=edit.run.changes)
    if report.changes is None:
        return report
    commits = (
        replace(one, files_truncated=False) if one.sha == edit.commit else one
        for one in report.changes.commits
    )
    return replace(report, changes=replace(report.changes, commits=tuple(commits)))


def judged(facts: Facts, group: Group) -> Classification:
    history = FullRecordedRuns(ORG, facts)
    failure = history.failure(group.first.id)
    assert failure is not None
    return Classifier(history).shown(group_of(history, failure))


def lists_and_verdicts(facts: Facts, group: Group) -> Iterator[Edit]:
    """Yield what could be told otherwise, whether or not a check looks at it: of every commit and
    run of the repository.
    """
    for verdict in {Verdict.DEVICE, Verdict.INFRA} - {group.first.first.verdict}:
        yield Edit(EditKind.VERDICT, verdict=verdict)
    history = FullRecordedRuns(ORG, facts)
    repo_key = group.first.key.lane.repo_key
    lists = [one.changes for one in facts.reports if one.repo_key == repo_key and one.changes]
    for sha in {one.sha for of in lists for one in of.commits}:
        listing = history.changes_listing(repo_key, sha)
        named = [one for run in listing for one in run.changes.commits if one.sha == sha]
        if any(one.files_truncated for one in named):
            yield Edit(EditKind.FILES_WHOLE, commit=sha)
        for run in listing:
            if run.changes.truncated:
                whole = replace(run, changes=replace(run.changes, truncated=False))
                yield Edit(EditKind.COMMITS_WHOLE, run=whole)


def some(number: int) -> Iterator[tuple[Facts, Group]]:
    """Draw so many resolved failures."""
    left = count(number, -1)
    for seed in count():
        facts = drawn(seed)
        for group in resolved(facts)[:6]:
            if next(left) == 0:
                return
            yield facts, group


def test_every_edit_made_for_real_gives_the_class_that_was_said() -> None:
    seen: Counter[EditKind] = Counter()
    for facts, group in some(rounds(100, 500)):
        now = judged(facts, group)
        history = FullRecordedRuns(ORG, facts)
        named = {one.edit: one.then for one in what_if(history, group).found}
        for edit in Trying(history, group).edits():
            real = judged(made(facts, group, edit), group)
            said = named.get(edit, now)
            assert said.failure_class is real.failure_class, edit
            if edit in named:
                assert said.reason is real.reason, edit
                seen[edit.kind] += 1

    assert seen.keys() == set(EditKind)


def test_no_verdict_and_no_list_that_would_change_the_class_is_left_out() -> None:
    seen: Counter[EditKind] = Counter()
    for facts, group in some(rounds(100, 500)):
        now = judged(facts, group).failure_class
        named = {one.edit for one in what_if(FullRecordedRuns(ORG, facts), group).found}
        for edit in lists_and_verdicts(facts, group):
            real = judged(made(facts, group, edit), group).failure_class
            assert (edit in named) == (real is not now), edit
            seen[edit.kind] += edit in named

    assert min(seen.values()) > 0


def test_what_git_has_of_unsent_changes_gives_the_class_that_was_said() -> None:
    seen: Counter[bool] = Counter()
    draw = random.Random(5)
    for facts, group in some(rounds(200, 500)):
        history = FullRecordedRuns(ORG, facts)
        runs = (one.run for one in Trying(history, group).edits() if one.assumed is not None)
        ends = {(one.changes.base_sha, one.sha): None for one in runs if one is not None}
        of_git = {(base, sha): known(draw, base, sha) for base, sha in ends if base is not None}
        named = {one.edit: one.then for one in what_if(history, group, of_git).found}
        now = judged(facts, group)
        tried = [one for one in Trying(history, group, of_git).edits() if one.of_git]
        assert len(tried) == len(of_git)
        for edit in tried:
            real = judged(made(facts, group, edit), group)
            said = named.get(edit, now)
            assert said.failure_class is real.failure_class, edit
            seen[edit in named] += 1

    assert min(seen[True], seen[False]) > 0


def known(draw: random.Random, base: str, sha: str) -> ChangeList:
    """Draw what git has between two commits: commits that nothing ran, up to the one that ran."""
    between = [f"{draw.randrange(16**9):09x}" for _ in range(draw.randrange(3))]
    kinds = ["fw", "hs", "fw hs", "doc", "fw ~", "doc ~"]
    listed = [commit(one, draw.choice(kinds)) for one in (*between, sha)]
    return changes(base, *listed, truncated=draw.random() < 0.1)
