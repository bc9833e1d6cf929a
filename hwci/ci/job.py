# SPDX-License-Identifier: Apache-2.0
"""A job as a value: the fields of its report, each with its source, and what its CI system knows of
the push that started it. How they are found is decided in `hwci.ci.detect`.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any, Generic, TypeVar

from hwci.ci.fields import in_order

DEFAULT = "default"
GIT = "git"

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Sourced(Generic[Value]):
    """A value and its source in words that a person reads: `--sha`, `HWCI_SHA`, `hwci.toml`,
    `GITHUB_SHA`, `git`, `default`.
    """

    value: Value
    source: str


@dataclass(frozen=True, slots=True)
class Notice:
    """What is most likely a mistake, and what to do about it."""

    what: str
    fix: str

    def __str__(self) -> str:
        return f"{self.what}. {self.fix}"


CLOCK = "the seconds since 1970, as no CI numbers the run"
RUN_ID_BITS = 53
"""JSON readers keep numbers of this size exactly."""


def hashed_run_id(words: str) -> int:
    """Return the run id of a run whose CI does not number it: the first 53 bits of a SHA-256, so
    that a report sent again replaces the first one and two jobs do not collide.
    """
    digest = hashlib.sha256(words.encode(errors="surrogateescape")).digest()
    return int.from_bytes(digest, "big") >> (len(digest) * 8 - RUN_ID_BITS)


def product_run_id(run_id: int, suite: str) -> int:
    """Return the run id of one product in a CI run that tests several."""
    return hashed_run_id(f"{run_id} of {suite}")


def job_run_id(run_id: int, job: str) -> int:
    """Return the run id of a job in a CI run of which another job reports as the same box."""
    return hashed_run_id(f"{run_id} of job {job}")


def matches_branch(branch: str, names: Sequence[str]) -> bool:
    """Return whether a branch is one of `names`, in which `*` matches any text."""
    return any(branch == name or fnmatchcase(branch, name) for name in names)


@dataclass(frozen=True, slots=True)
class Job:
    """A job of a CI system, or a run that a person started at a desk.

    `fields`: by the spec's names (`repo_key`, `workflow`, `suite`, `run_id`, `run_attempt`,
    `trigger`, `branch`, `sha`, `started_at`, `conclusion`, `box_key`, `merged_at` …), without
    those that are not known.
    """

    system: str | None
    """The `name` of its `System`; None at a desk."""

    title: str
    """The name of the system for people."""

    fields: Mapping[str, Sourced[Any]]

    merge_branches: Sourced[tuple[str, ...]]
    """The branches on which a push is a merge."""

    name: str | None = None
    """What tells this job from the others of a build that has one number for all of them, the same
    in each attempt; None if unknown, or the run id tells them apart.
    """

    before_sha: Sourced[str] | None = None
    """Where the branch stood before the push that started this; never a hash of zeros."""

    previous_sha: Sourced[str] | None = None
    """The commit of the previous run of the same job and branch as the CI names it, however that
    run ended."""

    succeeded_sha: Sourced[str] | None = None
    """The commit of the last such run that succeeded."""

    pushed_shas: tuple[str, ...] = ()
    """Commits of the push as the CI lists them; some may be missing."""

    pull: int | None = None
    """The number of the pull request, or merge request, that the run is of."""

    queued: bool = False
    """The merge is only tried in a queue: nothing is merged yet."""

    batched: bool = False
    """Several pushes are built at once."""

    bad_settings: tuple[str, ...] = ()
    """Settings that cannot be understood, in words for people."""

    unreadable: tuple[str, ...] = ()
    """What of the CI cannot be read, in words for people; all else holds without it."""

    unknown_commits: tuple[str, ...] = ()
    """Hints at earlier commits that are not in this clone; all else holds without them."""

    doubts: tuple[Notice, ...] = ()
    """What is most likely a mistake: another commit or repository than the CI or a person names."""

    counts_attempts: bool = True
    """False if the CI numbers runs, and says nothing of their attempts."""

    is_other: bool = False
    """Another commit was tested than the CI names."""

    is_elsewhere: bool = False
    """The CI's runs are of another repository than the one that was tested."""

    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The environment, for requests to the CI's API. It holds secrets, so it is not shown."""

    def value(self, name: str) -> Any:  # noqa: ANN401 - the fields have the types of the spec
        """Return the value of a field, None if unknown."""
        field = self.fields.get(name)
        return None if field is None else field.value

    def product(self) -> Sourced[str] | None:
        """Return the product of this job, which is the workflow unless a suite is named (spec, "Run
        report"). The server has the same rule.
        """
        workflow = self.fields.get("workflow")
        if "suite" in self.fields or workflow is None:
            return self.fields.get("suite")
        return Sourced(workflow.value, f"{DEFAULT}: the workflow")

    def is_of_a_merge_branch(self) -> bool:
        """Return whether a push to this job's branch is a merge; True if the branch is unknown."""
        branch = self.value("branch")
        return branch is None or matches_branch(branch, self.merge_branches.value)

    @property
    def is_numbered(self) -> bool:
        """Whether a CI or a person numbers the run."""
        known = self.fields.get("run_id")
        return self.system is not None or (known is not None and known.source != CLOCK)

    def with_run_id(self, at: datetime) -> "Job":
        """Return the job with the seconds since 1970 as run id if no CI numbers the run. The same
        run reported again, with the same start, then replaces the first report.
        """
        if self.is_numbered:
            return self
        run_id: Sourced[Any] = Sourced(max(0, int(at.timestamp())), CLOCK)
        return replace(self, fields=in_order({**self.fields, "run_id": run_id}))
