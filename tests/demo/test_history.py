# SPDX-License-Identifier: Apache-2.0
"""The demo's history is believable: it follows the field rules, and every table has rows."""

import json
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import cache
from uuid import UUID

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from hwci.analysis.failures.ci_lines import system_of
from hwci.contract.ci_systems import CiSystem
from hwci.contract.page.metrics import MetricsPage
from hwci.contract.vocabulary import FailureClass, Label, Outcome, Trigger
from hwci.demo.history import Body, history
from hwci.demo.project import BOXES
from hwci.engine.facts import Facts, Product
from hwci.engine.full_history import FullHistory
from hwci.engine.history import Scope
from hwci.engine.page.overview import read_page
from hwci.engine.page.reading import read_failures
from hwci.engine.page.tables import FailureSelection, labelled_failures
from hwci.engine.periods import last_days
from hwci.wire.reports import MergeAnnouncement, RunReport, SuiteConfiguration
from tests.support.moved import INSTANT
from tests.support.soak import rounds

NOW = INSTANT
pytestmark = pytest.mark.demo


@cache
def whole_history(now: datetime) -> list[Body]:
    """Return the whole history, made once for all tests that read it."""
    return list(history(now))


def reports(bodies: list[Body]) -> list[RunReport]:
    """Return only the run reports."""
    return [body for body in bodies if isinstance(body, RunReport)]


def announcements(bodies: list[Body]) -> list[MergeAnnouncement]:
    """Return only the announcements."""
    return [body for body in bodies if isinstance(body, MergeAnnouncement)]


def known(bodies: list[Body]) -> FullHistory:
    """Return what the engine knows after all bodies."""
    configs = [body.fact() for body in bodies if isinstance(body, SuiteConfiguration)]
    return FullHistory(
        UUID(int=1),
        Facts(
            tuple(body.fact() for body in announcements(bodies)),
            tuple(body.fact() for body in reports(bodies)),
            {Product(config.repo_key, config.suite): config for config in configs},
        ),
    )


def page(bodies: list[Body], days: int, now: datetime) -> MetricsPage:
    """Return the metrics page with all its rows."""
    return read_page(known(bodies), Scope(), last_days(days, now), 200)


INSTANTS = st.datetimes(datetime(2020, 1, 1), datetime(2099, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@settings(max_examples=rounds(5, 200), phases=[Phase.generate])  # no instant is simpler
@given(now=INSTANTS)
def test_at_every_instant_the_story_is_the_same_moved_as_a_whole(now: datetime) -> None:
    by = now.replace(microsecond=0) - NOW

    def moved(time: re.Match[str]) -> str:
        return f"{datetime.fromisoformat(time[0]) + by:%Y-%m-%dT%H:%M:%SZ}"

    for here, there in zip(whole_history(NOW), history(now), strict=True):
        assert there.model_dump_json() == TIME.sub(moved, here.model_dump_json())


def test_another_seed_is_another_story() -> None:
    assert whole_history(NOW) != list(history(NOW, seed=8))


def test_every_table_has_rows_and_several_reasons() -> None:
    bodies = whole_history(NOW)

    for days in (30, 90):
        found = page(bodies, days, NOW)
        reasons = {row.reason for row in found.other_failures.items}
        tables = (found.unchecked_merges, found.real_bugs, found.other_failures)
        assert all(table.total for table in (*tables, found.flakiest_tests))
        assert found.tiles.flaky_failures.count
        assert found.tiles.infra_runs.infra
        assert len(reasons) >= 6


def test_most_merges_are_checked_and_some_belong_to_no_product() -> None:
    found = page(whole_history(NOW), 30, NOW)
    tile = found.tiles.merges_checked

    assert 0.8 * tile.announced < tile.checked < tile.announced
    assert None in {merge.suite for merge in found.unchecked_merges.items}


def test_the_engine_finds_the_commits_that_the_story_broke_and_fixed() -> None:
    found = page(whole_history(NOW), 90, NOW)
    by_test = {row.test_id: row for row in found.real_bugs.items}

    broken_by = by_test["ota.resume_after_power_loss"].broken_by
    assert broken_by is not None
    subjects = [commit.subject for commit in broken_by.commits]
    assert subjects == ["ota: verify blocks while receiving"]
    assert by_test["ota.resume_after_power_loss"].fix is not None


def test_three_failures_of_one_cause_wait_for_a_review() -> None:
    rows = page(whole_history(NOW), 30, NOW).other_failures.items
    causes = Counter(
        (tuple(commit.sha for commit in row.broken_by.commits), row.fix.sha)
        for row in rows
        if row.failure_class is FailureClass.AMBIGUOUS and row.broken_by and row.fix
    )

    assert 3 in causes.values()


def test_something_is_still_broken_now() -> None:
    found = read_failures(known(whole_history(NOW)), Scope(), last_days(7, NOW))
    pending = labelled_failures(found, FailureSelection(label=Label.PENDING, limit=100))

    assert {row.failure.key.lane.test_id for row in pending.items} >= {
        *("mqtt.tls_handshake", "time.alarm_wakeup")
    }


def test_bodies_follow_the_field_rules_and_come_in_time() -> None:
    bodies = whole_history(NOW)

    for body in bodies:
        assert type(body).model_validate_json(body.model_dump_json(exclude_none=False)) == body
    assert all(report.ended_at <= NOW for report in reports(bodies))
    assert all(merge.merged_at <= NOW for merge in announcements(bodies))
    assert min(report.started_at for report in reports(bodies)) > NOW - timedelta(days=90)
    assert max(report.ended_at for report in reports(bodies)) > NOW - timedelta(hours=1)


def test_the_size_is_that_of_a_real_team() -> None:
    sent = reports(whole_history(NOW))

    assert 1_000 <= len(sent) <= 1_500
    assert {report.box_key for report in sent} == {"bench-1", "bench-2", "bench-3"} == {*BOXES}
    assert {report.suite for report in sent} == {"sensor-fw", "gateway-fw"}
    assert {report.trigger for report in sent} == set(Trigger)
    assert {len(report.tests) for report in sent} <= {0, *range(25, 41)}


def test_an_attempt_sends_the_changes_of_the_first_and_a_lost_bench_no_tests() -> None:
    sent = reports(whole_history(NOW))
    of_run: dict[int, set[str]] = {}
    for report in sent:
        changes = None if report.changes is None else report.changes.model_dump(mode="json")
        of_run.setdefault(report.run_id, set()).add(json.dumps(changes))

    assert {len(changes) for changes in of_run.values()} == {1}
    assert {report.run_attempt for report in sent} == {1, 2}
    assert all(report.hello_ok or not report.tests for report in sent)


def test_a_test_that_passed_on_a_retry_took_several_attempts() -> None:
    items = [item for report in reports(whole_history(NOW)) for item in report.tests]

    assert any(item.outcome is Outcome.PASS and item.attempts > 1 for item in items)
    assert all(item.attempts == 3 for item in items if item.outcome is Outcome.FAIL)


def test_a_shorter_history_holds_only_its_days() -> None:
    sent = reports(list(history(NOW, days=10)))

    assert sent
    assert min(report.started_at for report in sent) > NOW - timedelta(days=11)


def test_each_run_has_its_page_and_each_failing_test_a_message() -> None:
    bodies = whole_history(NOW)

    for report in reports(bodies):
        page_of = report.ci_url or ""
        assert page_of.endswith(f"/actions/runs/{report.run_id}/attempts/{report.run_attempt}")
        assert system_of(page_of) is CiSystem.GITHUB
        assert all(
            (test.message is None) is (test.outcome is Outcome.PASS) for test in report.tests
        )
