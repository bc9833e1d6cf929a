# SPDX-License-Identifier: Apache-2.0
"""What a test is called (spec, "Test item"; semantics, 1.6).

This module decides which prefix tells apart different tests that have one name: what differs, the
suite, board, host, path of suites, or file. Which results are of one test, it does not know.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from hwci.ci.results.places import Source, Spot, base_of, spot_of
from hwci.said import counted
from hwci.wire import limits

HASH_DIGITS = 16
_SHOWN = 5


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


Places = Mapping[str, Mapping[Source, set[Spot]]]
"""Where each test ran, by its name."""
_Facet = Callable[[Source, Spot], str]


def prefixes(
    tests: Places, files: Iterable[Source], notes: list[str], *, by_file: bool
) -> Mapping[Source, Callable[[Spot], str]]:
    """Return how each file names its tests: with what tells those of one name apart. `by_file`:
    each file by itself.
    """
    lists = _connected(files, tests.values(), by_file=by_file)
    shared: dict[int, list[list[tuple[Source, Spot]]]] = {id(own): [] for own in lists.values()}
    for places in tests.values():
        here: dict[int, list[tuple[Source, Spot]]] = {}
        for file, spots in places.items():
            here.setdefault(id(lists[file]), []).extend((file, spot) for spot in spots)
        for number, own in here.items():
            if len(own) > 1:
                shared[number].append(own)
    named: dict[Source, Callable[[Spot], str]] = {}
    for together in {id(own): own for own in lists.values()}.values():
        several = [
            *shared[id(together)],
            *(facet for at in together for facet in _listed(at, tests)),
        ]
        facets = _telling(several, _labelled(together), by_file=by_file)
        named |= {file: partial(_prefix, facets, file) for file in together}
        if len(together) > 1:
            notes.append(
                _note(
                    together,
                    {_prefix(facets, *place) for facets_of in several for place in facets_of},
                )
            )
    return named


def _note(files: Sequence[Source], names: Iterable[str]) -> str:
    shown = sorted(names)
    more = ", …" if len(shown) > _SHOWN else ""
    return (
        f"{counted(len(files), 'file')} hold tests of the same names: they are different tests, and"
        f" are named after where they ran: {', '.join(shown[:_SHOWN])}{more}. In hwci.toml, [tests]"
        ' names = "by-file" keeps their names, and makes one test of those of one name.'
    )


def _listed(file: Source, tests: Places) -> Iterator[list[tuple[Source, Spot]]]:
    """Yield the places of tests that a file lists in several, and that did not run in all of them:
    their names do not depend on it.
    """
    listed: dict[str, set[Spot]] = {}
    for test_id, place in file.idle:
        ran = tests.get(test_id, {}).get(file, set())
        listed.setdefault(test_id, set(ran)).add(spot_of(place))
    yield from ([(file, spot) for spot in own] for own in listed.values() if len(own) > 1)


def outside_prefixes(tests: Mapping[str, Iterable[Source]]) -> Mapping[tuple[str, Source], str]:
    """Return the prefixes of failures outside any test, where several files have one of one name.
    They come and go, and change no name of a test.
    """
    labelled = ((name, _labelled(list(files))) for name, files in tests.items())
    return {
        (name, file): label
        for name, labels in labelled
        if len(labels) > 1
        for file, label in labels.items()
    }


def _labelled(files: Sequence[Source]) -> Mapping[Source, str]:
    return dict(zip(files, _labels([base_of(file.path)[0] for file in files]), strict=True))


def _prefix(facets: Sequence[_Facet], file: Source, spot: Spot) -> str:
    return ".".join(filter(None, (facet(file, spot) for facet in facets)))


def _telling(
    shared: Sequence[Sequence[tuple[Source, Spot]]], labels: Mapping[Source, str], *, by_file: bool
) -> Sequence[_Facet]:
    """Return what tells apart the tests that share a name: one thing if it is enough, else what is
    needed.
    """
    facets: list[_Facet] = [lambda _, spot: spot.suite]
    if not shared or by_file:
        return facets if shared else []
    facets += [
        lambda _, spot: spot.board,
        lambda _, spot: spot.variant,
        lambda _, spot: spot.host,
        lambda _, spot: ".".join(filter(None, spot.path)),
        lambda file, _: labels[file],
    ]

    def told(chosen: Sequence[_Facet]) -> int:
        return sum(
            len({tuple(facet(*place) for facet in chosen) for place in own}) for own in shared
        )

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
    files: Iterable[Source], shared: Iterable[Iterable[Source]], *, by_file: bool
) -> Mapping[Source, Sequence[Source]]:
    """Return files in lists: those that share the name of a test stand in one."""
    lists = {file: [file] for file in files}
    for first, *others in shared if not by_file else ():
        for other in others:
            old, new = lists[other], lists[first]
            if old is not new:
                new += old
                lists.update(dict.fromkeys(old, new))
    return lists


def _labels(paths: Sequence[tuple[str, ...]]) -> Sequence[str]:
    """Return the names of files: the last part of their paths that differs in each, else all parts
    that differ, else a number.
    """
    longest = max(map(len, paths))
    parts = [("",) * (longest - len(path)) + path for path in paths]
    differing = [at for at in range(longest) if len({path[at] for path in parts}) > 1]
    for at in reversed(differing):
        own = [path[at] for path in parts]
        if len(set(own)) == len(paths):
            return own
    if len(set(paths)) < len(paths):
        return [str(at + 1) for at in range(len(paths))]
    return ["/".join(path[at] for at in differing if path[at]) for path in parts]
