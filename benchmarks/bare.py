# SPDX-License-Identifier: Apache-2.0
"""A report as most services would have it: a pydantic model of plain types, no further rule."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel


class Item(BaseModel):
    """A test of a report."""

    id: str
    outcome: Literal["pass", "fail"]
    attempts: int
    duration_s: float
    verdict: Literal["device", "infra", "unknown"] | None = None
    message: str | None = None


class Commit(BaseModel):
    """A commit of the changes."""

    sha: str
    subject: str
    committed_at: datetime | None = None
    files: list[str]
    files_truncated: bool | None = None


class Changes(BaseModel):
    """The changes of a report."""

    base_sha: str | None
    commits: list[Commit]
    truncated: bool | None = None


class Report(BaseModel):
    """The report of an attempt of a run on a box."""

    repo_key: str
    workflow: str
    suite: str | None = None
    run_id: int
    run_attempt: int
    trigger: Literal["merge", "nightly", "manual"]
    branch: str
    sha: str
    started_at: datetime
    ended_at: datetime
    conclusion: str
    hello_ok: bool
    box_key: str
    tests: list[Item]
    covers_shas: list[str] | None = None
    changes: Changes | None = None
