# SPDX-License-Identifier: Apache-2.0
"""The words of spec and contract, once: outcomes, verdicts, labels, classes, reasons and states.

The wire puts them into JSON, storage keeps them, terminal, page and documentation print them. This
module decides which words exist and how they read, and no more.
"""

from enum import StrEnum
from typing import NamedTuple

UNASSIGNED = "Unassigned"
"""The product of a merge that was announced without one, as the spec calls it."""


class Outcome(StrEnum):
    """Result of a test item: `pass` if some attempt passed, `fail` if every attempt failed."""

    PASS = "pass"
    FAIL = "fail"


class Verdict(StrEnum):
    """What the harness blamed for a failed test; an omitted verdict is `unknown`."""

    DEVICE = "device"
    INFRA = "infra"
    UNKNOWN = "unknown"


class Trigger(StrEnum):
    """What started a run. No number depends on it."""

    MERGE = "merge"
    NIGHTLY = "nightly"
    MANUAL = "manual"


class Label(StrEnum):
    """What became of a failure (spec, "Failure label")."""

    FLAKE = "flake"
    RESOLVED = "resolved"
    PENDING = "pending"


class FailureClass(StrEnum):
    """Whose fault a resolved failure was."""

    REAL_FW_BUG = "real_fw_bug"
    BENCH_OR_HARNESS = "bench_or_harness"
    AMBIGUOUS = "ambiguous"
    DISMISSED = "dismissed"


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


class Reason(StrEnum):
    """Why a resolved failure is not counted as a real firmware bug; one per row of the table."""

    VERDICT_INFRA = "verdict_infra"
    VERDICT_MISSING = "verdict_missing"
    PATHS_NOT_CONFIGURED = "paths_not_configured"
    CHANGES_UNKNOWN = "changes_unknown"
    CHANGES_INCOMPLETE = "changes_incomplete"
    CHANGES_NOT_FIRMWARE = "changes_not_firmware"
    FIX_UNCONNECTED = "fix_unconnected"
    FIX_TOUCHED_HARNESS = "fix_touched_harness"
    FIX_NOT_FIRMWARE = "fix_not_firmware"
    FIX_MIXED = "fix_mixed"
    FIX_INCOMPLETE = "fix_incomplete"
    DISMISSED = "dismissed"


class ReasonRow(NamedTuple):
    """A row of the spec's table: the class a reason belongs to and the sentence people read.
    `claim`: what holds of a real firmware bug instead, if a check gives the reason.
    """

    failure_class: FailureClass
    text: str
    claim: str = ""


# The spec's table "Reason shown | Class | Condition", in its order and to the letter, by the steps
# of the classification: the title of each, and the list of commits that it is about.
_TABLE: tuple[tuple[str, str | None, dict[Reason, ReasonRow]], ...] = (
    (
        "Did the harness blame the device?",
        None,
        {
            Reason.VERDICT_INFRA: ReasonRow(
                FailureClass.BENCH_OR_HARNESS,
                "Harness verdict: bench or infrastructure",
                "The harness did not blame the bench",
            ),
            Reason.VERDICT_MISSING: ReasonRow(
                FailureClass.AMBIGUOUS,
                "No harness verdict was reported",
                "The harness reported a verdict",
            ),
        },
    ),
    (
        "Was firmware under test?",
        "under test",
        {
            Reason.PATHS_NOT_CONFIGURED: ReasonRow(
                FailureClass.AMBIGUOUS,
                "No firmware and harness paths are configured for this product",
                "Firmware and harness paths are configured for this product",
            ),
            Reason.CHANGES_UNKNOWN: ReasonRow(
                FailureClass.AMBIGUOUS,
                "The changes under test are unknown",
                "The changes under test are known",
            ),
            Reason.CHANGES_INCOMPLETE: ReasonRow(
                FailureClass.AMBIGUOUS,
                "The files changed under test were not fully reported",
                "Enough of the files changed under test were reported",
            ),
            Reason.CHANGES_NOT_FIRMWARE: ReasonRow(
                FailureClass.BENCH_OR_HARNESS,
                "Commit under test did not touch firmware",
                "A commit under test changed firmware",
            ),
        },
    ),
    (
        "Did firmware alone fix it?",
        "before the fix",
        {
            Reason.FIX_UNCONNECTED: ReasonRow(
                FailureClass.AMBIGUOUS,
                "The changes before the fix are not fully recorded",
                "Run reports connect the failure to its fix without a gap",
            ),
            Reason.FIX_TOUCHED_HARNESS: ReasonRow(
                FailureClass.BENCH_OR_HARNESS,
                "Fix touched harness paths",
                "No harness-only commit before the fix",
            ),
            Reason.FIX_NOT_FIRMWARE: ReasonRow(
                FailureClass.BENCH_OR_HARNESS,
                "Fix did not touch firmware",
                "A change of firmware can have fixed it",
            ),
            Reason.FIX_MIXED: ReasonRow(
                FailureClass.AMBIGUOUS,
                "Fix changed firmware and harness in the same commit",
                "No commit before the fix changed both firmware and harness",
            ),
            Reason.FIX_INCOMPLETE: ReasonRow(
                FailureClass.AMBIGUOUS,
                "The files changed before the fix were not fully reported",
                "All files changed before the fix were reported",
            ),
        },
    ),
)
REASONS = {
    **{reason: row for *_, rows in _TABLE for reason, row in rows.items()},
    Reason.DISMISSED: ReasonRow(FailureClass.DISMISSED, "Dismissed by an admin"),
}


class Step(NamedTuple):
    """A step of the classification (spec). `about`: the list of commits that it is about. `claims`:
    what holds of a real firmware bug, by the reason that is given where it does not.
    """

    title: str
    about: str | None
    claims: dict[Reason, str]


STEPS = tuple(
    Step(title, about, {reason: row.claim for reason, row in rows.items()})
    for title, about, rows in _TABLE
)

VERDICTS = {
    Verdict.DEVICE: "The harness blamed the device under test",
    Verdict.INFRA: "The harness blamed the bench",
    Verdict.UNKNOWN: REASONS[Reason.VERDICT_MISSING].text,
}

CHANGES_UNKNOWN = REASONS[Reason.CHANGES_UNKNOWN].text


class ReviewAction(StrEnum):
    """A review of a resolved failure. A reset has no action."""

    CONFIRM = "confirm"
    DISMISS = "dismiss"


class WebhookEvent(StrEnum):
    """What a webhook is sent: a failure is a real firmware bug, by the checks or by a person; an
    incident begins, or is over; a merge is unchecked for so many hours; a box is silent for so
    many; a box has become worse than the others.
    """

    REAL_BUG = "failure.real_bug"
    OPENED = "incident.opened"
    RESOLVED = "incident.resolved"
    UNCHECKED = "merge.unchecked"
    SILENT = "box.silent"
    WORSE = "box.worse"


class WebhookForm(StrEnum):
    """How a webhook is written to: as Standard Webhooks has it, or as a chat takes it."""

    PLAIN = "plain"
    SLACK = "slack"
    TEAMS = "teams"


class DeliveryStatus(StrEnum):
    """What became of an event of a webhook."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    GIVEN_UP = "given_up"


class FileKind(StrEnum):
    """What a changed file is to a product, by its suite configuration."""

    FIRMWARE = "firmware"
    HARNESS = "harness"
    BOTH = "both"
    OTHER = "other"


class MergeColumn(StrEnum):
    """A column by which merges can be sorted, those checked on hardware and the others."""

    MERGED_AT = "mergedAt"
    REPO_KEY = "repoKey"
    SUITE = "suite"
    BRANCH = "branch"
    SHA = "sha"


class ResolvedColumn(StrEnum):
    """A column that sorts a table of resolved failures. `startedAt`: of the first failure."""

    STARTED_AT = "startedAt"
    REPO_KEY = "repoKey"
    SUITE = "suite"
    TEST_ID = "testId"
    BOX_KEY = "boxKey"
    BRANCH = "branch"
    FAILING_COMMITS = "failingCommits"
    VERDICT = "verdict"
    CLASS = "class"


class FlakyColumn(StrEnum):
    """A column by which "Flakiest tests" can be sorted."""

    REPO_KEY = "repoKey"
    SUITE = "suite"
    TEST_ID = "testId"
    BOXES = "boxes"
    RUN_REPORTS = "runReports"
    ATTEMPTS = "attempts"
    FAILED_ATTEMPTS = "failedAttempts"
    RETRY_PASSES = "retryPasses"
    FLAKY_FAILURES = "flakyFailures"
    FLAKE_RATE = "flakeRate"


class FailureColumn(StrEnum):
    """A column by which the list of failures can be sorted."""

    FIRST_STARTED_AT = "firstStartedAt"
    LAST_STARTED_AT = "lastStartedAt"
    REPO_KEY = "repoKey"
    SUITE = "suite"
    TEST_ID = "testId"
    BOX_KEY = "boxKey"
    BRANCH = "branch"
    SHA = "sha"
    LABEL = "label"
    ITEMS = "items"
    VERDICT = "verdict"


class Role(StrEnum):
    """What a member may do in an organization (spec, Authentication rule 5)."""

    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"


class RunStatus(StrEnum):
    """The state of a run record (contract, "Runs and streams")."""

    RUNNING = "running"
    REPORTED = "reported"
    LOST = "lost"


class RunEnding(StrEnum):
    """How a run ended that was reported (contract, "Runs and streams")."""

    PASSED = "passed"
    FAILED = "failed"
    NEVER_REACHED = "never-reached"


SUCCESS_WORDS = ("success", "succeeded", "succeededwithissues", "successful", "passed")
"""What CI systems call a job that went well, in lower case. No other conclusion is a success."""


class RunEventType(StrEnum):
    """The type of an event in a stream."""

    STARTED = "run.started"
    TEST = "run.test"
    REPORTED = "run.reported"
    LOST = "run.lost"


class BoxStatus(StrEnum):
    """Whether a box sent anything lately; reported: reports name it, and nobody created it
    (contract, "Boxes").
    """

    NEW = "new"
    ONLINE = "online"
    OFFLINE = "offline"
    REPORTED = "reported"


class UncheckedCause(StrEnum):
    """Why a merge is unchecked."""

    HARDWARE_NOT_REACHED = "hardware_not_reached"
    NO_TESTS = "no_tests"
    OTHER_PRODUCT = "other_product"
    NOT_IN_PUSH_LIST = "not_in_push_list"
    NOTHING_RAN = "nothing_ran"


class DigestSubject(StrEnum):
    """What a section of a digest is about, in their order."""

    BROKEN = "broken"
    FIXED = "fixed"
    FLAKY = "flaky"
    UNCHECKED = "unchecked"
    SILENT = "silent"


class NameKind(StrEnum):
    """Of what a text is the name."""

    TEST = "test"
    BOX = "box"
    BRANCH = "branch"
    COMMIT = "commit"


class MissingRun(StrEnum):
    """Why no run can be planned for a merge."""

    NO_RUN = "no_run"
    NOT_REACHED = "not_reached"


class Gap(StrEnum):
    """What CI may leave out."""

    NO_VERDICT = "noVerdict"
    NO_CONFIGURATION = "noConfiguration"
    NO_CHANGES = "noChanges"
    CUT_LISTS = "cutLists"
    UNCONNECTED_FIX = "unconnectedFix"


class EditKind(StrEnum):
    """What would have to be otherwise for a failure to have another class."""

    VERDICT = "verdict"
    PATTERN_ADDED = "patternAdded"
    PATTERN_REMOVED = "patternRemoved"
    FILES_WHOLE = "filesWhole"
    COMMITS_WHOLE = "commitsWhole"
    CHANGES_SENT = "changesSent"
    REVIEW = "review"


class NotCompared(StrEnum):
    """Why a box is not compared with the others."""

    ONE_BOX = "one_box"
    NOTHING_IN_COMMON = "nothing_in_common"
    NO_FAILURE = "no_failure"
    FEW_COMMITS = "few_commits"


class BranchChoice(StrEnum):
    """Branches by what they are: the default branch of each repository, or all others."""

    DEFAULT = "default"
    OTHERS = "others"


class RankBy(StrEnum):
    """How flaky tests are ranked: as the specification does, or by the lower end of the interval,
    so that one failure in two runs does not rank above forty in a hundred. Those with too few
    attempts for an interval come last.
    """

    FLAKE_RATE = "flakeRate"
    LOWER_BOUND = "lowerBound"


class CommitKind(StrEnum):
    """What a commit changed, by the product's configuration. `unknown`: it was not sent whole, came
    with commits that were not sent, or nothing is configured.
    """

    FIRMWARE = "firmware"
    HARNESS = "harness"
    BOTH = "both"
    OTHER = "other"
    UNKNOWN = "unknown"


class Claim(StrEnum):
    """What is claimed of a test."""

    NO_RUN = "no_run"
    NOT_SEEN = "not_seen"
    FAILS_NOW = "fails_now"
    BROKEN = "broken"
    LOST_BOARD = "lost_board"
    STEADY = "steady"
    FIXED = "fixed"
    MENDED = "mended"
    ONE_BOX = "one_box"
    GROUP = "group"
    TOO_FEW = "too_few"
    ALIKE = "alike"
    ONLY_BOX = "only_box"
    FLAKY = "flaky"


class Whose(StrEnum):
    """Whose a failure of a commit is, in the order in which they are shown. `this_change`: the
    changes under test broke it. `too_few`: the runs do not tell; it may be this change.
    """

    THIS_CHANGE = "this_change"
    TOO_FEW = "too_few"
    BASE = "base"
    FLAKY = "flaky"
    BENCH = "bench"


class Band(StrEnum):
    """What an incident that still fails likely is, in the order in which they are shown."""

    BROKEN = "broken"
    FLAKY = "flaky"
    BENCH = "bench"


BANDS = {
    Band.BROKEN: "Broken",
    Band.FLAKY: "Probably flaky",
    Band.BENCH: "Blamed on the bench",
}


class MissingCommit(StrEnum):
    """Why the commit that broke a test cannot be found."""

    UNKNOWN_TEST = "unknown_test"
    UNKNOWN_COMMIT = "unknown_commit"
    SEVERAL_COMMITS = "several_commits"
    NOT_CONNECTED = "not_connected"
    CIRCLE = "circle"
    TOO_LONG = "too_long"
    NEVER_FAILED = "never_failed"
    NEVER_PASSED = "never_passed"
    BROKEN_BEFORE = "broken_before"
    CONTRADICTION = "contradiction"
    NO_RANGE = "no_range"
    BEFORE_PERIOD = "before_period"
    FIXED = "fixed"
