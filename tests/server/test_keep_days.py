# SPDX-License-Identifier: Apache-2.0
"""Owners and admins set for how many days an organization keeps something, within the operator's
bounds. What goes afterwards is in `storage/test_keeping.py`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.tenants import OURS, THEIRS, Tenant, found, tell
from tests.support.asking import Reply, ask, bearer
from tests.support.running import RunningServer, running_in_thread

EVER = {"reports": None, "messages": None, "logs": None}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    with running_in_thread(tmp_path, keep_reports_days_max=365, keep_logs_days_max=7) as running:
        yield running


@pytest.fixture
def tenant(server: RunningServer) -> Tenant:
    return found(server, OURS)


def change(server: RunningServer, tenant: Tenant, token: str, **days: Any) -> Reply:
    return ask(server.url, "PATCH", tenant.path, bearer(token), json_body={"keepDays": days})


def test_what_is_left_out_stays_and_the_lower_number_counts(
    server: RunningServer, tenant: Tenant
) -> None:
    other = found(server, THEIRS)
    shown = tell(server.url, "GET", tenant.path, bearer(tenant.member))
    bounds = {**EVER, "reports": 365, "logs": 7}
    assert (shown["keepDays"], shown["keptDays"], shown["keptSince"]) == (EVER, bounds, None)

    change(server, tenant, tenant.admin, reports=400, messages=30)
    after = change(server, tenant, tenant.owner, messages=None, logs=3).json
    assert after["keepDays"] == {"reports": 400, "messages": None, "logs": 3}
    assert after["keptDays"] == {"reports": 365, "messages": None, "logs": 3}
    assert (
        tell(server.url, "GET", tenant.path, bearer(tenant.member))["keepDays"] == after["keepDays"]
    )
    assert tell(server.url, "GET", other.path, bearer(other.owner))["keepDays"] == EVER


@pytest.mark.parametrize(
    "days",
    [{"reports": 89}, {"messages": 0}, {"logs": 36_501}, {"reports": "400"}, {"boxes": 9}],
    ids=str,
)
def test_days_that_delete_too_much_by_a_slip_are_refused(
    server: RunningServer, tenant: Tenant, days: dict[str, Any]
) -> None:
    assert change(server, tenant, tenant.owner, **days).status == 400
    assert tell(server.url, "GET", tenant.path, bearer(tenant.owner))["keepDays"] == EVER


def test_members_do_not_set_them_and_each_change_is_in_the_audit_log(
    server: RunningServer, tenant: Tenant
) -> None:
    assert change(server, tenant, tenant.member, messages=1).status == 403
    change(server, tenant, tenant.admin, messages=30)
    log = tell(server.url, "GET", f"{tenant.path}/audit-log?limit=1", bearer(tenant.owner))
    (entry,) = log["items"]
    assert (entry["action"], entry["target"]) == ("organization.keep_days", tenant.org_id)
    assert entry["details"] == {**EVER, "messages": 30}
