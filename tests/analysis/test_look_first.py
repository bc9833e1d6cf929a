# SPDX-License-Identifier: Apache-2.0
"""Where to look first at what still fails, the commit or the bench: each sentence, by a history of
one test on one to three boxes.
"""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from hwci.analysis.failures.incidents import failing_incidents
from tests.engine.timeline import ALL, EVER, ORG, TEST, Past, changes, commit, item, report, seen
from tests.support.outcomes import FullRecordedRuns

BROKE = {"b": "fw"}
PASSES = "\nbox-2 | a:P b:P c:P d:P"
FAILS = "\nbox-2 | a:P b:F c:F d:F"
TELL_IT = (
    "Commit or bench? Test commit a (the last pass) on box-1 again:"
    " if it passes, suspect the commit"
)


def said(past: Past) -> list[str | None]:
    history = FullRecordedRuns(ORG, past.facts)
    return [one.look_first for one in failing_incidents(history, ALL, EVER, TEST)]


@pytest.mark.parametrize(
    ("picture", "changed", "sentence"),
    [
        ("box-1 | a:P b:F c:F d:F" + PASSES, BROKE, TELL_IT),
        ("box-1 | a:P b:F c:F d:F", BROKE, TELL_IT),
        (
            "box-1 | a:P b:F c:F d:F a:P" + PASSES,
            BROKE,
            "Look at b first: a passed on box-1 since then",
        ),
        (
            "box-1 | a:P b:F c:F d:F a:F" + PASSES,
            BROKE,
            "Look at box-1 first: a passed there before, and fails now",
        ),
        ("box-1 | a:P b:F c:F d:F a:F a:P", BROKE, "Look at b first: a passed on box-1 since then"),
        ("box-1 | a:P b:F c:F d:F" + FAILS, BROKE, "No bench stands out: look at b first"),
        ("box-1 | a:P b:F c:F d:F" + FAILS + "\nbox-3 | a:P b:P", BROKE, TELL_IT),
        (
            "box-1 | a:P b:F c:F d:F" + FAILS,
            {},
            "No bench stands out: look at the firmware and the test first",
        ),
        (
            "box-1 | a:P b:F c:F d:F",
            {},
            (
                "Commit or bench? Test commit a (the last pass) on box-1 again:"
                " if it passes, suspect the commits up to b"
            ),
        ),
        (
            "box-1 | b:F c:F d:F",
            {},
            (
                "Commit or bench? Test a commit from before b on box-1:"
                " if it passes, suspect the commits up to b"
            ),
        ),
        (
            "box-1 | a:P b:F c:F",
            BROKE,
            "Test commit c on box-1 again: if it passes there, it is a flake",
        ),
        ("box-1 | a:P b:F b:F c:F", BROKE, TELL_IT),
        (
            "box-1 | a:P b:P c:I" + PASSES,
            BROKE,
            (
                "The harness blames the bench: test commit c on box-1 again, to see whether it"
                " still fails"
            ),
        ),
        (
            "box-1 | a:P b:I c:I d:I" + PASSES,
            BROKE,
            "The harness blames the bench: look at box-1 first",
        ),
        ("box-1 | a:P b:F c:I d:I", BROKE, TELL_IT),
    ],
)
def test_the_commit_or_the_bench_is_named_or_the_run_that_would_tell(
    picture: str, changed: Mapping[str, str], sentence: str
) -> None:
    assert said(seen(picture, changed)) == [sentence]


def test_of_several_commits_that_may_have_broken_it_none_is_named() -> None:
    past = seen("box-1 | a:P d:F e:F f:F")
    pushed = changes("a", commit("b", "fw"), commit("c"), commit("d", "fw"))
    reports = [replace(one, changes=pushed) if one.sha == "d" else one for one in past.reports]

    assert said(Past(reports)) == [
        (
            "Commit or bench? Test commit a (the last pass) on box-1 again:"
            " if it passes, suspect the 2 firmware commits of its first failing run"
        )
    ]


def test_tests_that_failed_together_in_one_run_may_be_a_flake() -> None:
    passed, failed = (
        [item(outcome, name) for name in (TEST, "i2c", "spi")] for outcome in ("P", "F")
    )
    worked = report("a:P", 0, tests=passed)
    broken = report("b:F", 1, sent=changes("a", commit("b", "fw")), tests=failed)

    assert said(Past([worked, broken])) == [
        "Test commit b on box-1 again: if it passes there, it is a flake"
    ]


def test_the_run_that_would_tell_is_of_the_last_commit_that_passed_there() -> None:
    bisected = [
        report("a:P", 0),
        report("c:F", 1, sent=changes("a", commit("b", "fw"), commit("c", "fw"))),
        report("b:P", 2),
        *(report(f"{sha}:F", 3 + at, sent=changes("c", sha)) for at, sha in enumerate("de")),
    ]

    assert said(Past(bisected)) == ["Look at c first: b passed on box-1 since then"]


def test_a_resolved_failure_says_nothing() -> None:
    assert said(seen("box-1 | a:P b:F c:P", BROKE)) == []
