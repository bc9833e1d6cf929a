# SPDX-License-Identifier: Apache-2.0
"""`hwci failures`: the list, the evidence of one failure, its review, and the gaps of CI."""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hwci.analysis.failures.advice import GAPS
from hwci.analysis.failures.ci_lines import lines_of
from hwci.cli.terminal import evidence, options, what_if
from hwci.client import Client, calls
from hwci.contract.failures.explanations import Explanation, GapCount, Gaps, Together, WhatIf
from hwci.contract.failures.failures import FailureEvidence
from hwci.contract.vocabulary import EditKind, FailureClass, Gap, Verdict
from hwci.engine.periods import Period
from hwci.said import short
from hwci.wire.codec import from_json
from hwci.wire.reports import Changes, RunReport
from tests.cli.conftest import Command
from tests.support.running import running_in_thread
from tests.support.scene import CONFIGURATION, HOSTILE, PRODUCT, START, A, B, C, D, E, report

pytestmark = [pytest.mark.clock, pytest.mark.usefixtures("busy_server")]


@pytest.fixture
def own_ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """The CI of a server of this test alone, which its commands ask."""
    with running_in_thread(tmp_path) as server, Client(server.url, ci_key=server.ci_key) as client:
        monkeypatch.setenv("HWCI_URL", server.url)
        monkeypatch.setenv("HWCI_TOKEN", server.token)
        yield client


def send(client: Client, *reports: RunReport) -> None:
    """Send the reports of runs."""
    for body in reports:
        client.send(calls.report_run(body))


def ids(signed_in: Command, *arguments: str) -> dict[str, str]:
    """Return the id of each test's first failure."""
    out = signed_in("failures", "list", *arguments, "-o", "csv").out
    rows = sorted(csv.DictReader(io.StringIO(out)), key=lambda row: row["firstStartedAt"])
    return {row["testId"]: row["id"] for row in reversed(rows)}


def test_failures_are_listed_with_their_labels(signed_in: Command) -> None:
    out = signed_in("failures", "list", "-o", "csv").out
    labels = {(row["testId"][:8], row["label"]) for row in csv.DictReader(io.StringIO(out))}

    assert labels == {
        ("i2c", "resolved"),
        ("spi", "resolved"),
        ("[red]can", "flake"),
        ("adc", "pending"),
    }
    assert set(ids(signed_in, "--label", "pending")) == {"adc"}


def test_the_failures_of_one_test_are_asked_for_by_its_whole_id(signed_in: Command) -> None:
    def found(*arguments: str) -> list[tuple[str, str]]:
        out = signed_in("failures", "list", "-o", "csv", *arguments).out
        rows = csv.DictReader(io.StringIO(out))
        return [(row["testId"], row["sha"]) for row in rows]

    assert found("--test", "spi", "--product", PRODUCT) == [("spi", C), ("spi", B)]
    assert found("--test", "spi", "--label", "pending") == []
    assert found("--test", "sp") == []
    assert [sha for _, sha in found("--test", HOSTILE)] == [E]


def test_an_empty_test_is_wrong_usage(signed_in: Command) -> None:
    code, out, err = signed_in("failures", "list", "--test", "")

    assert (code, out) == (2, "")
    assert "--test is empty" in err


def test_the_list_is_paged_and_says_how_to_go_on(signed_in: Command) -> None:
    first = signed_in("failures", "list", "--limit", "2")
    last = signed_in("failures", "list", "--limit", "2", "--page", "3")

    assert first.err == "… 3 more: --page 2 --limit 2\n"
    assert last.err == ""
    assert json.loads(signed_in("failures", "list", "--limit", "2", "--json").out)["total"] == 5


@pytest.mark.parametrize("form", ["table", "csv", "md"])
def test_a_page_beyond_the_end_names_the_last_one(signed_in: Command, form: str) -> None:
    beyond = signed_in("failures", "list", "--limit", "2", "--page", "99", "-o", form)
    usual = signed_in("failures", "list", "--page", "2", "-o", form)

    ends = "Page 99 is beyond the end: 5 failures on 3 pages. The last one: --page 3 --limit 2\n"
    assert (beyond.code, beyond.err) == (0, ends)
    assert bool(beyond.out) is (form != "table")
    assert usual.err.endswith("5 failures on 1 page. The last one: --page 1\n")


def test_an_empty_list_says_what_to_do_next(signed_in: Command) -> None:
    code, out, err = signed_in("failures", "list", "--as-of", "2001-01-01T00:00:00Z")

    assert (code, out.strip()) == (0, "")
    assert "--days" in err


def test_a_label_that_no_failure_has_is_named_and_how_to_list_the_others(
    cli: Command, own_ci: Client
) -> None:
    send(own_ci, report(2, B, {"i2c": "fail"}))

    err = cli("failures", "list", "--label", "resolved").err

    assert err.startswith("No failure with the label resolved in this period. Leave --label out")


def test_a_real_bug_is_explained_in_plain_words(signed_in: Command) -> None:
    code, out, _ = signed_in("failures", "show", ids(signed_in)["i2c"][:8])

    assert code == 0
    assert "The firmware is to blame" in out
    assert f"broken by    {B[:12]} Change drivers/i2c.c" in out
    assert f"fixed by     {C}, passed " in out
    assert "Timeline of this test on this box, in the branch's order\n" in out
    assert "✓ ✗ ✓" in out
    assert "label        resolved: the test passed on a later commit, on this box\n" in out
    assert "The first run on the failing commit tested 1 commit\n" in out
    assert "1 run report connects the failure to its fix over 1 commit\n" in out
    assert f"✗ {B[:12]}" in out
    assert "<- this failure" in out
    assert "class        real firmware bug, no check speaks against it\n" in out
    assert (
        "  Did the harness blame the device?\n  1. ✓ The harness did not blame the bench\n" in out
    )
    assert "  Was firmware under test? (1 reported commit under test)\n  3. ✓ Fir" in out
    assert "Did firmware alone fix it? (1 reported commit before the fix)\n" in out
    assert "  9. ✓ A change of firmware can have fixed it\n" in out
    assert ". ✗ " not in out
    assert "firmware  drivers/i2c.c" in out
    assert out.index("Commits under test") < out.index("Commits before the fix")


def test_a_failure_says_what_would_change_its_class_and_what_to_do(signed_in: Command) -> None:
    failure = ids(signed_in)["spi"]
    out = signed_in("failures", "show", failure).out

    assert "\nWhat would change the class\n" in out
    assert (
        "  Would be a real firmware bug if an owner or admin confirmed it\n"
        f"     hwci failures confirm {failure}\n" in out
    )
    pending = signed_in("failures", "show", ids(signed_in, "--label", "pending")["adc"]).out
    assert "What would change the class" not in pending


def test_edits_of_the_configuration_stand_last() -> None:
    names = ("reason", "reason_text", "verdict", "paths", "commit", "run", "base", "sha")
    common: dict[str, Any] = dict.fromkeys((*names, "assumed", "action"))
    edits = [
        WhatIf(
            **common,
            commits=(),
            failure_class=to,
            kind=kind,
            pattern=pattern,
            condition=kind,
            to_do="do it",
        )
        for kind, pattern, to in (
            (EditKind.PATTERN_ADDED, "src/**", FailureClass.REAL_FW_BUG),
            (EditKind.VERDICT, None, FailureClass.BENCH_OR_HARNESS),
            (EditKind.REVIEW, None, FailureClass.DISMISSED),
        )
    ]
    found = Explanation(edits=tuple(edits), complete=True, lost_board=None)
    text = "\n".join(str(one) for one in what_if.section(what_if.Explained(found)))
    wrong = text.index("Only if the configured paths are wrong or missing:")
    assert (
        text.index("if verdict") < text.index("if review") < wrong < text.index("if patternAdded")
    )


def test_the_gaps_say_what_to_change_in_ci(cli: Command, own_ci: Client) -> None:
    unblamed = report(2, B, {"i2c": "fail"})
    tests = [one.model_copy(update={"verdict": Verdict.UNKNOWN}) for one in unblamed.tests]
    none = cli("failures", "gaps").out
    send(own_ci, unblamed.model_copy(update={"tests": tests}), report(3, C, {"i2c": "pass"}))
    found = cli("failures", "gaps").out

    assert none == "No failure of the period is ambiguous.\n"
    assert found.startswith("1 ambiguous failure:\n\n")
    assert "neither the device nor the bench: 1 failure; this alone would decide 0 to 1\n" in found
    assert "  In hwci.toml:\n    [[verdict]]\n    message = " in found
    assert (
        "  In the job that runs hwci merge-announce, below it:\n    hwci suite-config app" in found
    )
    assert "no suite configuration: 1 failure; this alone would decide none\n" in found
    assert found.endswith("\n\nAll together: 1 failure; this would decide 0 to 1\n")


@pytest.mark.parametrize(
    ("ambiguous", "left"),
    [(5, None), (6, "1 other lacks nothing that CI"), (7, "2 others lack nothing that CI")],
)
def test_those_that_no_gap_explains_are_for_a_person(ambiguous: int, left: str | None) -> None:
    numbers = {"failures": 5, "at_least": 1, "at_most": 5}
    count = GapCount(
        **numbers,
        gap=Gap.NO_VERDICT,
        text=GAPS[Gap.NO_VERDICT].text,
        to_do=GAPS[Gap.NO_VERDICT].to_do,
        ci_lines=tuple(lines_of(Gap.NO_VERDICT, [])),
    )
    found = Gaps(
        period=Period(START, START),
        product=None,
        gaps=(count,),
        together=Together(**numbers),
        ambiguous=ambiguous,
        looked_at=ambiguous,
    )

    *_, last = what_if.gaps(found)

    assert last.startswith(left or '    verdict = "device"')


def test_each_commit_of_the_timeline_has_its_subject_if_a_run_listed_it(
    signed_in: Command,
) -> None:
    out = signed_in("failures", "show", ids(signed_in)["i2c"]).out
    lines = [line for line in out.splitlines() if line.startswith(("  ✓ ", "  ✗ "))]
    shown = {line[4:16]: line for line in lines if "ago)" in line}

    assert shown[A[:12]].endswith("  1 run")
    assert shown[B[:12]].endswith("  1 run  <- this failure  Change drivers/i2c.c")
    assert shown[C[:12]].endswith("  1 run  Change drivers/i2c.c")
    assert shown[D[:12]].endswith("  1 run  Change hil/spi_test.py")


def test_a_bench_problem_names_the_check_that_decided(signed_in: Command) -> None:
    out = signed_in("failures", "show", ids(signed_in)["spi"]).out

    assert "The bench or the harness is to blame" in out
    assert "8. ✗ Fix touched harness paths\n" in out
    assert "No harness-only commit before the fix" not in out
    assert "  9. " not in out
    assert f"commit {D[:12]}, file hil/spi_test.py, pattern hil/**" in out


def test_a_flake_and_a_pending_failure_have_no_culprit(signed_in: Command) -> None:
    found = ids(signed_in)
    flake = next(value for name, value in found.items() if "can" in name)

    assert "The test is flaky here" in signed_in("failures", "show", flake).out
    pending = signed_in("failures", "show", found["adc"]).out
    assert "Too early to blame anyone" in pending
    assert "Commits before the fix" not in pending


def test_a_pending_failure_shows_the_range_that_holds_what_broke_it(
    cli: Command, own_ci: Client
) -> None:
    ends = report(2, B, {"i2c": "fail"}), report(3, C, {"i2c": "fail"})
    listed = [commit for body in ends if body.changes for commit in body.changes.commits]
    newest = ends[1].model_copy(update={"changes": Changes(base_sha=A, commits=listed)})
    own_ci.send(calls.put_suite_config(CONFIGURATION))
    send(own_ci, report(1, A, {"i2c": "pass"}), newest)

    out = cli("failures", "show", ids(cli)["i2c"]).out

    shown = [line.strip() for line in out.splitlines()]
    at = shown.index(f"suspects     {short(B)} .. {short(C)} (2 commits)")
    assert shown[at + 1 : at + 3] == [f"{short(sha)} Change drivers/i2c.c" for sha in (B, C)]


def test_evidence_of_a_hostile_name_stays_inert(signed_in: Command) -> None:
    flake = next(value for name, value in ids(signed_in).items() if "can" in name)

    out = signed_in("failures", "show", flake).out

    assert "[red]can\\x1b[31m\\u202e|x on bench-1" in out
    assert "\x1b" not in out


def test_reviews_move_a_failure_and_reset_brings_it_back(signed_in: Command) -> None:
    bug = ids(signed_in)["i2c"]

    dismissed = signed_in("failures", "dismiss", bug[:8])
    assert dismissed.code == 0
    assert (
        "now counts as: dismissed (Dismissed by an admin), reviewed by Olga Owner." in dismissed.out
    )

    code, _, err = signed_in("failures", "dismiss", bug)
    assert code == 1
    assert "cause: 409 Conflict: " in err

    confirmed = json.loads(signed_in("failures", "confirm", bug, "--json").out)
    assert (confirmed["class"], confirmed["review"]["action"]) == ("real_fw_bug", "confirm")
    shown = signed_in("failures", "show", bug).out
    says = "the checks alone: real firmware bug, no check speaks against it"
    assert f"class        real firmware bug, confirmed by Olga Owner; {says}\n" in shown
    assert "status       confirmed by Olga Owner, 20" in shown

    assert "real firmware bug, decided by the rules." in signed_in("failures", "reset", bug).out


def test_a_review_stands_beside_what_the_checks_alone_would_say(signed_in: Command) -> None:
    found = ids(signed_in)

    signed_in("failures", "confirm", found["spi"])
    signed_in("failures", "dismiss", found["i2c"])
    confirmed = signed_in("failures", "show", found["spi"]).out
    dismissed = signed_in("failures", "show", found["i2c"]).out
    in_tables = [
        signed_in("metrics", "--table", table, COLUMNS="80").out
        for table in ("real-bugs", "other-failures")
    ]
    for test in ("spi", "i2c"):
        signed_in("failures", "reset", found[test])

    alone = "the checks alone: bench or harness, Fix touched harness paths"
    assert f"class        real firmware bug, confirmed by Olga Owner; {alone}\n" in confirmed
    alone = "the checks alone: real firmware bug, no check speaks against it"
    assert f"class        dismissed by Olga Owner; {alone}\n" in dismissed
    for table, status in zip(in_tables, ("confirmed", "dismissed"), strict=True):
        assert f"Status: {status} by Olga Owner" in table


def test_a_note_and_an_issue_stand_with_the_review(signed_in: Command) -> None:
    bug, issue = ids(signed_in)["i2c"], "https://issues.example.org/7"
    words = ["--note", "see \x1b[31mthe photo", "--issue", issue]

    assert signed_in("failures", "dismiss", bug, *words).err == ""
    shown = signed_in("failures", "show", bug).out
    signed_in("failures", "reset", bug)

    assert f"note         see \\x1b[31mthe photo\n  issue        {issue}\n" in shown
    refused = signed_in("failures", "dismiss", bug, "--issue", "javascript:alert(1)")
    assert (refused.code, "cause: --issue: Should be" in refused.err) == (2, True)
    assert "issue   " not in signed_in("failures", "show", bug).out


def test_a_failure_without_a_verdict_names_the_review_and_the_rule_for_later_reports(
    cli: Command, own_ci: Client
) -> None:
    failed = report(2, B, {"i2c": "fail"})
    item = failed.tests[0].model_copy(update={"verdict": Verdict.UNKNOWN})
    unblamed = failed.model_copy(update={"tests": (item,)})
    send(own_ci, unblamed, report(3, C, {"i2c": "pass"}))
    failure = ids(cli)["i2c"]

    shown = cli("failures", "show", failure)

    assert "ambiguous, No harness verdict was reported" in shown.out
    review = f"owner or admin: hwci failures confirm {failure}\n"
    assert f"{review}or: hwci failures dismiss {failure}\n" in shown.err.replace("note: ", "")
    assert "add a [[verdict]] rule to hwci.toml\n" in shown.err


def test_an_ambiguous_failure_is_dismissed_in_one_step_of_two_reviews(
    cli: Command, own_ci: Client
) -> None:
    send(own_ci, report(2, B, {"i2c": "fail"}), report(3, C, {"i2c": "pass"}))

    settled = cli("failures", "dismiss", ids(cli)["i2c"], "--note", "no bug")
    log = json.loads(cli("orgs", "audit-log", "--json").out)[:2]

    assert "now counts as: dismissed" in settled.out
    assert [entry["action"] for entry in log] == ["dismiss", "confirm"]
    assert {entry["details"]["note"] for entry in log} == {"no bug"}


def test_a_reviewed_failure_is_shown_with_only_its_own_passes(cli: Command, own_ci: Client) -> None:
    send(own_ci, report(2, B, {"i2c": "fail"}), report(3, C, {"i2c": "pass"}))
    failure = ids(cli)["i2c"]
    cli("failures", "confirm", failure)

    def shown() -> str:
        out = cli("failures", "show", failure).out
        [line] = [line for line in out.splitlines() if "  label " in line]
        return line.removeprefix("  label        ")

    assert shown() == "resolved: the test passed on a later commit, on this box"
    by = "resolved: reviewed by Olga Owner; "
    send(own_ci, report(3, C, {"i2c": "fail"}))
    assert shown() == by + "no pass on a later commit is known"
    send(own_ci, report(9, B, {"i2c": "pass"}))
    assert shown() == by + "the test also passed on this commit, on this box"


def test_what_the_evidence_leaves_out_is_counted(signed_in: Command) -> None:
    shown = signed_in("failures", "show", ids(signed_in)["i2c"], "--json").out
    whole = from_json(FailureEvidence, shown)
    commit = replace(whole.timeline[0], runs_total=1_200)
    [changed] = whole.under_test or []
    cut = replace(
        whole,
        timeline=(commit, *whole.timeline[1:]),
        timeline_total=len(whole.timeline) + 5,
        under_test=(replace(changed, files_total=2_001),),
        under_test_total=2,
    )

    text = "\n".join(part.plain for part in evidence.sections(cut, options.now()))

    assert ")  1,200 runs\n" in text
    assert "  … 5 commits not shown\n" in text
    assert (
        "  firmware  drivers/i2c.c\n      … 2,000 files not shown\n  … 1 commit not shown" in text
    )


def test_a_run_of_the_evidence_has_the_number_that_its_ci_shows(signed_in: Command) -> None:
    shown = signed_in("failures", "show", ids(signed_in)["i2c"], "--json").out
    derived = re.sub('"ciRun": null', '"ciRun": 4242', shown)
    assert derived != shown

    found = from_json(FailureEvidence, derived)

    text = "\n".join(part.plain for part in evidence.sections(found, options.now()))
    assert "run 4242 attempt 1 on" in text


def test_an_id_is_a_uuid_or_eight_digits_of_one_of_any_time(signed_in: Command) -> None:
    bug = ids(signed_in)["i2c"]

    for wrong in (bug[:7], "nothexxx", "x" * 36):
        assert signed_in("failures", "show", wrong).code == 2
    code, _, err = signed_in("failures", "show", "00000000")
    assert code == 1
    assert "names no failure of the last 30 days" in err
    assert signed_in("failures", "show", bug[:8], "--days", "1").code == 0, "an earlier one"
    assert signed_in("failures", "show", "00000000-0000-4000-8000-000000000000").code == 1
    assert signed_in("failures", "show", bug, "--json").out.startswith("{")
