# SPDX-License-Identifier: Apache-2.0
"""What CI sent and what people reviewed, as plain values: the engine's input.

This module decides what a fact is made of (spec, "Resources and their fields") and how an id is
derived from it; merges, changes and reviews are shapes of the contract, which answers show as they
were sent. It draws no conclusion. All times are aware and in UTC, to the microsecond; every
sha is in lower case.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID, uuid5

from hwci.contract.failures.failures import Review
from hwci.contract.runs.commits import ChangeList
from hwci.contract.runs.merges import Merge
from hwci.contract.runs.products import Links, Targets
from hwci.contract.vocabulary import Outcome, Trigger, Verdict


class Product(NamedTuple):
    """A part of a repository with a hardware test suite of its own (spec, rule 2)."""

    repo_key: str
    suite: str


TestKey = tuple[Product, str]
"""A test: its product and its id."""


class Lane(NamedTuple):
    """One test on one box on one branch: failures are followed within a lane."""

    repo_key: str
    suite: str
    test_id: str
    box_key: str
    branch: str

    @property
    def product(self) -> Product:
        """The product of the test."""
        return Product(self.repo_key, self.suite)


class FailureKey(NamedTuple):
    """The natural key of a failure: a lane and the commit that failed (semantics, 4.1)."""

    lane: Lane
    sha: str


@dataclass(slots=True, unsafe_hash=True)
class TestItem:
    """One test of a run report. `message`: what its harness wrote of the failure; `board`: which
    board of the box it ran on; `log_url`: where its log is. No rule reads these. Nobody changes
    one; it is not frozen, as a report has a thousand of them, and to make a frozen one takes twice
    as long.
    """

    __test__ = False  # pytest: not a test class

    id: str
    outcome: Outcome
    attempts: int = 1
    duration_s: float = 0.0
    verdict: Verdict = Verdict.UNKNOWN
    message: str | None = None
    board: str | None = None
    log_url: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Place of a report among the parts of one larger report (semantics, 1.9)."""

    run_id: int
    part: int
    parts: int


@dataclass(frozen=True, slots=True)
class Report:
    """A run report: one attempt of one run on one box. `ci_url`: the page of its CI job.
    `ci_run`: the number that the CI shows for it, where `run_id` is another. `rerun_of`: the id of
    the CI run whose result made CI start this one, None if nothing tells; no rule reads it.
    """

    repo_key: str
    workflow: str
    suite: str
    run_id: int
    run_attempt: int
    trigger: Trigger
    branch: str
    sha: str
    started_at: datetime
    ended_at: datetime
    conclusion: str
    hello_ok: bool
    box_key: str
    tests: tuple[TestItem, ...]
    covers_shas: tuple[str, ...] = ()
    changes: ChangeList | None = None
    part_of: Part | None = None
    ci_run: int | None = None
    ci_url: str | None = None
    rerun_of: int | None = None

    @property
    def ci_run_id(self) -> int:
        """The id that CI gave the run; the `run_id` of a part after the first is derived."""
        return self.run_id if self.part_of is None else self.part_of.run_id

    @property
    def is_first_part(self) -> bool:
        """Whether it counts as the run report: "Parts after the first are not counted"."""
        return self.part_of is None or self.part_of.part == 1


@dataclass(frozen=True, slots=True)
class SuiteConfig:
    """Which files are firmware and which are harness, for one product. No rule reads `links` and
    `targets`.
    """

    repo_key: str
    suite: str
    firmware_paths: tuple[str, ...]
    harness_paths: tuple[str, ...]
    merge_trigger: bool = True
    trigger_paths: tuple[str, ...] | None = None
    links: Links | None = None
    targets: Targets | None = None


@dataclass(frozen=True, slots=True)
class StoredReview:
    """A review and the failure that it is stored at. `number` grows with every review written."""

    key: FailureKey
    review: Review
    number: int = 0


@dataclass(frozen=True, slots=True)
class Facts:
    """All facts of one organization; of each identity the fact that counts (semantics, 1.5)."""

    announcements: tuple[Merge, ...] = ()
    reports: tuple[Report, ...] = ()
    configs: Mapping[Product, SuiteConfig] = field(default_factory=dict)
    reviews: Mapping[FailureKey, StoredReview] = field(default_factory=dict)


_NAMESPACE = UUID("6f1c2f0e-7c55-5d0b-9d5c-8f3f0c1a7e21")
_RECENT = 64


def failure_id(org_id: UUID, key: FailureKey) -> UUID:
    """Return the id of a failure; it never changes, as links, reviews and bookmarks hold it."""
    return _derived("failure", str(org_id), *key.lane, key.sha)


@lru_cache(maxsize=_RECENT)  # a report asks for it more than once
def run_record_id(org_id: UUID, repo_key: str, run_id: int, run_attempt: int, box_key: str) -> UUID:
    """Return the id of a run record: the same when its report is replaced."""
    return _derived("run", str(org_id), repo_key, str(run_id), str(run_attempt), box_key)


def _derived(*parts: str) -> UUID:
    # The lengths keep ("a", "bc") and ("ab", "c") apart.
    return uuid5(_NAMESPACE, "".join(f"{len(part)}:{part}" for part in parts))
