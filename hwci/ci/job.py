# SPDX-License-Identifier: Apache-2.0
"""What a job knows of itself: each field of a report, its value, and who told it (contract,
"Command line").

This module decides who is believed first: flag, `HWCI_*`, `hwci.toml`, the CI system, git,
default. What each CI system says stands in `hwci.ci.systems`; nothing is sent from here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hwci.ci.told import Told


@dataclass(frozen=True, slots=True)
class Job:
    """A job of a CI system, or of nobody's: a person at a desk.

    `fields`: by the spec's names (`repo_key`, `workflow`, `suite`, `run_id`, `run_attempt`,
    `trigger`, `branch`, `sha`, `started_at`, `conclusion`, `box_key`, `merged_at` …); what nobody
    told is not among them.
    """

    system: str | None
    """`github`, `gitlab`, `jenkins`, `buildkite`, `circleci`, `azure`; None: no CI that we know."""

    fields: Mapping[str, Told[Any]]

    before_sha: Told[str] | None = None
    """Where the branch stood before the push that started this; never a hash of zeros."""

    previous_sha: Told[str] | None = None
    """The commit of the run before this one of the same job and branch, as the CI itself says."""

    pushed_shas: tuple[str, ...] = ()
    """Commits of the push, where the CI lists them: some may be missing."""

    merge_branches: tuple[str, ...] = ()
    """The branches on which a push is a merge."""

    faults: tuple[str, ...] = ()
    """What was said in a way that cannot be understood, in words for people."""

    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The environment, for those who ask the CI's own API: it holds secrets, and is not shown."""

    def value(self, name: str) -> Any:  # noqa: ANN401 - the fields have the types of the spec
        """Give the value of a field, None when nobody told it."""
        told = self.fields.get(name)
        return None if told is None else told.value
