# SPDX-License-Identifier: Apache-2.0
"""The words of titles and checks that the terminal and the page both show, once.

`python -m docs.generate` writes them for the page too (`hwci/server/web/static/js/words.js`).
Sentences about a figure are made beside the rule that decides it.
"""

from typing import NamedTuple

from hwci.contract.vocabulary import REASONS, FailureClass, Reason, Verdict


class ClassWords(NamedTuple):
    """A class by its name, within a sentence, and before a condition."""

    name: str
    text: str
    would_be: str


CLASSES = {
    FailureClass.REAL_FW_BUG: ClassWords(
        "Real firmware bug", "a real firmware bug", "Would be a real firmware bug if"
    ),
    FailureClass.BENCH_OR_HARNESS: ClassWords(
        "Bench or harness",
        "a bench or harness problem",
        "Would be the bench's or the harness's fault if",
    ),
    FailureClass.AMBIGUOUS: ClassWords("Ambiguous", "ambiguous", "Would be ambiguous if"),
    FailureClass.DISMISSED: ClassWords("Dismissed", "dismissed", "Would count as dismissed if"),
}

VERDICTS = {
    Verdict.DEVICE: "The harness blamed the device under test",
    Verdict.INFRA: "The harness blamed the bench",
    Verdict.UNKNOWN: REASONS[Reason.VERDICT_MISSING].text,
}


class Step(NamedTuple):
    """A step of the classification (spec). `about`: the list of commits that it is about. `claims`:
    what holds of a real firmware bug, by the reason that is given where it does not.
    """

    title: str
    about: str | None
    claims: dict[Reason, str]


STEPS = (
    Step(
        "Did the harness blame the device?",
        None,
        {
            Reason.VERDICT_INFRA: "The harness did not blame the bench",
            Reason.VERDICT_MISSING: "The harness reported a verdict",
        },
    ),
    Step(
        "Was firmware under test?",
        "under test",
        {
            Reason.PATHS_NOT_CONFIGURED: (
                "Firmware and harness paths are configured for this product"
            ),
            Reason.CHANGES_UNKNOWN: "The changes under test are known",
            Reason.CHANGES_INCOMPLETE: "Enough of the files changed under test were reported",
            Reason.CHANGES_NOT_FIRMWARE: "A commit under test changed firmware",
        },
    ),
    Step(
        "Did firmware alone fix it?",
        "before the fix",
        {
            Reason.FIX_UNCONNECTED: "Run reports connect the failure to its fix without a gap",
            Reason.FIX_TOUCHED_HARNESS: "No harness-only commit before the fix",
            Reason.FIX_NOT_FIRMWARE: "A change of firmware can have fixed it",
            Reason.FIX_MIXED: "No commit before the fix changed both firmware and harness",
            Reason.FIX_INCOMPLETE: "All files changed before the fix were reported",
        },
    ),
)

TITLES = {
    "mergesChecked": "Merges checked on hardware",
    "uncheckedMerges": "Merges not checked on hardware",
    "realFwBugs": "Real FW bugs caught",
    "otherFailures": "Resolved by a bench or harness change, ambiguous or dismissed",
    "flakyFailures": "Flaky failures",
    "flakiestTests": "Flakiest tests",
    "infraRuns": "Infra runs",
    "timesToFix": "Time to detect and to fix",
}
"""Tiles and tables of the metrics page (spec, "Metrics page (dashboard)")."""

NOTHING_TO_COUNT = {
    "mergesChecked": "No merge was announced in this period",
    "infraRuns": "No run was reported in this period",
}
"""What a tile says that is a share of nothing."""

TIMES = {"toDetect": "From merge to failing run", "toFix": "From there to the fix"}

SHARES_OF_A_BOX = {
    "reached": "Runs that reached the hardware",
    "lostBoard": "Of these, lost their board midway",
    "blamed": "Results that the harness blamed on the bench",
    "failedAttempts": "Attempts that failed, retries included",
}

NEVER_REACHED = "Never reached the hardware"
NEVER_PASSED = "It never passed in this period"
PASSED_ON_A_RETRY = "passed on a retry"
TOOK_MORE = "took more than one attempt"
CHANGES_UNKNOWN = REASONS[Reason.CHANGES_UNKNOWN].text
MAY_HAVE_BROKEN = "May have broken it"
NO_BOX_ANSWERS = "No box that ran it reached the hardware in its last run"
NOTHING_LEFT_OUT = "CI left out nothing that could decide one of them"
