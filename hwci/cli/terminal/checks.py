# SPDX-License-Identifier: Apache-2.0
"""The checks of a classification as plain questions with their answers (spec, "Classification of a
resolved failure"). The words are those of the dashboard's page of a failure: there, in
`js/pages/failure/checks.js`, they stand for browsers, and a test holds both alike. What was found
and what decided is the server's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hwci.cli.terminal.tables import counted
from hwci.engine.vocabulary import Reason
from hwci.wire.hashes import short

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hwci.wire.failures import CheckAnswer, FailureEvidence

YES, NO = "yes", "no"


class Step(NamedTuple):
    """A step of the spec. `about`: the list of commits that it is about. `questions`: each with the
    answer that goes on to the next one; the other answer decides.
    """

    title: str
    about: str | None
    questions: Mapping[Reason, tuple[str, str]]


STEPS = (
    Step(
        "The harness blamed the device",
        None,
        {
            Reason.VERDICT_INFRA: ("Did the harness blame the bench?", NO),
            Reason.VERDICT_MISSING: ("Did the harness report a verdict?", YES),
        },
    ),
    Step(
        "Firmware was under test",
        "under test",
        {
            Reason.PATHS_NOT_CONFIGURED: (
                "Are firmware and harness paths configured for this product?",
                YES,
            ),
            Reason.CHANGES_UNKNOWN: ("Are the changes under test known?", YES),
            Reason.CHANGES_INCOMPLETE: (
                "Were enough of the files changed under test reported?",
                YES,
            ),
            Reason.CHANGES_NOT_FIRMWARE: ("Did a commit under test change firmware?", YES),
        },
    ),
    Step(
        "Firmware alone fixed it",
        "before the fix",
        {
            Reason.FIX_UNCONNECTED: (
                "Do run reports connect the failure to its fix without a gap?",
                YES,
            ),
            Reason.FIX_TOUCHED_HARNESS: (
                "Did a commit before the fix change harness files and no firmware?",
                NO,
            ),
            Reason.FIX_NOT_FIRMWARE: ("Can a change of firmware have fixed it?", YES),
            Reason.FIX_MIXED: (
                "Did one commit before the fix change both firmware and harness?",
                NO,
            ),
            Reason.FIX_INCOMPLETE: ("Were all files changed before the fix reported?", YES),
        },
    ),
)


def lines(found: FailureEvidence) -> Iterator[str]:
    """Return the lines about the checks that were asked, step by step."""
    asked = {check.reason: check for check in found.checks}
    number = 0
    for step in STEPS:
        if asked.keys() & step.questions.keys():
            yield f"{step.title}{_about(step, found)}"
        for reason, (question, passes) in step.questions.items():
            if reason in asked:
                number += 1
                yield from _check(number, question, passes, asked[reason])


def _about(step: Step, found: FailureEvidence) -> str:
    """Return how many commits the questions of a step are about, if known."""
    totals = {"under test": found.under_test_total, "before the fix": found.before_fix_total}
    total = totals.get(step.about or "")
    return "" if total is None else f": {counted(total, 'reported commit')} {step.about}"


def _check(number: int, question: str, passes: str, check: CheckAnswer) -> Iterator[str]:
    other = YES if passes == NO else NO
    yield f"{number}. {question} {f'{other}, this decided' if check.decided else passes}"
    yield f"   {check.found}"
    if check.decided:
        yield f"   {check.reason_text}"
    places = [
        f"run {check.run.run_id} attempt {check.run.run_attempt} on {check.run.box_key}"
        if check.run
        else "",
        f"commit {short(check.commit)}" if check.commit else "",
        f"file {check.file}" if check.file else "",
        f"pattern {check.pattern}" if check.pattern else "",
    ]
    if any(places):
        yield f"   see {', '.join(filter(None, places))}"
