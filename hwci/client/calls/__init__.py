# SPDX-License-Identifier: Apache-2.0
"""Every endpoint of the server, one function each: a function gives a `Call`, a shell sends it.

These modules decide paths, queries and bodies (spec, "Endpoints"; contract). They send nothing.
Arguments that break the field rules raise `InvalidCallError` here, before anything is sent.
"""

from hwci.client.calls._writing import Id
from hwci.client.calls.accounts import (
    health,
    login,
    logout,
    me,
    refresh,
    register,
)
from hwci.client.calls.boxes import (
    create_box,
    feed_run,
    heartbeat,
    install_box,
    list_boxes,
    new_install_token,
    open_run,
)
from hwci.client.calls.members import (
    add_member,
    change_member,
    invite,
    list_members,
    remove_member,
)
from hwci.client.calls.metrics import (
    SearchFilters,
    TableFilters,
    checked_merges,
    confirm_failure,
    dismiss_failure,
    flakiest_tests,
    flaky_history,
    get_failure,
    list_failures,
    list_products,
    list_suite_configs,
    metrics,
    other_failures,
    plan_suite_config,
    real_bugs,
    reset_failure,
    trend,
    unchecked_merges,
)
from hwci.client.calls.organizations import (
    audit_log,
    create_ci_key,
    create_org,
    get_org,
    list_ci_keys,
    list_orgs,
    revoke_ci_key,
)
from hwci.client.calls.own_account import (
    change_password,
    end_other_sessions,
    end_session,
    list_sessions,
    reset_password,
)
from hwci.client.calls.reports import (
    announce_merge,
    put_suite_config,
    report_run,
)
from hwci.client.calls.runs import (
    RunFilters,
    get_run,
    list_runs,
)
from hwci.client.calls.sso import (
    exchange_sso_code,
    sso_providers,
)

__all__ = [
    "Id",
    "RunFilters",
    "SearchFilters",
    "TableFilters",
    "add_member",
    "announce_merge",
    "audit_log",
    "change_member",
    "change_password",
    "checked_merges",
    "confirm_failure",
    "create_box",
    "create_ci_key",
    "create_org",
    "dismiss_failure",
    "end_other_sessions",
    "end_session",
    "exchange_sso_code",
    "feed_run",
    "flakiest_tests",
    "flaky_history",
    "get_failure",
    "get_org",
    "get_run",
    "health",
    "heartbeat",
    "install_box",
    "invite",
    "list_boxes",
    "list_ci_keys",
    "list_failures",
    "list_members",
    "list_orgs",
    "list_products",
    "list_runs",
    "list_sessions",
    "list_suite_configs",
    "login",
    "logout",
    "me",
    "metrics",
    "new_install_token",
    "open_run",
    "other_failures",
    "plan_suite_config",
    "put_suite_config",
    "real_bugs",
    "refresh",
    "register",
    "remove_member",
    "report_run",
    "reset_failure",
    "reset_password",
    "revoke_ci_key",
    "sso_providers",
    "trend",
    "unchecked_merges",
]
