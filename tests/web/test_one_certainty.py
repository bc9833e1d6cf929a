# SPDX-License-Identifier: Apache-2.0
"""A commit has one chance that it broke a test (semantics, 13), wherever the demonstration shows
it: the API, the terminal and the pages.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Page, expect

from hwci.said import percent
from tests.support.commands import invoked
from tests.support.soak import rounds
from tests.web.conftest import Dashboard
from tests.web.reading import PRODUCTS, Reader, unfolded

DAYS = 30
SUITES = PRODUCTS[1:]


@pytest.fixture
def reader(page: Page, demo: Dashboard) -> Reader:
    return Reader(page, demo)


class Failing(NamedTuple):
    """An incident of one test that fails now, and how sure its history is of the likeliest commit.
    `query`: of its test.
    """

    incident: Mapping[str, Any]
    query: Mapping[str, Any]
    sure: str


def failing(reader: Reader) -> Iterator[Failing]:
    """Yield what fails now, with a commit that is named."""
    query = {"days": DAYS, "asOf": reader.now().isoformat()}
    found = reader.ask("ci-analysis/incidents", **query, label="pending", limit=100)["items"]
    for one in found:
        test = {key: one[key] for key in ("repoKey", "suite")}
        asked = {**query, **test, "testId": one["failures"][0]["testId"]}
        if one["history"] and one["history"]["chance"] >= 0.5:
            yield Failing(one, asked, f"{percent(one['history']['chance'])} sure")


@pytest.mark.parametrize("product", SUITES, ids=lambda one: one["suite"])
def test_every_answer_has_one_chance_for_a_commit(reader: Reader, product: Any) -> None:
    query = {"days": DAYS, "asOf": reader.now().isoformat(), **product}
    rows = reader.ask("ci-analysis/flaky-tests", **query, limit=100)["items"]
    incidents = reader.ask("ci-analysis/incidents", **query, limit=100)["items"]
    bisected = 0
    for row in rows:
        test = {**query, "testId": row["testId"]}
        found = reader.ask("ci-analysis/test", **test)
        if row["found"] is None:
            assert found["history"] is None
            continue
        suspects = {one["sha"]: one["chance"] for one in row["found"]["since"]["suspects"]}
        likeliest = found["history"]["sha"], found["history"]["chance"]
        assert likeliest == next(iter(suspects.items()))
        for one in incidents:
            if one["failures"][0]["testId"] == row["testId"] and one["history"]:
                assert (one["history"]["sha"], one["history"]["chance"]) == likeliest
                assert found["history"]["says"] in one["history"]["says"]
        bisection = reader.ask("ci-analysis/bisection", **test)["found"]
        if bisection is not None:
            bisected += 1
            assert bisection["ofHistory"]
            chances = {one["sha"]: one["chance"] for one in bisection["commits"]}
            assert suspects.items() <= chances.items()
            assert f"({percent(bisection['bracket']['chance'])} sure)" in bisection["says"]
    assert bisected


def test_the_terminal_says_how_sure_it_is_of_a_commit_in_one_way(
    reader: Reader, demo: Dashboard
) -> None:
    env = {"HWCI_URL": demo.url, "HWCI_TOKEN": demo.token(), "COLUMNS": "200"}

    def words(*command: str) -> str:
        result = invoked(command, "", env)
        assert result.exit_code == 0, result.stderr
        return result.stdout + result.stderr

    compared = 0
    for incident, query, sure in failing(reader):
        compared += 1
        sha, end = incident["history"]["sha"], ("--as-of", query["asOf"])
        test = (query["testId"], "--product", f"{query['repoKey']}:{query['suite']}", *end)
        shown = words("tests", "show", *test)
        assert re.findall(r"[\w ]+ % sure\b", shown)[0].strip().endswith(sure)
        for way in ("start", "next", "status"):
            assert re.search(
                rf"began to fail in {sha[:12]} .*\({sure}\)", words("bisect", way, *test)
            )
        table = csv.DictReader(io.StringIO(words("bisect", "status", *test, "-o", "csv")))
        of_csv = {row["sha"]: row["chance"] for row in table}
        assert float(of_csv[sha]) == round(incident["history"]["chance"], 3)
        assert f"({sure})" in words("failures", "show", incident["failures"][0]["id"])
        assert incident["history"]["says"] in words("incidents", "list", "--label", "pending", *end)
    assert compared


def test_the_pages_say_how_sure_it_is_of_a_commit_in_one_way(reader: Reader) -> None:
    shown = [*islice(failing(reader), rounds(1, None))]
    assert shown
    page = reader.page
    page.goto(f"{reader.home}/metrics?days={DAYS}&failing=all")
    unfolded(page)
    for incident, _, sure in shown:
        says = incident["history"]["says"]
        expect(page.get_by_role("region", name="Failing now").first).to_contain_text(says)
        assert sure in says
    for incident, query, sure in shown:
        reader.open(**query)
        expect(page.locator(".answer + ul")).to_contain_text(f"({sure})")
        expect(page.get_by_role("region", name="Bisection")).to_contain_text(f"({sure})")
        short = incident["history"]["sha"][:12]
        others = set(re.findall(r"(\d+ %|\w+ \d+ %) sure", page.locator("main").inner_text()))
        assert others == {sure.removesuffix(" sure")}
        assert short in page.get_by_role("region", name="Bisection").inner_text()
