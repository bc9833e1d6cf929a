# SPDX-License-Identifier: Apache-2.0
"""What the tests of all CI systems ask of each: cases by recorded environment, which module of the
system's name states as `CASES`.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from hwci.contract.vocabulary import Trigger

TESTED = "6f1c1e4b2d3a49587766554433221100ffeeddcc"
BEFORE = "1" * 40
HEAD_OF_PULL = "3" * 40
MERGE, NIGHTLY, MANUAL = Trigger.MERGE, Trigger.NIGHTLY, Trigger.MANUAL
AT_1620 = datetime(2026, 11, 20, 16, 20, tzinfo=UTC)

Jobs = tuple[dict[str, list[str]], dict[str, str]]
"""The steps of each job of a file, and the variables that all have."""


class Runner(NamedTuple):
    """How a system runs the file that `hwci init` prints: how it is read, the recorded environment,
    the shell of its steps, and whether all steps of a job share one.
    """

    read: Callable[[str], Jobs]
    recording: str
    shell: tuple[str, ...]
    one_shell: bool = False


class Cases(NamedTuple):
    """The cases of a system. `fields`: recording, field, value, and who says it; `unsaid`: what a
    recording does not say, because it would not be true; `pages`: addresses of jobs.

    `two_runs`: a recording, and the variables of two jobs whose run ids must differ. `hosted`: a
    variable, its value on a machine that ends with the job, and on one of one's own.
    """

    fields: tuple[tuple[str, str, object, str], ...]
    pages: tuple[str, ...]
    runner: Runner
    unsaid: tuple[tuple[str, str], ...] = ()
    two_runs: tuple[tuple[str, Mapping[str, str], Mapping[str, str]], ...] = ()
    hosted: tuple[str, str, str] | None = None


def steps(of_job: Sequence[Any]) -> list[str]:
    """Return what the steps of a job in YAML run."""
    described = [step for step in of_job if isinstance(step, dict)]
    return [script for step in described if (script := step.get("run") or step.get("script"))]
