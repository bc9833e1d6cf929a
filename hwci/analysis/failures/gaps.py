# SPDX-License-Identifier: Apache-2.0
"""What CI leaves out, and how many ambiguous failures it would decide if it did not.

This module decides which gaps a failure has, and fills each in every way that could matter: the
same rules then say whether the failure would be decided. It does not know what CI would really have
sent, so each count is a range: at least those that every filling decides, at most those that one
does.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, product
from typing import NamedTuple

from hwci.analysis.failures.advice import GAPS
from hwci.analysis.failures.ci_lines import lines_of
from hwci.analysis.failures.edited import ChangesAsked, Rewrite, as_sent, edited, file_of
from hwci.analysis.outcomes import RecordedRuns
from hwci.contract.failures import explanations as shapes
from hwci.contract.runs.commits import ChangeList, Commit
from hwci.contract.vocabulary import FailureClass, FileKind, Gap, Verdict
from hwci.engine.facts import Lane, SuiteConfig
from hwci.engine.history import (
    Episode,
    FailingRun,
    History,
    OutOfTimeError,
    ReportOrder,
    RunChanges,
    Scope,
)
from hwci.engine.page.reading import resolved_episodes
from hwci.engine.periods import Period
from hwci.engine.rules.classify import Classifier
from hwci.engine.rules.labels import Group, groups_at
from hwci.engine.rules.walk import Step

FAILURES_MAX = 1_000
"""Ambiguous failures whose gaps are filled, the newest."""
STEPS_MAX = 50
"""Lists that are followed back from a fix that is not connected."""
_AT_ONCE = 250
_UNSENT = "unsent"


class Decides(NamedTuple):
    """Whether a filling of a failure decides it: whatever it is filled with, and at best."""

    always: bool
    at_best: bool


class Gaps(NamedTuple):
    """The gaps of a failure: what filling each by itself decides, and all together."""

    alone: Mapping[Gap, Decides]
    together: Decides


@dataclass(frozen=True, slots=True)
class Fill:
    """What would not be missing. `verdict`: of the first failing run. `config`: of the product.
    `sent`: changes of runs that sent none. `whole`: what makes lists whole that were cut, `lists`.
    """

    verdict: Verdict | None = None
    config: SuiteConfig | None = None
    sent: tuple[RunChanges, ...] = ()
    whole: Rewrite | None = None
    lists: tuple[RunChanges, ...] = ()

    def beside(self, other: "Fill") -> "Fill":
        """Return both."""
        return Fill(
            self.verdict or other.verdict,
            self.config or other.config,
            (*self.sent, *other.sent),
            self.whole or other.whole,
            (*self.lists, *other.lists),
        )


def budget(
    history: RecordedRuns, scope: Scope, period: Period, pages: Sequence[str] = ()
) -> shapes.Gaps:
    """Return what each gap costs. `pages`: of CI jobs of the scope. Raises `OutOfTimeError`: there
    was no time for one failure.
    """
    filling = Filling(history)
    ambiguous = _ambiguous(history, filling, scope, period)
    failures: list[Gaps] = []
    try:
        newest = ambiguous[:FAILURES_MAX]
        filling.read_ahead(newest)
        for start in range(0, len(newest), _AT_ONCE):
            groups = groups_at(history, newest[start : start + _AT_ONCE])
            failures.extend(map(filling.of, groups))
    except OutOfTimeError:
        if not failures:
            raise
    return shapes.Gaps(
        period=period,
        product=scope.product,
        gaps=tuple(_counted([failure.alone for failure in failures], pages)),
        together=_together(failures),
        ambiguous=len(ambiguous),
        looked_at=len(failures),
    )


def _ambiguous(
    history: History, filling: "Filling", scope: Scope, period: Period
) -> Sequence[Episode]:
    """Return the failures that the checks leave ambiguous, and no person decided."""
    resolved = [
        episode for episode, review in resolved_episodes(history, scope, period) if review is None
    ]
    undecided = [episode for episode in resolved if episode.decision is None]
    ids = {
        episode.id
        for episode in resolved
        if episode.decision and _is_open(episode.decision.failure_class)
    }
    for start in range(0, len(undecided), _AT_ONCE):
        some = undecided[start : start + _AT_ONCE]
        filling.read_ahead(some)
        for group in groups_at(history, some):
            if _is_open(filling.now.automatic(group).failure_class):
                ids.add(group.first.id)
    return [episode for episode in resolved if episode.id in ids]


def _is_open(failure_class: FailureClass) -> bool:
    return failure_class is FailureClass.AMBIGUOUS


def _together(failures: Sequence[Gaps]) -> shapes.Together:
    filled = [failure.together for failure in failures if failure.alone]
    always, best = (sum(decides[at] for decides in filled) for at in range(len(Decides._fields)))
    return shapes.Together(failures=len(filled), at_least=always, at_most=best)


def _counted(
    decides: Sequence[Mapping[Gap, Decides]], pages: Sequence[str]
) -> list[shapes.GapCount]:
    failures = Counter(chain.from_iterable(decides))
    always = Counter(gap for gaps in decides for gap, effect in gaps.items() if effect.always)
    best = Counter(gap for gaps in decides for gap, effect in gaps.items() if effect.at_best)
    counts = [
        shapes.GapCount(
            gap=gap,
            text=GAPS[gap].text,
            failures=failures[gap],
            at_least=always[gap],
            at_most=best[gap],
            to_do=GAPS[gap].to_do,
            ci_lines=tuple(lines_of(gap, pages)),
        )
        for gap in Gap
        if failures[gap]
    ]
    return sorted(counts, key=lambda count: (-count.at_most, -count.at_least))


_Alike = tuple[Lane, str, FailingRun, str, str | None]


class Filling:
    """Fills the gaps of ambiguous failures of one history."""

    def __init__(self, history: RecordedRuns) -> None:
        self._asked = ChangesAsked(history)
        self.read_ahead = self._asked.read_ahead
        self._history = edited(self._asked)
        self.now = Classifier(self._history)
        self._shared: dict[SuiteConfig, Classifier] = {}
        self._found: dict[_Alike, Gaps] = {}

    def of(self, group: Group) -> Gaps:
        """Return the gaps of a failure, and whether filling them decides it. Tests that failed in
        one run, until one fix, have the same.
        """
        alike = _alike(group)
        if alike not in self._found:
            self._found[alike] = self._gaps(group)
        return self._found[alike]

    def _gaps(self, group: Group) -> Gaps:
        fills = {gap: [*ways(self, group, None)] for gap, ways in _WAYS.items()}
        alone = {gap: self._decides(group, choices) for gap, choices in fills.items() if choices}
        if len(alone) == 1:
            return Gaps(alone, *alone.values())
        return Gaps(alone, self._decides(group, self._all_filled(group)))

    def _decides(self, group: Group, fills: Iterable[Fill]) -> Decides:
        """Ask the rules with each filling until one decided the failure and one did not."""
        answers: set[bool] = set()
        for fill in fills:
            answers.add(not _is_open(self._outcome(group, fill)))
            if len(answers) > 1:
                break
        return Decides(always=answers == {True}, at_best=True in answers)

    def _all_filled(self, group: Group) -> Iterator[Fill]:
        """Yield each way to fill all gaps, that first which most likely leaves the failure open:
        files of both kinds. A configuration decides which files are of which kind.
        """
        for of_config in [*self.configurations(group)] or [Fill()]:
            others = ([*ways(self, group, of_config.config)] for ways in _WAYS.values())
            ways = (choices[::-1] for choices in others if choices and choices[0].config is None)
            for fills in product(*ways):
                yield reduce(Fill.beside, fills, of_config)

    def _outcome(self, group: Group, fill: Fill) -> FailureClass:
        if fill.verdict is not None:
            first = replace(group.first, first=group.first.first._replace(verdict=fill.verdict))
            group = replace(group, failures=(first, *group.failures[1:]))
        return self._classifier(group, fill).automatic(group).failure_class

    def _classifier(self, group: Group, fill: Fill) -> Classifier:
        """Return one that knows a filling. Where only a configuration is filled, all failures of
        the product share it.
        """
        configs = {} if fill.config is None else {group.first.key.lane.product: fill.config}
        if fill.sent or fill.whole:
            whole = fill.whole or as_sent
            return Classifier(edited(self._asked, whole, fill.sent, fill.lists), configs)
        if fill.config is None:
            return self.now
        if fill.config not in self._shared:
            self._shared[fill.config] = Classifier(self._history, configs)
        return self._shared[fill.config]

    def verdicts(self, group: Group, _: SuiteConfig | None = None) -> Iterator[Fill]:
        """The first failing run blamed the bench, or the device."""
        if group.first.first.verdict is Verdict.UNKNOWN:
            yield Fill(verdict=Verdict.INFRA)
            yield Fill(verdict=Verdict.DEVICE)

    def configurations(self, group: Group, _: SuiteConfig | None = None) -> Iterator[Fill]:
        """Every file is firmware, or harness, or both, or neither."""
        product_key = group.first.key.lane.product
        if self._history.config(product_key) is not None:
            return
        every: tuple[str, ...] = ("**",)
        for paths in ((every, ()), ((), every), (every, every), ((), ())):
            yield Fill(config=SuiteConfig(*product_key, *paths))

    def changes(self, group: Group, config: SuiteConfig | None) -> Iterator[Fill]:
        """The first run on the failing commit sent its list: with firmware, or without more."""
        run = self.now.under_test(group).run
        if run is not None and run.changes.base_sha is not None:
            return
        key, first = group.first.key, group.first.first
        order = ReportOrder(first.started_at, first.run_id, first.run_attempt, key.lane.box_key)
        target = (first.workflow, key.lane.branch, key.sha)
        run = run or RunChanges(order, first.ci_run_id, *target, ChangeList(None))
        for files in self._files(group, config):
            commits = (*run.changes.commits, Commit(_UNSENT, files=files))
            yield Fill(sent=(replace(run, changes=ChangeList(_UNSENT, commits)),))

    def cut_lists(self, group: Group, config: SuiteConfig | None) -> Iterator[Fill]:
        """Every list that was cut is sent whole: what was left out is of each kind in turn, and the
        last failing commit is part of it, or not.
        """
        lists = [run for run in self._lists(group) if _is_cut(run)]
        if not lists:
            return
        goals = [(), (Commit(group.last.key.sha),)] if any(map(_lacks_commits, lists)) else [()]
        for goal in goals:
            for files in self._files(group, config):
                yield Fill(whole=_whole(files, goal), lists=tuple(lists))

    def fixes(self, group: Group, config: SuiteConfig | None) -> Iterator[Fill]:
        """A report leads from the last commit that the fix is connected to back to the failure:
        what lies between is of each kind in turn.
        """
        if group.fix is None or self.now.walk(group) is not None:
            return
        end = self._end_of_walk(group, group.fix)
        first, box_key = group.first.first, group.first.key.lane.box_key
        order = ReportOrder(first.started_at, first.run_id, first.run_attempt, box_key)
        for files in self._files(group, config):
            changes = ChangeList(group.last.key.sha, (Commit(end, files=files),))
            yield Fill(sent=(RunChanges(order, first.ci_run_id, "", "", end, changes),))

    def _end_of_walk(self, group: Group, fix: str) -> str:
        """Return the commit after the failure that the first lists lead to from its fix."""
        lane, sha = group.first.key.lane, fix
        for _ in range(STEPS_MAX):
            listing = self._history.changes_listing(lane.repo_key, sha)
            bases = (run.changes.base_sha for run in listing if not run.changes.truncated)
            base = next((base for base in bases if base is not None), None)
            place = base and self._history.place(lane.repo_key, lane.branch, base)
            if not base or not place or place <= group.last.place:
                return sha
            sha = base
        return sha

    def _files(self, group: Group, config: SuiteConfig | None) -> Sequence[tuple[str, ...]]:
        """Return what a commit may have changed, as the product's lists tell files apart: nothing
        that counts, firmware, harness, or both. A filled configuration takes all files for one.
        """
        if config is not None:
            return [(), (_UNSENT,)]
        config = self._history.config(group.first.key.lane.product)
        if config is None:
            return [()]
        firmware, harness = (
            file_of(config, kind, self._history.check_time)
            for kind in (FileKind.FIRMWARE, FileKind.HARNESS)
        )
        ways = [(), (firmware,), (harness,), (firmware, harness)]
        return [tuple(filter(None, way)) for way in ways if None not in way]

    def _lists(self, group: Group) -> Iterator[RunChanges]:
        """Yield the lists that the rules look at; of those that could connect a fix if they were
        whole, those that lack commits.
        """
        run = self.now.under_test(group).run
        if run is not None:
            yield run
        walk = self.now.walk(group)
        if walk is not None:
            yield from (_as_walked(step) for step in walk)
            return
        reached = {group.last.key.sha, *self.now.reached(group)}
        for sha in sorted(reached):
            listing = self._history.changes_listing(group.first.key.lane.repo_key, sha)
            yield from filter(_lacks_commits, listing)


_WAYS: dict[Gap, Callable[[Filling, Group, SuiteConfig | None], Iterator[Fill]]] = {
    Gap.NO_CONFIGURATION: Filling.configurations,
    Gap.NO_CHANGES: Filling.changes,
    Gap.CUT_LISTS: Filling.cut_lists,
    Gap.UNCONNECTED_FIX: Filling.fixes,
    Gap.NO_VERDICT: Filling.verdicts,
}
"""The ways to fill each gap, under a configuration that is filled too, if one is. All fillings are
tried in the order of the last ones first: a verdict decides soonest.
"""


def _alike(group: Group) -> _Alike:
    """Return all that gaps depend on: everything but the test."""
    first, last = group.first, group.last
    return first.key.lane._replace(test_id=""), first.key.sha, first.first, last.key.sha, group.fix


def _lacks_commits(run: RunChanges) -> bool:
    return run.changes.truncated


def _is_cut(run: RunChanges) -> bool:
    return run.changes.truncated or any(commit.files_truncated for commit in run.changes.commits)


def _as_walked(step: Step) -> RunChanges:
    """Return the list of a step without the commits that it does not lead over."""
    return replace(step.run, changes=replace(step.run.changes, commits=step.commits))


def _whole(files: tuple[str, ...], goal: tuple[Commit, ...]) -> Rewrite:
    """Return what sends cut lists whole: each with these files more, and, where older commits were
    left out, with `goal` and a commit of these files at its beginning.
    """

    def rewrite(run: RunChanges) -> RunChanges:
        commits = tuple(
            replace(commit, files=(*commit.files, *files), files_truncated=False)
            if commit.files_truncated
            else commit
            for commit in run.changes.commits
        )
        if run.changes.truncated:
            commits = (*goal, Commit(_UNSENT, files=files), *commits)
        return replace(run, changes=replace(run.changes, commits=commits, truncated=False))

    return rewrite
