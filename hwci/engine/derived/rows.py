# SPDX-License-Identifier: Apache-2.0
"""The rows that the derivation reads and writes, and the port by which a store does so.

All of it is within one repository of one organization. Products and tests are numbers that the
store gave them.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from hwci.contract.runs.commits import ChangeList
from hwci.engine.derived.days import DayChanges, ItemSum
from hwci.engine.history import Place
from hwci.engine.test_sets import Mask

NEVER = 2**63 - 1
"""The rank of a fix that does not exist: later than every commit."""


class Spot(NamedTuple):
    """A commit on a branch."""

    sha: str
    branch: str


class Bench(NamedTuple):
    """A box and the product whose tests it runs."""

    product: int
    box_key: str


class Track(NamedTuple):
    """The lanes of a bench's tests on one branch."""

    bench: Bench
    branch: str


class Placed(NamedTuple):
    """A commit's place on a branch, and its rank: ranks are in the order of places."""

    place: Place
    rank: int


class Ranked(NamedTuple):
    """A commit with its rank on a branch."""

    rank: int
    sha: str


class Results(NamedTuple):
    """What tests did on one commit and bench.

    `passed`: in some report of any branch (semantics, 4.2). By branch, of the others: `failed`. By
    branch, of those that passed and failed too: `reviewed`, where a review counts the failure, and
    `flaky`, all others.
    """

    passed: Mask
    failed: Mapping[str, Mask]
    reviewed: Mapping[str, Mask]
    flaky: Mapping[str, Mask]


class Episode(NamedTuple):
    """Failures of a lane that count as one: a group of semantics 4.4.

    `fix` is the first commit that passed after them, `Ranked(NEVER, "")` if none did. `flake`: its
    one commit passed too, and a review counts it (semantics, 8.2).
    """

    test: int
    first: Ranked
    last: Ranked
    commits: int
    fix: Ranked
    flake: bool


UNFIXED = Ranked(NEVER, "")


class Rows(Protocol):
    """The derived rows of one repository, within the transaction of a write."""

    def settle_runs(self) -> Iterable[ChangeList]:
        """Give each run of the reports that came or went the changes of its earliest report that
        carries any. Return those that a run lost or got, also if only their order changed.
        """

    def placed(self, spots: Collection[Spot]) -> Mapping[Spot, Placed]:
        """The places and ranks that these commits have."""

    def ranks(self, shas: Collection[str]) -> Mapping[Spot, int]:
        """The ranks of these commits on every branch that has them."""

    def first_mentions(self, spots: Collection[Spot]) -> Mapping[Spot, Place]:
        """The first mention of each of these commits that has any, in the reports as they are."""

    def line(
        self, branch: str, first: Place, last: Place, without: Collection[str]
    ) -> Sequence[tuple[str, int | None]]:
        """Commits of a branch with the ranks they have, in order of place: from one before `first`
        to one after `last`, but `without` some.
        """

    def set_places(self, branch: str, places: Mapping[str, Place]) -> None:
        """Write the places of commits; a new one has no rank yet."""

    def drop_places(self, branch: str, shas: Collection[str]) -> None:
        """Delete the places of commits that no report of the branch mentions."""

    def set_ranks(self, branch: str, ranks: Mapping[str, int]) -> None:
        """Write the ranks of commits, and those of failures at them; not those in episodes."""

    def spread(self, branch: str, step: int) -> None:
        """Give the commits of a branch new ranks, `step` apart, in the order of those they have,
        in all rows that hold them.
        """

    def benches(self, shas: Collection[str]) -> Iterable[tuple[str, Bench]]:
        """Each commit with the benches that reached the hardware with it, on any branch."""

    def count_failures(self, bench: Bench, sha: str) -> Results:
        """Count the failures at a commit from their items (semantics, 4.1), and note which of them
        passed there. Return what tests did there, by the rows as they are then.
        """

    def results(self, bench: Bench, sha: str) -> Results:
        """What tests did on a commit, by the rows of reports and failures as they are."""

    def failing_items(self, bench: Bench, sha: str, branch: str, tests: Mask) -> Counter[ItemSum]:
        """The failing items of tests on a commit of a branch, counted by their own days."""

    def change_days(self, changes: DayChanges) -> None:
        """Add to the sums of days, and delete those of which nothing is left."""

    def add_checks(self, checks: Mapping[tuple[str, str], int]) -> None:
        """Add to how many reports check the merges of a commit that were announced for this product
        or for none. By product and commit.
        """

    def episodes_at(self, track: Track, rank: int, tests: Mask) -> Sequence[Episode]:
        """Episodes of these tests that begin at a rank or before and are not fixed by then."""

    def episodes_fixed_at(self, track: Track, rank: int, tests: Mask) -> Sequence[Episode]:
        """Episodes of these tests whose fix has this rank."""

    def episodes_fixed_by(
        self, track: Track, fixes: Collection[tuple[int, Ranked]]
    ) -> Sequence[Episode]:
        """Episodes, flakes left out, by their test and their fix."""

    def members(self, track: Track, episode: Episode) -> Sequence[Ranked]:
        """The commits from its first to its last at which its test has a failure that has not
        passed, as the rows are now.
        """

    def passes_after(self, track: Track, rank: int) -> Iterator[tuple[Ranked, Mask]]:
        """Later commits of a track that ran on its bench, in order, each with tests that passed
        there; read as far as they are asked for. A commit may come more than once.
        """

    def replace_episodes(
        self, track: Track, gone: Collection[Episode], new: Collection[Episode]
    ) -> None:
        """Delete episodes and write others, not decided yet."""

    def undecide(self, first: Collection[str], listed: Collection[str]) -> None:
        """Drop the decisions on episodes whose first commit is one of `first`, and those whose walk
        rests on one of `listed`; write the first failing run of the former again.
        """
