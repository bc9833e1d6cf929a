# SPDX-License-Identifier: Apache-2.0
"""Reports and announcements that a bench keeps until they are sent."""

import json

from tests.cli.conftest import Command
from tests.support.scene import report

ANNOUNCED = json.dumps(
    {"repo_key": "r", "sha": "a" * 40, "branch": "b", "merged_at": "2026-01-01T00:00:00Z"}
)


def body(run_id: int, **fields: object) -> str:
    """Return a report as the command takes it."""
    plain = report(1, "a" * 40, {"boot": "pass"}).model_dump(mode="json", exclude_unset=True)
    return json.dumps({**plain, "run_id": run_id, **fields})


def listed(cli: Command) -> list[tuple[str, str, int]]:
    """Return each kept report's state, name and tries."""
    code, out, _ = cli("spool", "list", "--json")
    assert code == 0
    return [(item["state"], item["name"], item["tries"]) for item in json.loads(out)]
