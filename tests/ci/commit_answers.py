# SPDX-License-Identifier: Apache-2.0
"""Answers of the server about a commit, made from their shapes."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from hwci.ci.reporting.commit_text import Subject
from hwci.contract.runs.one_commit import (
    FailureOfCommit,
    OneCommit,
    PassOfCommit,
    RunOfCommit,
    WhoseCount,
)
from hwci.contract.scope import PeriodOfDays
from hwci.contract.vocabulary import Whose

NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)
REPO, SUITE, SHA, BROKEN = "acme/firmware", "sensor-fw", "3" * 40, "b" * 40
SUBJECT = Subject("https://hwci.example", UUID(int=9), REPO, SUITE, SHA)
PAGES = f"https://hwci.example/orgs/{UUID(int=9)}"


def run(box: str = "bench-1", **fields: Any) -> RunOfCommit:
    usual = {
        "started_at": NOON,
        "run_id": 1,
        "run_attempt": 1,
        "run_record_id": UUID(int=1),
        "ci_run": None,
        "suite": SUITE,
        "box_key": box,
        "branch": "faster-boot",
        "hello_ok": True,
        "tests": 20,
        "failed": 1,
    }
    return RunOfCommit(**{**usual, **fields})


def failure(whose: Whose, test: str = "boot::cold", **fields: Any) -> FailureOfCommit:
    usual = {
        "repo_key": REPO,
        "suite": SUITE,
        "test_id": test,
        "failure_id": UUID(int=7),
        "failed_on": ("bench-1",),
        "passed_on": (),
        "whose": whose,
        "chance": None,
        "since": None,
        "since_at": None,
        "says": "It fails here.",
        "evidence": "It passed 40 of 40 times before.",
        "to_settle": None,
    }
    return FailureOfCommit(**{**usual, **fields})


def passed(test: str = "join::slow", **fields: Any) -> PassOfCommit:
    usual = {
        "repo_key": REPO,
        "suite": SUITE,
        "test_id": test,
        "boxes": ("bench-1",),
        "since": BROKEN,
        "since_at": NOON,
        "says": "A known bug is gone.",
    }
    return PassOfCommit(**{**usual, **fields})


def answer(*failures: FailureOfCommit, **fields: Any) -> OneCommit:
    """Return the answer about a commit with these failures, which ran on bench-1."""
    counts = (WhoseCount(whose=whose, failures=count(whose, failures)) for whose in Whose)
    usual = {
        "period": PeriodOfDays(days=30, start=NOON - timedelta(days=30), end=NOON),
        "repo_key": REPO,
        "sha": SHA,
        "subject": "Boot faster",
        "base_branch": "main",
        "checked": True,
        "runs": (run(),),
        "failures": failures,
        "counts": tuple(count for count in counts if count.failures),
        "passes": (),
        "unchecked": 0,
    }
    return OneCommit(**{**usual, **fields})


def count(whose: Whose, failures: tuple[FailureOfCommit, ...]) -> int:
    return sum(failure.whose is whose for failure in failures)
