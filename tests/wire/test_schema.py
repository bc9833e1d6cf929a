# SPDX-License-Identifier: Apache-2.0
"""Limits stand in the JSON schema of each body, where the OpenAPI document takes them from."""

from typing import Any

import pytest

from hwci.contract.page.metrics import MetricsPage
from hwci.wire.accounts import NewCiKey
from hwci.wire.codec import adapter
from hwci.wire.queries import MergesQuery, TableQuery
from hwci.wire.reports import MergeAnnouncement, RunReport, SuiteConfiguration


def properties(model: Any, of: str | None = None) -> dict[str, Any]:
    """Return the fields of a model or of a model within it; without null."""
    schema = model.model_json_schema()
    fields = schema["properties"] if of is None else schema["$defs"][of]["properties"]
    return {name: field.get("anyOf", [field])[0] for name, field in fields.items()}


@pytest.mark.parametrize(
    ("model", "of", "name", "limits"),
    [
        (MergeAnnouncement, None, "repo_key", {"minLength": 1, "maxLength": 255}),
        (MergeAnnouncement, None, "suite", {"minLength": 1, "maxLength": 255}),
        (MergeAnnouncement, None, "sha", {"pattern": "^[0-9a-fA-F]{7,64}$"}),
        (MergeAnnouncement, None, "merged_at", {"format": "date-time"}),
        (RunReport, None, "run_id", {"minimum": 0, "maximum": 2**63 - 1}),
        (RunReport, None, "run_attempt", {"minimum": 1, "maximum": 2**63 - 1}),
        (RunReport, None, "conclusion", {"minLength": 1, "maxLength": 50}),
        (RunReport, None, "tests", {"maxItems": 1_000}),
        (RunReport, None, "covers_shas", {"maxItems": 1_000}),
        (RunReport, "TestItem", "id", {"minLength": 1, "maxLength": 512}),
        (RunReport, "TestItem", "duration_s", {"minimum": 0}),
        (RunReport, "Changes", "base_sha", {"pattern": "^[0-9a-fA-F]{7,64}$"}),
        (RunReport, "Changes", "commits", {"maxItems": 250}),
        (RunReport, "CommitItem", "files", {"maxItems": 2_000}),
        (RunReport, "CommitItem", "subject", {"maxLength": 1_000}),
        (SuiteConfiguration, None, "firmware_paths", {"maxItems": 200}),
        (SuiteConfiguration, None, "trigger_paths", {"maxItems": 200}),
        (NewCiKey, None, "name", {"minLength": 1, "maxLength": 255}),
        (TableQuery, None, "limit", {"minimum": 1, "maximum": 100, "default": 20}),
        (TableQuery, None, "days", {"minimum": 1, "maximum": 3_650, "default": 30}),
        (MergesQuery, None, "search", {"minLength": 1, "maxLength": 200}),
    ],
)
def test_a_limit_stands_in_the_schema(
    model: Any, of: str | None, name: str, limits: dict[str, Any]
) -> None:
    field = properties(model, of)[name]

    assert {key: field.get(key) for key in limits} == limits


def test_times_of_answers_are_date_times() -> None:
    schema = adapter(MetricsPage).json_schema(mode="serialization")

    merged_at = schema["$defs"]["Merge"]["properties"]["mergedAt"]
    assert (merged_at["type"], merged_at["format"]) == ("string", "date-time")
