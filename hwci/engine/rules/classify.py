# SPDX-License-Identifier: Apache-2.0
"""Whose fault a resolved failure was (spec, "Classification"; semantics, 6.3-6.4).

This module decides the class of a group and keeps the trace of every check up to the deciding one.
The reason table stands below in its order, in three parts by what a row looks at. It does not
know who may review, nor which failures are shown.
"""

from collections.abc import Callable, Mapping
from typing import Generic, NamedTuple, TypeVar

from hwci.engine.answers import Check, Classification
from hwci.engine.facts import Product, SuiteConfig
from hwci.engine.history import History
from hwci.engine.rules import questions as ask
from hwci.engine.rules.files import ProductFiles, product_files
from hwci.engine.rules.labels import Group
from hwci.engine.rules.questions import Answer, BeforeFix, UnderTest
from hwci.engine.rules.walk import Step, Walks
from hwci.engine.vocabulary import REASONS, FailureClass, Reason, ReviewAction

Subject = TypeVar("Subject")


class Row(NamedTuple, Generic[Subject]):
    """A row of the table: its reason, the spec's condition, and the question that tells it."""

    reason: Reason
    condition: str
    ask: Callable[[Subject], Answer]


# The spec has the checks "in this order (the first failing check gives the reason)".
VERDICT_ROWS: tuple[Row[Group], ...] = (
    Row(Reason.VERDICT_INFRA, "Verdict blamed the bench", ask.blamed_bench),
    Row(Reason.VERDICT_MISSING, "Failed test has no `verdict`", ask.blamed_nobody),
)
CHANGES_ROWS: tuple[Row[UnderTest], ...] = (
    Row(
        Reason.PATHS_NOT_CONFIGURED,
        "No suite configuration for the product",
        ask.not_configured,
    ),
    Row(
        Reason.CHANGES_UNKNOWN,
        "First run on the failing commit has no `changes`, or its `base_sha` is `null`",
        ask.changes_unknown,
    ),
    Row(
        Reason.CHANGES_INCOMPLETE,
        "No firmware file in the changes under test and some commits or files were not sent",
        ask.changes_cut_short,
    ),
    Row(
        Reason.CHANGES_NOT_FIRMWARE,
        "No commit under test changed a firmware file",
        ask.changes_left_firmware,
    ),
)
FIX_ROWS: tuple[Row[BeforeFix], ...] = (
    Row(
        Reason.FIX_UNCONNECTED,
        "Run reports do not connect the failing commit to the fix without a gap",
        ask.fix_unconnected,
    ),
    Row(
        Reason.FIX_TOUCHED_HARNESS,
        "A commit between failure and fix changed harness files and no firmware files",
        ask.fix_touched_harness,
    ),
    Row(
        Reason.FIX_NOT_FIRMWARE,
        "No commit between failure and fix changed a firmware file",
        ask.fix_left_firmware,
    ),
    Row(Reason.FIX_MIXED, "One commit changed both kinds of files", ask.fix_mixed),
    Row(
        Reason.FIX_INCOMPLETE,
        "Some commits before the fix have files that were not sent",
        ask.fix_cut_short,
    ),
)

_REVIEWED = {
    ReviewAction.CONFIRM: Classification(FailureClass.REAL_FW_BUG, None),
    ReviewAction.DISMISS: Classification(FailureClass.DISMISSED, Reason.DISMISSED),
}

_Checks = tuple[Check, ...]


class Classifier:
    """Classifies groups of one history, and remembers: one commit often breaks many tests.

    `instead`: configurations that count in place of those of the history.
    """

    def __init__(
        self, history: History, instead: Mapping[Product, SuiteConfig] | None = None
    ) -> None:
        self._history = history
        self._instead = instead or {}
        self._walks = Walks(history)
        self._files: dict[Product, ProductFiles | None] = {}
        self._asked_changes: dict[tuple[str, ...], _Checks] = {}
        self._asked_fix: dict[tuple[Product, str, str | None], _Checks] = {}

    def automatic(self, group: Group) -> Classification:
        """Return the class that the checks give now, with their trace."""
        self._history.go_on()
        checks = _asked(VERDICT_ROWS, group)
        if not checks[-1].decided:
            checks += self._changes_checks(group)
        if not checks[-1].decided:
            checks += self._fix_checks(group)
        if not checks[-1].decided:
            return Classification(FailureClass.REAL_FW_BUG, None, checks)
        reason = checks[-1].reason
        return Classification(REASONS[reason].failure_class, reason, checks)

    def shown(self, group: Group) -> Classification:
        """Return the class that people see: "A review replaces the automatic label"."""
        return shown_as(group, self.automatic(group))

    def under_test(self, group: Group) -> UnderTest:
        """Find the changes of the first run on the group's first commit (semantics, 5)."""
        key, first = group.first.key, group.first.first
        run = self._history.changes_under_test(
            key.lane.repo_key, first.workflow, key.lane.branch, key.sha
        )
        return UnderTest(self._files_of(group), run)

    def walk(self, group: Group) -> tuple[Step, ...] | None:
        """Give the steps from the group's last commit up to its fix, or None (semantics, 6.2)."""
        if group.fix is None:
            return None
        return self._walks.between(group.first.key.lane.repo_key, group.last.key.sha, group.fix)

    def _files_of(self, group: Group) -> ProductFiles | None:
        product = _product(group)
        if product not in self._files:
            config = self._instead.get(product) or self._history.config(product)
            self._files[product] = (
                None if config is None else product_files(config, self._history.go_on)
            )
        return self._files[product]

    def _changes_checks(self, group: Group) -> _Checks:
        key, first = group.first.key, group.first.first
        asked = (*_product(group), first.workflow, key.lane.branch, key.sha)
        if asked not in self._asked_changes:
            self._asked_changes[asked] = _asked(CHANGES_ROWS, self.under_test(group))
        return self._asked_changes[asked]

    def _fix_checks(self, group: Group) -> _Checks:
        asked = (_product(group), group.last.key.sha, group.fix)
        if asked not in self._asked_fix:
            files = self._files_of(group)
            assert files is not None  # the rows before asked for a configuration
            subject = BeforeFix(files, group.last.key.sha, group.fix, self.walk(group))
            self._asked_fix[asked] = _asked(FIX_ROWS, subject)
        return self._asked_fix[asked]


def shown_as(group: Group, automatic: Classification) -> Classification:
    """Return the class that people see of a group that the checks class so."""
    return automatic if group.review is None else _REVIEWED[group.review.action]


def _product(group: Group) -> Product:
    lane = group.first.key.lane
    return Product(lane.repo_key, lane.suite)


def _asked(rows: tuple[Row[Subject], ...], subject: Subject) -> _Checks:
    """Ask row after row up to the first that decides."""
    checks = []
    for row in rows:
        answer = row.ask(subject)
        checks.append(Check(row.reason, answer.decided, answer.finding))
        if answer.decided:
            break
    return tuple(checks)
