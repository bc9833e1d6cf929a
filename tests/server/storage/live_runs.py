# SPDX-License-Identifier: Apache-2.0
"""All that is written and asked of live runs and of runs that ended."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from hwci.contract.runs.runs import RunTest
from hwci.contract.vocabulary import Outcome, RunEventType, RunStatus
from hwci.server.storage.records import Happening, RunFilter
from hwci.server.storage.sql.transaction import Transaction
from tests.server.storage.examples import LIVE_RUN, NOON
from tests.server.storage.histories import ORG


def record_runs(writer: Transaction) -> None:
    """Write a live run in each way."""
    other = replace(LIVE_RUN, id=UUID(int=62))
    for run in (LIVE_RUN, other):
        writer.put_live_run(run)
        writer.put_live_tests(ORG, run.id, [RunTest("boot", Outcome.PASS, 2)])
    writer.hear_run(ORG, LIVE_RUN.id, NOON)
    writer.mark_lost(ORG, LIVE_RUN.id, NOON)
    writer.drop_lost_runs(NOON - timedelta(days=1), 9)
    writer.drop_live_run(ORG, LIVE_RUN.id)
    for at in (NOON, NOON + timedelta(hours=1)):
        writer.add_event(ORG, Happening(at, RunEventType.TEST, other.id, {}))
    writer.drop_events(NOON + timedelta(minutes=1), 9)


def ask_runs(writer: Transaction) -> None:
    """Ask all that can be asked of runs."""
    narrow = RunFilter("fw", "hil", "main", "b1", "bbbb", start=NOON, end=NOON)
    for status in (None, *RunStatus):
        of_test = RunFilter(test_id="boot", retry_pass=True, failed_attempt=False)
        for wanted in (RunFilter(), narrow, replace(narrow, hello_ok=True), of_test):
            writer.runs(ORG, replace(wanted, status=status), NOON, 0, 1)
    for record in writer.runs(ORG, RunFilter(), NOON, 0, 9).items:
        writer.run_record(ORG, record.id, NOON)
        writer.run(ORG, record.id, NOON)
    writer.live_run(ORG, LIVE_RUN.id)
    writer.live_tests(ORG, LIVE_RUN.id)
    writer.lost_runs(NOON)
    writer.events(ORG, 0, 1)
    writer.events(ORG, 0, 1, LIVE_RUN.id)
    writer.event_extent(ORG)
