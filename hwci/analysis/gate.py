# SPDX-License-Identifier: Apache-2.0
"""Whether a release may go out: what is required of its commits, and what speaks against it.

This module decides the verdict from facts that others asked for. Each requirement is a row of one
table: what it asks, and what it says where something speaks against it. What is not known never
passes. Labels, classes and which merge is checked are the server's.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hwci.analysis.run_command import TO_FILL_IN
from hwci.contract.gate import Finding, Required, Requirement, Verdict
from hwci.contract.runs.merges import AnnouncedMerge
from hwci.contract.scope import PeriodOfDays, ProductKey
from hwci.said import counted

ANNOUNCE = "Announce each merge as CI does (hwci merge-announce), or look further back"


class MergedCommit(NamedTuple):
    """A commit as a product's merge; `suite` None: of any product."""

    repo_key: str
    suite: str | None
    sha: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a release. `commits`: which ones, in words; `end`: the last of them.
    `planned`: the command of the run that would check a merge; `unplanned`: why there is none.
    """

    commits: str
    product: ProductKey | None
    period: PeriodOfDays
    branches: Sequence[str]
    end: str | None
    merges: Sequence[AnnouncedMerge]
    planned: Mapping[MergedCommit, str]
    unplanned: Mapping[tuple[str, str | None], str]


def verdict(facts: Facts, required: Mapping[Requirement, float | None]) -> Verdict:
    """Decide whether a release may go out."""
    against = [*_unknown(facts)]
    requirements = []
    for requirement, least in required.items():
        row = REQUIREMENTS[requirement]
        findings = [*row.against(facts, least)]
        against += findings
        requirements.append(
            Required(
                requirement=requirement,
                least=least,
                asks=row.asks,
                met=not findings,
            )
        )
    return Verdict(
        passed=not against,
        commits=facts.commits,
        product=facts.product,
        period=facts.period,
        branches=tuple(facts.branches),
        end=facts.end,
        merges=len(facts.merges),
        requirements=tuple(requirements),
        against=tuple(against),
        excepted=(),
        unused=(),
        to_fill_in=TO_FILL_IN,
    )


def _unknown(facts: Facts) -> Iterator[Finding]:
    """Yield what is missing whatever is required: a range of which no run is known tells nothing.
    One merge that no run checked does not make it known.
    """
    if not facts.merges:
        says = f"No merge was announced: {facts.commits}"
        yield Finding(requirement=None, says=says, to_do=ANNOUNCE)
    elif not any(merge.checked for merge in facts.merges):
        merges = counted(len(facts.merges), "announced merge")
        says = f"None of {merges} ran on hardware: {facts.commits}"
        yield Finding(requirement=None, says=says, to_do="Run them: hwci merges plan")


def _unchecked(facts: Facts, _: float | None) -> Iterator[Finding]:
    for merge in facts.merges:
        if merge.checked:
            continue
        command = _planned(facts, merge)
        missing = facts.unplanned.get((merge.repo_key, merge.suite))
        yield Finding(
            requirement=Requirement.CHECKED,
            says=f"Not checked on hardware: {merge.cause_text}",
            run=command,
            to_do=None if command else missing or "Run it: hwci merges plan",
            repo_key=merge.repo_key,
            suite=merge.suite,
            sha=merge.sha,
            branch=merge.branch,
        )


def _planned(facts: Facts, merge: AnnouncedMerge) -> str | None:
    """Return the command of the run that would check a merge; one that names no product is checked
    by that of any.
    """
    runs = (
        command
        for run, command in facts.planned.items()
        if (run.repo_key, run.sha) == (merge.repo_key, merge.sha)
        and merge.suite in {None, run.suite}
    )
    return next(runs, None)


class Row(NamedTuple):
    """A requirement: what it asks, and what speaks against it. `number`: what its number counts, or
    None if it has none.
    """

    asks: str
    number: str | None
    against: Callable[[Facts, float | None], Iterator[Finding]]


REQUIREMENTS: Mapping[Requirement, Row] = {
    Requirement.CHECKED: Row(
        "Each merge ran on real hardware: itself, or in the push of a run", None, _unchecked
    ),
}
"""All requirements, in the order in which a verdict has them."""
