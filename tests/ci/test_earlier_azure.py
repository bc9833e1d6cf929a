# SPDX-License-Identifier: Apache-2.0
"""Azure's list of earlier builds: how this job is recognized, and what a timeline lacks."""

from typing import Any

import pytest

from tests.ci.apis import (
    AZURE,
    AZURE_JOB_ID,
    AZURE_OWN,
    LATER,
    NEWER,
    OLD,
    THIS_AZURE_JOB,
    Found,
    Row,
    azure_build,
    azure_jobs,
    azure_path,
    azure_record,
    azure_timeline,
    by,
    doubted,
    find,
    history,
)

BY_AZURE_NEWER, BY_AZURE_OLD = by("Azure's API", NEWER), by("Azure's API", OLD)


def azure(*records: Row, this: Row | None = None) -> Found:
    """Find the base where the build before this one had these records."""
    answers: dict[str, Any] = {
        AZURE: {"value": [azure_build(8, NEWER), azure_build(7, OLD)]},
        **THIS_AZURE_JOB,
        azure_path(8): azure_timeline(azure_record("build", "succeeded"), *records),
        azure_path(7): azure_jobs("succeeded"),
    }
    if this is not None:
        built = azure_record("build", "succeeded")
        answers[azure_path(AZURE_OWN)] = azure_timeline(built, this)
    return find("Azure's API", answers)


def test_jobs_of_azure_of_one_name_in_two_stages_are_two() -> None:
    other = azure_record("hil", "succeeded", identifier="soak.hil.__default")

    assert azure(other, azure_record("hil", "skipped")) == BY_AZURE_OLD


def test_a_job_of_azure_is_recognized_by_its_id_or_its_agent() -> None:
    named = azure_record("hil", None, id=AZURE_JOB_ID, workerName="x")
    assert azure(azure_record("hil", "succeeded"), this=named) == BY_AZURE_NEWER
    this = azure_record("hil", None)  # under another id
    assert azure(azure_record("hil", "succeeded"), this=this) == BY_AZURE_NEWER
    elsewhere = azure(azure_record("hil", "succeeded"), this=this | {"workerName": "x"})
    assert "build 8" in doubted(elsewhere)


@pytest.mark.parametrize("result", ["canceled", "skipped"])
def test_what_came_of_earlier_attempts_in_azure_is_in_doubt(result: str) -> None:
    again = azure_record("hil", result, attempt=2)

    assert "build 8" in doubted(azure(again))
    assert azure(azure_record("hil", "succeeded", attempt=2)) == BY_AZURE_NEWER


def test_a_job_of_azure_without_the_step_that_reports_is_in_doubt() -> None:
    this = azure_record("hil", None, id=AZURE_JOB_ID)
    report = azure_record("Report", None, "Task", AZURE_JOB_ID)
    answers: dict[str, Any] = {
        AZURE: {"value": [azure_build(8, NEWER)]},
        azure_path(AZURE_OWN): azure_timeline(this, report),
        azure_path(8): azure_timeline(
            azure_record("hil", "succeeded"), azure_record("Report", "skipped", "Task", "Job hil")
        ),
    }

    assert "build 8" in doubted(find("Azure's API", answers))
    answers[azure_path(8)]["records"][2]["result"] = "succeeded"
    assert find("Azure's API", answers) == BY_AZURE_NEWER


@pytest.mark.parametrize(("ended", "reported"), [("failed", True), ("skipped", False)])
def test_a_job_of_azure_that_was_cancelled_before_it_reported_tested_nothing(
    ended: str, reported: bool
) -> None:
    """Its tests, if there were any, were not reported."""
    this = azure_record("hil", None, id=AZURE_JOB_ID)
    cancelled = azure_record("hil", "canceled", workerName="bench-1")
    answers = history("Azure's API", (NEWER, None), (OLD, "succeeded"))
    answers[azure_path(AZURE_OWN)] = azure_timeline(
        this, azure_record("Report", None, "Task", AZURE_JOB_ID)
    )
    answers[azure_path(AZURE_OWN - 1)] = azure_timeline(
        cancelled, azure_record("Report", ended, "Task", "Job hil")
    )

    found = find("Azure's API", answers)

    if reported:
        assert "build 90209" in doubted(found)
    else:
        assert found == BY_AZURE_OLD


def test_a_build_of_azure_that_never_began_has_no_timeline() -> None:
    answers = history("Azure's API", (LATER, None), (NEWER, None), (OLD, "succeeded"))
    waiting, invalid = answers[AZURE]["value"][:2]
    waiting |= {"status": "notStarted", "result": None}
    invalid["result"] = "failed"
    answers[azure_path(AZURE_OWN - 1)] = 500
    answers[azure_path(AZURE_OWN - 2)] = 204

    assert find("Azure's API", answers) == BY_AZURE_OLD
    invalid["result"] = "succeeded"
    assert "build 90208" in doubted(find("Azure's API", answers))


def test_a_pull_request_of_azure_was_tested_at_its_head() -> None:
    answers = history("Azure's API", (LATER, "succeeded"))
    answers[AZURE]["value"][0]["triggerInfo"] = {"pr.number": "5", "pr.sourceSha": NEWER}

    assert find("Azure's API", answers) == BY_AZURE_NEWER


def test_an_endless_list_of_azure_is_noted() -> None:
    later = [azure_build(AZURE_OWN + number, LATER) for number in range(100, 0, -1)]

    note = doubted(find("Azure's API", {AZURE: {"value": later}}))
    assert "lists more than 100" in note
