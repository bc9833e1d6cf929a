# SPDX-License-Identifier: Apache-2.0
"""What was sent, as an export keeps it and an import reads it: each body of CI as the API takes it,
and the reviews, known failures, boxes and notes that people made.

This module decides the kinds, the body of each, and how a fact becomes one. It does not know where
bodies are written.
"""

from functools import cache
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import TypeAdapter, model_validator

from hwci.contract.failures.failures import Review
from hwci.contract.known_failures import KnownFailure
from hwci.contract.people import Actor
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import ReviewAction
from hwci.engine import facts
from hwci.server.storage.records import known_failure
from hwci.wire import limits
from hwci.wire.base import WORD, Address, Body, CiBody, Name, Note, Sha, TestId, Time
from hwci.wire.known_failures import Message
from hwci.wire.reports import MergeAnnouncement, RunReport, SuiteConfiguration

Fact = facts.Report | Merge | facts.SuiteConfig


class KeptReview(CiBody):
    """A review, with the natural key of its failure."""

    repo_key: Name
    suite: Name
    test_id: TestId
    box_key: Name
    branch: Name
    sha: Sha
    action: Annotated[ReviewAction, WORD]
    by_id: UUID
    by_name: Name
    at: Time
    note: Note | None = None
    issue: Address | None = None

    @classmethod
    def of(cls, stored: facts.StoredReview) -> Self:
        """Make the body of a review."""
        written = vars(stored.review).copy()
        by = written.pop("by")
        key = stored.key.lane._asdict() | {"sha": stored.key.sha}
        return cls(**key, **written, by_id=by.id, by_name=by.name)

    def fact(self) -> facts.StoredReview:
        """Return the review."""
        lane = facts.Lane(self.repo_key, self.suite, self.test_id, self.box_key, self.branch)
        by = Actor(self.by_id, self.by_name)
        review = Review(self.action, by, self.at, self.note, self.issue)
        return facts.StoredReview(facts.FailureKey(lane, self.sha), review)


class KeptReport(RunReport):
    """A report. Earlier versions took larger numbers, which become the largest of now."""

    @model_validator(mode="before")
    @classmethod
    def _once(cls, value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
        tests = value.get("tests") if isinstance(value, dict) else None
        for test in tests if isinstance(tests, list) else ():
            for name, most in _BOUNDS.items() if isinstance(test, dict) else ():
                if type(test.get(name)) in {int, float}:
                    test[name] = min(test[name], most)
        return value


_BOUNDS = {"attempts": limits.ATTEMPTS_MAX, "duration_s": limits.DURATION_MAX}


class KeptBox(CiBody):
    """A box that somebody created. Its key is not kept: it is installed again."""

    box_key: Name
    created_at: Time


class KeptBoxNote(CiBody):
    """What a person did to a box, and when."""

    box_key: Name
    at: Time
    text: Note
    by_id: UUID
    by_name: Name


class KeptKnownFailure(CiBody):
    """A rule by which failures are known."""

    test_id: TestId | None = None
    message: Message | None = None
    box_key: Name | None = None
    ticket: Name
    until: Time
    created_at: Time
    by_id: UUID
    by_name: Name

    @classmethod
    def of(cls, rule: KnownFailure) -> Self:
        """Make the body of a rule."""
        written = vars(rule).copy()
        by = written.pop("by")
        return cls(**written, by_id=by.id, by_name=by.name)

    def fact(self, org_id: UUID) -> KnownFailure:
        """Return the rule as an organization has it."""
        which = (self.test_id, self.message, self.box_key)
        by = Actor(self.by_id, self.by_name)
        return known_failure(org_id, which, self.ticket, self.until, self.created_at, by)


class Sent(Body):
    """One of what was sent, and when it arrived (None: now)."""

    arrived_at: Time | None = None
    report: RunReport | None = None
    announcement: MergeAnnouncement | None = None
    suite_config: SuiteConfiguration | None = None
    review: KeptReview | None = None
    box: KeptBox | None = None
    box_note: KeptBoxNote | None = None
    known_failure: KeptKnownFailure | None = None

    @property
    def kind(self) -> str:
        """The name of the one that it is."""
        return next((kind for kind in BODIES if getattr(self, kind) is not None), "")

    @property
    def body(self) -> CiBody | None:
        """The one that it is."""
        body: CiBody | None = getattr(self, self.kind, None)
        return body


BODIES: dict[str, type[CiBody]] = {
    "report": KeptReport,
    "announcement": MergeAnnouncement,
    "suite_config": SuiteConfiguration,
    "review": KeptReview,
    "box": KeptBox,
    "box_note": KeptBoxNote,
    "known_failure": KeptKnownFailure,
}
"""The kinds of what was sent, fields of `Sent`, each with its body."""
_FACTS: dict[str, type[Fact]] = {
    "report": facts.Report,
    "announcement": Merge,
    "suite_config": facts.SuiteConfig,
}


def body_of(fact: Fact) -> tuple[str, bytes]:
    """Return the kind of what CI sent, and its body as the API takes it."""
    kind = next(kind for kind, fact_type in _FACTS.items() if type(fact) is fact_type)
    return kind, _adapter(kind).dump_json(fact, by_alias=False)


@cache
def _adapter(kind: str) -> TypeAdapter[Any]:
    return TypeAdapter(_FACTS[kind])
