# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - rows are copied from the specification
"""The body of a run report, field by field (spec, "Run report")."""

import pytest

from tests.spec.fields import (
    COUNTS_BAD,
    FLAGS_BAD,
    NAMES_BAD,
    NAMES_OK,
    SHAS_BAD,
    SHAS_OK,
    TIMES_BAD,
    TIMES_OK,
    Field,
    check,
    in_report,
)
from tests.spec.quoting import shows
from tests.spec.service import (
    REPORT,
    Json,
    Service,
    at,
    changes,
    commit,
    failed,
    item,
    passed,
    report,
    sha,
)

REPO_KEY = "| `repo_key` | string, 1 to 255 chars | yes | Same value as in merge announcements |"
WORKFLOW = "| `workflow` | string, 1 to 255 chars | yes | Name of the CI workflow |"
SUITE = "| `suite` | string, 1 to 255 chars | no | Product; defaults to the value of `workflow` |"
RUN_ID = "| `run_id` | integer >= 0 | yes | CI run id |"
RUN_ATTEMPT = "| `run_attempt` | integer >= 1 | yes | Attempt number of the CI run |"
TRIGGER = "| `trigger` | enum: `merge`, `nightly`, `manual` | yes | What started the run |"
BRANCH = "| `branch` | string, 1 to 255 chars | yes | Branch tested |"
SHA = "| `sha` | string, 7 to 64 hex chars | yes | Commit tested |"
STARTED_AT = "| `started_at` | ISO 8601 date-time | yes | Start of the run |"
ENDED_AT = "| `ended_at` | ISO 8601 date-time | yes | End of the run |"
CONCLUSION = (
    "| `conclusion` | string, 1 to 50 chars | yes | Result of the run as the CI reports it |"
)
HELLO_OK = "| `hello_ok` | boolean | yes | `true` if the run reached the hardware; `false` if the connectivity check before the tests failed |"
BOX_KEY = (
    "| `box_key` | string, 1 to 255 chars | yes | Name of the box or bench that ran the tests |"
)
TESTS = "| `tests` | array of at most 1,000 test items | yes | One item per test |"
COVERS = "| `covers_shas` | array of at most 1,000 commits, each 7 to 64 hex chars | no | Every commit in the push that started the run. A merge in this list counts as checked by this run. |"
CHANGES = "| `changes` | object | no | Commits since the previous run of the same workflow on the same branch |"

MANY = [passed(f"test {number}") for number in range(1_001)]
COVERED = [f"{number:07x}" for number in range(1_001)]

FIELDS = {
    REPO_KEY: Field("repo_key", NAMES_OK, NAMES_BAD),
    WORKFLOW: Field("workflow", NAMES_OK, NAMES_BAD),
    SUITE: Field("suite", (*NAMES_OK, None), NAMES_BAD, required=False),
    RUN_ID: Field("run_id", (0, 1, 2**63 - 1), (-1, *COUNTS_BAD)),
    RUN_ATTEMPT: Field("run_attempt", (1, 2), (0, -1, *COUNTS_BAD)),
    TRIGGER: Field("trigger", ("merge", "nightly", "manual"), ("push", "Merge", "", 1, [])),
    BRANCH: Field("branch", NAMES_OK, NAMES_BAD),
    SHA: Field("sha", SHAS_OK, SHAS_BAD),
    STARTED_AT: Field("started_at", TIMES_OK, TIMES_BAD),
    ENDED_AT: Field("ended_at", TIMES_OK, TIMES_BAD),
    CONCLUSION: Field("conclusion", ("x", "x" * 50), ("", "x" * 51, 1, False, [])),
    HELLO_OK: Field("hello_ok", (True, False), FLAGS_BAD),
    BOX_KEY: Field("box_key", NAMES_OK, NAMES_BAD),
    TESTS: Field(
        "tests",
        ([], MANY[:1], MANY[:1_000]),
        (MANY, {}, "boot", [1], [passed(), passed()]),
        inside=((), (), (), (0,), (1, "id")),
    ),
    COVERS: Field(
        "covers_shas",
        ([], ["a" * 7, "f" * 64], COVERED[:1_000], None),
        (COVERED, {}, "a" * 40, ["a" * 6], ["a" * 7, "f" * 65], [1]),
        required=False,
        inside=((), (), (), (0,), (1,), (0,)),
    ),
    CHANGES: Field(
        "changes", (changes(None), changes("base"), None), ([], "a" * 40, 1), required=False
    ),
}


@shows(*FIELDS)
@pytest.mark.parametrize("row", FIELDS)
def test_a_field_takes_only_what_its_row_says(service: Service, row: str) -> None:
    check(service, REPORT, in_report, FIELDS[row])


@shows(REPO_KEY)
def test_a_report_checks_only_merges_of_its_own_repository(service: Service) -> None:
    service.announce("merge")
    service.report("merge", 1, passed(), repo_key="acme/Firmware")
    assert service.tiles()["mergesChecked"] == {"checked": 0, "announced": 1}

    service.report("merge", 2, passed())
    assert service.tiles()["mergesChecked"] == {"checked": 1, "announced": 1}


@shows(WORKFLOW, SUITE)
def test_without_a_suite_the_workflow_names_the_product(service: Service) -> None:
    service.report("a", 1, workflow="hardware")
    service.report("a", 2, workflow="nightly", suite="display")

    assert {item["suite"] for item in service.get("products")["items"]} == {"hardware", "display"}


@shows(RUN_ID, RUN_ATTEMPT, BOX_KEY)
def test_run_attempt_and_box_distinguish_reports(service: Service) -> None:
    reports: list[Json] = [
        {"run_id": 1},
        {"run_id": 2},
        {"run_id": 1, "run_attempt": 2},
        {"run_id": 1, "box_key": "bench-2"},
        {"run_id": 1, "repo_key": "acme/other"},
    ]
    for number, fields in enumerate(reports):
        service.report("a", number, passed(), **fields)
        service.report("a", number, passed(), **fields)

        assert service.tiles()["infraRuns"]["total"] == number + 1


@shows(WORKFLOW, TRIGGER, RUN_ID, RUN_ATTEMPT, STARTED_AT, BRANCH, SHA, BOX_KEY)
def test_a_failing_run_is_shown_as_it_was_reported(service: Service) -> None:
    fields: Json = {"workflow": "night", "suite": "motor", "run_id": 77, "run_attempt": 3}
    service.report("a", 1, failed(), **fields, branch="dev", box_key="left", trigger="manual")
    service.report("b", 2, passed(), branch="dev", box_key="left", suite="motor")

    (row,) = service.page()["otherFailures"]["items"]
    first = row["firstFailure"]
    assert (first["workflow"], first["runId"], first["runAttempt"]) == ("night", 77, 3)
    assert (first["sha"], first["startedAt"]) == (sha("a"), "2026-03-01T01:00:00Z")
    assert (row["branch"], row["boxKey"], row["suite"]) == ("dev", "left", "motor")


@shows(TRIGGER, CONCLUSION, ENDED_AT)
def test_trigger_conclusion_and_end_change_no_figure(service: Service) -> None:
    service.announce("merge")
    service.report("merge", 1, failed("usb"), passed())
    before = service.page()
    service.report(
        "merge",
        1,
        failed("usb"),
        passed(),
        trigger="nightly",
        conclusion="cancelled",
        ended_at=at(900),
    )

    assert service.page() == before


@shows(BRANCH)
def test_a_pass_on_another_branch_resolves_no_failure(service: Service) -> None:
    service.report("a", 1, failed())
    service.report("b", 2, passed(), branch="release")
    assert service.labels() == {("boot", sha("a")): "pending"}

    service.report("b", 3, passed())
    assert service.labels() == {("boot", sha("a")): "resolved"}


@shows(HELLO_OK)
def test_a_run_that_did_not_reach_the_hardware_is_an_infra_run(service: Service) -> None:
    service.report("a", 1, failed(), hello_ok=False)
    service.report("a", 2, failed("usb"), hello_ok=True)

    assert service.tiles()["infraRuns"] == {"infra": 1, "total": 2}
    assert set(service.labels()) == {("usb", sha("a"))}


@shows(TESTS)
def test_a_test_twice_in_one_report_is_refused(service: Service) -> None:
    reply = service.send(REPORT, report("a", 1, passed(), item("usb", "pass"), failed()))

    assert reply.issue_paths == [["body", "tests", 2, "id"]]


@shows(COVERS)
def test_a_merge_in_covers_shas_counts_as_checked(service: Service) -> None:
    for name in ("first", "second", "third"):
        service.announce(name)
    service.report("second", 1, passed(), covers_shas=[sha("first"), sha("second")])

    assert service.tiles()["mergesChecked"] == {"checked": 2, "announced": 3}
    assert [row["sha"] for row in service.page()["uncheckedMerges"]["items"]] == [sha("third")]


@shows(CHANGES)
def test_what_broke_a_test_is_known_only_with_changes(
    service: Service,
) -> None:
    service.configure()
    service.report("a", 1, failed(), changes=changes("base", commit("a", "src/a.c")))
    service.report("b", 2, passed(), changes=changes("a", commit("b", "src/a.c")))
    assert [row["testId"] for row in service.page()["realBugs"]["items"]] == ["boot"]

    service.report("a", 1, failed())
    (row,) = service.page()["otherFailures"]["items"]
    assert row["reasonText"] == "The changes under test are unknown"


def test_the_identity_of_a_report_is_repository_run_attempt_and_box(service: Service) -> None:
    service.report("a", 1, failed(), workflow="one", run_id=9)
    service.report("b", 2, failed("usb"), workflow="two", branch="dev", run_id=9)

    assert set(service.labels()) == {("usb", sha("b"))}
    assert service.tiles()["infraRuns"]["total"] == 1
