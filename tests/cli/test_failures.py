# SPDX-License-Identifier: Apache-2.0
import csv
import io
import json

import pytest

from hwci.cli import options
from hwci.cli.evidence import sections
from hwci.wire.metrics import FailureEvidence
from tests.cli.conftest import Command
from tests.cli.scene import B, C, D

pytestmark = pytest.mark.usefixtures("busy_server")


def ids(signed_in: Command, *arguments: str) -> dict[str, str]:
    """Give the id of each test's first failure."""
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


def test_the_list_is_paged_and_says_how_to_go_on(signed_in: Command) -> None:
    first = signed_in("failures", "list", "--limit", "2")
    last = signed_in("failures", "list", "--limit", "2", "--page", "3")

    assert first.err == "… 3 more: --page 2\n"
    assert last.err == ""
    assert json.loads(signed_in("failures", "list", "--limit", "2", "--json").out)["total"] == 5


def test_an_empty_list_says_what_to_do_next(signed_in: Command) -> None:
    code, out, err = signed_in("failures", "list", "--as-of", "2001-01-01T00:00:00Z")

    assert (code, out.strip()) == (0, "")
    assert "--days" in err


def test_a_real_bug_is_explained_in_plain_words(signed_in: Command) -> None:
    code, out, _ = signed_in("failures", "show", ids(signed_in)["i2c"][:8])

    assert code == 0
    assert "The firmware is to blame" in out
    assert f"broken by    {B[:12]} Change drivers/i2c.c" in out
    assert f"fixed by     {C}, passed " in out
    assert "✓ ✗ ✓" in out
    assert f"✗ {B[:12]}" in out
    assert "<- this failure" in out
    assert "class        real firmware bug, no check speaks against it\n" in out
    assert "1. Harness verdict: bench or infrastructure? no" in out
    assert "firmware  drivers/i2c.c" in out
    assert out.index("Commits under test") < out.index("Commits before the fix")


def test_a_bench_problem_names_the_check_that_decided(signed_in: Command) -> None:
    out = signed_in("failures", "show", ids(signed_in)["spi"]).out

    assert "The bench or the harness is to blame" in out
    assert "Fix touched harness paths? yes, this decides" in out
    assert f"commit {D[:12]}, file hil/spi_test.py, pattern hil/**" in out


def test_a_flake_and_a_pending_failure_blame_nobody(signed_in: Command) -> None:
    found = ids(signed_in)
    flake = next(value for name, value in found.items() if "can" in name)

    assert "The test is flaky here" in signed_in("failures", "show", flake).out
    pending = signed_in("failures", "show", found["adc"]).out
    assert "Too early to blame anyone" in pending
    assert "Commits before the fix" not in pending


def test_evidence_of_a_hostile_name_stays_inert(signed_in: Command) -> None:
    flake = next(value for name, value in ids(signed_in).items() if "can" in name)

    out = signed_in("failures", "show", flake).out

    assert "[red]can\\x1b[31m\\u202e|x on bench-1" in out
    assert "\x1b" not in out


def test_reviews_move_a_failure_and_reset_brings_it_back(signed_in: Command) -> None:
    bug = ids(signed_in)["i2c"]

    dismissed = signed_in("failures", "dismiss", bug[:8])
    assert dismissed.code == 0
    assert "now counts as: dismissed (Dismissed by an admin). Status: Olga Owner." in dismissed.out

    code, _, err = signed_in("failures", "dismiss", bug)
    assert code == 1
    assert "cause: 409 Conflict: " in err

    confirmed = json.loads(signed_in("failures", "confirm", bug, "--json").out)
    assert (confirmed["class"], confirmed["review"]["action"]) == ("real_fw_bug", "confirm")
    shown = signed_in("failures", "show", bug).out
    says = "the checks alone: real firmware bug, no check speaks against it"
    assert f"class        real firmware bug, confirmed by Olga Owner; {says}\n" in shown
    assert "status       Olga Owner, 20" in shown

    assert "real firmware bug. Status: Automatic." in signed_in("failures", "reset", bug).out


def test_a_review_stands_beside_what_the_checks_alone_would_say(signed_in: Command) -> None:
    found = ids(signed_in)

    signed_in("failures", "confirm", found["spi"])
    signed_in("failures", "dismiss", found["i2c"])
    confirmed = signed_in("failures", "show", found["spi"]).out
    dismissed = signed_in("failures", "show", found["i2c"]).out
    for test in ("spi", "i2c"):
        signed_in("failures", "reset", found[test])

    alone = "the checks alone: bench or harness, Fix touched harness paths"
    assert f"class        real firmware bug, confirmed by Olga Owner; {alone}\n" in confirmed
    alone = "the checks alone: real firmware bug, no check speaks against it"
    assert f"class        dismissed by Olga Owner; {alone}\n" in dismissed


def test_what_the_evidence_leaves_out_is_counted(signed_in: Command) -> None:
    shown = signed_in("failures", "show", ids(signed_in)["i2c"], "--json").out
    whole = FailureEvidence.model_validate_json(shown)
    commit = whole.timeline[0].model_copy(update={"runs_total": 1_200})
    [changed] = whole.under_test or []
    cut = whole.model_copy(
        update={
            "timeline": [commit, *whole.timeline[1:]],
            "timeline_total": len(whole.timeline) + 5,
            "under_test": [changed.model_copy(update={"files_total": 2_001})],
            "under_test_total": 2,
        }
    )

    text = "\n".join(part.plain for part in sections(cut, options.now()))

    assert ")  1,200 runs\n" in text
    assert "  … 5 commits not shown\n" in text
    assert (
        "  firmware  drivers/i2c.c\n      … 2,000 files not shown\n  … 1 commit not shown" in text
    )


def test_an_id_is_a_uuid_or_eight_digits_of_one_in_the_period(signed_in: Command) -> None:
    bug = ids(signed_in)["i2c"]

    for wrong in (bug[:7], "nothexxx", "x" * 36):
        assert signed_in("failures", "show", wrong).code == 2
    code, _, err = signed_in("failures", "show", "00000000")
    assert code == 1
    assert "names no failure of the last 30 days" in err
    assert signed_in("failures", "show", "00000000-0000-4000-8000-000000000000").code == 1
    assert signed_in("failures", "show", bug, "--json").out.startswith("{")
