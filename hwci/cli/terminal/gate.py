# SPDX-License-Identifier: Apache-2.0
"""What a verdict on a release looks like in a terminal: lines of a shell script, in which only the
runs that would settle something are no comments. It decides nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hwci.cli.terminal.tables import product
from hwci.said import counted, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hwci.contract.gate import Finding, Verdict


def lines(verdict: Verdict) -> Iterator[str]:
    """Return the lines of a verdict."""
    of = f"{verdict.commits}, {counted(verdict.merges, 'merge')}"
    end = f", up to {short(verdict.end)}" if verdict.end else ""
    yield f"# {'Passed' if verdict.passed else 'Not passed'}: {of}{end}"
    yield from _findings([finding for finding in verdict.against if not finding.requirement])
    for required in verdict.requirements:
        least = "" if required.least is None else f"={required.least:g}"
        met = "met" if required.met else "not met"
        yield f"# {required.requirement}{least}: {met}. {required.asks}."
        of_it = (row for row in verdict.against if row.requirement == required.requirement)
        yield from _findings([*of_it])
    if any(finding.run for finding in verdict.against):
        yield f"# {verdict.to_fill_in}."


def _findings(findings: Sequence[Finding]) -> Iterator[str]:
    for finding in findings:
        about = [short(finding.sha)] if finding.sha else []
        if finding.repo_key and finding.test_id is None:
            about.append(f"of {product(finding.repo_key, finding.suite)}")
        yield f"#   {' '.join(about)}: {finding.says}" if about else f"#   {finding.says}"
        if finding.run:
            yield finding.run
        if finding.to_do:
            yield f"#     {finding.to_do}"
