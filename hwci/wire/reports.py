# SPDX-License-Identifier: Apache-2.0
"""The three bodies that CI sends (spec, "Resources and their fields"), field rule by field rule.

Strict in: no "1" for 1, no true for 1. Every fault names its element. What the bodies mean is the
engine's; `incoming.py` turns them into its facts.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

from pydantic import Field, ValidationError, WrapValidator, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from hwci.engine.patterns import check_patterns
from hwci.engine.vocabulary import Outcome, Trigger, Verdict
from hwci.wire import limits
from hwci.wire.base import CiBody, Count, Name, Positive, Sha, Text, Time, without_nulls


class MergeAnnouncement(CiBody):
    """A merge, announced from a job that needs no hardware."""

    repo_key: Name
    suite: Name | None = None
    sha: Sha
    branch: Name
    merged_at: Time


class TestItem(CiBody):
    """One test of a run report."""

    __test__ = False  # pytest: not a test class

    id: Annotated[Text, Field(min_length=1, max_length=limits.TEST_ID_MAX)]
    outcome: Outcome
    attempts: Positive
    duration_s: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    verdict: Verdict = Verdict.UNKNOWN

    _nulls = model_validator(mode="before")(without_nulls)


class CommitItem(CiBody):
    """One commit of `changes`."""

    sha: Sha
    subject: Annotated[Text, Field(max_length=limits.SUBJECT_MAX)]
    committed_at: Time | None = None
    files: Annotated[
        Sequence[Annotated[Text, Field(min_length=1)]], Field(max_length=limits.FILES_MAX)
    ]
    files_truncated: bool = False

    _nulls = model_validator(mode="before")(without_nulls)


class Changes(CiBody):
    """Commits since the previous run of the same workflow on the same branch."""

    base_sha: Sha | None
    commits: Annotated[Sequence[CommitItem], Field(max_length=limits.COMMITS_MAX)]
    truncated: bool | None = None


class PartOf(CiBody):
    """Place of a report among the parts of a larger one (semantics, 1.9)."""

    run_id: Count
    part: Positive
    parts: Positive

    @model_validator(mode="after")
    def _within(self) -> "PartOf":
        if self.part > self.parts:
            raise PydanticCustomError("part", "`part` should not be greater than `parts`")
        return self


def _also(
    value: Any,  # noqa: ANN401 - whatever JSON holds
    handler: Callable[[Any], Any],
    faults: Iterable[tuple[tuple[int | str, ...], str]],
) -> Any:  # noqa: ANN401
    """Report faults of a whole list beside those of its elements: all are listed at once."""
    found = [
        InitErrorDetails(
            type=PydanticCustomError("list_rule", "{fault}", {"fault": message}),
            loc=path,
            input=None,
        )
        for path, message in faults
    ]
    try:
        result = handler(value)
    except ValidationError as fault:
        if not found:
            raise
        own = [
            InitErrorDetails(
                type=PydanticCustomError("field", "{fault}", {"fault": error["msg"]}),
                loc=error["loc"],
                input=None,
            )
            for error in fault.errors(include_url=False, include_context=False, include_input=False)
        ]
        raise ValidationError.from_exception_data("list", own + found) from fault
    if found:
        raise ValidationError.from_exception_data("list", found)
    return result


def _unique_tests(value: Any, handler: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    """A test id twice breaks the rule "one item per test" (semantics, 1.6)."""
    seen: set[str] = set()
    faults: list[tuple[tuple[int | str, ...], str]] = []
    for index, item in enumerate(value if isinstance(value, list | tuple) else ()):
        test_id = item.get("id") if isinstance(item, dict) else getattr(item, "id", None)
        if not isinstance(test_id, str):
            continue
        if test_id in seen:
            faults.append(((index, "id"), "Should be unique: one item per test"))
        seen.add(test_id)
    return _also(value, handler, faults)


def _patterns(value: Any, handler: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    """The path pattern rules, by element (spec, "Path pattern rules"; semantics, 11)."""
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        return handler(value)
    return _also(value, handler, (((index,), fault) for index, fault in check_patterns(value)))


class RunReport(CiBody):
    """The report of one attempt of a run on one box."""

    repo_key: Name
    workflow: Name
    suite: Name | None = None
    run_id: Count
    run_attempt: Positive
    trigger: Trigger
    branch: Name
    sha: Sha
    started_at: Time
    ended_at: Time
    conclusion: Annotated[Text, Field(min_length=1, max_length=limits.CONCLUSION_MAX)]
    hello_ok: bool
    box_key: Name
    tests: Annotated[
        Sequence[TestItem], Field(max_length=limits.TESTS_MAX), WrapValidator(_unique_tests)
    ]
    covers_shas: Annotated[Sequence[Sha], Field(max_length=limits.COVERS_MAX)] | None = None
    changes: Changes | None = None
    part_of: PartOf | None = None


PatternList = Annotated[
    Sequence[Text], Field(max_length=limits.PATTERNS_MAX), WrapValidator(_patterns)
]


class SuiteConfiguration(CiBody):
    """Which files are the firmware and which the harness of a product."""

    repo_key: Name
    suite: Name
    firmware_paths: PatternList
    harness_paths: PatternList
    trigger_paths: PatternList | None = None
    merge_trigger: bool
