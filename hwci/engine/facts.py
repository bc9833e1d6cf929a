# SPDX-License-Identifier: Apache-2.0
"""What CI and people told us, as plain values: the engine's input and nothing else.

This module decides what a fact is made of (spec, "Resources and their fields"). It draws no
conclusion: what follows from facts is in `history.py` (states) and `answers.py` (what people see).
All times are aware and in UTC, to the microsecond; every sha is lower case.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from hwci.engine.vocabulary import Outcome, ReviewAction, Trigger, Verdict


class Product(NamedTuple):
    """A part of a repository with a hardware test suite of its own (spec, rule 2)."""

    repo_key: str
    suite: str


class Lane(NamedTuple):
    """One test on one box on one branch: failures are followed within a lane."""

    repo_key: str
    suite: str
    test_id: str
    box_key: str
    branch: str


class FailureKey(NamedTuple):
    """The natural key of a failure: a lane and the commit that failed (semantics, 4.1)."""

    lane: Lane
    sha: str


@dataclass(frozen=True, slots=True)
class Announcement:
    """A merge, announced. `suite` None: a run of any product can check it."""

    repo_key: str
    suite: str | None
    sha: str
    branch: str
    merged_at: datetime


@dataclass(frozen=True, slots=True)
class TestItem:
    """One test of a run report."""

    __test__ = False  # pytest: not a test class

    id: str
    outcome: Outcome
    attempts: int = 1
    duration_s: float = 0.0
    verdict: Verdict = Verdict.UNKNOWN


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of `changes`. `files_truncated`: it changed more files than were sent."""

    sha: str
    subject: str = ""
    committed_at: datetime | None = None
    files: tuple[str, ...] = ()
    files_truncated: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """Commits after `base_sha` up to the tested one, oldest first."""

    base_sha: str | None
    commits: tuple[Commit, ...] = ()
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """Place of a report among the parts of one larger report (semantics, 1.9)."""

    run_id: int
    part: int
    parts: int


@dataclass(frozen=True, slots=True)
class Report:
    """A run report: one attempt of one run on one box."""

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
    changes: Changes | None = None
    part_of: Part | None = None


@dataclass(frozen=True, slots=True)
class SuiteConfig:
    """Which files are firmware and which are harness, for one product."""

    repo_key: str
    suite: str
    firmware_paths: tuple[str, ...]
    harness_paths: tuple[str, ...]
    merge_trigger: bool = True
    trigger_paths: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Review:
    """A person's word on a resolved failure. `number` grows with every review written."""

    key: FailureKey
    action: ReviewAction
    by_id: str
    by_name: str
    at: datetime
    number: int


@dataclass(frozen=True, slots=True)
class Facts:
    """All that one organization's CI and people said, after the identities of semantics 1.5."""

    announcements: tuple[Announcement, ...] = ()
    reports: tuple[Report, ...] = ()
    configs: Mapping[Product, SuiteConfig] = field(default_factory=dict)
    reviews: Mapping[FailureKey, Review] = field(default_factory=dict)
