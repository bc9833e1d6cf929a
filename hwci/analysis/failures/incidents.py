# SPDX-License-Identifier: Apache-2.0
"""Incidents: failures that one cause explains, as one.

What failures have in common that one cause explains is decided in `one_cause.py`, and why its
commits are others than those of a single failure is said in `suspects_differ.py`.
The label of a failure and which count as one are rules (`engine/rules/labels.py`); no count of
failures changes through an incident.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple
from uuid import UUID

from hwci.analysis.benches.lost_runs import LostBoards
from hwci.analysis.branches import Merges, merges_by_branch
from hwci.analysis.failures.bands import Counts, band_of
from hwci.analysis.failures.last_days import LastDays
from hwci.analysis.failures.look_first import Evidence, PassedBefore, look_first
from hwci.analysis.failures.one_cause import (
    Caused,
    CauseKey,
    Failed,
    causes_of,
    parted,
)
from hwci.analysis.failures.suspects_differ import OfFailure, suspects_differ
from hwci.analysis.flaky.suspect_words import LIKELY
from hwci.analysis.flaky.suspects import SeenProduct, Since
from hwci.analysis.outcomes import RecordedRuns
from hwci.contract.failures.incidents import Merged
from hwci.contract.runs.commits import ChangeList, Commit
from hwci.contract.vocabulary import Band, Label, Outcome, Verdict
from hwci.engine.facts import FailureKey, Lane, Product, TestKey
from hwci.engine.history import Episode, Failure, History, Scope
from hwci.engine.periods import Period
from hwci.engine.rules.changes import UnderTest, broken_by
from hwci.engine.rules.classify import Classifier
from hwci.engine.rules.labels import label_of, review_of


@dataclass(frozen=True, slots=True)
class Incident:
    """Episodes with one cause, the first to fail first. `causes`: that of each. `merges`: those of
    the period and its repository, the branch with most of them first.
    """

    failed: tuple[Failed, ...]
    causes: tuple[Caused, ...]
    merges: Merges

    @property
    def first(self) -> Episode:
        """The episode that began first, and gives the incident its identity."""
        return self.failed[0].episode

    @property
    def suspects(self) -> tuple[Commit, ...] | None:
        """The firmware commits that may have broken them, oldest first; None if unknown, or if they
        are others each time.
        """
        each = [cause.began.suspects for cause in self.causes]
        shas = {
            None if commits is None else tuple(commit.sha for commit in commits) for commits in each
        }
        return each[0] if len(shas) == 1 else None

    @property
    def first_commit(self) -> Commit | None:
        """The commit on which the first of them failed, as a report listed it; None if none did."""
        listed = () if self.changes is None else self.changes.commits
        sha = self.first.key.sha
        return next((commit for commit in reversed(listed) if commit.sha == sha), None)

    @property
    def changes(self) -> ChangeList | None:
        """The changes under test where the first of them failed."""
        return self.failed[0].tested.changes

    @property
    def fix(self) -> str | None:
        """The first commit that passed again on a box after which none failed; None if there is
        none, or several for what failed several times.
        """
        fixes = {cause.ends.fix for cause in self.causes}
        return fixes.pop() if len(fixes) == 1 else None

    @property
    def times(self) -> int:
        """How often it began: once if the same commits may have broken all of it, else on so many
        commits, each test on the first of its boxes that are alike.
        """
        return 1 if self.suspects else len({cause.began.first.sha for cause in self.causes})

    @property
    def product(self) -> Product:
        """The product of all episodes."""
        return self.lane.product

    @property
    def lane(self) -> Lane:
        """Where it failed first."""
        return self.first.key.lane

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
        """Pending if one of its episodes is, else resolved."""
        is_pending = any(failed.label is Label.PENDING for failed in self.failed)
        return Label.PENDING if is_pending else self.failed[0].label

    @property
    def since(self) -> datetime:
        """Start of the first failing run."""
        return self.first.started_at

    @property
    def tests(self) -> Sequence[str]:
        """The tests that failed, by name."""
        return sorted({failed.key.lane.test_id for failed in self.failed})

    @property
    def boxes(self) -> Sequence[str]:
        """The boxes on which something of it failed, by name."""
        return sorted({failed.key.lane.box_key for failed in self.failed})

    @property
    def verdicts(self) -> Collection[Verdict]:
        """The verdicts of the harness."""
        return {failed.episode.verdict for failed in self.failed}


class Failures(NamedTuple):
    """The failures of an incident, by its episodes. `lost`: those of runs that lost their board."""

    of_each: Sequence[Sequence[Failure]]
    lost: LostBoards = MappingProxyType({})

    @property
    def all(self) -> Sequence[Failure]:
        """Them, one after the other."""
        return [*chain.from_iterable(self.of_each)]

    @property
    def last_failed_at(self) -> datetime:
        """Start of the last failing run."""
        return max(failure.last_started_at for failure in self.all)

    @property
    def shas(self) -> Collection[str]:
        """The commits on which something of it failed."""
        return {failure.key.sha for failure in self.all}

    @property
    def runs(self) -> int:
        """How many results failed."""
        return sum(failure.items for failure in self.all)

    @property
    def reruns(self) -> int:
        """How many of them were a test that had failed before on that commit and box. It failed
        again each time: had it passed once, it would be a flake.
        """
        return self.runs - len(self.all)

    @property
    def told_runs(self) -> int:
        """In so many runs on one box one test failed, at most, without those that had lost their
        board before it.
        """
        told = (
            sum(failure.items for failure in members if not self._is_behind_loss(failure))
            for members in self.of_each
        )
        return max(told)

    @property
    def lost_at(self) -> Sequence[str]:
        """The tests at which the runs lost their board, if all did."""
        if not all(failure.key in self.lost for failure in self.all):
            return ()
        return [*dict.fromkeys(test for it in self.all for test in self.lost[it.key])]

    @property
    def verdicts(self) -> frozenset[Verdict]:
        """The verdicts of the harness, of each commit on which something of it failed."""
        return frozenset(failure.first.verdict for failure in self.all)

    @property
    def failed(self) -> Mapping[str, int]:
        """In so many runs each test failed, on all boxes, without those that tell nothing of the
        firmware.
        """
        runs = Counter[str]()
        for failure in self.all:
            if failure.first.verdict is not Verdict.INFRA and not self._is_behind_loss(failure):
                runs[failure.key.lane.test_id] += failure.items
        return runs

    def _is_behind_loss(self, failure: Failure) -> bool:
        return failure.key.lane.test_id not in self.lost.get(
            failure.key, [failure.key.lane.test_id]
        )


class Described(NamedTuple):
    """An incident with its failures, and what is asked for each that is shown. `retries`: attempts
    after the first one within a run, which failed too. `passes_on`: the other boxes, by name, on
    which a test of it passed on one of its failing commits, and none failed on one. `only_box`: it
    fails on one box, and no other ran one of its tests in the period. `merged`: None if no report
    or merge tells that it was. `band` and `look_first`: None if it is resolved. `suspects_differ`,
    with which it ends: why its suspects are others than "Broken by" of one of its failures names;
    None if they are not. `history`: since when the test that failed first fails, by all its runs of
    the period; None if they do not tell, or tell of another time. `last_days`: a letter a day
    (semantics, 17.5).
    """

    incident: Incident
    failures: Failures
    retries: int
    passes_on: Sequence[str]
    only_box: bool
    merged: Merged | None
    band: Band | None
    look_first: str | None
    suspects_differ: str | None
    history: Since | None
    last_days: str


def incidents(
    history: RecordedRuns, scope: Scope, period: Period, label: Label | None = None
) -> list[Incident]:
    """Return the incidents with a failure in the period, the last to begin first. `label`: those
    with this one; None: all. Of those that are pending no others are looked at than have to be.
    """
    episodes = _labelled(history, scope, period)
    if label is Label.PENDING:
        failed, causes = _beside_pending(history, period, episodes)
    else:
        failed = _failed(history, episodes)
        causes = causes_of(history, period, failed)
    merges = merges_by_branch(history, Scope(scope.repo_key), period)
    together: dict[CauseKey, list[int]] = defaultdict(list)
    for at, caused in enumerate(causes):
        together[caused.cause].append(at)
    rows = [
        Incident(
            failed=tuple(failed[at] for at in members),
            causes=tuple(causes[at] for at in members),
            merges=merges.get(failed[members[0]].key.lane.repo_key, {}),
        )
        for members in together.values()
    ]
    return sorted(
        (incident for incident in rows if label in {None, incident.label}),
        key=lambda incident: (incident.since, incident.first.id.int),
        reverse=True,
    )


def _beside_pending(
    history: RecordedRuns, period: Period, episodes: Sequence[tuple[Episode, Label]]
) -> tuple[list[Failed], list[Caused]]:
    """Return the episodes that may have a cause in common with a pending one, with their causes."""
    parts = parted(episodes)
    failed = _failed(history, parts.first)
    causes = causes_of(history, period, failed)
    failed_also = _failed(history, parts.with_fix(causes))
    rows = [
        *zip(failed, causes, strict=True),
        *zip(failed_also, causes_of(history, period, failed_also), strict=True),
    ]
    in_order = sorted(rows, key=lambda of: _order(of[0].episode))
    return [it for it, _ in in_order], [caused for _, caused in in_order]


def _order(episode: Episode) -> tuple[datetime, int]:
    """Return what episodes are sorted by, the first to begin first."""
    return episode.started_at, episode.id.int


def _labelled(history: History, scope: Scope, period: Period) -> list[tuple[Episode, Label]]:
    """Return what failed in a period with its label, the first to begin first."""
    episodes = sorted(history.episodes_failed(scope, period), key=_order)
    reviews = history.reviews(chain.from_iterable(episode.reviewed for episode in episodes))
    return [
        (episode, label_of(False, episode.fix, review_of(episode.reviewed, reviews)))
        for episode in episodes
    ]


def _failed(history: History, episodes: Sequence[tuple[Episode, Label]]) -> list[Failed]:
    """Return these episodes with what their causes rest on."""
    classifier, failed = Classifier(history), []
    sent = history.under_test([episode for episode, _ in episodes])
    for (episode, label), changes in zip(episodes, sent, strict=True):
        history.check_time()
        files = classifier.files_of(episode.key.lane.product)
        failed.append(Failed(episode, label, UnderTest(files, changes)))
    return failed


def failures_by_incident(history: History, incidents: Sequence[Incident]) -> list[Failures]:
    """Return the failures of each of these incidents."""
    episodes = [failed.episode for incident in incidents for failed in incident.failed]
    members = iter(history.members(episodes))
    return [Failures([*islice(members, len(incident.failed))]) for incident in incidents]


def failures_of(history: History, scope: Scope, period: Period, of_each: Sequence[Failures]) -> int:
    """Count the failures of incidents one by one, as their list does: those that failed in the
    period. The first and the last run of nearly all of them say so.
    """
    failures = [failure for failures in of_each for failure in failures.all]
    unsure = [
        failure.id
        for failure in failures
        if not any(
            period.start <= at <= period.end
            for at in (failure.first.started_at, failure.last_started_at)
        )
    ]
    items = history.failing_items(scope, period) if unsure else {}
    return len(failures) - sum(failure_id not in items for failure_id in unsure)


def seen_products(
    history: RecordedRuns, scope: Scope, period: Period, incidents: Sequence[Incident]
) -> Mapping[Product, SeenProduct]:
    """Return the runs of a period of the products of these incidents."""
    wanted = {incident.product for incident in incidents}
    outcomes = history.outcomes(scope, period) if wanted else ()
    return {runs.product: SeenProduct(history, runs) for runs in outcomes if runs.product in wanted}


class Banded(NamedTuple):
    """A pending incident with its failures and its band."""

    incident: Incident
    failures: Failures
    band: Band


def by_harm(
    history: RecordedRuns,
    incidents: Sequence[Incident],
    seen: Mapping[Product, SeenProduct],
) -> list[Banded]:
    """Return pending incidents, which come the last to begin first, in the order of their list
    (semantics, 17.3).
    """
    bands, order = list(Band), []
    for incident, of in zip(incidents, failures_by_incident(history, incidents), strict=True):
        history.check_time()
        band = _band(of, seen.get(incident.product))
        branch = incident.on_main_branch, incident.on_merge_branch
        harm = len(incident.boxes) * len(of.shas) * (1 + of.reruns)
        place = [not merged for merged in branch], bands.index(band), -harm
        order.append((place, Banded(incident, of, band)))
    return [banded for _, banded in sorted(order, key=itemgetter(0))]


def _band(failures: Failures, runs: SeenProduct | None) -> Band:
    told = _told(failures, runs)
    tried = {} if runs is None else runs.first_attempts
    return band_of(Counts(told.verdicts, bool(told.lost_at), told.failed, tried))


def _told(failures: Failures, runs: SeenProduct | None) -> Failures:
    return failures if runs is None else failures._replace(lost=runs.lost_boards)


def described(
    history: RecordedRuns,
    incidents: Sequence[Incident],
    period: Period,
    seen: Mapping[Product, SeenProduct],
) -> list[Described]:
    """Describe incidents of a period. `seen`: the runs of their products."""
    failures = failures_by_incident(history, incidents)
    attempts = history.failed_attempts([failure.id for of in failures for failure in of.all])
    others = history.elsewhere([[failure.key for failure in of.all] for of in failures])
    ran_on = _ran_on(history, incidents, period)
    passed = _passed_before(
        history, [incident for incident in incidents if incident.label is Label.PENDING]
    )
    for product in {incident.product for incident in incidents} & seen.keys():
        here, of_product = [it for it in incidents if it.product == product], seen[product]
        of_product.suggest([it.lane.test_id for it in here if it.lane.branch == of_product.branch])
    days = {product: LastDays(runs.outcomes, period) for product, runs in seen.items()}
    differing, rows = _differing(history, incidents), []
    for incident, of, elsewhere, differ in zip(incidents, failures, others, differing, strict=True):
        history.check_time()
        retries = sum(attempts[failure.id] for failure in of.all) - of.runs
        passes_on = _passes_on(incident, elsewhere)
        only_box = len(_boxes_of(incident, ran_on)) == 1
        merged, band, looked = _merged(history, incident), None, None
        if incident.label is Label.PENDING:
            before = passed.get(incident.first.id)
            runs = seen.get(incident.product)
            band, told = _band(of, runs), _told(of, runs)
            looked = look_first(_evidence(incident, told, passes_on, before, merged))
            looked = looked if differ is None else f"{looked}. {differ}"
        since = _since(incident, seen.get(incident.product))
        in_days = days.get(incident.product)
        where = incident.lane.branch, incident.boxes, incident.tests
        letters = "" if in_days is None else in_days.letters(*where)
        told_of = passes_on, only_box, merged, band, looked, differ, since, letters
        rows.append(Described(incident, of, retries, *told_of))
    return rows


def _since(incident: Incident, seen: SeenProduct | None) -> Since | None:
    """Return since when the test that failed first fails, if that is about this incident: on its
    branch, and began no later than it did.
    """
    if seen is None or seen.branch != incident.lane.branch:
        return None
    suggested = seen.suggested(incident.lane.test_id)
    if isinstance(suggested, str):
        return None
    since = suggested.since
    later = since.after(incident.first.key.sha)
    return None if later is None or later >= LIKELY else since


def _passing_branch(merged: Merged | None) -> str | None:
    """Return the branch that an incident was merged to, if all of its tests pass there."""
    if merged is None or merged.failing or merged.not_run:
        return None
    return merged.branch


def failing_incidents(
    history: RecordedRuns, scope: Scope, period: Period, test_id: str
) -> list[Described]:
    """Return the pending incidents of a product that a test failed in."""
    pending = [
        incident
        for incident in incidents(history, scope, period, Label.PENDING)
        if test_id in incident.tests
    ]
    return described(history, pending, period, seen_products(history, scope, period, pending))


def _ran_on(
    history: RecordedRuns, incidents: Sequence[Incident], period: Period
) -> Mapping[TestKey, Collection[str]]:
    """Return the boxes on which the tests of incidents that are of one box ran in a period."""
    tests = {
        (incident.product, test)
        for incident in incidents
        if len(incident.boxes) == 1
        for test in incident.tests
    }
    return history.ran_on(tests, period)


def _boxes_of(incident: Incident, ran_on: Mapping[TestKey, Collection[str]]) -> Collection[str]:
    ran = (ran_on.get((incident.product, test), ()) for test in incident.tests)
    return {*incident.boxes, *chain.from_iterable(ran)}


def _passed_before(
    history: RecordedRuns, incidents: Sequence[Incident]
) -> Mapping[UUID, PassedBefore]:
    """Return the last passed commit before the first failure of each incident whose changes under
    test name it, by the id of that, and how the last run on it ended that started after it.
    """
    firsts = [incident.first for incident in incidents]
    named = [
        ()
        if (sent := incident.changes) is None
        else [sent.base_sha, *(commit.sha for commit in sent.commits)]
        for incident in incidents
    ]
    pairs = [(first.key, [*filter(None, shas)]) for first, shas in zip(firsts, named, strict=True)]
    passed = history.last_passes_before(pairs)
    known = [(first, sha) for first, sha in zip(firsts, passed, strict=True) if sha is not None]
    ended = history.ended_since(
        [(FailureKey(first.key.lane, sha), first.started_at) for first, sha in known]
    )
    return {
        first.id: PassedBefore(sha, since) for (first, sha), since in zip(known, ended, strict=True)
    }


def _differing(history: History, incidents: Sequence[Incident]) -> list[str | None]:
    """Return why the suspects of each incident differ from those of its failures."""
    failures = [(failed.key, failed.tested) for incident in incidents for failed in incident.failed]
    alone = iter(broken_by(history, failures))
    return [
        suspects_differ(
            incident.suspects,
            incident.times,
            [
                OfFailure(failed.key, next(alone), caused)
                for failed, caused in zip(incident.failed, incident.causes, strict=True)
            ],
        )
        for incident in incidents
    ]


def _evidence(
    incident: Incident,
    failures: Failures,
    passes_on: Sequence[str],
    before: PassedBefore | None,
    merged: Merged | None,
) -> Evidence:
    first = incident.first
    return Evidence(
        box=first.key.lane.box_key,
        boxes=incident.boxes,
        is_elsewhere=bool(passes_on),
        verdicts=failures.verdicts,
        runs=failures.told_runs,
        lost_at=failures.lost_at,
        suspects=incident.suspects,
        first=first.key.sha,
        last=first.last_sha,
        before=before,
        passes_on_branch=_passing_branch(merged),
        fix=incident.fix,
        not_seen=_not_seen(incident, failures),
    )


def _not_seen(incident: Incident, failures: Failures) -> Mapping[str, datetime]:
    """Return the boxes that have not run its tests since it passed again elsewhere, by name, each
    with the start of its last failing run.
    """
    seen: dict[str, datetime] = {}
    if incident.fix is not None:
        for failed, members in zip(incident.failed, failures.of_each, strict=True):
            if failed.label is Label.PENDING:
                box = failed.key.lane.box_key
                at = max(failure.last_started_at for failure in members)
                seen[box] = max(at, seen.get(box, at))
    return dict(sorted(seen.items()))


def _passes_on(incident: Incident, elsewhere: Collection[tuple[str, Outcome]]) -> Sequence[str]:
    passed, failed = (
        {box for box, outcome in elsewhere if outcome is wanted}
        for wanted in (Outcome.PASS, Outcome.FAIL)
    )
    return sorted(passed.difference(failed, incident.boxes))


def _merged(history: RecordedRuns, incident: Incident) -> Merged | None:
    """Return where a commit was merged to: a report of the branch mentions it, or a merge is it."""
    if incident.label is not Label.PENDING or incident.on_merge_branch:
        return None
    sha = incident.first.key.sha
    for branch, merges in incident.merges.items():
        place = history.place(incident.product.repo_key, branch, sha)
        since = merges.get(sha) if place is None else place.started_at
        if since is not None:
            ended = Counter(
                history.last_outcome(failed.key.lane._replace(branch=branch), since)
                for failed in incident.failed
            )
            return Merged(
                branch=branch,
                passing=ended[Outcome.PASS],
                failing=ended[Outcome.FAIL],
                not_run=ended[None],
            )
    return None
