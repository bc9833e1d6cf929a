# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - rows stand as the specification has them
"""The body of a merge announcement, field by field (spec, "Merge announcement")."""

import pytest

from tests.spec.fields import (
    NAMES_BAD,
    NAMES_OK,
    SHAS_BAD,
    SHAS_OK,
    TIMES_BAD,
    TIMES_OK,
    Field,
    Path,
    check,
)
from tests.spec.quoting import shows
from tests.spec.service import ANNOUNCE, REPO, Json, Service, announcement, at, passed, sha

REPO_KEY = "| `repo_key` | string, 1 to 255 chars | yes | Name of the repository; same value in run reports |"
SUITE = "| `suite` | string, 1 to 255 chars | no | Product whose suite the merge starts. When omitted, a run of any product can check the merge. |"
SHA = "| `sha` | string, 7 to 64 hexadecimal chars | yes | Merge commit |"
BRANCH = "| `branch` | string, 1 to 255 chars | yes | Branch that received the merge |"
MERGED_AT = "| `merged_at` | ISO 8601 date-time | yes | Time of the merge |"

FIELDS = {
    REPO_KEY: Field("repo_key", NAMES_OK, NAMES_BAD),
    SUITE: Field("suite", (*NAMES_OK, None), NAMES_BAD, required=False),
    SHA: Field("sha", SHAS_OK, SHAS_BAD),
    BRANCH: Field("branch", NAMES_OK, NAMES_BAD),
    MERGED_AT: Field("merged_at", TIMES_OK, TIMES_BAD),
}


def in_announcement() -> tuple[Json, Path]:
    return announcement(), ()


@shows(*FIELDS)
@pytest.mark.parametrize("row", FIELDS)
def test_a_field_takes_what_its_row_says_and_nothing_else(service: Service, row: str) -> None:
    check(service, ANNOUNCE, in_announcement, FIELDS[row])


@shows(REPO_KEY)
def test_only_a_run_of_the_same_repository_checks_a_merge(service: Service) -> None:
    service.announce(repo_key="acme/a")
    service.announce(repo_key="acme/b")
    service.report("merge", 1, passed(), repo_key="acme/b")

    unchecked = service.page()["uncheckedMerges"]["items"]
    assert [row["repoKey"] for row in unchecked] == ["acme/a"]


@shows(SUITE)
def test_a_merge_for_a_product_is_checked_by_that_product_and_one_without_by_any(
    service: Service,
) -> None:
    service.announce("named", suite="display")
    service.announce("open")
    service.report("named", 1, passed(), suite="motor")
    service.report("open", 2, passed(), suite="motor")

    assert [row["sha"] for row in service.page()["uncheckedMerges"]["items"]] == [sha("named")]
    service.report("named", 3, passed(), suite="display")
    assert service.page()["uncheckedMerges"]["items"] == []


@shows(SHA, BRANCH, MERGED_AT)
def test_a_merge_is_shown_with_its_commit_branch_and_time(service: Service) -> None:
    service.announce("merge", branch="release/1", merged_at="2026-03-01T09:30:00+01:00")

    assert service.page()["uncheckedMerges"]["items"] == [
        {
            "repoKey": REPO,
            "suite": None,
            "sha": sha("merge"),
            "branch": "release/1",
            "mergedAt": "2026-03-01T08:30:00Z",
            "ciUrl": None,
        }
    ]


def test_the_identity_of_an_announcement_is_repository_suite_and_commit(service: Service) -> None:
    for fields in ({}, {"suite": "a"}, {"suite": "b"}, {"repo_key": "acme/other"}):
        service.announce("merge", **fields)
        service.announce("merge", **fields, branch="elsewhere", merged_at=at(9))
    service.announce("other")

    rows = service.page()["uncheckedMerges"]["items"]
    assert len(rows) == 5
    assert {(row["branch"], row["mergedAt"]) for row in rows} == {("main", "2026-03-01T00:00:00Z")}
