# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - rows stand as the specification has them
"""Whose fault a resolved failure was (spec, "Classification of a resolved failure").

Each case is a story of one failure on commit `bad` and its fix on commit `fix`, which would be a
real firmware bug but for what the row says.
"""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.spec.quoting import shows
from tests.spec.service import SUITE, Json, Service, changes, commit, failed, passed

BLAME = "1. The failed test has verdict `device`."
UNDER_TEST = "2. The `changes` of the first run on the failing commit include a firmware file."
BEFORE_FIX = "3. Between the failure and the fix, some commit changed a firmware file, and no commit in that range changed only harness files."

FIRMWARE = "src/main.c"
HARNESS = "ci/bench.py"
OTHER = "docs/guide.md"
REAL = (None, "real_fw_bug")
DISMISSED = "| Dismissed by an admin | (review) | An admin dismissed the failure |"


@dataclass(frozen=True)
class Story:
    """What was reported of the failure and of its fix."""

    test: Json
    under_test: Json | None
    before_fix: Json | None
    configured: bool = True

    def but(self, **fields: Any) -> "Story":
        return replace(self, **fields)

    def judged(self, service: Service) -> Json:
        """Report it, and return the one resolved failure."""
        if self.configured:
            service.configure()
        service.report("bad", 1, self.test, changes=self.under_test)
        service.report("fix", 2, passed(), changes=self.before_fix)
        (row,) = service.resolved()
        return row


BUG = Story(
    test=failed(verdict="device"),
    under_test=changes("base", commit("bad", FIRMWARE)),
    before_fix=changes("bad", commit("fix", FIRMWARE)),
)


def under(*commits: Json, **fields: Any) -> Story:
    return BUG.but(under_test=changes("base", *commits, **fields))


def fixed(*commits: Json, base: str = "bad", **fields: Any) -> Story:
    return BUG.but(before_fix=changes(base, *commits, **fields))


SILENT = {key: value for key, value in failed().items() if key != "verdict"}

# By row: stories that it decides, and stories as near as can be that it does not.
TABLE: dict[str, tuple[list[Story], list[Story]]] = {
    "| Harness verdict: bench or infrastructure | Bench or harness | Verdict blamed the bench |": (
        [BUG.but(test=failed(verdict="infra"))],
        [BUG],
    ),
    "| No harness verdict was reported | Ambiguous | Failed test has no `verdict` |": (
        [BUG.but(test=SILENT), BUG.but(test=failed(verdict="unknown"))],
        [BUG],
    ),
    "| No firmware and harness paths are configured for this product | Ambiguous | No suite configuration for the product |": (
        [BUG.but(configured=False)],
        [BUG],
    ),
    "| The changes under test are unknown | Ambiguous | First run on the failing commit has no `changes`, or its `base_sha` is `null` |": (
        [
            BUG.but(under_test=None),
            BUG.but(under_test=changes(None, commit("bad", FIRMWARE))),
        ],
        [under(commit("bad", FIRMWARE))],
    ),
    "| The files changed under test were not fully reported | Ambiguous | No firmware file in the changes under test and some commits or files were not sent |": (
        [
            under(commit("bad", OTHER), truncated=True),
            under(commit("bad", OTHER, files_truncated=True)),
        ],
        [
            under(commit("bad", FIRMWARE), truncated=True),
            under(commit("bad", FIRMWARE, files_truncated=True)),
            under(commit("bad", FIRMWARE), commit("next", OTHER, files_truncated=True)),
        ],
    ),
    "| Commit under test did not touch firmware | Bench or harness | No commit under test changed a firmware file |": (
        [under(commit("bad", OTHER)), under(commit("bad", HARNESS)), under()],
        [under(commit("before", FIRMWARE), commit("bad", OTHER)), under(commit("bad", FIRMWARE))],
    ),
    "| The changes before the fix are not fully recorded | Ambiguous | Run reports do not connect the failing commit to the fix without a gap |": (
        [
            BUG.but(before_fix=None),
            fixed(commit("fix", FIRMWARE), base="elsewhere"),
            fixed(commit("fix", FIRMWARE), truncated=True),
        ],
        [fixed(commit("fix", FIRMWARE))],
    ),
    "| Fix touched harness paths | Bench or harness | A commit between failure and fix changed harness files and no firmware files |": (
        [
            fixed(commit("fix", HARNESS)),
            fixed(commit("between", HARNESS), commit("fix", FIRMWARE)),
            fixed(commit("between", HARNESS, OTHER), commit("fix", FIRMWARE)),
        ],
        [fixed(commit("between", OTHER), commit("fix", FIRMWARE))],
    ),
    "| Fix did not touch firmware | Bench or harness | No commit between failure and fix changed a firmware file |": (
        [fixed(commit("fix", OTHER)), fixed(commit("fix"))],
        [fixed(commit("fix", FIRMWARE, OTHER))],
    ),
    "| Fix changed firmware and harness in the same commit | Ambiguous | One commit changed both kinds of files |": (
        [
            fixed(commit("fix", FIRMWARE, HARNESS)),
            fixed(commit("between", HARNESS, FIRMWARE), commit("fix", FIRMWARE)),
        ],
        [fixed(commit("fix", FIRMWARE, OTHER))],
    ),
    "| The files changed before the fix were not fully reported | Ambiguous | Some commits before the fix have files that were not sent |": (
        [
            fixed(commit("fix", FIRMWARE, files_truncated=True)),
            fixed(commit("between", OTHER, files_truncated=True), commit("fix", FIRMWARE)),
            fixed(commit("between", HARNESS, files_truncated=True), commit("fix", FIRMWARE)),
            fixed(commit("fix", OTHER, files_truncated=True)),
        ],
        [fixed(commit("fix", FIRMWARE, files_truncated=False))],
    ),
}
CLASSES = {"Bench or harness": "bench_or_harness", "Ambiguous": "ambiguous"}


def cells(row: str) -> tuple[str, str]:
    """Return the reason shown and the class of a row, as the wire writes it."""
    text, name, _ = row.strip("| ").split(" | ")
    return text, CLASSES[name]


def verdict(row: Json) -> tuple[str | None, str]:
    return row["reasonText"], row["class"]


@shows(*TABLE)
@pytest.mark.parametrize(
    ("row", "story"),
    [(row, story) for row, (decided, _) in TABLE.items() for story in decided],
)
def test_a_row_of_the_table_gives_its_reason_and_class(
    service: Service, row: str, story: Story
) -> None:
    found = story.judged(service)

    assert verdict(found) == cells(row)
    assert found["automatic"]["reasonText"] == found["reasonText"]
    assert service.page()["realBugs"]["items"] == []
    (counted,) = [name for name, count in service.tiles()["realFwBugs"].items() if count]
    assert counted == {"bench_or_harness": "benchOrHarness"}.get(found["class"], found["class"])


@shows(*TABLE)
@pytest.mark.parametrize(
    "story", [story for _, others in TABLE.values() for story in others if story is not BUG]
)
def test_what_just_misses_every_row_is_a_real_bug(service: Service, story: Story) -> None:
    assert verdict(story.judged(service)) == REAL


@shows(BLAME, UNDER_TEST, BEFORE_FIX)
def test_a_failure_for_which_all_three_checks_hold_is_a_real_bug(service: Service) -> None:
    found = BUG.judged(service)

    assert verdict(found) == REAL
    assert service.page()["realBugs"]["items"] == [found]
    assert service.tiles()["realFwBugs"]["real"] == 1


# The first failing check gives the reason: each story fails every check from one on.
FAILING_FROM = {
    BLAME: (
        BUG.but(
            test=failed(verdict="infra"),
            under_test=changes("base", commit("bad", OTHER)),
            before_fix=changes("bad", commit("fix", OTHER)),
        ),
        "Harness verdict: bench or infrastructure",
    ),
    UNDER_TEST: (
        BUG.but(
            under_test=changes("base", commit("bad", OTHER)),
            before_fix=changes("bad", commit("fix", OTHER)),
        ),
        "Commit under test did not touch firmware",
    ),
    BEFORE_FIX: (fixed(commit("fix", OTHER)), "Fix did not touch firmware"),
}


@shows(*FAILING_FROM)
@pytest.mark.parametrize("check", FAILING_FROM)
def test_the_first_failing_check_gives_the_reason(service: Service, check: str) -> None:
    story, reason = FAILING_FROM[check]

    assert story.judged(service)["reasonText"] == reason


@shows(UNDER_TEST)
def test_the_first_run_on_the_commit_sets_the_changes_and_no_later_one(service: Service) -> None:
    service.configure()
    first = changes("base", commit("bad", FIRMWARE))
    service.report("bad", 1, passed("usb"), changes=first)
    service.report("bad", 2, failed(), changes=changes("bad"))
    service.report("fix", 3, passed(), changes=changes("bad", commit("fix", FIRMWARE)))

    assert [row["testId"] for row in service.page()["realBugs"]["items"]] == ["boot"]


@shows(UNDER_TEST)
def test_a_run_of_another_workflow_or_branch_does_not_set_the_changes(service: Service) -> None:
    service.configure()
    result = changes("base", commit("bad", FIRMWARE))
    service.report("bad", 1, workflow="night", suite=SUITE, changes=result)
    service.report("bad", 2, branch="dev", changes=result)
    service.report("bad", 3, failed(), changes=changes("base", commit("bad", OTHER)))
    service.report("fix", 4, passed(), changes=changes("bad", commit("fix", FIRMWARE)))

    assert verdict(service.resolved()[0]) == (
        "Commit under test did not touch firmware",
        "bench_or_harness",
    )


@shows(BEFORE_FIX)
def test_the_range_to_the_fix_goes_over_the_runs_between(service: Service) -> None:
    service.configure()
    service.report("bad", 1, failed(), changes=changes("base", commit("bad", FIRMWARE)))
    service.report("mid", 2, passed("usb"), changes=changes("bad", commit("mid", HARNESS)))
    service.report("fix", 3, passed(), changes=changes("mid", commit("fix", FIRMWARE)))

    (row,) = service.page()["otherFailures"]["items"]
    assert row["reasonText"] == "Fix touched harness paths"


@shows(DISMISSED)
def test_a_dismissed_failure_says_so(service: Service) -> None:
    found = BUG.judged(service)
    assert service.review(found["id"], "dismiss").status == 200

    page = service.page()
    (row,) = page["otherFailures"]["items"]
    assert (row["reasonText"], row["class"]) == ("Dismissed by an admin", "dismissed")
    assert page["tiles"]["realFwBugs"] == {
        "real": 0,
        "benchOrHarness": 0,
        "ambiguous": 0,
        "dismissed": 1,
    }
