# SPDX-License-Identifier: Apache-2.0
"""What episodes have in common that one cause explains.

Those of one test on boxes that are alike are a pool first (`pool.py`), with one beginning and one
end. Then pools of one product and branch have one cause if they began with the same commits and
ended with the same fix, and the bench is blamed for all of them or for none. Where no commit is
suspected, or the bench is, those that fail together again and again have one, too
(`co_failure.py`). This module knows no incident and no class.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from hwci.analysis.failures.co_failure import TIMES_MIN, failing_together
from hwci.analysis.failures.pool import Stretch, pooled
from hwci.analysis.failures.since_pass import Asked, commits_since
from hwci.analysis.outcomes import RecordedRuns
from hwci.contract.runs.commits import Commit
from hwci.contract.vocabulary import Label, Verdict
from hwci.engine.facts import FailureKey, Lane
from hwci.engine.history import Episode
from hwci.engine.periods import Period
from hwci.engine.rules.changes import UnderTest, broken_by

COMMITS_BACK = 200
"""So many commits of its branch before a failure are looked at for a pass."""
CauseKey = tuple[object, ...]
"""What failures of one cause have in common."""


class Ends(NamedTuple):
    """How failures ended, and whether the bench is blamed for them."""

    label: Label
    fix: str | None
    of_bench: bool


class Failed(NamedTuple):
    """An episode, and what its cause rests on. `tested`: the changes under test at its first
    failure.
    """

    episode: Episode
    label: Label
    tested: UnderTest

    @property
    def key(self) -> FailureKey:
        """The first failure."""
        return self.episode.key

    @property
    def of_bench(self) -> bool:
        """Whether the bench is blamed."""
        return self.episode.verdict is Verdict.INFRA


class Began(NamedTuple):
    """How a test began to fail on boxes that are alike. `first`: its first failure on any of them;
    `passed`: where it passed last before that, None if unknown. `commits`: all between, of which
    `suspects` are the firmware commits that may have broken it; both oldest first, None if unknown.
    """

    first: FailureKey
    passed: FailureKey | None
    commits: tuple[Commit, ...] | None
    suspects: tuple[Commit, ...] | None


class Caused(NamedTuple):
    """The cause of an episode, which others of its incident have in common and no other has.
    `began` and `ends`: of its pool; `passed`: the last commit before it that passed on its own box.
    """

    cause: CauseKey
    began: Began
    ends: Ends
    passed: str | None


class _Pool(NamedTuple):
    """Episodes of one test that are one: their numbers, and how they began and ended."""

    members: Sequence[int]
    began: Began
    ends: Ends


def causes_of(history: RecordedRuns, period: Period, failed: Sequence[Failed]) -> list[Caused]:
    """Return the cause of each episode."""
    if not failed:
        return []
    stretches = _stretches(history, failed)
    tests: dict[object, list[int]] = defaultdict(list)
    for at, one in enumerate(failed):
        tests[_test_of(one)].append(at)
    pools = _pools(history, failed, stretches, tests.values())
    common = _again_and_again(history, period, failed, pools)
    if common:
        # What fails beside them now and then is another pool.
        apart = [*_apart(failed, tests.values(), common)]
        theirs = {at for members in apart for at in members}
        pools = [pool for pool in pools if pool.members[0] not in theirs]
        pools += _pools(history, failed, stretches, apart)
    causes: dict[int, Caused] = {}
    for pool in pools:
        began, ends = pool.began, pool.ends
        again = common.get(failed[pool.members[0]].key)
        # What passed again on one box is over, whatever is not known of another.
        over = ends if ends.fix is None else ends._replace(label=Label.RESOLVED)
        cause = cause_of(began.first, over, began.suspects)
        if again is not None:
            cause = (again, ends.label, ends.of_bench)
        for at in pool.members:
            passed = stretches[at].passed
            causes[at] = Caused(cause, began, ends, None if passed is None else passed.sha)
    return [causes[at] for at in range(len(failed))]


Labelled = tuple[Episode, Label]


class Parted(NamedTuple):
    """Episodes of which the pending ones are looked at: `first` those on which the causes of these
    rest, then, of the `others`, those `with_fix` that one of their pools has.
    """

    first: Sequence[Labelled]
    others: Sequence[Labelled]

    def with_fix(self, causes: Iterable[Caused]) -> list[Labelled]:
        """Return all others of the tests that one of these fixes fixed, of what is pending."""
        fixes = {caused.ends.fix for caused in causes if caused.ends.label is Label.PENDING} - {
            None
        }
        tests = {
            _on_any_box(episode.key.lane) for episode, _ in self.others if episode.fix in fixes
        }
        return [of for of in self.others if _on_any_box(of[0].key.lane) in tests]


def parted(episodes: Sequence[Labelled]) -> Parted:
    """Part episodes: a test with a pending one is looked at first, and one that began to fail so
    often that it may fail together with others again and again.
    """
    began = Counter(episode.key.lane for episode, _ in episodes)
    tests = {
        _on_any_box(episode.key.lane)
        for episode, label in episodes
        if label is Label.PENDING or began[episode.key.lane] >= TIMES_MIN
    }
    parts: tuple[list[Labelled], list[Labelled]] = [], []
    for episode, label in episodes:
        parts[_on_any_box(episode.key.lane) not in tests].append((episode, label))
    return Parted(*parts)


def _on_any_box(lane: Lane) -> tuple[str, ...]:
    repo_key, suite, test_id, _, branch = lane
    return repo_key, suite, test_id, branch


def cause_of(first: FailureKey, ends: Ends, suspects: tuple[Commit, ...] | None) -> CauseKey:
    """Return what failures have in common with others of their cause. `first`: the first of them.
    `suspects`: the firmware commits that may have broken it; where None is known, it began with its
    first failing commit.
    """
    lane, sha = first
    began = (sha,) if suspects is None else tuple(suspect.sha for suspect in suspects)
    return lane.product, lane.branch, suspects is None, began, ends


def _stretches(history: RecordedRuns, failed: Sequence[Failed]) -> list[Stretch]:
    passed = history.last_passes([of.key for of in failed], COMMITS_BACK)
    wanted: dict[tuple[str, str], set[str]] = defaultdict(set)
    for (episode, *_), before in zip(failed, passed, strict=True):
        lane, sha = episode.key
        named = filter(None, (sha, episode.last_sha, before, episode.fix))
        wanted[lane.repo_key, lane.branch].update(named)
    places = history.places(wanted)
    stretches = []
    for (episode, *_), before in zip(failed, passed, strict=True):
        lane, sha = episode.key
        place = places[lane.repo_key, lane.branch]
        passes = (None if sha is None else place[sha] for sha in (before, episode.fix))
        stretches.append(Stretch(place[sha], place[episode.last_sha], *passes))
    return stretches


def _pools(
    history: RecordedRuns,
    failed: Sequence[Failed],
    stretches: Sequence[Stretch],
    tests: Iterable[Sequence[int]],
) -> list[_Pool]:
    """Return the pools of episodes, by their numbers, of each of these tests."""
    pools: list[list[int]] = []
    for some in tests:
        history.check_time()
        parts = pooled([stretches[at] for at in some])
        pools += ([some[at] for at in members] for members in parts)
    began = _beginnings(history, failed, stretches, pools)
    return [
        _Pool(members, how, _ends(failed, stretches, members))
        for members, how in zip(pools, began, strict=True)
    ]


def _apart(
    failed: Sequence[Failed], tests: Iterable[Sequence[int]], common: Mapping[FailureKey, int]
) -> Iterator[Sequence[int]]:
    """Yield the episodes of the tests with something in common, apart from others of the test.
    `common`: the numbers of what fails together again and again.
    """
    for some in tests:
        parts: dict[int | None, list[int]] = defaultdict(list)
        for at in some:
            parts[common.get(failed[at].key)].append(at)
        if parts.keys() != {None}:
            yield from parts.values()


def _test_of(failed: Failed) -> tuple[object, ...]:
    """Return what the episodes of a pool have in common, whichever box they are of."""
    return _on_any_box(failed.key.lane), failed.of_bench


def _ends(failed: Sequence[Failed], stretches: Sequence[Stretch], members: Sequence[int]) -> Ends:
    """Return how a pool ended: by the first pass on one of its boxes, after which none failed."""
    passes = [place for at in members if (place := stretches[at].passes) is not None]
    is_pending = any(failed[at].label is Label.PENDING for at in members)
    first = failed[members[0]]
    return Ends(
        label=Label.PENDING if is_pending else first.label,
        fix=min(passes).sha if passes else None,
        of_bench=first.of_bench,
    )


def _beginnings(
    history: RecordedRuns,
    failed: Sequence[Failed],
    stretches: Sequence[Stretch],
    pools: Sequence[Sequence[int]],
) -> list[Began]:
    firsts = [min(members, key=lambda at: (stretches[at].first, at)) for members in pools]
    # The own pass of a failure that stands alone (semantics, 8.2) is not before it.
    own = [at for at in firsts if not stretches[at].is_whole]
    suspected = broken_by(history, [(failed[at].key, failed[at].tested) for at in own])
    alone = dict(zip(own, suspected, strict=True))
    passes = [_passed(failed, stretches, members) for members in pools]
    since = _since(history, [failed[at] for at in firsts], passes)
    beginnings = []
    touching: dict[tuple[int, int], tuple[Commit, ...]] = {}  # by what began with the same commits
    for at, passed, commits in zip(firsts, passes, since, strict=True):
        key, files = failed[at].key, failed[at].tested.files
        if at in alone:
            beginnings.append(Began(key, None, commits, alone[at]))
            continue
        same = id(files), id(commits)
        if same not in touching:
            touching[same] = tuple(
                commit for commit in commits or () if files and files.firmware_touch(commit)
            )
        beginnings.append(Began(key, passed, commits, touching[same] or None))
    return beginnings


def _passed(
    failed: Sequence[Failed], stretches: Sequence[Stretch], members: Sequence[int]
) -> FailureKey | None:
    """Return where the test passed last before the first failure, on the first box that did."""
    passes = [
        (place, -at)
        for at in members
        if stretches[at].is_whole and (place := stretches[at].passed) is not None
    ]
    if not passes:
        return None
    place, at = max(passes)
    return FailureKey(failed[-at].key.lane, place.sha)


def _since(
    history: RecordedRuns, firsts: Sequence[Failed], passes: Sequence[FailureKey | None]
) -> list[tuple[Commit, ...] | None]:
    """Return the commits between; tests that began together are asked once."""
    questions: dict[tuple[str, int, str | None], Asked] = {}
    keys = []
    for first, passed in zip(firsts, passes, strict=True):
        repo_key, changes = first.key.lane.repo_key, first.tested.changes
        key = (repo_key, id(first.tested.sent), None if passed is None else passed.sha)
        keys.append(key)
        if changes is not None:
            questions[key] = Asked(repo_key, changes, key[2])
    answers = dict(zip(questions, commits_since(history, [*questions.values()]), strict=True))
    return [answers.get(key) for key in keys]


def _again_and_again(
    history: RecordedRuns,
    period: Period,
    failed: Sequence[Failed],
    pools: Sequence[_Pool],
) -> Mapping[FailureKey, int]:
    """Return the number of the cause of those that fail together again and again. A commit that is
    suspected explains them, but not where the harness blames the bench.
    """
    numbers = sorted(
        at
        for pool in pools
        if pool.began.suspects is None or pool.ends.of_bench
        for at in pool.members
    )

    def commits_run(lanes: Collection[Lane]) -> Mapping[Lane, Mapping[str, int]]:
        return history.commits_run(lanes, period)

    def went_on(lanes: Collection[Lane]) -> Mapping[Lane, Collection[str]]:
        episodes = [failed[at].episode for at in numbers if failed[at].key.lane in lanes]
        longer = [episode for episode in episodes if episode.commits > 1]
        commits: dict[Lane, set[str]] = defaultdict(set)
        for episode, failures in zip(longer, history.members(longer), strict=True):
            shas = {failure.key.sha for failure in failures}
            commits[episode.key.lane] |= shas - {episode.key.sha}
        return commits

    beginnings = [failed[at].key for at in numbers]
    return failing_together(beginnings, went_on, commits_run, history.check_time)
