# SPDX-License-Identifier: Apache-2.0
"""Whether the path patterns of products fit a repository: its files, and what changed recently
(spec, "Path pattern rules"; semantics, 11).

This module decides what is suspicious. Which patterns are legal, and what they match, is decided by
the engine. No file is opened.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hwci.ci.git.changed_files import files_of
from hwci.ci.git.repository import LOCAL_SECONDS, Repository
from hwci.contract.vocabulary import FileKind
from hwci.engine.patterns import PathList
from hwci.wire.base import Answer
from hwci.wire.reports import SuiteConfiguration

if TYPE_CHECKING:
    from hwci.engine.rules.changes import ProductFiles

RECENT_COMMITS = 200
"""How many of the newest commits count as recent."""
EXAMPLES = 3
LISTS = ("firmware_paths", "harness_paths", "trigger_paths")
TOP = "."
"""Stands for the files at the root."""


class Suspicion(Answer):
    """A pattern that is legal and most likely a mistake. `pattern`: null for the whole product."""

    repo_key: str
    suite: str
    paths: str | None
    pattern: str | None
    message: str

    def __str__(self) -> str:
        place = f"{self.repo_key}:{self.suite}"
        where = f"{place}: {self.paths}: {self.pattern}" if self.pattern else place
        return f"{where}: {self.message}"


class CommitKinds(Answer):
    """The number of commits by what they changed of a product."""

    repo_key: str
    suite: str
    firmware: int
    harness: int
    both: int
    neither: int


class DirectoryCount(Answer):
    """The changed files below a directory of the root."""

    directory: str
    files: int


class PathCheck(Answer):
    """How patterns fit a repository. `changed_files`: those of the last `commits`, each once;
    `known_files`: those of them that are firmware or harness of some product.
    """

    products: Sequence[CommitKinds]
    commits: int
    changed_files: int
    known_files: int
    neither: Sequence[DirectoryCount]
    warnings: Sequence[Suspicion]


@dataclass(frozen=True, slots=True)
class Tracked:
    """The files of a repository, and those that each of its last commits changed."""

    files: tuple[str, ...]
    commits: tuple[tuple[str, ...], ...]


def tracked(repository: Repository) -> Tracked:
    """Read them from git, without commits that changed no file or whose parents the clone lacks."""
    raw = repository.run("ls-files", "-z", "--full-name", "--", ":/")
    files = [path.decode("utf-8", "replace") for path in raw.split(b"\0") if path]
    head = repository.head()
    recent = ("rev-list", f"--max-count={RECENT_COMMITS}", head, "--") if head else None
    shas = repository.run(*recent).decode().split() if recent else []
    changed = files_of(repository, repository.commits(shas), LOCAL_SECONDS)
    return Tracked(tuple(files), tuple(change.paths for change in changed.values() if change.paths))


def check_paths(configurations: Sequence[SuiteConfiguration], known: Tracked) -> PathCheck:
    """Check the patterns of every product."""
    from hwci.engine.rules.changes import product_files  # no report needs it

    products = [
        (configuration, product_files(configuration.fact())) for configuration in configurations
    ]
    changed = {path for commit in known.commits for path in commit}
    unknown = [
        path for path in changed if all(files.kind(path) is FileKind.OTHER for _, files in products)
    ]
    directories = Counter(path.partition("/")[0] if "/" in path else TOP for path in unknown)
    kinds = [_commit_kinds(product, files, known) for product, files in products]
    return PathCheck(
        products=kinds,
        commits=len(known.commits),
        changed_files=len(changed),
        known_files=len(changed) - len(unknown),
        neither=[
            DirectoryCount(directory=name, files=count)
            for name, count in sorted(directories.items(), key=lambda item: (-item[1], item[0]))
        ],
        warnings=[
            suspicion
            for (product, files), counts in zip(products, kinds, strict=True)
            for suspicion in _suspicions(product, files, known, counts)
        ],
    )


def _commit_kinds(
    configuration: SuiteConfiguration, files: "ProductFiles", known: Tracked
) -> CommitKinds:
    kinds = Counter(_kind_of(commit, files) for commit in known.commits)
    return CommitKinds(
        repo_key=configuration.repo_key,
        suite=configuration.suite,
        firmware=kinds[FileKind.FIRMWARE],
        harness=kinds[FileKind.HARNESS],
        both=kinds[FileKind.BOTH],
        neither=kinds[FileKind.OTHER],
    )


def _kind_of(commit: Sequence[str], files: "ProductFiles") -> FileKind:
    firmware = any(files.firmware.matches(path) for path in commit)
    harness = any(files.harness.matches(path) for path in commit)
    if firmware:
        return FileKind.BOTH if harness else FileKind.FIRMWARE
    return FileKind.HARNESS if harness else FileKind.OTHER


def _suspicions(
    configuration: SuiteConfiguration, files: "ProductFiles", known: Tracked, counts: CommitKinds
) -> Iterator[Suspicion]:
    repo_key, suite = configuration.repo_key, configuration.suite

    def suspicion(message: str, paths: str | None = None, pattern: str | None = None) -> Suspicion:
        return Suspicion(
            repo_key=repo_key, suite=suite, paths=paths, pattern=pattern, message=message
        )

    for name in LISTS:
        for pattern, message in _idle(getattr(configuration, name) or (), known.files):
            yield suspicion(message, name, pattern)
    both = [path for path in known.files if files.kind(path) is FileKind.BOTH]
    if both:
        shown = ", ".join([*both[:EXAMPLES], *(["…"] if len(both) > EXAMPLES else [])])
        yield suspicion(f"firmware and harness at once are {len(both)} of its files: {shown}")
    if known.commits and not counts.firmware + counts.both:
        yield suspicion(f"none of the last {len(known.commits)} commits changed its firmware")


def _idle(patterns: Sequence[str], files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each pattern that does nothing, and what is probably meant."""
    plain = [pattern for pattern in patterns if not pattern.startswith("!")]
    excluding = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    matched = list(filter(PathList.parse(plain).matches, files))
    idle = _unmatched(plain, matched)
    idle |= {f"!{pattern}" for pattern in _unmatched(excluding, matched)}
    for pattern in patterns:
        if pattern in idle:
            yield pattern, _hint(pattern.removeprefix("!"), files, excludes=pattern[0] == "!")


def _unmatched(patterns: Sequence[str], files: Sequence[str]) -> set[str]:
    """Return the patterns that match no file. All are matched at once: each round finds those that
    are the first to match some file, until there are none.
    """
    left = set(patterns)
    while left:
        deciding = left & set(map(PathList.parse(sorted(left)).deciding, files))
        if not deciding:
            break
        left -= deciding
    return left


def _hint(pattern: str, files: Sequence[str], *, excludes: bool) -> str:
    sign = "!" if excludes else ""
    if pattern.startswith(("/", "./")):
        meant = pattern.removeprefix(".").lstrip("/")
        return f"matches nothing: paths begin at the root without /; write {sign}{meant}"
    folder = pattern.rstrip("/") + "/"
    if any(path.startswith(folder) for path in files):
        return f"matches nothing: it is a directory; write {sign}{folder}**"
    return "takes no file out of the list" if excludes else "matches no file of the repository"
