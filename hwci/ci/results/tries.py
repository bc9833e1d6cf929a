# SPDX-License-Identifier: Apache-2.0
"""Results of one name: tries of one test, different tests, or repeats (semantics, 1.6).

This module decides which they are. They are tries only where something says so: a marker of the
tool, a name such as `rerun` or `attempt 2`, or a later file or suite that holds nothing but tests
that failed before. Else they are different tests if something tells them apart, and repeats, of
which every one has to pass, if nothing does. How files are read, it does not know.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from itertools import chain

from hwci.ci.results.names import outside_prefixes, prefixes, stable_id
from hwci.ci.results.places import Attempt, Source, Spot, base_of, says_again, spot_of, suite_name
from hwci.contract.vocabulary import Outcome, Verdict
from hwci.said import counted
from hwci.wire import limits

_CLOCK = timedelta(seconds=1)
"""How exactly files write times of day."""
_BEGIN = timedelta(seconds=10)
"""How far apart one run may begin in two files: a plugin begins before its runner."""
_TIMES_MIN = 3
_CLOCK_S = 0.0015
"""How exactly files write durations."""


@dataclass(frozen=True, slots=True)
class Tests:
    """The tries of each test by its name; the last one may stand for all repeats. `notes`: what was
    decided, as lines.
    """

    tries: Mapping[str, Sequence[Attempt]]
    notes: Sequence[str] = ()


# In which files


def _in_time(sources: Sequence[Source]) -> Sequence[Source]:
    """Return files in the order in which their tests began, if each says it, else were written. A
    copy is written when it is copied, so of files that are tries by their names, these say the
    order.
    """
    began = {source: source.started_at for source in sources if source.started_at is not None}
    if len(began) == len(sources):
        return sorted(sources, key=began.__getitem__)
    written = {source: source.written_at for source in sources if source.written_at is not None}
    if len(written) == len(sources):
        sources = sorted(sources, key=written.__getitem__)
    tries: dict[tuple[str, ...], list[Source]] = {}
    for source in sources:
        tries.setdefault(base_of(source.path)[0], []).append(source)
    in_turn = {
        base: iter(sorted(own, key=lambda source: base_of(source.path)[1]))
        for base, own in tries.items()
    }
    return [next(in_turn[base_of(source.path)[0]]) for source in sources]


def _without_copies(sources: Sequence[Source], notes: list[str]) -> Iterator[Source]:
    """Leave out what a file repeats of another one: Twister writes one run into several files."""
    before: dict[tuple[str, int | str], dict[Source, None]] = {}
    kinds = {source.kind for source in sources}
    for source in sources:
        copied = set[tuple[str, str]]()
        # Only files with such a test may be compared: there may be thousands of one kind.
        took = {
            (attempt.test_id, round(attempt.duration_s / _CLOCK_S))
            for attempt in source.attempts
            if attempt.duration_s
        }
        tests = {attempt.test_id for attempt in source.attempts}
        own: list[tuple[str, int | str]] = [*took, (source.path, -1)]
        own += ((test_id, source.kind) for test_id in tests)
        near: list[tuple[str, int | str]] = [(source.path, -1)]
        near += ((test_id, clock + step) for test_id, clock in took for step in (-1, 0, 1))
        near += ((test_id, kind) for test_id in tests for kind in kinds - {source.kind})
        for other in dict.fromkeys(chain.from_iterable(before.get(key, ()) for key in near)):
            if source.path and source.path == other.path:
                copied |= {_copy_key(attempt) for attempt in source.attempts}
            elif shared := _copied(source, other) - copied:
                notes.append(
                    f"{source.path}: {counted(len(shared), 'test')} of it stand in {other.path} as"
                    " well, of the same run: they count once."
                )
                copied |= shared
        for key in own:
            before.setdefault(key, {})[source] = None
        left = (
            [attempt for attempt in source.attempts if _copy_key(attempt) not in copied]
            if copied
            else None
        )
        yield source if left is None else replace(source, attempts=left)


def _copy_key(attempt: Attempt) -> tuple[str, str]:
    return attempt.test_id, spot_of(attempt.place).suite


def _copied(source: Source, other: Source) -> set[tuple[str, str]]:
    """Return the tests that two files hold of one run: they began at one time, and what both hold
    ended alike and took the same time. In files of one kind, a few round times may be those of two
    boards; of two kinds, all may be 0: XML has milliseconds. What hwci's plugin writes has no
    suites.
    """
    if source.started_at is None or other.started_at is None:
        return set()
    if abs(source.started_at - other.started_at) > _BEGIN:
        return set()
    with_suites = _has_suites(source) and _has_suites(other)
    ours, theirs = (_by_key(side, with_suites=with_suites) for side in (source, other))
    shared = ours.keys() & theirs.keys()
    if any(len(ours[key]) != len(theirs[key]) for key in shared):
        return set()
    pairs = [pair for key in shared for pair in zip(ours[key], theirs[key], strict=True)]
    alike = all(
        first.outcome is two.outcome and abs(first.duration_s - two.duration_s) <= _CLOCK_S
        for first, two in pairs
    )
    times = {first.duration_s for first, _ in pairs if first.duration_s}
    if not alike or (source.kind == other.kind and len(times) < _TIMES_MIN):
        return set()
    return {_copy_key(first) for first, _ in pairs}


def _has_suites(source: Source) -> bool:
    return any(attempt.place.path for attempt in source.attempts)


def _by_key(source: Source, *, with_suites: bool) -> Mapping[tuple[str, str], Sequence[Attempt]]:
    attempts: dict[tuple[str, str], list[Attempt]] = {}
    for attempt in source.attempts:
        test_id, suite = _copy_key(attempt)
        attempts.setdefault((test_id, suite if with_suites else ""), []).append(attempt)
    return attempts


# What tried which tests again


_Key = tuple[str, Spot]
"""A test as far as its file names it."""
_Run = Sequence[Attempt]
"""What one unit holds of one test."""


@dataclass(eq=False)
class _Unit:
    """What ran together: the suites of a file, each of them once."""

    source: Source
    results: dict[_Key, list[Attempt]] = field(default_factory=dict)
    paths: set[tuple[str, ...]] = field(default_factory=set)

    @property
    def tests(self) -> Sequence[_Key]:
        """The tests, without failures outside any."""
        return [key for key, run in self.results.items() if not run[0].outside]

    @cached_property
    def in_try(self) -> bool:
        """Whether its file is called a try."""
        return base_of(self.source.path)[1] > 0

    @cached_property
    def is_marked(self) -> bool:
        """Whether one of its suites is called a try."""
        return any(suite_name(name)[1] for path in self.paths for name in path)

    def is_try_of(self, other: "_Unit") -> bool:
        """Return whether the name of one of the two says that it is a try of the other."""
        if self.source is not other.source and (self.in_try or other.in_try):
            base, other_base = (base_of(side.source.path)[0] for side in (self, other))
            if base[: len(other_base)] == other_base[: len(base)]:
                return True
        return self.is_marked and self.paths.isdisjoint(other.paths)

    def is_after(self, other: "_Unit") -> bool:
        """Return whether it may have run after another one: its file does not say otherwise."""
        ours, theirs = self.source, other.source
        if ours is theirs or ours.started_at is None or theirs.started_at is None:
            return True
        lasted = timedelta(seconds=min(theirs.duration_s, limits.DURATION_MAX))
        return ours.started_at - theirs.started_at >= lasted - _CLOCK


@dataclass(slots=True, eq=False)
class _Group:
    """What ran together first, and what tried tests of it again."""

    first: _Unit
    runs: dict[_Key, list[_Run]] = field(default_factory=dict)
    failed: dict[_Key, bool] = field(default_factory=dict)
    outside: set[_Key] = field(default_factory=set)
    """Failures outside any test."""

    @property
    def source(self) -> Source:
        return self.first.source

    def take(self, key: _Key, run: _Run) -> None:
        """Take the run of a test: whether it failed, the last one says."""
        self.runs.setdefault(key, []).append(run)
        if run[0].outside:
            self.outside.add(key)
        self.failed[key] = _failed(run)


def _failed(run: _Run) -> bool:
    return any(attempt.outcome is Outcome.FAIL and not attempt.tried_again for attempt in run)


_Holders = dict[_Key, dict[_Group, None]]
"""The groups of each test, in their order."""


def _units(sources: Iterable[Source]) -> Iterator[_Unit]:
    for source in sources:
        units: list[_Unit] = []
        suites: dict[Spot, dict[int, int]] = {}
        for attempt in source.attempts:
            spot = spot_of(attempt.place)
            numbers = suites.setdefault(spot, {})
            at = numbers.setdefault(attempt.place.number, len(numbers))
            while at >= len(units):
                units.append(_Unit(source))
            units[at].results.setdefault((attempt.test_id, spot), []).append(attempt)
            units[at].paths.add(attempt.place.path)
        yield from units


def _grouped(units: Iterable[_Unit], notes: list[str]) -> list[_Group]:
    """Put what a unit holds to what it tried again; the rest ran for the first time."""
    groups: list[_Group] = []
    holders, in_tries, failed = _Holders(), _Holders(), _Holders()
    for unit in units:
        named = holders if unit.in_try or unit.is_marked else in_tries
        tried = _last_of(named, unit, unit.is_try_of) or _chosen(unit, failed, notes)
        rest = _Group(unit)
        for key, run in unit.results.items():
            group = tried.get(key, rest)
            group.take(key, run)
            holders.setdefault(key, {})[group] = None
            if group.first.in_try:
                in_tries.setdefault(key, {})[group] = None
            if group.failed[key]:
                failed.setdefault(key, {})[group] = None
            else:
                failed.get(key, {}).pop(group, None)
        if rest.runs:
            groups.append(rest)
    return groups


def _last_of(holders: _Holders, unit: _Unit, fits: Callable[[_Unit], bool]) -> dict[_Key, _Group]:
    """Return the last group of each test of a unit whose first unit fits."""
    last = {
        key: next((holder for holder in reversed(holders.get(key, {})) if fits(holder.first)), None)
        for key in unit.tests
    }
    return {key: group for key, group in last.items() if group is not None}


def _chosen(unit: _Unit, failed: _Holders, notes: list[str]) -> dict[_Key, _Group]:
    """Return the group of each test of a unit that holds only tests that failed before, and none
    of those that passed beside them. Where everything failed, it may as well be another board, and
    its name has to say that it is not.
    """
    tried = _last_of(failed, unit, unit.is_after)
    if len(tried) < len(unit.tests):
        return {}
    nothing_passed = all(all(group.failed.values()) for group in tried.values())
    paths = dict.fromkeys(group.source.path for group in tried.values())
    if nothing_passed and not any(says_again(unit.source.path, path) for path in paths):
        return {}
    files = " and ".join(paths)
    notes.append(
        f"{unit.source.path}: {counted(len(tried), 'test')} counted as tried again: all of them had"
        f" failed before, in {files}, and nothing else is there."
    )
    return tried


# The whole


def resolved(sources: Sequence[Source], *, by_file: bool = False) -> Tests:
    """Return the tests that the files of a box hold. `by_file`: a file names its tests without
    regard to the others, and what has one name in several files is one test.
    """
    notes: list[str] = []
    originals = list(_without_copies(sources, notes))
    groups = _grouped(_units(_in_time(originals)), notes)
    order = {source: at for at, source in enumerate(originals)}
    groups.sort(key=lambda group: order[group.source])
    named = _named_tests(groups, notes, by_file=by_file)
    runs: dict[str, list[list[_Run]]] = {}
    for group in groups:
        for key, own in group.runs.items():
            runs.setdefault(named(group, key), []).append(own)
    notes += _repeats(runs)
    return Tests({name: _tries(own) for name, own in runs.items()}, notes)


def _named_tests(
    groups: Sequence[_Group], notes: list[str], *, by_file: bool
) -> Callable[[_Group, _Key], str]:
    """Return what the tests of a group are called."""
    tests: dict[str, dict[Source, set[Spot]]] = {}
    outside: dict[str, dict[Source, None]] = {}
    for group in groups:
        for test_id, spot in group.runs:
            if (test_id, spot) in group.outside:
                outside.setdefault(test_id, {})[group.source] = None
            else:
                tests.setdefault(test_id, {}).setdefault(group.source, set()).add(spot)
    of_tests = prefixes(tests, [group.source for group in groups], notes, by_file=by_file)
    of_outside = {} if by_file else outside_prefixes(outside)

    def name(group: _Group, key: _Key) -> str:
        test_id, spot = key
        if key in group.outside:
            return stable_id(of_outside.get((test_id, group.source), ""), test_id)
        return stable_id(of_tests[group.source](spot), test_id)

    return name


# What becomes of the runs of a test


def _tries(groups: Sequence[Sequence[_Run]]) -> Sequence[Attempt]:
    """Return the tries of a test. It was tried until it passed; what ran behind a pass, or in
    another group, has to pass as well.
    """
    if len(groups) == len(groups[0]) == len(groups[0][0]) == 1:
        return groups[0][0]
    failed, last = list[Attempt](), list[Attempt]()
    for runs in chain.from_iterable(map(_until_passed, groups)):
        parts = [_parted(run) for run in runs]
        failed += chain.from_iterable(before for before, _ in parts)
        ends = [_every(own) for _, own in parts]
        failed_ends = [end for end in ends if end.outcome is Outcome.FAIL]
        if len(failed_ends) == len(ends):
            last.append(failed_ends.pop())
        else:
            last.append(_every([end for end in ends if end.outcome is Outcome.PASS]))
        failed += failed_ends
    return [*failed, _every(last)]


def _until_passed(runs: Sequence[_Run]) -> Iterator[Sequence[_Run]]:
    """Yield the runs up to each that passed."""
    begin = 0
    for end, run in enumerate(runs, start=1):
        if end == len(runs) or not _failed(run):
            yield runs[begin:end]
            begin = end


def _parted(run: _Run) -> tuple[_Run, _Run]:
    """Return the tries that were followed by others, and what ran to its end."""
    before = [attempt for attempt in run if attempt.tried_again]
    ends = [attempt for attempt in run if not attempt.tried_again]
    return (before, ends) if ends else (before[:-1], before[-1:])


def _every(runs: Sequence[Attempt]) -> Attempt:
    """Return repeats as one run, which passed if each did."""
    failed = [run for run in runs if run.outcome is Outcome.FAIL]
    if len(runs) == 1:
        return runs[0]
    blamed = [run for run in failed if run.verdict is not Verdict.UNKNOWN]
    shown = [run for run in failed if run.message]
    end = next(reversed(blamed or shown or failed or runs))
    return replace(
        end,
        duration_s=sum(run.duration_s for run in runs),
        message=next((run.message for run in reversed(shown)), ""),
        ended=all(run.ended for run in runs),
    )


def _repeats(tests: Mapping[str, Sequence[Sequence[_Run]]]) -> Iterator[str]:
    """Yield the note of tests that ran several times though nothing says that they were tried."""
    times = {
        name: sum(_times(runs) for runs in groups)
        for name, groups in tests.items()
        if len(groups) > 1 or any(len(run) > 1 for run in groups[0])
    }
    repeated = {name: many for name, many in times.items() if many > 1}
    if repeated:
        name, many = next(iter(repeated.items()))
        yield (
            f"{counted(len(repeated), 'test')} ran several times, and nothing tells the runs apart"
            f" or says that they are tries: each passed only if it did every time (first: {name},"
            f" {many} times)."
        )


def _times(runs: Sequence[_Run]) -> int:
    """Return how often a test was run, without its tries."""
    return max(max(1, sum(not attempt.tried_again for attempt in run)) for run in runs)
