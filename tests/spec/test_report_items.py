# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - rows stand as the specification has them
"""Tests and changes of a run report, field by field (spec, "Run report": "Test item", "`changes`
object", "Commit item")."""

import pytest

from tests.spec.fields import (
    COUNTS_BAD,
    FLAGS_BAD,
    SHAS_BAD,
    SHAS_OK,
    TIMES_BAD,
    TIMES_OK,
    Field,
    check,
    in_changes,
    in_commit,
    in_test,
)
from tests.spec.quoting import shows
from tests.spec.service import REPORT, Service, changes, commit, failed, passed, sha

ID = "| `id` | string, 1 to 512 chars | yes | Stable test name |"
OUTCOME = "| `outcome` | enum: `pass`, `fail` | yes | `pass` if some attempt passed; `fail` if every attempt failed |"
ATTEMPTS = "| `attempts` | integer >= 1 | yes | Number of attempts, retries included |"
DURATION = "| `duration_s` | number >= 0 | yes | Duration in seconds |"
VERDICT = "| `verdict` | enum: `device`, `infra`, `unknown` | no | For a failed test: `device` if the harness blamed the device under test, `infra` if it blamed the bench. Default `unknown` when omitted. |"
BASE_SHA = "| `base_sha` | string 7 to 64 hex chars, or `null` | yes | Commit tested by the previous run of the same workflow on the same branch; `null` when there is none |"
COMMITS = "| `commits` | array of at most 250 commit items | yes | Commits after `base_sha` up to and including `sha`, oldest first |"
TRUNCATED = "| `truncated` | boolean | no | `true` if the range held more commits than were sent |"
SHA = "| `sha` | string 7 to 64 hex chars | yes | The commit |"
SUBJECT = "| `subject` | string, at most 1,000 chars | yes | First line of the commit message |"
COMMITTED_AT = "| `committed_at` | ISO 8601 date-time | no | Time of the commit |"
FILES = (
    "| `files` | array of at most 2,000 paths | yes | Files changed, relative to repository root |"
)
FILES_TRUNCATED = (
    "| `files_truncated` | boolean | no | `true` if the commit changed more files than were sent |"
)

HISTORY = [commit(f"commit {number}") for number in range(251)]
PATHS = [f"src/{number}.c" for number in range(2_001)]

TEST_ITEM = {
    ID: Field("id", ("x", "x" * 512, "é" * 512), ("", "x" * 513, 1, [])),
    OUTCOME: Field("outcome", ("pass", "fail"), ("skip", "PASS", "", True, [])),
    ATTEMPTS: Field("attempts", (1, 2, 1_000), (0, -1, *COUNTS_BAD)),
    DURATION: Field("duration_s", (0, 0.25, 1, 1e6), (-0.001, "1", True, [], float("nan"))),
    VERDICT: Field(
        "verdict", ("device", "infra", "unknown", None), ("bench", "", 1, []), required=False
    ),
}
CHANGES = {
    BASE_SHA: Field("base_sha", (*SHAS_OK, None), SHAS_BAD),
    COMMITS: Field(
        "commits",
        ([], HISTORY[:1], HISTORY[:250]),
        (HISTORY, {}, "x", [1]),
        inside=((), (), (), (0,)),
    ),
    TRUNCATED: Field("truncated", (True, False, None), FLAGS_BAD, required=False),
}
COMMIT_ITEM = {
    SHA: Field("sha", SHAS_OK, SHAS_BAD),
    SUBJECT: Field("subject", ("", "x" * 1_000, "é" * 1_000), ("x" * 1_001, 1, [])),
    COMMITTED_AT: Field("committed_at", (*TIMES_OK, None), TIMES_BAD, required=False),
    FILES: Field(
        "files", ([], PATHS[:1], PATHS[:2_000]), (PATHS, {}, "a", [1]), inside=((), (), (), (0,))
    ),
    FILES_TRUNCATED: Field("files_truncated", (True, False, None), FLAGS_BAD, required=False),
}


@shows(*TEST_ITEM)
@pytest.mark.parametrize("row", TEST_ITEM)
def test_a_field_of_a_test_takes_what_its_row_says(service: Service, row: str) -> None:
    check(service, REPORT, in_test, TEST_ITEM[row])


@shows(*CHANGES)
@pytest.mark.parametrize("row", CHANGES)
def test_a_field_of_changes_takes_what_its_row_says(service: Service, row: str) -> None:
    check(service, REPORT, in_changes, CHANGES[row])


@shows(*COMMIT_ITEM)
@pytest.mark.parametrize("row", COMMIT_ITEM)
def test_a_field_of_a_commit_takes_what_its_row_says(service: Service, row: str) -> None:
    check(service, REPORT, in_commit, COMMIT_ITEM[row])


@shows(ID)
def test_a_test_keeps_its_name_from_run_to_run(service: Service) -> None:
    service.report("a", 1, failed("boot"))
    service.report("b", 2, passed("Boot"), passed("boot "))
    assert service.labels() == {("boot", sha("a")): "pending"}

    service.report("b", 3, passed("boot"))
    assert service.labels() == {("boot", sha("a")): "resolved"}


@shows(OUTCOME, ATTEMPTS)
def test_a_pass_has_one_attempt_that_passed_and_a_fail_has_none(service: Service) -> None:
    service.report("a", 1, passed("retried", attempts=3), failed("broken", attempts=3))

    rows = {row["testId"]: row for row in service.page()["flakiestTests"]["items"]}
    assert {name: (row["attempts"], row["failedAttempts"]) for name, row in rows.items()} == {
        "retried": (3, 2),
        "broken": (3, 3),
    }


@shows(DURATION)
def test_a_duration_is_shown_with_the_failure(service: Service) -> None:
    service.report("a", 1, failed(duration_s=12.25))

    found = service.get(f"ci-failures/{service.failure_id('boot', 'a')}")
    assert found["timeline"][0]["runs"][0]["durationS"] == 12.25


@shows(VERDICT)
def test_a_verdict_is_kept_and_is_unknown_when_omitted(service: Service) -> None:
    silent = failed("silent")
    del silent["verdict"]
    others = [failed(name, verdict=name) for name in ("device", "infra", "unknown")]
    service.report("a", 1, silent, *others)

    found = service.get("ci-failures", asOf="2026-03-02T00:00:00Z")["items"]
    assert {failure["testId"]: failure["verdict"] for failure in found} == {
        "silent": "unknown",
        "device": "device",
        "infra": "infra",
        "unknown": "unknown",
    }


@shows(BASE_SHA, COMMITS, SHA, SUBJECT, COMMITTED_AT, FILES)
def test_the_commits_under_test_are_shown_as_sent_oldest_first(service: Service) -> None:
    service.configure()
    older = commit("older", "src/a.c", "docs/a.md", committed_at="2026-02-28T12:00:00+02:00")
    under_test = changes("base", older, commit("a", "ci/run.py", subject=""))
    service.report("a", 1, failed(), changes=under_test)
    service.report("b", 2, passed())

    found = service.get(f"ci-failures/{service.failure_id('boot', 'a')}")
    assert found["underTest"] == [
        {
            "sha": sha("older"),
            "subject": "Change older",
            "committedAt": "2026-02-28T10:00:00Z",
            "files": [
                {"path": "src/a.c", "kind": "firmware"},
                {"path": "docs/a.md", "kind": "other"},
            ],
            "filesTotal": 2,
            "filesTruncated": False,
        },
        {
            "sha": sha("a"),
            "subject": "",
            "committedAt": None,
            "files": [{"path": "ci/run.py", "kind": "harness"}],
            "filesTotal": 1,
            "filesTruncated": False,
        },
    ]


def reason(service: Service, first: dict[str, object] | None) -> str | None:
    """Return the reason of a failure whose first run had these changes, and whose fix is whole."""
    service.configure()
    service.report("a", 1, failed(), changes=first)
    service.report("b", 2, passed(), changes=changes("a", commit("b", "src/a.c")))
    (row,) = service.resolved()
    return None if row["reasonText"] is None else str(row["reasonText"])


@shows(BASE_SHA)
def test_without_a_previous_run_the_changes_under_test_are_unknown(service: Service) -> None:
    said = commit("a", "src/a.c")

    assert reason(service, changes(None, said)) == "The changes under test are unknown"
    assert reason(service, changes("base", said)) is None


@shows(TRUNCATED)
def test_truncated_says_that_commits_were_not_sent(service: Service) -> None:
    said = commit("a", "docs/a.md")
    cut = "The files changed under test were not fully reported"

    assert reason(service, changes("base", said, truncated=True)) == cut
    whole = "Commit under test did not touch firmware"
    assert reason(service, changes("base", said, truncated=False)) == whole
    assert reason(service, changes("base", said)) == whole


@shows(FILES_TRUNCATED)
def test_files_truncated_says_that_files_were_not_sent(service: Service) -> None:
    cut = "The files changed under test were not fully reported"
    whole = "Commit under test did not touch firmware"

    for flag, found in ((True, cut), (False, whole)):
        said = commit("a", "docs/a.md", files_truncated=flag)
        assert reason(service, changes("base", said)) == found
    assert reason(service, changes("base", commit("a", "docs/a.md"))) == whole
