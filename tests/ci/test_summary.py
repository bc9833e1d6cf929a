# SPDX-License-Identifier: Apache-2.0
"""The summary of a report on the page of its job: short, and names in it have no effect."""

import re
from datetime import UTC, datetime
from html import unescape

import pytest

from hwci.ci.reporting.summary import (
    ROWS_MAX,
    Shown,
    changes_said,
    inert,
    markdown,
)
from hwci.ci.systems import SYSTEMS
from hwci.contract.ci_systems import CiSystem
from hwci.contract.vocabulary import Outcome, Trigger
from hwci.wire.reports import Changes, CommitItem, RunReport, TestItem

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
HOSTILE = "](x) <img src=x> | `a` **b** ![i](u) @all\n::warning::x\x1b[31m\u202e &amp; ~~c~~ #1 _d_"


def report(box: str = "bench-1", *tests: tuple[str, Outcome, int], **fields: object) -> RunReport:
    body = {
        "repo_key": "acme/firmware",
        "workflow": "hil",
        "run_id": 1,
        "run_attempt": 1,
        "trigger": Trigger.MERGE,
        "branch": "main",
        "sha": "a" * 40,
        "started_at": NOON,
        "ended_at": NOON,
        "conclusion": "failure",
        "hello_ok": True,
        "box_key": box,
        "tests": [
            TestItem(id=name, outcome=outcome, attempts=attempts, duration_s=1)
            for name, outcome, attempts in tests
        ],
    }
    return RunReport.model_validate(body | fields)


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("| ") and "---" not in line]


def test_a_summary_counts_tests_failures_and_retries_of_each_box() -> None:
    tests = [("a", Outcome.PASS, 2), ("b", Outcome.FAIL, 1), ("c", Outcome.PASS, 1)]
    text = markdown(Shown([report("bench-1", *tests), report("bench-2", hello_ok=False)], True))

    assert rows(text) == [
        "| Box | Tests | Failed | Retried | Hello |",
        "| bench-1 | 3 | 1 | 1 | ok |",
        "| bench-2 | 0 | 0 | 0 | failed |",
        "| Failed test | Box | Attempts | Verdict |",
        "| b | bench-1 | 1 | unknown |",
    ]
    assert "\n- Reported.\n" in text


def test_parts_of_a_report_are_one_box() -> None:
    one = report("big", ("a", Outcome.PASS, 1))
    two = report("big", ("b", Outcome.PASS, 1), run_id=2)

    assert "| big | 2 | 0 | 0 | ok |" in markdown(Shown([one, two], sent=True))


@pytest.mark.parametrize(("boxes", "failures"), [(1, 500), (30, 5), (19, 2)])
def test_a_summary_has_twenty_rows_at_most(boxes: int, failures: int) -> None:
    tests = [(f"t{number}", Outcome.FAIL, 1) for number in range(failures)]
    text = markdown(Shown([report(f"b{number}", *tests) for number in range(boxes)], sent=True))

    headers = 1 + ("Failed test" in text)
    assert len(rows(text)) - headers == ROWS_MAX
    assert re.search(r"^… [\d,]+ more$", text, re.MULTILINE)


def test_a_report_that_was_not_sent_is_named() -> None:
    text = markdown(Shown([report()], sent=False, notes=["one.xml: broken"]))

    assert "- Not reported: see the log of this step." in text
    assert "- one.xml&#58; broken" in text


def test_names_have_no_meaning_of_their_own() -> None:
    shown = report(HOSTILE, (HOSTILE, Outcome.FAIL, 1), branch=HOSTILE, workflow=HOSTILE)
    text = markdown(Shown([shown], sent=True, notes=[HOSTILE]))

    for line in text.splitlines():
        named = re.sub(r"^(### Hardware tests: |\| |- )", "", line)
        assert not set(named.replace(" | ", "")) & set("<>[]()`*_~!@\x1b\u202e")
    assert unescape(inert("a <b> & #1")) == "a <b> & #1"


def test_a_name_that_is_an_address_is_no_link() -> None:
    """GitHub makes a link of what begins with `www.`."""
    assert "www." not in inert("www.example.org")
    assert unescape(inert("www.example.org")) == "www.example.org"


def test_a_long_name_is_cut() -> None:
    assert unescape(inert("x" * 10_000)) == "x" * 199 + "…"


def changes(**fields: object) -> Changes:
    commits = [CommitItem(sha="b" * 40, subject="S", files=["x"])] * 2
    return Changes.model_validate({"base_sha": "c" * 40, "commits": commits} | fields)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        (None, "not sent"),
        (changes(base_sha=None), "sent without the run before, which is not known"),
        (changes(), f"2 commits after {'c' * 12}"),
        (changes(truncated=True), f"2 commits after {'c' * 12} (cut short)"),
    ],
)
def test_a_summary_shows_whether_changes_were_sent_or_why_not(
    changed: Changes | None, text: str
) -> None:
    assert changes_said(changed) == text


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (CiSystem.GITHUB, "::warning title=hwci::50%25%0D%0A::error::x"),
        (CiSystem.AZURE, "##vso[task.logissue type=warning]50%AZP25%0D%0A::error::x"),
    ],
)
def test_a_warning_stays_on_its_line(name: CiSystem, line: str) -> None:
    [show] = [system.show_summary for system in SYSTEMS if system.name is name]
    lines: list[str] = []
    assert show is not None
    show({}, "", ["50%\r\n::error::x"], lines.append)

    assert lines == [line]
