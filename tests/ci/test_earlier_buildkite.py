# SPDX-License-Identifier: Apache-2.0
"""What the API of Buildkite has of earlier builds: how this step is recognized."""

from hwci.ci.reporting.base import find_base
from hwci.client.store import PastRuns
from tests.ci.answering import answering
from tests.ci.apis import (
    BUILD,
    BUILDKITE,
    LATER,
    NEWER,
    OLD,
    OLD_BUILD,
    Found,
    Row,
    asking,
    buildkite_build,
    buildkite_job,
    by,
    doubted,
    find,
    history,
    job_of,
)

BY_BUILDKITE_NEWER, BY_BUILDKITE_OLD = by("Buildkite's API", NEWER), by("Buildkite's API", OLD)


def buildkite(*jobs: Row, this: Row, **more: str) -> Found:
    """Find the base where the build before this one had these jobs."""
    ended = this | {"state": "passed"}
    builds = [
        buildkite_build(57, LATER, "running", this),
        buildkite_build(55, NEWER, "passed", *jobs, uuid=BUILD),
        buildkite_build(54, OLD, "passed", ended, uuid=OLD_BUILD),
    ]
    return find("Buildkite's API", {BUILDKITE: builds}, **more)


def test_a_parallel_job_of_buildkite_is_itself_alone() -> None:
    first, second = (
        buildkite_job("hil", state, parallel_group_index=index)
        for index, state in enumerate(("passed", "failed"))
    )
    this = buildkite_job("hil", "running", parallel_group_index=0)
    more = {"BUILDKITE_PARALLEL_JOB": "0"}

    assert buildkite(first, second, this=this, **more) == BY_BUILDKITE_NEWER
    this, more = this | {"parallel_group_index": 1}, {"BUILDKITE_PARALLEL_JOB": "1"}
    assert "build 55" in doubted(buildkite(first, second, this=this, **more))


def test_a_step_of_buildkite_whose_label_was_changed_is_in_doubt() -> None:
    """Its key names it still; beside it, a matrix has others of that key."""
    this, renamed = (buildkite_job("hil", "running"), buildkite_job("hil", "passed", "Old name"))

    assert "build 55" in doubted(buildkite(renamed, this=this))
    other = buildkite_job("soak", "passed", "Soak")
    assert buildkite(other, this=this) == BY_BUILDKITE_OLD


def test_others_of_a_matrix_of_buildkite_that_ran_say_nothing_of_this_one() -> None:
    other, this = (buildkite_job("hil", "passed", "On nrf52"), buildkite_job("hil", "running"))
    builds = [
        buildkite_build(57, LATER, "running", this, other),
        buildkite_build(55, NEWER, "passed", other),
        buildkite_build(54, OLD, "passed", this | {"state": "passed"}),
    ]

    assert find("Buildkite's API", {BUILDKITE: builds}) == BY_BUILDKITE_OLD


def test_a_step_of_buildkite_without_a_key_is_known_by_its_label() -> None:
    this = buildkite_job(None, "running")
    more = {"BUILDKITE_STEP_KEY": ""}

    passed, broken = (buildkite_job(None, state) for state in ("passed", "broken"))
    assert buildkite(passed, this=this, **more) == BY_BUILDKITE_NEWER
    assert buildkite(broken, this=this, **more) == BY_BUILDKITE_OLD
    renamed = buildkite_job(None, "passed", "Old name")
    assert "build 55" in doubted(buildkite(renamed, this=this, **more))


def test_a_step_of_buildkite_without_key_and_label_is_not_recognized() -> None:
    this = buildkite_job(None, "running", "")
    more = {"BUILDKITE_STEP_KEY": "", "BUILDKITE_LABEL": ""}

    assert "build 55" in doubted(buildkite(this | {"state": "passed"}, this=this, **more))


def test_retried_jobs_of_buildkite_are_asked_for() -> None:
    builds = [
        buildkite_build(
            55, NEWER, "failed", buildkite_job("hil", "passed"), buildkite_job("hil", "failed")
        )
    ]
    with answering({BUILDKITE: builds}) as server:
        found = find_base(job_of(server, "Buildkite's API"), PastRuns(), asking(server))

    assert found == BY_BUILDKITE_NEWER
    assert server.asked[0].query["include_retried_jobs"] == "true"


def test_a_run_that_passed_on_a_commit_that_the_ci_does_not_name_is_in_doubt() -> None:
    answers = history("Buildkite's API", ("HEAD", "passed"), (OLD, "passed"))

    assert "build 56 on HEAD" in doubted(find("Buildkite's API", answers))
