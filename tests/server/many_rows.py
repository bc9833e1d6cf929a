# SPDX-License-Identifier: Apache-2.0
"""Merges and runs that fill each table of the metrics page with several rows."""

from datetime import timedelta
from typing import Any

from tests.server.small_history import CONFIG, START, run
from tests.support.asking import ask, ci_key
from tests.support.running import RunningServer

RUNS = [
    run("1", 1, {"boot": "fail", "usb": "fail", "adc": "fail"}, "src/boot.c"),
    run("2", 2, {"boot": "pass", "usb": "fail", "adc": "fail"}, "src/usb.c"),
    run("3", 3, {"boot": "fail", "usb": "pass", "adc": "fail"}, "docs/notes.md"),
    run("4", 4, {"boot": "pass", "usb": "fail", "adc": "pass"}, "src/boot.c"),
    run("4", 5, {"usb": "pass"}),
    run("5", 6, {"boot": "fail", "usb": "fail", "adc": "pass"}, "docs/notes.md"),
    run("6", 7, {"boot": "pass", "usb": "pass", "adc": "fail"}, "src/usb.c"),
    run("6", 8, {"flash": "fail"}),
]
UNCHECKED = [
    ("a", "main", "hardware"),
    ("b", "topic", None),
    ("c", "main", None),
    ("d", "old", "app"),
]
CHECKED = [("1", "main", "hardware"), ("4", "topic", None), ("6", "old", "hardware")]


def tell(server: RunningServer) -> None:
    """Send what fills each table with several rows."""
    sent: list[tuple[str, str, Any]] = [("PUT", "suite-config", CONFIG)]
    for hour, (letter, branch, suite) in enumerate([*UNCHECKED, *CHECKED]):
        at = (START + timedelta(hours=hour)).isoformat()
        body = {"repo_key": "acme/firmware", "sha": letter * 40, "branch": branch}
        body |= {"merged_at": at} | ({} if suite is None else {"suite": suite})
        sent.append(("POST", "merge-announce", body))
    sent += [("POST", "run-report", body) for body in RUNS]
    for method, route, body in sent:
        key = ci_key(server.ci_key)
        reply = ask(server.url, method, f"/api/ci/{route}", key, json_body=body)
        assert reply.status == 204, reply
