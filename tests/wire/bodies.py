# SPDX-License-Identifier: Apache-2.0
"""The smallest legal bodies, a way to change one field of them, and what the wire says of them."""

import copy
import json
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from hwci.wire.errors import issues_of

AT = "2026-03-02T09:30:00Z"
SHA = "0123456789abcdef0123456789abcdef01234567"

ANNOUNCEMENT: dict[str, Any] = {
    "repo_key": "acme/sensor-node",
    "sha": SHA,
    "branch": "main",
    "merged_at": AT,
    "ci_url": "https://ci.example/6",
}
TEST: dict[str, Any] = {"id": "boot.test_reset", "outcome": "pass", "attempts": 1, "duration_s": 2}
COMMIT: dict[str, Any] = {"sha": SHA, "subject": "Fix reset", "files": ["src/reset.c"]}
REPORT: dict[str, Any] = {
    "repo_key": "acme/sensor-node",
    "workflow": "hil",
    "run_id": 4711,
    "run_attempt": 1,
    "trigger": "merge",
    "branch": "main",
    "sha": SHA,
    "started_at": AT,
    "ended_at": AT,
    "conclusion": "success",
    "hello_ok": True,
    "box_key": "bench-1",
    "tests": [TEST],
    "covers_shas": [SHA],
    "changes": {"base_sha": None, "commits": [COMMIT]},
    "part_of": {"run_id": 4711, "part": 1, "parts": 2},
    "ci_run": 42,
    "ci_url": "https://ci.example/7",
    "rerun_of": 4710,
}
CONFIGURATION: dict[str, Any] = {
    "repo_key": "acme/sensor-node",
    "suite": "sensor-fw",
    "firmware_paths": ["src/**"],
    "harness_paths": ["tests/hil/**"],
    "trigger_paths": ["src/**"],
    "merge_trigger": True,
    "links": {"commit": "https://git.example/{repo}/{sha}"},
    "targets": {"merges_checked": 95, "infra_runs": 2.5},
}

LEFT_OUT = object()
Step = str | int


def changed(body: dict[str, Any], path: tuple[Step, ...], value: object) -> dict[str, Any]:
    """Return a copy of a body with one element replaced, or left out."""
    copied = copy.deepcopy(body)
    target: Any = copied
    for step in path[:-1]:
        target = target[step]
    if value is LEFT_OUT:
        del target[path[-1]]
    else:
        target[path[-1]] = value
    return copied


def issues(model: type[BaseModel], body: object) -> list[tuple[list[Step], str]]:
    """Return the faults of a body (bytes: as they are), read as the server does."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        model.model_validate_json(raw, by_alias=True, by_name=False)
    except ValidationError as fault:
        return [(list(issue.path), issue.message) for issue in issues_of(fault, "body")]
    return []


def paths(model: type[BaseModel], body: object) -> list[list[Step]]:
    """Return only the paths of the faults."""
    return [path for path, _ in issues(model, body)]


def case(rule: str, *values: object) -> object:
    """A row of a table: the rule it quotes names the test."""
    return pytest.param(*values, id=rule)
