# SPDX-License-Identifier: Apache-2.0
"""Query strings: numbers are digits, limits hold, a fault names its parameter."""

from datetime import UTC, datetime

import pytest
from pydantic import BaseModel, ValidationError

from hwci.engine.vocabulary import Label
from hwci.wire.errors import issues_of
from hwci.wire.queries import FailuresQuery, MetricsQuery, PageQuery, TableQuery


def faults(model: type[BaseModel], **query: str) -> list[list[str | int]]:
    """Give the paths at fault."""
    try:
        model.model_validate(query)
    except ValidationError as fault:
        return [list(issue.path) for issue in issues_of(fault, "query")]
    return []


def test_default_limit_20_maximum_100() -> None:
    assert (PageQuery().page, PageQuery().limit) == (1, 20)
    assert faults(PageQuery, limit="100") == []
    assert faults(PageQuery, limit="101") == [["query", "limit"]]
    assert faults(PageQuery, limit="0") == [["query", "limit"]]
    assert faults(PageQuery, page="0") == [["query", "page"]]


@pytest.mark.parametrize("text", ["", "-1", "+1", " 1", "1.0", "1_0", "1e1", "0x1", "٣", "one"])
def test_a_number_is_digits_only(text: str) -> None:
    assert faults(PageQuery, page=text, limit=text) == [["query", "page"], ["query", "limit"]]


def test_numbers_fit_64_bits_and_so_do_offsets() -> None:
    assert faults(PageQuery, page=str(2**63)) == [["query", "page"]]
    assert faults(PageQuery, page="9" * 10_000) == [["query", "page"]]
    assert PageQuery(page=2**63 - 1, limit=100).offset == 2**63 - 1
    assert PageQuery(page=3, limit=7).offset == 14


def test_days_are_1_to_3650_and_30_by_default() -> None:
    assert MetricsQuery().days == 30
    assert faults(MetricsQuery, days="1") == []
    assert faults(MetricsQuery, days="3650") == []
    assert faults(MetricsQuery, days="0") == [["query", "days"]]
    assert faults(MetricsQuery, days="3651") == [["query", "days"]]


def test_suite_needs_the_repository_it_belongs_to() -> None:
    assert faults(MetricsQuery, suite="sensor-fw") == [["query", "suite"]]
    assert faults(MetricsQuery, suite="sensor-fw", repoKey="acme/x") == []
    assert faults(MetricsQuery, repoKey="acme/x") == []
    assert faults(MetricsQuery, suite="sensor-fw", repoKey="") == [["query", "repoKey"]]


def test_as_of_is_a_time_with_an_offset() -> None:
    query = TableQuery.model_validate({"asOf": "2026-03-02T12:00:00+01:00"})

    assert query.as_of == datetime(2026, 3, 2, 11, tzinfo=UTC)
    assert faults(TableQuery, asOf="2026-03-02") == [["query", "asOf"]]


def test_label_is_a_word_of_the_spec() -> None:
    assert FailuresQuery.model_validate({"label": "flake"}).label is Label.FLAKE
    assert faults(FailuresQuery, label="Flake") == [["query", "label"]]


def test_unknown_parameters_are_ignored() -> None:
    assert faults(FailuresQuery, colour="blue") == []


def test_every_fault_is_listed() -> None:
    found = faults(FailuresQuery, days="x", limit="1000", page="0", label="x", asOf="x", repoKey="")

    assert sorted(found) == [
        ["query", name] for name in ("asOf", "days", "label", "limit", "page", "repoKey")
    ]
