# SPDX-License-Identifier: Apache-2.0
"""On the results of real boards, a test that is called fixed passed later on each box on which it
failed, and each such box still runs it. `make test` reads the files of the board that fails most,
`make soak` all.
"""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from hwci.analysis.flaky.suspects import SeenProduct
from hwci.analysis.outcomes import ProductOutcomes, RunOutcomes
from hwci.analysis.statements import known_of, statement_of
from hwci.ci.results.model import merged
from hwci.ci.results.read import read_results
from hwci.ci.results.verdicts import Rules, with_built_in
from hwci.contract.runs.runs import TestResult
from hwci.contract.vocabulary import Claim, Outcome, Trigger
from hwci.engine.facts import Facts, Product, Report
from tests.simulation.fleet import EPOCH
from tests.support.outcomes import FullRecordedRuns
from tests.support.real_results import real_results
from tests.support.soak import rounds

PRODUCT = Product("zephyr", "twister")
BOARD = rounds("lpcxpresso54114_lpc54114_m4", "*")


def runs_of_boards() -> tuple[Sequence[Report], ProductOutcomes]:
    """Return the runs of the boards, a day apart: as reports without tests, and what they did."""
    numbers: dict[str, int] = {}
    reports, runs = [], []
    with with_built_in(()) as rules:
        for day, folder in enumerate(real_results()):
            for path in sorted(folder.glob(f"{BOARD}.xml.gz")):
                report = Report(
                    *(PRODUCT.repo_key, "twister", PRODUCT.suite, day, 1, Trigger.NIGHTLY, "main"),
                    sha=folder.name.split("-g")[1],
                    started_at=EPOCH + timedelta(days=day),
                    ended_at=EPOCH + timedelta(days=day, hours=1),
                    conclusion="success",
                    hello_ok=True,
                    box_key=path.name.partition(".")[0],
                    tests=(),
                )
                reports.append(report)
                runs.append(_run(report, path, rules, numbers))
    tests = {number: test for test, number in numbers.items()}
    return reports, ProductOutcomes(PRODUCT, tests, runs)


def _run(report: Report, path: Path, rules: Rules, numbers: dict[str, int]) -> RunOutcomes:
    tests = merged([read_results(path, rules.all)]).tests
    order = [numbers.setdefault(test.id, len(numbers)) for test in tests]
    return RunOutcomes(
        started_at=report.started_at,
        ended_at=report.ended_at,
        ci_run_id=report.run_id,
        run_attempt=1,
        rerun_of=None,
        box_key=report.box_key,
        workflow=report.workflow,
        trigger=report.trigger,
        branch=report.branch,
        sha=report.sha,
        hello_ok=True,
        ran=sum(1 << number for number in order),
        order=order,
        notable={
            numbers[test.id]: TestResult(test.outcome, test.attempts, test.verdict)
            for test in tests
            if test.outcome is Outcome.FAIL
        },
    )


def test_what_is_fixed_passed_later_on_each_box_where_it_failed() -> None:
    reports, outcomes = runs_of_boards()
    seen = SeenProduct(FullRecordedRuns(UUID(int=1), Facts(reports=tuple(reports))), outcomes)
    failed = {number for run in outcomes.runs for number in run.notable}
    fixed = []
    for number in sorted(failed):
        test = outcomes.tests[number]
        # Of what fails now nothing is called fixed; here each is looked at as if it did not.
        known = known_of(seen.tried(test), (), seen.suggested(test), seen.blame_of(test))
        if statement_of(known).claim is Claim.FIXED:
            fixed.append(test)
            runs = [run for run in outcomes.runs if run.ran >> number & 1]
            boxes = {run.box_key for run in runs if number in run.notable}
            last = {run.box_key: run for run in runs}
            assert not [box for box in boxes if number in last[box].notable], test
            assert not [box for box in boxes if _left(outcomes, runs, box)], test

    assert fixed


def _left(outcomes: ProductOutcomes, runs: Sequence[RunOutcomes], box: str) -> bool:
    """Return whether five commits or more ran without a test that a box ran on each before."""
    shas = [*dict.fromkeys(run.sha for run in outcomes.runs)]
    own = [shas.index(run.sha) for run in runs if run.box_key == box]
    return len(own) * (len(shas) - 1 - own[-1]) >= 5 * (own[-1] - own[0] + 1)
