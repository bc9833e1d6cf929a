# SPDX-License-Identifier: Apache-2.0
"""Results of one name: tries of one test, different tests, or repeats (semantics, 1.12).

This module decides which they are. They are tries only where something says so: a marker of the
tool, a name such as `rerun` or `attempt 2`, or a later file or suite that holds nothing but tests
that failed before. Else they are different tests if something tells them apart, and repeats, of
which every one has to pass, if nothing does. How files are read, it does not know.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache, partial
from itertools import chain
from pathlib import PurePath

from hwci.engine.vocabulary import Outcome, Verdict
from hwci.said import counted
from hwci.wire import limits

HASH_DIGITS = 16
BOARDS = frozenset(("board", "board_name", "platform", "device", "target", "dut"))
"""Attributes and properties that name the board on which a test or a suite ran."""
_NO_HOST = re.compile(
    r"[0-9a-f]{12}|localhost.*|fv-az.*|runnervm.*|runner-.*|.*[0-9a-f]{8}-[0-9a-f-]{27}"
)
"""Hosts that are made for one job: containers and hosted machines."""
_TRY = re.compile(
    r"(?<![a-z])(?:re-?try|re-?tries|re-?runs?|attempts?|try|tries)(?![a-z])"
    r"(?:[\s_.#:-]*\d+)?(?:[\s_-]*of[\s_-]*\d+)?",
    re.IGNORECASE,
)
"""Words by which a file or a suite says that it is a try."""
_PASSING = re.compile(
    r"@stress-\d+|20\d\d-?[01]\d-?[0-3]\d(?:[T_-]?[0-2]\d[:_-]?[0-5]\d(?:[:_-]?[0-5]\d)?)?"
)
"""Parts of names that differ in each run, and nextest's number of a repeat."""
_SEAMS = re.compile(r"[\s_.()\[\]-]+$|^[\s_.()\[\]-]+")
_SUFFIXES = re.compile(r"(?:\.(?:xml|json|gz))+$", re.IGNORECASE)
_SAME_START = timedelta(seconds=1)
_SAME_S = 0.0015
"""Files write milliseconds."""


def stable_id(classname: str, name: str) -> str:
    """Return the id of a test: `classname.name`, unless the name already begins with the classname.
    A longer one than a report may hold ends with a hash.
    """
    if not classname or name == classname or name.startswith(f"{classname}."):
        full = name
    else:
        full = f"{classname}.{name}" if name else classname
    if len(full) <= limits.TEST_ID_MAX:
        return full
    digest = hashlib.sha256(full.encode()).hexdigest()[:HASH_DIGITS]
    return f"{full[: limits.TEST_ID_MAX - HASH_DIGITS - 1]}~{digest}"


@lru_cache(maxsize=4096)
def steady(name: str) -> tuple[str, bool]:
    """Return a name of a file or a suite without what differs in each run or says that it is a try;
    and whether something said that.
    """
    without = _TRY.sub("", name)
    plain = _PASSING.sub("", without)
    return (name if plain == name else _SEAMS.sub("", plain)), without != name


# What there is


@dataclass(frozen=True, slots=True)
class Place:
    """Where a result stands. `path`: the names of the elements around it, from the outermost.
    `number`: of the suite, in its file.
    """

    path: tuple[str, ...] = ()
    board: str = ""
    host: str = ""
    number: int = 0


NOWHERE = Place()


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of one test."""

    test_id: str
    outcome: Outcome
    duration_s: float
    verdict: Verdict
    message: str = ""
    ended: bool = True
    """False if the file holds its begin alone: it still runs, or failed if the run is over."""
    tried_again: bool = False
    """It failed, and its file says that it was tried again."""
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The results of one file."""

    path: str
    attempts: Sequence[Attempt]
    started_at: datetime | None = None
    idle: Sequence[tuple[str, Place]] = ()
    """Tests that it lists and that did not run."""


@dataclass(frozen=True, slots=True)
class Tests:
    """The tries of each test by its name; the last one may stand for all repeats. `notes`: what was
    decided, as lines.
    """

    tries: Mapping[str, Sequence[Attempt]]
    notes: Sequence[str] = ()


def resolved(sources: Sequence[Source], *, by_file: bool = False) -> Tests:
    """Return the tests that the files of a box hold. `by_file`: a file names its tests without
    regard to the others, and what has one name in several files is one test.
    """
    notes: list[str] = []
    groups: list[_Group] = []
    for unit in _units(_without_copies(_in_time(sources), notes)):
        _take(unit, groups, notes)
    order = {id(source): at for at, source in enumerate(sources)}
    groups.sort(key=lambda group: order[id(group.source)])
    named = _prefixes(groups, by_file=by_file)
    runs: dict[str, list[list[_Run]]] = {}
    for group in groups:
        prefix = named(group.source)
        for key, own in group.runs.items():
            runs.setdefault(stable_id(prefix(key[1]), key[0]), []).append(own)
    notes += _repeats(runs)
    return Tests({name: _tries(own) for name, own in runs.items()}, notes)


def _in_time(sources: Sequence[Source]) -> Sequence[Source]:
    """Return files in the order in which their tests began, if each says it."""
    starts = {id(it): it.started_at for it in sources if it.started_at is not None}
    if len(starts) < len(sources):
        return sources
    return sorted(sources, key=lambda source: starts[id(source)])


def _without_copies(sources: Iterable[Source], notes: list[str]) -> Iterator[Source]:
    """Leave out what a file repeats of another one: Twister writes one run into several files."""
    before: list[Source] = []
    for source in sources:
        for other in before:
            if source.path and source.path == other.path:
                source = replace(source, attempts=())  # noqa: PLW2901
            elif shared := _copied(source, other):
                notes.append(
                    f"{source.path}: {counted(len(shared), 'test')} of it stand in {other.path} as"
                    " well, of the same run: they count once."
                )
                left = [one for one in source.attempts if _copy_key(one) not in shared]
                source = replace(source, attempts=left)  # noqa: PLW2901
        before.append(source)
        yield source


def _copy_key(attempt: Attempt) -> tuple[str, str]:
    return attempt.test_id, _suite(_spot(attempt.place))


def _copied(source: Source, other: Source) -> set[tuple[str, str]]:
    """Return the tests that two files hold of one run: they began at one time, and what both hold
    ended alike and took the same time.
    """
    if source.started_at is None or other.started_at is None:
        return set()
    if abs(source.started_at - other.started_at) > _SAME_START:
        return set()
    ours, theirs = _by_key(source), _by_key(other)
    shared = ours.keys() & theirs.keys()
    pairs = [
        (len(ours[key]) == len(theirs[key]), one, two)
        for key in shared
        for one, two in zip(ours[key], theirs[key], strict=False)
    ]
    alike = all(
        same and one.outcome is two.outcome and abs(one.duration_s - two.duration_s) <= _SAME_S
        for same, one, two in pairs
    )
    return shared if alike and any(one.duration_s for _, one, _ in pairs) else set()


def _by_key(source: Source) -> dict[tuple[str, str], list[Attempt]]:
    found: dict[tuple[str, str], list[Attempt]] = {}
    for attempt in source.attempts:
        found.setdefault(_copy_key(attempt), []).append(attempt)
    return found


# What tried which tests again


@dataclass(frozen=True, slots=True)
class _Spot:
    """A place without what differs in each run."""

    path: tuple[str, ...]
    board: str
    host: str


@lru_cache(maxsize=4096)
def _spot(place: Place) -> _Spot:
    host = "" if _NO_HOST.fullmatch(place.host) else place.host
    return _Spot(tuple(steady(name)[0] for name in place.path), place.board, host)


def _suite(spot: _Spot) -> str:
    return spot.path[-1] if spot.path else ""


_Key = tuple[str, _Spot]
"""A test as far as its file names it."""
_Run = Sequence[Attempt]
"""What one unit holds of one test."""


@dataclass(slots=True, eq=False)
class _Unit:
    """What ran together: the suites of a file, each of them once."""

    source: Source
    results: dict[_Key, list[Attempt]] = field(default_factory=dict)
    paths: set[tuple[str, ...]] = field(default_factory=set)

    def is_try_of(self, other: "_Unit") -> bool:
        """Return whether the name of one of the two says that it is a try of the other."""
        if self.source is not other.source:
            base, tried = _base(self.source.path)
            other_base, other_tried = _base(other.source.path)
            if (tried or other_tried) and base[: len(other_base)] == other_base[: len(base)]:
                return True
        marked = any(steady(name)[1] for path in self.paths for name in path)
        return marked and self.paths.isdisjoint(other.paths)


@dataclass(slots=True, eq=False)
class _Group:
    """What ran together first, and what tried tests of it again."""

    first: _Unit
    runs: dict[_Key, list[_Run]] = field(default_factory=dict)
    failed: dict[_Key, bool] = field(default_factory=dict)

    @property
    def source(self) -> Source:
        return self.first.source

    def take(self, key: _Key, run: _Run) -> None:
        """Take the run of a test. One pass is a pass."""
        failed = any(one.outcome is Outcome.FAIL and not one.tried_again for one in run)
        self.runs.setdefault(key, []).append(run)
        self.failed[key] = failed and self.failed.get(key, True)


@lru_cache(maxsize=4096)
def _base(path: str) -> tuple[tuple[str, ...], bool]:
    """Return the parts of a path without what says that the file is a try, and whether it does."""
    *folders, name = PurePath(path).parts or ("",)
    parts = [steady(part) for part in (*folders, _SUFFIXES.sub("", name))]
    return tuple(part for part, _ in parts if part), any(is_try for _, is_try in parts)


def _units(sources: Iterable[Source]) -> Iterator[_Unit]:
    for source in sources:
        units: list[_Unit] = []
        suites: dict[_Spot, dict[int, int]] = {}
        for attempt in source.attempts:
            spot = _spot(attempt.place)
            numbers = suites.setdefault(spot, {})
            at = numbers.setdefault(attempt.place.number, len(numbers))
            while at >= len(units):
                units.append(_Unit(source))
            units[at].results.setdefault((attempt.test_id, spot), []).append(attempt)
            units[at].paths.add(attempt.place.path)
        yield from units


def _take(unit: _Unit, groups: list[_Group], notes: list[str]) -> None:
    """Put what a unit holds to what it tried again; the rest ran for the first time."""
    named = [group for group in reversed(groups) if unit.is_try_of(group.first)]
    tried = _owners(unit, named, lambda group, key: key in group.failed)
    if not tried:
        tried = _owners(unit, groups[::-1], lambda group, key: group.failed.get(key, False))
        some_passed = any(not all(group.failed.values()) for group in tried.values())
        if len(tried) < len(unit.results) or not some_passed:
            tried = {}
        else:
            before = " and ".join(dict.fromkeys(group.source.path for group in tried.values()))
            notes.append(
                f"{unit.source.path}: {counted(len(tried), 'test')} counted as tried again: all of"
                f" them had failed in {before}, and nothing else is there."
            )
    rest = _Group(unit)
    for key, run in unit.results.items():
        tried.get(key, rest).take(key, run)
    if rest.runs:
        groups.append(rest)


def _owners(
    unit: _Unit, groups: Sequence[_Group], holds: Callable[[_Group, _Key], bool]
) -> dict[_Key, _Group]:
    found = {key: next((it for it in groups if holds(it, key)), None) for key in unit.results}
    return {key: group for key, group in found.items() if group is not None}


# What tells tests apart


_Facet = Callable[[Source, _Spot], str]


def _prefixes(
    groups: Sequence[_Group], *, by_file: bool
) -> Callable[[Source], Callable[[_Spot], str]]:
    """Return how each file names its tests: with what tells those of one name apart."""
    spots: dict[str, dict[Source, set[_Spot]]] = {}
    for group in groups:
        for test_id, spot in group.runs:
            spots.setdefault(test_id, {}).setdefault(group.source, set()).add(spot)
    listed: dict[Source, dict[str, set[_Spot]]] = {}
    for source in {group.source: None for group in groups}:
        for test_id, place in source.idle:
            ran = spots.get(test_id, {}).get(source, set())
            listed.setdefault(source, {}).setdefault(test_id, set(ran)).add(_spot(place))
    prefixes: dict[Source, Callable[[_Spot], str]] = {}
    for files in _connected(spots.values(), by_file=by_file):
        labels = dict(zip(files, _labels([_base(file.path)[0] for file in files]), strict=True))
        shared = [
            [(file, spot) for file in files for spot in it.get(file, ())] for it in spots.values()
        ]
        for file in files:
            shared += [[(file, spot) for spot in its] for its in listed.get(file, {}).values()]
        facets = _telling([own for own in shared if len(own) > 1], labels, by_file=by_file)
        prefixes |= {file: partial(_prefix, facets, file) for file in files}
    return prefixes.__getitem__


def _prefix(facets: Sequence[_Facet], file: Source, spot: _Spot) -> str:
    return ".".join(filter(None, (facet(file, spot) for facet in facets)))


def _telling(
    shared: Sequence[Sequence[tuple[Source, _Spot]]], labels: Mapping[Source, str], *, by_file: bool
) -> Sequence[_Facet]:
    """Return what tells apart the tests that share a name: one thing if it is enough, else what is
    needed.
    """
    facets: list[_Facet] = [lambda _, spot: _suite(spot)]
    if not shared or by_file:
        return facets if shared else []
    facets += [
        lambda _, spot: spot.board,
        lambda _, spot: spot.host,
        lambda _, spot: ".".join(filter(None, spot.path)),
        lambda file, _: labels[file],
    ]

    def told(chosen: Sequence[_Facet]) -> int:
        return sum(len({tuple(it(*one) for it in chosen) for one in own}) for own in shared)

    whole = sum(map(len, shared))
    for facet in facets:
        if told([facet]) == whole:
            return [facet]
    chosen: list[_Facet] = []
    for facet in facets:
        if told([*chosen, facet]) > told(chosen):
            chosen.append(facet)
    return chosen


def _connected(
    shared: Iterable[Mapping[Source, object]], *, by_file: bool
) -> Sequence[Sequence[Source]]:
    """Return files in lists: those that share the name of a test stand in one."""
    lists: dict[Source, list[Source]] = {}
    for files in shared:
        first, *others = files
        lists.setdefault(first, [first])
        for other in others:
            old, new = lists.setdefault(other, [other]), lists[first]
            if old is not new and not by_file:
                new += old
                lists.update(dict.fromkeys(old, new))
    return list({id(own): own for own in lists.values()}.values())


def _labels(paths: Sequence[tuple[str, ...]]) -> Sequence[str]:
    """Return the names of files: the last part of their paths that differs, else a number."""
    longest = max(map(len, paths))
    for at in range(1, longest + 1):
        parts = [path[-at] if at <= len(path) else "" for path in paths]
        if len(set(parts)) == len(paths):
            return parts
    whole = ["/".join(path) for path in paths]
    return whole if len(set(whole)) == len(paths) else [str(at + 1) for at in range(len(paths))]


# What becomes of the runs of a test


def _tries(groups: Sequence[Sequence[_Run]]) -> Sequence[Attempt]:
    """Return the tries of a test. Each group tried it until it passed; where there are several, all
    of them have to pass.
    """
    failed, last = list[Attempt](), list[Attempt]()
    for runs in groups:
        parts = [([one for one in run if one.tried_again], run) for run in runs]
        failed += chain.from_iterable(before for before, _ in parts)
        ends = [
            _every([one for one in run if not one.tried_again] or [run[-1]]) for _, run in parts
        ]
        failed_ends = [end for end in ends if end.outcome is Outcome.FAIL]
        if len(failed_ends) == len(ends):
            last.append(failed_ends.pop())
        else:
            last.append(_every([end for end in ends if end.outcome is Outcome.PASS]))
        failed += failed_ends
    return [*failed, _every(last)]


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


def _repeats(runs: Mapping[str, Sequence[Sequence[_Run]]]) -> Iterator[str]:
    """Yield the note of tests that ran several times though nothing says that they were tried."""
    times = {
        name: sum(max(1, sum(not one.tried_again for one in run)) for own in groups for run in own)
        - sum(len(own) - 1 for own in groups)
        for name, groups in runs.items()
    }
    repeated = {name: many for name, many in times.items() if many > 1}
    if repeated:
        name, many = next(iter(repeated.items()))
        yield (
            f"{counted(len(repeated), 'test')} ran several times, and nothing tells the runs apart"
            f" or says that they are tries: each passed only if it did every time (first: {name},"
            f" {many} times)."
        )
