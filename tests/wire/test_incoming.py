# SPDX-License-Identifier: Apache-2.0
"""Bodies become facts whole, with the defaults of the spec and nothing decided."""

import json

from hwci.contract.runs.commits import ChangeList, Commit
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import Outcome, Trigger, Verdict
from hwci.engine import facts
from hwci.wire.base import parse_time
from hwci.wire.reports import MergeAnnouncement, RunReport, SuiteConfiguration
from tests.wire.bodies import ANNOUNCEMENT, AT, CONFIGURATION, LEFT_OUT, REPORT, SHA, TEST, changed


def report(body: object) -> facts.Report:
    """Read a report as the server does."""
    return RunReport.model_validate_json(json.dumps(body)).fact()


def test_suite_of_a_report_defaults_to_the_value_of_workflow() -> None:
    assert report(REPORT).suite == "hil"
    assert report(REPORT | {"suite": None}).suite == "hil"
    assert report(REPORT | {"suite": "sensor-fw"}).suite == "sensor-fw"


def test_suite_of_an_announcement_stays_empty_when_omitted() -> None:
    fact = MergeAnnouncement.model_validate_json(json.dumps(ANNOUNCEMENT)).fact()

    merged, page = parse_time(AT), "https://ci.example/6"
    assert fact == Merge("acme/sensor-node", None, SHA, "main", merged, page)


def test_verdict_defaults_to_unknown_when_omitted() -> None:
    tests = [TEST, TEST | {"id": "b", "outcome": "fail", "attempts": 3, "verdict": "device"}]

    assert report(REPORT | {"tests": tests}).tests == (
        facts.TestItem("boot.test_reset", Outcome.PASS, 1, 2.0, Verdict.UNKNOWN),
        facts.TestItem("b", Outcome.FAIL, 3, 2.0, Verdict.DEVICE),
    )


def test_a_report_becomes_a_fact_whole() -> None:
    not_as_sent = {
        "suite": "hil",
        "trigger": Trigger.MERGE,
        "started_at": parse_time(AT),
        "ended_at": parse_time(AT),
        "tests": (facts.TestItem("boot.test_reset", Outcome.PASS, 1, 2.0),),
        "covers_shas": (SHA,),
        "changes": ChangeList(None, (Commit(SHA, "Fix reset", None, ("src/reset.c",)),)),
        "part_of": facts.Part(4711, 1, 2),
    }

    assert report(REPORT) == facts.Report(**REPORT | not_as_sent)


def test_changes_left_out_and_changes_that_are_empty_are_different() -> None:
    assert report(changed(REPORT, ("changes",), LEFT_OUT)).changes is None
    assert report(REPORT | {"changes": {"base_sha": SHA, "commits": []}}).changes == (
        ChangeList(SHA)
    )


def test_cut_lists_are_known_as_cut() -> None:
    body = changed(REPORT, ("changes", "truncated"), True)
    body = changed(body, ("changes", "commits", 0, "files_truncated"), True)

    changes = report(body).changes

    assert changes is not None
    assert changes.truncated
    assert changes.commits[0].files_truncated


def test_no_trigger_paths_and_empty_trigger_paths_are_kept_apart() -> None:
    def trigger_paths(value: object) -> tuple[str, ...] | None:
        body = changed(CONFIGURATION, ("trigger_paths",), value)
        return SuiteConfiguration.model_validate_json(json.dumps(body)).fact().trigger_paths

    assert trigger_paths(LEFT_OUT) is None
    assert trigger_paths([]) == ()
    assert trigger_paths(["src/**"]) == ("src/**",)
