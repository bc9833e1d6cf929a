# SPDX-License-Identifier: Apache-2.0
"""The three bodies that CI sends (spec, "Resources and their fields"), field rule by field rule.

Strict: no "1" for 1, no true for 1. Every fault names its element. `fact` turns a body into the
engine's fact: defaults are filled in, nothing else is decided.
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from hwci.contract.runs import products
from hwci.contract.runs.commits import ChangeList, Commit
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import Outcome, Trigger, Verdict
from hwci.engine import facts
from hwci.engine.patterns import LEGAL, check_patterns
from hwci.wire import limits
from hwci.wire.base import (
    STORABLE,
    WORD,
    Address,
    Attempts,
    CiBody,
    CiPart,
    Count,
    Name,
    OrNull,
    Positive,
    Seconds,
    Sha,
    TestId,
    Text,
    Time,
)
from hwci.wire.links import template_fault
from hwci.wire.lists import ListFault, ListRule


class MergeAnnouncement(CiBody):
    """A merge, announced from a job that needs no hardware."""

    repo_key: Name
    suite: Name | None = None
    sha: Sha
    branch: Name
    merged_at: Time
    ci_url: Address | None = None

    def fact(self) -> Merge:
        """Return the announcement."""
        return Merge(**dict(self))


class TestItem(CiPart):
    """One test of a run report."""

    __test__ = False  # pytest: not a test class

    id: TestId
    outcome: Annotated[Outcome, WORD]
    attempts: Attempts
    duration_s: Seconds
    verdict: Annotated[Verdict, WORD, OrNull(Verdict.UNKNOWN)] = Verdict.UNKNOWN
    message: Annotated[str, Field(max_length=limits.MESSAGE_MAX), STORABLE] | None = None
    board: Name | None = None
    log_url: Address | None = None


FilePath = Annotated[str, Field(min_length=1), STORABLE]


class CommitItem(CiPart):
    """One commit of `changes`."""

    sha: Sha
    subject: Annotated[str, Field(max_length=limits.SUBJECT_MAX), STORABLE]
    committed_at: Time | None = None
    files: Annotated[Sequence[FilePath], ListRule(limits.FILES_MAX)]
    files_truncated: Annotated[bool, OrNull(default=False)] = False


class Changes(CiPart):
    """Commits since the previous run of the same workflow on the same branch."""

    base_sha: Sha | None
    commits: Annotated[Sequence[CommitItem], ListRule(limits.COMMITS_MAX)]
    truncated: bool | None = None

    def fact(self) -> ChangeList:
        """Return the changes."""
        commits = [
            Commit(**vars(commit) | {"files": tuple(commit.files)}) for commit in self.commits
        ]
        return ChangeList(self.base_sha, tuple(commits), bool(self.truncated))


class PartOf(CiPart):
    """Place of a report among the parts of a larger one (semantics, 1.9)."""

    run_id: Count
    parts: Positive
    part: Positive

    @field_validator("part")
    @classmethod
    def _within(cls, part: int, info: ValidationInfo) -> int:
        if part > info.data.get("parts", part):
            raise PydanticCustomError("part", "Should not be greater than `parts`")
        return part


def repeated_tests(items: Sequence[object]) -> list[ListFault]:
    """A test id twice breaks the rule "one item per test" (semantics, 1.6)."""
    seen: set[str] = set()
    faults: list[ListFault] = []
    for index, item in enumerate(items):
        test_id = item.get("id") if isinstance(item, dict) else getattr(item, "id", None)
        if not isinstance(test_id, str):
            continue
        if test_id in seen:
            faults.append(((index, "id"), "Should be unique: one item per test"))
        seen.add(test_id)
    return faults


class RunStart(CiBody):
    """What is always known of a run when it starts."""

    repo_key: Name
    workflow: Name
    suite: Name | None = None
    run_id: Count
    run_attempt: Positive
    trigger: Annotated[Trigger, WORD]
    branch: Name
    sha: Sha
    started_at: Time


class RunReport(RunStart):
    """The report of one attempt of a run on one box."""

    ended_at: Time
    conclusion: Annotated[str, Field(min_length=1, max_length=limits.CONCLUSION_MAX), STORABLE]
    hello_ok: bool
    box_key: Name
    tests: Annotated[Sequence[TestItem], ListRule(limits.TESTS_MAX, repeated_tests)]
    covers_shas: Annotated[Sequence[Sha], ListRule(limits.COVERS_MAX)] | None = None
    changes: Changes | None = None
    part_of: PartOf | None = None
    ci_run: Count | None = None
    ci_url: Address | None = None
    rerun_of: Count | None = None

    @field_validator("rerun_of")
    @classmethod
    def _of_another(cls, rerun_of: int | None, info: ValidationInfo) -> int | None:
        part_of = info.data.get("part_of")
        own = (info.data.get("run_id"), None if part_of is None else part_of.run_id)
        if rerun_of is not None and rerun_of in own:
            raise PydanticCustomError("rerun_of", "Should be another run than `run_id`")
        return rerun_of

    @property
    def names(self) -> int:
        """How many names its JSON has, without those that are ignored."""
        changes = () if self.changes is None else (self.changes, *self.changes.commits)
        part_of = () if self.part_of is None else (self.part_of,)
        parts: tuple[CiPart, ...] = (self, *self.tests, *changes, *part_of)
        return sum([len(part.__pydantic_fields_set__) for part in parts])

    def fact(self) -> facts.Report:
        """Return the report; `suite` defaults to `workflow`."""
        of_facts = {
            "suite": self.suite if self.suite is not None else self.workflow,
            # The fields of both stand in one order: by name it takes twice as long.
            "tests": tuple([facts.TestItem(*vars(item).values()) for item in self.tests]),
            "covers_shas": tuple(self.covers_shas or ()),
            "changes": None if self.changes is None else self.changes.fact(),
            "part_of": None if self.part_of is None else facts.Part(**dict(self.part_of)),
        }
        return facts.Report(**vars(self) | of_facts)


def _pattern_faults(patterns: Sequence[object]) -> list[ListFault]:
    """The path pattern rules, by element (spec, "Path pattern rules"; semantics, 11)."""
    places = [index for index, item in enumerate(patterns) if isinstance(item, str)]
    faults = check_patterns([item for item in patterns if isinstance(item, str)])
    return [((places[index],), message) for index, message in faults]


Pattern = Annotated[
    Text, Field(json_schema_extra={"maxLength": limits.PATTERN_MAX, "pattern": LEGAL})
]
"""Its own rules are checked with those between elements, so that all faults are found at once."""
LinkTemplate = Annotated[str, Field(max_length=limits.URL_MAX), STORABLE]
PatternList = Annotated[Sequence[Pattern], ListRule(limits.PATTERNS_MAX, _pattern_faults)]


class Links(CiPart):
    """Templates of addresses on the site that has the repository."""

    commit: LinkTemplate | None = None
    file: LinkTemplate | None = None
    pull: LinkTemplate | None = None

    @field_validator("commit", "file", "pull")
    @classmethod
    def _gives_an_address(cls, template: str | None, info: ValidationInfo) -> str | None:
        fault = None if template is None else template_fault(str(info.field_name), template)
        if fault is not None:
            raise PydanticCustomError("template", "{fault}", {"fault": fault})
        return template


_ALL = 100  # percent


def _percentage(value: float) -> float:
    if not 0 <= value <= _ALL:
        raise PydanticCustomError("percentage", "Should be a share in percent, from 0 to 100")
    return value


Percentage = Annotated[
    float,
    AfterValidator(_percentage),
    Field(json_schema_extra={"minimum": 0, "maximum": _ALL}),
]


class Targets(CiPart):
    """Shares that a team aims at: of merges checked on hardware at least, of infra runs at most."""

    merges_checked: Percentage | None = None
    infra_runs: Percentage | None = None


class SuiteConfiguration(CiBody):
    """Which files are the firmware and which the harness of a product."""

    repo_key: Name
    suite: Name
    firmware_paths: PatternList
    harness_paths: PatternList
    trigger_paths: PatternList | None = None
    merge_trigger: bool
    links: Links | None = None
    targets: Targets | None = None

    def fact(self) -> facts.SuiteConfig:
        """Return the configuration."""
        lists = {
            "firmware_paths": tuple(self.firmware_paths),
            "harness_paths": tuple(self.harness_paths),
            "trigger_paths": None if self.trigger_paths is None else tuple(self.trigger_paths),
            "links": None if self.links is None else products.Links(**dict(self.links)),
            "targets": self._targets(),
        }
        return facts.SuiteConfig(**dict(self) | lists)

    def _targets(self) -> products.Targets | None:
        """Return the targets; None where none has a value."""
        targets = products.Targets(**dict(self.targets or {}))
        return None if targets == products.Targets() else targets
