# SPDX-License-Identifier: Apache-2.0
"""`hwci trends`: a period beside the one before, from reports to the printed text."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from hwci.analysis.certainty import share_of_cases
from tests.cli.conftest import Command
from tests.support.asking import ask, bearer, ci_key
from tests.support.running import RunningServer, report

START = datetime(2026, 1, 1, tzinfo=UTC)
END = START + timedelta(days=30)
AS_OF = END.isoformat().replace("+00:00", "Z")


@pytest.fixture(scope="module")
def with_runs(server: RunningServer) -> RunningServer:
    """A server with a run a day. Of the last ten days, five runs never reached the
    hardware; of the ten before, two.
    """
    for day in range(30):
        at = START + timedelta(days=day, hours=1)
        missed = day in {12, 13, 21, 22, 23, 24, 25}
        body = report(
            run_id=day,
            sha=f"{day:07x}",
            hello_ok=not missed,
            started_at=at.isoformat(),
            ended_at=(at + timedelta(minutes=1)).isoformat(),
        )
        reply = ask(server.url, "POST", "/api/ci/run-report", ci_key(server.ci_key), json_body=body)
        assert reply.status == 204, reply
    return server


@pytest.mark.usefixtures("with_runs")
def test_each_tile_is_shown_beside_the_period_before(signed_in: Command) -> None:
    code, out, err = signed_in("trends", "--days", "10", "--as-of", AS_OF, COLUMNS="120")

    assert (code, err) == (0, "")
    (line,) = (line for line in out.splitlines() if "Infra runs" in line)
    assert " ".join(line.split()) == (
        "Infra runs 50.0 % (23.7-76.3) · 5 of 10 20.0 % (5.7-51.0) · 2 of 10"
        " +30.0 points (-10.7 to +60.0)"
    )


@pytest.mark.usefixtures("busy_server")
def test_times_to_detect_and_to_fix_are_a_table(signed_in: Command) -> None:
    asked = ("metrics", "--table", "times-to-fix")
    rows = json.loads(signed_in(*asked, "--json").out)
    listed = json.loads(signed_in("incidents", "list", "--all", "--json").out)
    code, out, err = signed_in(*asked, COLUMNS="200")

    assert (code, err) == (0, "")
    assert rows[0]["boxKey"] is rows[0]["suite"] is None
    assert rows[0]["incidents"] == len(listed)
    assert rows[0]["failing"] == sum(one["label"] == "pending" for one in listed)
    assert rows[0]["toFix"]["says"] == "not enough data (2 known, 6 needed)"
    assert "not enough data (2 known, 6 needed)" in out
    assert signed_in(*asked, "-o", "csv").out.count("\n") == 1 + len(rows)


@pytest.mark.usefixtures("with_runs")
def test_a_period_that_begins_before_the_first_record_is_not_compared(signed_in: Command) -> None:
    code, out, err = signed_in("trends", "--days", "20", "--as-of", AS_OF, COLUMNS="120")

    assert code == 0
    assert "not enough data" in out
    assert f"the first record is of {START + timedelta(hours=1):%Y-%m-%d %H:%M} UTC" in err


def test_both_periods_have_the_figures_of_their_pages(
    with_runs: RunningServer, signed_in: Command
) -> None:
    whole = signed_in("trends", "--days", "10", "--as-of", AS_OF, "--json").out
    found = json.loads(whole)
    tiles = {one["tile"]: one for one in found["tiles"]}
    for end, which in ((found["period"]["to"], "now"), (found["before"]["to"], "before")):
        path = f"/api/orgs/{with_runs.org_id}/ci-metrics?days=10&asOf={end}"
        page = ask(with_runs.url, "GET", path, bearer(with_runs.token)).json["tiles"]
        figures = page["infraRuns"]["infra"], page["infraRuns"]["total"]
        within = share_of_cases(*figures)
        assert within is not None
        assert tiles["infraRuns"][which] == {
            "part": figures[0],
            "total": figures[1],
            "low": within.low,
            "high": within.high,
        }
        merges = tiles["mergesChecked"][which]
        assert merges["low"] is merges["high"] is None
        assert merges["total"] == 0
        assert tiles["flakyFailures"][which]["part"] == page["flakyFailures"]["count"]
        assert tiles["realFwBugs"][which]["part"] == page["realFwBugs"]["real"]
        assert tiles["mergesChecked"][which]["total"] == page["mergesChecked"]["announced"]
