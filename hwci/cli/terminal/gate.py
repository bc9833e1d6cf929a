# SPDX-License-Identifier: Apache-2.0
"""What the answer of a gate looks like in a terminal: lines of a shell script, in which only the
runs that would settle something are no comments. It decides nothing.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from hwci.cli.terminal.tables import product
from hwci.said import counted, joined, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hwci.contract.gate import Finding, GateAnswer, Required

SHOWN = 20
"""Of what the same runs settle."""


def lines(answer: GateAnswer) -> Iterator[str]:
    """Return the lines of an answer."""
    ends = [f"{short(end.sha)} on {end.branch}" for end in answer.ends]
    up_to = f", up to {joined(ends)}" if ends else ""
    merges = counted(answer.merges, "announced merge")
    word = "Passed" if answer.passed else "Not passed"
    yield f"# {word}: {answer.commits} ({merges}{up_to})"
    written = set[str]()  # runs
    general = [finding for finding in answer.against if finding.requirement is None]
    yield from _against(general, written)
    for required in answer.requirements:
        of_it = [row for row in answer.against if row.requirement is required.requirement]
        yield _required(required, is_known=bool(of_it) or not general)
        for finding in answer.excepted:
            if finding.requirement is required.requirement and finding.exception is not None:
                why = f"excepted to {finding.exception.until}: {finding.exception.reason}"
                yield f"#   {_about(finding)}{finding.says} ({why})"
        yield from _against(of_it, written)
    if any(finding.runs for finding in answer.against):
        yield f"# {answer.to_fill_in}."


def unused(answer: GateAnswer) -> Iterator[str]:
    """Return a line for each exception of the baseline that excepts nothing."""
    for exception in answer.unused:
        about = exception.commit or exception.failure or exception.test
        yield f"The baseline excepts {about}, which does not speak against it: take it out"


def _required(required: Required, *, is_known: bool) -> str:
    least = "" if required.least is None else f"={required.least:g}"
    met = "met" if required.met else "not met" if is_known else "not known"
    asks = f"{required.asks[0].lower()}{required.asks[1:]}"
    return f"# {required.requirement}{least}: {met}. It asks: {asks}."


def _against(findings: Sequence[Finding], written: set[str]) -> Iterator[str]:
    """Yield what speaks against it, and below what the same runs settle each run once: who pastes
    the lines lets no bench run twice. `written`: the runs above.
    """
    alike: dict[tuple[Sequence[str], str | None], list[Finding]] = defaultdict(list)
    for finding in findings:
        alike[finding.runs, finding.to_do].append(finding)
    for (runs, to_do), settled in alike.items():
        for finding in settled[:SHOWN]:
            yield f"#   {_about(finding)}{finding.says}"
            if finding.exception is not None:
                ended, reason = finding.exception.until, finding.exception.reason
                yield f"#     Its exception ended on {ended}: {reason}"
        if len(settled) > SHOWN:
            yield f"#   … {len(settled) - SHOWN:,} more like these (--json has all)"
        yield from (run for run in runs if run not in written)
        written.update(runs)
        if to_do:
            yield f"#     {to_do}."


def _about(finding: Finding) -> str:
    """Name the commit and the product that a finding is of."""
    if finding.repo_key is None:
        return ""
    of = finding.repo_key if finding.suite is None else product(finding.repo_key, finding.suite)
    if finding.test_id is not None or finding.sha is None:
        return f"{of}: "
    return f"{short(finding.sha)} of {of}: "
