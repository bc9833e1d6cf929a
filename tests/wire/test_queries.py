# SPDX-License-Identifier: Apache-2.0
"""Query strings: numbers are digits, limits hold, a fault names its parameter."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from pydantic import BaseModel, ValidationError

from hwci.contract.vocabulary import FailureColumn, Label, MergeColumn
from hwci.engine.page.tables import FailureSelection, Selection, Sort
from hwci.wire.errors import issues_of
from hwci.wire.queries import (
    FailuresQuery,
    FlakyQuery,
    MergesQuery,
    MetricsQuery,
    OthersQuery,
    PageQuery,
    ResolvedQuery,
    TableQuery,
)
from hwci.wire.runs import RunsQuery, StreamQuery


def faults(model: type[BaseModel], **query: str) -> list[list[str | int]]:
    """Return the paths at fault."""
    try:
        model.model_validate(query)
    except ValidationError as fault:
        return [list(issue.path) for issue in issues_of(fault, "query")]
    return []


def content(model: type[BaseModel], **query: str) -> dict[str | int, str]:
    """Return what is said of each parameter at fault."""
    with pytest.raises(ValidationError) as caught:
        model.model_validate(query)
    return {issue.path[1]: issue.message for issue in issues_of(caught.value, "query")}


def test_default_limit_20_maximum_100() -> None:
    assert (PageQuery().page, PageQuery().limit) == (1, 20)
    assert faults(PageQuery, limit="100") == []
    assert faults(PageQuery, limit="101") == [["query", "limit"]]
    assert faults(PageQuery, limit="0") == [["query", "limit"]]
    assert faults(PageQuery, page="0") == [["query", "page"]]


def test_an_id_is_a_uuid_as_it_is_written_in_answers() -> None:
    run = UUID("6e208861-8536-50b1-8c3c-72087c38a994")

    assert StreamQuery.model_validate({"runId": str(run).upper()}).run_id == run
    assert StreamQuery(run_id=run).model_dump(mode="json")["runId"] == str(run)
    for text in (run.hex, f"{{{run}}}", run.urn, f" {run}", "x", ""):
        assert content(StreamQuery, runId=text) == {
            "runId": "Should be an id: a UUID, in hexadecimal digits and dashes"
        }


def test_words_are_shown_as_they_are_written_and_not_as_python_shows_them() -> None:
    words = "'bench_or_harness', 'ambiguous' or 'dismissed'"

    assert content(OthersQuery, **{"class": "real_fw_bug"}) == {"class": f"Input should be {words}"}
    assert content(FailuresQuery, label="x") == {
        "label": "Input should be 'flake', 'resolved' or 'pending'"
    }


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


def test_a_sort_is_a_column_as_the_answer_names_it_with_a_minus_for_descending() -> None:
    up, down = (MergesQuery.model_validate({"sort": word}) for word in ("mergedAt", "-mergedAt"))

    assert up.selection == Selection(None, Sort(MergeColumn.MERGED_AT), limit=20)
    assert down.selection == Selection(None, Sort(MergeColumn.MERGED_AT, descending=True), limit=20)
    assert MergesQuery().selection == Selection(limit=20)
    assert down.model_dump(mode="json", exclude_unset=True) == {"sort": "-mergedAt"}


@pytest.mark.parametrize(
    "sort", ["", "-", "--sha", "merged_at", "SHA", "+sha", " sha", "sha,suite"]
)
def test_a_sort_by_no_column_is_at_fault(sort: str) -> None:
    assert faults(MergesQuery, sort=sort) == [["query", "sort"]]


def test_each_table_is_sorted_by_its_own_columns() -> None:
    assert faults(FlakyQuery, sort="-flakeRate") == []
    assert faults(ResolvedQuery, sort="class") == []
    assert faults(MergesQuery, sort="-flakeRate") == [["query", "sort"]]
    assert faults(FlakyQuery, sort="class") == [["query", "sort"]]
    assert faults(ResolvedQuery, sort="sha") == [["query", "sort"]]


def test_a_search_is_1_to_200_characters_without_the_blanks_around_them() -> None:
    assert MergesQuery.model_validate({"search": "  main  b1 "}).search == "main  b1"
    assert faults(MergesQuery, search=f" {'ü' * 200} ") == []
    for search in ("", "  ", "ü" * 201, "a\0b", "\ud800"):
        assert faults(MergesQuery, search=search) == [["query", "search"]]


def test_failures_are_sorted_and_searched_as_tables_are_and_found_by_label_and_test() -> None:
    given = {"sort": "-items", "search": " uart ", "label": "flake", "testId": "boot/Über"}
    query = FailuresQuery.model_validate(given)

    sort = Sort(FailureColumn.ITEMS, descending=True)
    assert query.selection == FailureSelection("uart", sort, 0, 20, Label.FLAKE, "boot/Über")
    assert FailuresQuery().selection == FailureSelection(limit=20)
    assert faults(FailuresQuery, sort="groupId") == [["query", "sort"]]
    for test_id in ("", "x" * 513, "a\0b", "\ud800"):
        assert faults(FailuresQuery, testId=test_id) == [["query", "testId"]]


@pytest.mark.parametrize("sha", ["abcd", "ABCD", "0123456789abcdef", "f" * 64])
def test_a_commit_is_asked_for_by_4_to_64_digits_in_whatever_case(sha: str) -> None:
    assert RunsQuery.model_validate({"sha": sha}).sha == sha.lower()


@pytest.mark.parametrize(
    "sha", ["", "abc", "f" * 65, "abcg", " abcd", "abcd\n", "ab%", "٣٣٣٣", "main"]
)
def test_what_begins_no_commit_is_at_fault(sha: str) -> None:
    assert content(RunsQuery, sha=sha) == {
        "sha": "Should be the first 4 to 64 hexadecimal digits of a commit"
    }


def test_a_flag_is_true_or_false_as_json_writes_them() -> None:
    assert RunsQuery.model_validate({"helloOk": "true"}).hello_ok is True
    assert RunsQuery.model_validate({"helloOk": "false"}).hello_ok is False
    for word in ("", "True", "FALSE", "1", "0", "yes", " true", "null"):
        assert content(RunsQuery, helloOk=word) == {"helloOk": "Should be `true` or `false`"}


def test_runs_of_a_period_are_asked_for_by_times_of_which_none_must_be_there() -> None:
    ends = {"from": "2026-03-02T12:00:00+01:00", "to": "2026-03-02T11:00:00.0000009Z"}
    query = RunsQuery.model_validate(ends)

    assert query.start == query.end == datetime(2026, 3, 2, 11, tzinfo=UTC)
    assert (RunsQuery().start, RunsQuery().end) == (None, None)
    assert faults(RunsQuery, to="2026-03-02T11:00:00Z") == []
    for end in ("from", "to"):
        assert faults(RunsQuery, **{end: "2026-03-02"}) == [["query", end]]


def test_a_period_of_figures_begins_at_a_time_in_place_of_days() -> None:
    query = {"from": "2025-10-25T22:00:00Z", "asOf": "2025-10-26T22:59:59.999999Z"}

    assert MetricsQuery.model_validate(query | {"days": "90"}).days == 2
    assert MetricsQuery.model_validate({"asOf": query["asOf"]}).days == 30
    assert MetricsQuery.model_validate({"from": query["asOf"], "asOf": query["asOf"]}).days == 1
    said = {
        "Needs `asOf`: it is the end of the period": {"from": query["from"]},
        "Should not be after `asOf`": {"from": query["asOf"], "asOf": query["from"]},
        "Should be at most 3650 days before `asOf`": {**query, "from": "2015-10-26T00:00:00Z"},
    }
    for words, asked in said.items():
        assert content(MetricsQuery, **asked) == {"from": words}
    assert faults(MetricsQuery, **{"from": query["from"], "asOf": "x"}) == [["query", "asOf"]]


def test_a_period_that_ends_before_it_begins_is_at_fault() -> None:
    late, early = "2026-03-02T11:00:00.000001Z", "2026-03-02T11:00:00Z"

    assert content(RunsQuery, **{"from": late, "to": early}) == {
        "to": "Should not be before `from`"
    }
    assert faults(RunsQuery, **{"from": "soon", "to": early}) == [["query", "from"]]


@pytest.mark.parametrize("name", ["retryPass", "failedAttempt"])
def test_what_a_test_did_is_asked_with_the_test_alone(name: str) -> None:
    for flag in ("true", "false"):
        assert faults(RunsQuery, testId="boot", **{name: flag}) == []
        assert content(RunsQuery, **{name: flag}) == {
            name: "Needs `testId`: it is about one test of a run"
        }
    assert faults(RunsQuery, testId="", **{name: "true"}) == [["query", "testId"]]
    assert faults(RunsQuery, testId="boot", **{name: "1"}) == [["query", name]]


def test_unknown_parameters_are_faults() -> None:
    assert faults(FailuresQuery, colour="blue") == [["query", "colour"]]


def test_every_fault_is_listed() -> None:
    found = faults(FailuresQuery, days="x", limit="1000", page="0", label="x", asOf="x", repoKey="")

    assert sorted(found) == [
        ["query", name] for name in ("asOf", "days", "label", "limit", "page", "repoKey")
    ]
