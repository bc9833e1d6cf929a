# SPDX-License-Identifier: Apache-2.0
"""Replays a folder of CI bodies through the engine, and prints the metrics page as text."""

import argparse
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from uuid import UUID

from pydantic import ValidationError

from hwci.contract.failures.failures import ResolvedFailure
from hwci.contract.page.metrics import MetricsPage
from hwci.contract.runs.merges import Merge
from hwci.engine.facts import Facts, Product, Report, SuiteConfig
from hwci.engine.full_history import FullHistory
from hwci.engine.history import Scope
from hwci.engine.page.overview import read_page
from hwci.engine.periods import last_days
from hwci.wire.base import parse_time
from hwci.wire.errors import issues_of
from hwci.wire.reports import MergeAnnouncement, RunReport, SuiteConfiguration

NOBODY = UUID(int=0)
ROWS = 100


class BrokenBodyError(Exception):
    """A file of the folder breaks the field rules."""

    def __init__(self, path: Path, fault: ValidationError) -> None:
        issues = issues_of(fault, "body")
        places = (".".join(map(str, issue.path)) + f": {issue.message}" for issue in issues)
        super().__init__("\n".join(f"{path}: {place}" for place in places))


def read(folder: Path) -> Facts:
    """Keep the first announcement and the last report and configuration of each identity."""
    announcements: dict[tuple[str, str | None, str], Merge] = {}
    reports: dict[tuple[str, int, int, str], Report] = {}
    configs: dict[Product, SuiteConfig] = {}
    for path in sorted(folder.glob("*.json")):
        fact = read_fact(path)
        if isinstance(fact, Merge):
            announcements.setdefault((fact.repo_key, fact.suite, fact.sha), fact)
        elif isinstance(fact, Report):
            reports[fact.repo_key, fact.run_id, fact.run_attempt, fact.box_key] = fact
        elif isinstance(fact, SuiteConfig):
            configs[Product(fact.repo_key, fact.suite)] = fact
    return Facts(tuple(announcements.values()), tuple(reports.values()), configs)


def read_fact(path: Path) -> Merge | Report | SuiteConfig | None:
    """Check a body by the field rules of its kind, as its name shows; other files are skipped."""
    body = path.read_bytes()
    try:
        match path.suffixes[-2:]:
            case [".announce", ".json"]:
                return MergeAnnouncement.model_validate_json(body).fact()
            case [".report", ".json"]:
                return RunReport.model_validate_json(body).fact()
            case [".config", ".json"]:
                return SuiteConfiguration.model_validate_json(body).fact()
    except ValidationError as fault:
        raise BrokenBodyError(path, fault) from fault
    return None


def lines(page: MetricsPage) -> Iterator[str]:
    tiles = page.tiles
    bugs, merges = tiles.real_fw_bugs, tiles.merges_checked
    yield f"Merges checked on hardware  {merges.checked} of {merges.announced}"
    yield f"Real FW bugs caught         {bugs.real}"
    yield f"  bench or harness          {bugs.bench_or_harness}"
    yield f"  ambiguous                 {bugs.ambiguous}"
    yield f"Flaky failures              {tiles.flaky_failures.count}"
    yield f"Infra runs                  {tiles.infra_runs.infra} of {tiles.infra_runs.total}"
    yield "\nMerges not checked on hardware"
    for merge in page.unchecked_merges.items:
        product = merge.suite or "Unassigned"
        yield f"  {merge.merged_at:%Y-%m-%d %H:%M}  {merge.sha[:10]}  {product}"
    yield "\nReal FW bugs caught"
    for row in page.real_bugs.items:
        broken = "unknown" if row.broken_by is None else row.broken_by.commits[-1].subject
        yield f"{failure(row)}  broken by: {broken}"
    yield "\nResolved by a bench or harness change, ambiguous or dismissed"
    for row in page.other_failures.items:
        yield f"{failure(row)}  {row.reason_text or ''}"
    yield "\nFlakiest tests"
    for test in page.flakiest_tests.items:
        rate = f"{test.flake_rate:5.1f}%"
        tried = f"{test.failed_attempts} of {test.attempts} attempts failed"
        passes = "pass" if test.retry_passes == 1 else "passes"
        yield f"  {rate}  {test.test_id:<20}  {tried}, {test.retry_passes} {passes} on a retry"


def failure(row: ResolvedFailure) -> str:
    fixed = "" if row.fix is None else row.fix.sha[:10]
    started_at = row.first_failure.started_at
    return f"  {started_at:%Y-%m-%d %H:%M}  {row.test_id:<20}  fixed in {fixed}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the JSON bodies are")
    parser.add_argument("--days", type=int, default=30, help="length of the period")
    parser.add_argument("--as-of", type=parse_time, required=True, help="end of the period")
    arguments = parser.parse_args()
    try:
        facts = read(arguments.folder)
    except BrokenBodyError as error:
        print(error, file=sys.stderr)
        return 1
    as_of: datetime = arguments.as_of
    history = FullHistory(NOBODY, facts)
    page = read_page(history, Scope(), last_days(arguments.days, as_of), ROWS)
    print("\n".join(lines(page)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
