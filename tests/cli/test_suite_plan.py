# SPDX-License-Identifier: Apache-2.0
"""`hwci suite-config plan`: which failures a configuration would show otherwise."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hwci.client import Client, calls
from hwci.contract.page.metrics import SuiteConfigPlan
from hwci.contract.vocabulary import Label
from hwci.engine.page.plan import plan
from hwci.server.services.ci_metrics import metrics
from tests.cli.conftest import Command
from tests.support.running import RunningServer
from tests.support.scene import CONFIGURATION, PRODUCT

pytestmark = pytest.mark.usefixtures("busy_server")

TOML = """
repo_key = "acme/firmware"

[[product]]
suite = "sensor-fw"
firmware_paths = ["lib/**"]
harness_paths = ["hil/**"]
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path) -> Path:
    path = tmp_path / "hwci.toml"
    path.write_text(TOML)
    return path


def configure(server: RunningServer) -> None:
    with Client(server.url, ci_key=server.ci_key) as client:
        client.send(calls.put_suite_config(CONFIGURATION))


def test_failures_that_would_be_seen_otherwise_are_shown_with_both_classes(
    signed_in: Command,
) -> None:
    code, out, err = signed_in("suite-config", "plan")

    assert (code, err) == (0, "")
    title, counts, *table = out.splitlines()
    assert title == f"{PRODUCT}, last 90 days: 2 failures would be seen otherwise."
    assert counts == ("real firmware bug 1 → 0, bench or harness 1 → 2, ambiguous 0, dismissed 0")
    (i2c,) = (line for line in table if " i2c " in line)
    assert "bbbbbbbb" in i2c
    named = signed_in("failures", "show", i2c.split()[0], "--days", "90")
    assert named.out.startswith("i2c on bench-1")
    assert "real firmware bug" in i2c
    assert "Commit under test did not touch firmware" in " ".join(" ".join(table).split())


def test_a_plan_comes_true_when_it_is_applied(signed_in: Command, server: RunningServer) -> None:
    (plan,) = json.loads(signed_in("suite-config", "plan", "--json").out)
    try:
        assert signed_in("suite-config", "apply", HWCI_CI_KEY=server.ci_key).code == 0
        page = json.loads(signed_in("metrics", "--json").out)
        (again,) = json.loads(signed_in("suite-config", "plan", "--json").out)
    finally:
        configure(server)

    assert page["tiles"]["realFwBugs"] == plan["after"] != plan["before"]
    assert (again["before"], again["changes"]["total"]) == (plan["after"], 0)


def test_a_plan_that_changes_nothing_says_so(signed_in: Command, project: Path) -> None:
    project.write_text(TOML.replace("lib/**", "drivers/**"))

    assert signed_in("suite-config", "plan").out.splitlines() == [
        f"{PRODUCT}, last 90 days: 0 failures would be seen otherwise.",
        "real firmware bug 1, bench or harness 1, ambiguous 0, dismissed 0",
    ]


def test_a_failure_that_was_reviewed_is_shown_to_stay(
    signed_in: Command, server: RunningServer
) -> None:
    with Client(server.url, token=server.token) as client:
        found = client.send(calls.list_failures(server.org_id, label=Label.RESOLVED)).items
        i2c = next(one.id for one in found if one.test_id == "i2c")
        client.send(calls.dismiss_failure(server.org_id, i2c))
        try:
            out = signed_in("suite-config", "plan").out
        finally:
            client.send(calls.reset_failure(server.org_id, i2c))

    assert "dismissed 1" in out.splitlines()[1]
    assert "Stays" in out
    assert "dismissed by" in out


def test_every_product_has_a_plan_of_the_same_instant(signed_in: Command, project: Path) -> None:
    project.write_text(TOML + TOML.replace('repo_key = "acme/firmware"', "").replace("sen", "cen"))
    plans = json.loads(signed_in("suite-config", "plan", "--json").out)

    assert [plan["product"]["suite"] for plan in plans] == ["sensor-fw", "censor-fw"]
    assert plans[0]["period"] == plans[1]["period"]
    assert plans[1]["changes"]["total"] == 0


def test_the_rest_of_a_long_plan_is_a_page_away(signed_in: Command) -> None:
    code, out, err = signed_in("suite-config", "plan", "--limit", "1")

    assert (code, err) == (0, "… 1 more: --page 2 --limit 1\n")
    assert "2 failures would be seen otherwise" in out


def test_a_plan_that_the_server_had_no_time_for_says_how_far_it_came(
    signed_in: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hurried(*asked: Any) -> SuiteConfigPlan:
        return replace(plan(*asked), complete=False, looked_at=1)

    monkeypatch.setattr(metrics, "plan", hurried)
    code, out, err = signed_in("suite-config", "plan")

    assert code == 0
    assert "2 failures would be seen otherwise" in out
    assert "had looked at the newest 1 of 2 failures; ask for fewer with --days" in err
    (result,) = json.loads(signed_in("suite-config", "plan", "--json").out)
    assert (result["complete"], result["lookedAt"], result["failures"]) == (False, 1, 2)


def test_a_faulty_configuration_is_not_asked_about(signed_in: Command, project: Path) -> None:
    project.write_text(TOML.replace("lib/**", "a?b"))
    code, out, err = signed_in("suite-config", "plan", HWCI_URL="http://127.0.0.1:9")

    assert (code, out) == (1, "")
    assert "product 1: firmware_paths, item 1: A pattern must not contain ?" in err


def test_a_ci_key_makes_no_plan(in_ci: Command) -> None:
    assert in_ci("suite-config", "plan").code == 4
