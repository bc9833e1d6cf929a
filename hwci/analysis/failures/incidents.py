# SPDX-License-Identifier: Apache-2.0
"""Incidents: failures that one cause explains, as one.

Groups of failures are one incident if they are of one product and branch, began with the same
commits, ended with the same fix or still fail, and the bench is blamed for all of them or for none.
Where no commit is suspected, those that fail together again and again are one, too
(`co_failure.py`).
The label and the group of a failure are rules (`engine/rules/labels.py`); no count of failures
changes through an incident.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import NamedTuple
from uuid import UUID

from hwci.analysis.failures.co_failure import failing_together
from hwci.analysis.failures.look_first import Evidence, PassedBefore, look_first
from hwci.analysis.flaky.suspect_words import LIKELY
from hwci.analysis.flaky.suspects import SeenProduct, Since
from hwci.analysis.outcomes import RecordedRuns
from hwci.engine.facts import Changes, Commit, FailureKey, Lane, Product, TestKey
from hwci.engine.history import Failure, History, Scope
from hwci.engine.periods import Period, equal_slots
from hwci.engine.rules.changes import UnderTest, broken_by
from hwci.engine.rules.classify import Classifier
from hwci.engine.rules.labels import Group, groups_of
from hwci.engine.vocabulary import Label, Outcome, Verdict

CauseKey = tuple[object, ...]
"""What failures of one cause have in common."""
Merges = Mapping[str, Mapping[str, datetime]]
"""Merges of a repository by branch, that with most first: their commits, and when they merged."""


class Ends(NamedTuple):
    """How a group ended, and whether the bench is blamed for it."""

    label: Label
    fix: str | None
    of_bench: bool


class Failed(NamedTuple):
    """What the cause of a group rests on. `key`: of its first failure; `tested`: the changes under
    test there.
    """

    key: FailureKey
    ends: Ends
    tested: UnderTest


class Caused(NamedTuple):
    """What a group has in common with others of its incident, and no other has. `suspects`: the
    firmware commits that may have broken it, oldest first; None if unknown.
    """

    cause: CauseKey
    suspects: tuple[Commit, ...] | None


@dataclass(frozen=True, slots=True)
class Incident:
    """Groups with one cause, the first to fail first. `suspects`: the firmware commits that may
    have broken them, oldest first; None if unknown. `first_commit`: the commit on which the first
    of them failed, as a report listed it; None if none did. `changes`: those under test there.
    `merges`: those of the period and its repository, the branch with most of them first.
    """

    groups: tuple[Group, ...]
    suspects: tuple[Commit, ...] | None
    first_commit: Commit | None
    changes: Changes | None
    merges: Merges

    @property
    def first(self) -> Group:
        """The group that failed first, and gives the incident its identity."""
        return self.groups[0]

    @property
    def fix(self) -> str | None:
        """The commit that passed again; None if they still fail, or passed on different ones."""
        fixes = {group.fix for group in self.groups}
        return fixes.pop() if len(fixes) == 1 else None

    @property
    def times(self) -> int:
        """On how many commits something of it began to fail."""
        return len({group.first.key.sha for group in self.groups})

    @property
    def product(self) -> Product:
        """The product of all groups."""
        return self.lane.product

    @property
    def lane(self) -> Lane:
        """Where it failed first."""
        return self.first.first.key.lane

    @property
    def on_merge_branch(self) -> bool:
        """Whether merges of the period were announced for its branch."""
        return self.lane.branch in self.merges

    @property
    def on_main_branch(self) -> bool:
        """Whether its branch is the one that most of the merges went to."""
        return self.lane.branch == next(iter(self.merges), None)

    @property
    def label(self) -> Label:
        """The label of all groups: resolved, or pending."""
        return self.first.label

    @property
    def since(self) -> datetime:
        """Start of the first failing run."""
        return self.first.first.first.started_at

    @property
    def last_failed_at(self) -> datetime:
        """Start of the last failing run."""
        return max(one.last_started_at for group in self.groups for one in group.failures)

    @property
    def shas(self) -> Collection[str]:
        """The commits on which something of it failed."""
        return {one.key.sha for group in self.groups for one in group.failures}

    @property
    def commits(self) -> int:
        """On how many commits something of it failed."""
        return len(self.shas)

    @property
    def tests(self) -> Sequence[str]:
        """The tests that failed, by name."""
        return sorted({group.first.key.lane.test_id for group in self.groups})

    @property
    def boxes(self) -> Sequence[str]:
        """The boxes on which something of it failed, by name."""
        return sorted({group.first.key.lane.box_key for group in self.groups})

    @property
    def verdicts(self) -> Collection[Verdict]:
        """The verdicts of the harness."""
        return {group.first.first.verdict for group in self.groups}

    @property
    def runs(self) -> int:
        """How many results failed."""
        return sum(one.items for group in self.groups for one in group.failures)

    @property
    def reruns(self) -> int:
        """How many of them were a test that had failed before on that commit and box. It failed
        again each time: had it passed once, it would be a flake.
        """
        return self.runs - sum(len(group.failures) for group in self.groups)


class Merged(NamedTuple):
    """A branch that the first failing commit of an incident was merged to. Of the incident's tests
    on their boxes so many passed or failed in the last run there since then, or did not run.
    """

    branch: str
    passing: int
    failing: int
    not_run: int


class Described(NamedTuple):
    """An incident with what is asked for each that is shown. `retries`: attempts after the first
    one within a run, which failed too. `passes_on`: the other boxes, by name, on which a test of it
    passed on one of its failing commits, and none failed on one. `only_box`: it fails on one box,
    and no other ran one of its tests in the period. `merged`: None if no report or merge tells that
    it was. `look_first`: None if it is resolved. `history`: since when the test that failed first
    fails, by all its runs of the period; None if they do not tell, or tell of another time.
    """

    incident: Incident
    retries: int
    passes_on: Sequence[str]
    only_box: bool
    merged: Merged | None
    look_first: str | None
    history: Since | None


def incidents(history: RecordedRuns, scope: Scope, period: Period) -> list[Incident]:
    """Return the incidents with a failure in the period, the last to begin first."""
    groups = [
        group
        for group in groups_of(history, history.failures(scope, period))
        if group.label is not Label.FLAKE
    ]
    groups.sort(key=lambda group: (group.first.first.started_at, group.first.id.int))
    classifier, failed = Classifier(history), []
    for group in groups:
        history.check_time()
        ends = Ends(group.label, group.fix, group.first.first.verdict is Verdict.INFRA)
        failed.append(Failed(group.first.key, ends, classifier.under_test(group)))
    causes = causes_of(
        history, period, failed, lambda wanted: [groups[at].failures for at in wanted]
    )
    merges = _merges(history, Scope(scope.repo_key), period)
    together: dict[CauseKey, list[int]] = defaultdict(list)
    for at, one in enumerate(causes):
        together[one.cause].append(at)
    found = []
    for members in together.values():
        key, _, tested = failed[members[0]]
        found.append(
            Incident(
                groups=tuple(groups[at] for at in members),
                suspects=causes[members[0]].suspects,
                first_commit=_listed(tested, key.sha),
                changes=tested.changes,
                merges=merges.get(key.lane.repo_key, {}),
            )
        )
    found.reverse()
    return found


def failures_of(history: History, scope: Scope, period: Period, found: Sequence[Incident]) -> int:
    """Count the failures of incidents one by one, as their list does: those that failed in the
    period. The first and the last run of nearly all of them say so.
    """
    failures = [one for incident in found for group in incident.groups for one in group.failures]
    unsure = [
        one.id
        for one in failures
        if not any(
            period.start <= at <= period.end for at in (one.first.started_at, one.last_started_at)
        )
    ]
    items = history.failing_items(scope, period) if unsure else {}
    return len(failures) - sum(one not in items for one in unsure)


def described(history: RecordedRuns, found: Sequence[Incident], period: Period) -> list[Described]:
    """Describe incidents of a period."""
    members = [[failure for group in one.groups for failure in group.failures] for one in found]
    attempts = history.failed_attempts([one.id for one in chain.from_iterable(members)])
    others = history.elsewhere([[one.key for one in some] for some in members])
    ran_on = _ran_on(history, found, period)
    passed = _passed_before(history, [one for one in found if one.label is Label.PENDING])
    seen = {
        one.product: SeenProduct(history, one)
        for product in {one.product for one in found}
        for one in history.outcomes(Scope(*product), period)
    }
    rows = []
    for one, failures, elsewhere in zip(found, members, others, strict=True):
        history.check_time()
        retries = sum(attempts[failure.id] for failure in failures) - one.runs
        passes_on = _passes_on(one, elsewhere)
        only_box = len(_boxes_of(one, ran_on)) == 1
        merged, looked = _merged(history, one), None
        if one.label is Label.PENDING:
            before = passed[one.first.first.id]
            looked = look_first(_evidence(history, one, passes_on, before, merged))
        since = _since(one, seen.get(one.product))
        rows.append(Described(one, retries, passes_on, only_box, merged, looked, since))
    return rows


def _since(one: Incident, seen: SeenProduct | None) -> Since | None:
    """Return since when the test that failed first fails, if that is about this incident: on its
    branch, and began no later than it did.
    """
    suggested = None if seen is None else seen.suggested(one.lane.test_id)
    if suggested is None or isinstance(suggested, str) or suggested.since.branch != one.lane.branch:
        return None
    later = suggested.since.after(one.first.first.key.sha)
    return None if later is None or later >= LIKELY else suggested.since


def _passing_branch(merged: Merged | None) -> str | None:
    """Return the branch that an incident was merged to, if all of its tests pass there."""
    if merged is None or merged.failing or merged.not_run:
        return None
    return merged.branch


def failing_incidents(
    history: RecordedRuns, scope: Scope, period: Period, test_id: str
) -> list[Described]:
    """Return the pending incidents of a product that a test failed in."""
    found = [
        one
        for one in incidents(history, scope, period)
        if one.label is Label.PENDING and test_id in one.tests
    ]
    return described(history, found, period)


def _ran_on(
    history: History, found: Sequence[Incident], period: Period
) -> Mapping[TestKey, Collection[str]]:
    """Return the boxes on which the tests of incidents that are of one box ran in a period."""
    tests = {(one.product, test) for one in found if len(one.boxes) == 1 for test in one.tests}
    ran: dict[TestKey, set[str]] = defaultdict(set)
    for runs in history.box_runs(tests, equal_slots(period, 1)) if tests else ():
        ran[runs.product, runs.test_id].add(runs.box_key)
    return ran


def _boxes_of(one: Incident, ran_on: Mapping[TestKey, Collection[str]]) -> Collection[str]:
    ran = (ran_on.get((one.product, test), ()) for test in one.tests)
    return {*one.boxes, *chain.from_iterable(ran)}


def _passed_before(history: History, found: Sequence[Incident]) -> Mapping[UUID, str | None]:
    """Return the last passed commit before the first failure of each incident, by the id of that,
    if its changes under test name it.
    """
    firsts = [one.first.first for one in found]
    named = [
        () if (sent := one.changes) is None else [sent.base_sha, *(of.sha for of in sent.commits)]
        for one in found
    ]
    asked = [(first.key, [*filter(None, shas)]) for first, shas in zip(firsts, named, strict=True)]
    passed = history.last_passes_before(asked)
    return {first.id: sha for first, sha in zip(firsts, passed, strict=True)}


def _evidence(
    history: History,
    one: Incident,
    passes_on: Sequence[str],
    passed: str | None,
    merged: Merged | None,
) -> Evidence:
    first = one.first
    return Evidence(
        box=first.first.key.lane.box_key,
        boxes=one.boxes,
        is_elsewhere=bool(passes_on),
        verdicts=frozenset(one.verdicts),
        runs=max(sum(of.items for of in group.failures) for group in one.groups),
        suspects=one.suspects,
        first=first.first.key.sha,
        last=first.last.key.sha,
        before=None if passed is None else _before(history, one.lane, passed, one.since),
        passes_on_branch=_passing_branch(merged),
    )


def _before(history: History, lane: Lane, sha: str, since: datetime) -> PassedBefore:
    """Return how the last run on a commit ended that started after the first failure."""
    place = history.place(lane.repo_key, lane.branch, sha)
    commits = [] if place is None else history.lane_commits(lane, place, place, 0)
    again = [run.outcome for one in commits for run in one.runs if run.started_at > since]
    return PassedBefore(sha, again[-1] if again else None)


def _passes_on(one: Incident, elsewhere: Collection[tuple[str, Outcome]]) -> Sequence[str]:
    passed, failed = (
        {box for box, outcome in elsewhere if outcome is wanted}
        for wanted in (Outcome.PASS, Outcome.FAIL)
    )
    return sorted(passed.difference(failed, one.boxes))


def _merges(history: History, scope: Scope, period: Period) -> Mapping[str, Merges]:
    """Return the merges of a period by repository."""
    found: dict[str, dict[str, dict[str, datetime]]] = defaultdict(lambda: defaultdict(dict))
    for one, _ in history.merges(scope, period):
        found[one.repo_key][one.branch][one.sha] = one.merged_at
    return {
        repo: dict(sorted(of.items(), key=lambda branch: (-len(branch[1]), branch[0])))
        for repo, of in found.items()
    }


def _merged(history: RecordedRuns, one: Incident) -> Merged | None:
    """Return where a commit was merged to: a report of the branch mentions it, or a merge is it."""
    if one.label is not Label.PENDING or one.on_merge_branch:
        return None
    sha = one.first.first.key.sha
    for branch, merges in one.merges.items():
        place = history.place(one.product.repo_key, branch, sha)
        since = merges.get(sha) if place is None else place.started_at
        if since is not None:
            ended = Counter(
                history.last_outcome(group.first.key.lane._replace(branch=branch), since)
                for group in one.groups
            )
            return Merged(branch, ended[Outcome.PASS], ended[Outcome.FAIL], ended[None])
    return None


def causes_of(
    history: RecordedRuns,
    period: Period,
    failed: Sequence[Failed],
    members: Callable[[Sequence[int]], Iterable[Sequence[Failure]]],
) -> list[Caused]:
    """Return the cause of each group. `members` returns the failures of those of some groups that
    have several, each in order of place; groups are numbered as in `failed`.
    """
    suspected = broken_by(history, [(one.key, one.tested) for one in failed])
    unknown = [at for at, suspects in enumerate(suspected) if suspects is None]

    def commits_run(lanes: Collection[Lane]) -> Mapping[Lane, Mapping[str, int]]:
        return history.commits_run(lanes, period)

    def went_on(lanes: Collection[Lane]) -> Mapping[Lane, Collection[str]]:
        commits: dict[Lane, set[str]] = defaultdict(set)
        for first, *later in members([at for at in unknown if failed[at].key.lane in lanes]):
            commits[first.key.lane].update(one.key.sha for one in later)
        return commits

    began = [failed[at].key for at in unknown]
    common = failing_together(began, went_on, commits_run, history.check_time)
    found: list[Caused] = []
    for (key, ends, _), suspects in zip(failed, suspected, strict=True):
        cause = cause_of(key, ends, suspects)
        if key in common:
            cause = (common[key], ends.label, ends.of_bench)
        found.append(Caused(cause, suspects))
    return found


def cause_of(first: FailureKey, ends: Ends, suspects: tuple[Commit, ...] | None) -> CauseKey:
    """Return what a group has in common with others of its cause. `first`: its first failure.
    `suspects`: the firmware commits that may have broken it; where None is known, it began with its
    first failing commit.
    """
    lane, sha = first
    began = (sha,) if suspects is None else tuple(one.sha for one in suspects)
    return lane.product, lane.branch, suspects is None, began, ends


def _listed(tested: UnderTest, sha: str) -> Commit | None:
    listed = () if tested.changes is None else tested.changes.commits
    return next((one for one in reversed(listed) if one.sha == sha), None)
