# SPDX-License-Identifier: Apache-2.0
"""Narrow and wide screens: what is long breaks or scrolls, tables use what room there is,
and lines of text stay short enough to be read.
"""

import re
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.asking import ask, ci_key
from tests.support.soak import rounds
from tests.web.conftest import Dashboard
from tests.web.live import Site, site
from tests.web.reading import SCHEMES

TEST = "t" * 500
PAGE_MAX, MARGIN, LINE_MAX = 110 * 16, 16, 50 * 16
WIDTHS = "nodes => nodes.map(node => node.getBoundingClientRect().width)"
GAP_MIN = 1.5 * 16
GAPS = """cells => cells.map(cell => {
  const [number, word] = [document.createRange(), document.createRange()];
  number.selectNodeContents(cell.previousElementSibling);
  word.selectNodeContents(cell);
  return word.getBoundingClientRect().left - number.getBoundingClientRect().right;
})"""
OUT_OF_SIGHT = "nodes => nodes.map(node => node.scrollWidth - node.clientWidth)"
LINES = """nodes => nodes.map(node => {
  const text = [...node.childNodes].find(one => one.nodeType === Node.TEXT_NODE && one.data.trim());
  const words = document.createRange();
  words.selectNodeContents(text);
  return new Set([...words.getClientRects()].map(({ top }) => top)).size;
})"""
BOTTOMS = "nodes => nodes.map(node => Math.round(node.getBoundingClientRect().bottom))"
TABLES = ("metrics", "metrics?merges=checked", "failures", "runs")
RUN_COLUMNS = 11
# Nothing tells where a name is drawn that the style sheet writes: its own size and place do.
NAMES_AND_VALUES = """cells => cells.map(cell => {
  const value = document.createRange();
  value.selectNodeContents(cell);
  const { left, top } = cell.getBoundingClientRect();
  const name = getComputedStyle(cell, "::before");
  return {
    title: cell.dataset.title,
    left,
    top,
    name: left + parseFloat(name.marginLeft),
    height: parseFloat(name.height),
    value: value.getBoundingClientRect().top,
  };
})"""
PATHS = (
    "failures",
    f"failures?testId={TEST}&label=pending",
    f"test?repoKey={'n' * 250}&suite={'n' * 250}&testId={TEST}",
    f"box?boxKey={'n' * 250}",
    f"commit?repoKey={'n' * 250}&sha={'b' * 40}",
    "review",
    "runs",
    "runs?status=running&from=2020-01-01T00:00:00Z&to=2099-12-31T23:59:59Z",
    "boxes",
    "members",
    "audit-log",
    "runs/{run}",
)


def test_no_page_is_wider_than_its_window(page: Page, tmp_path: Path) -> None:
    with site(page, tmp_path) as own:
        key = own.benches.installed("b" * 200)
        tests = [{"id": TEST, "outcome": "pass", "attempts": 1}]
        failed = {"id": TEST, "outcome": "fail", "attempts": 1, "duration_s": 1.0}
        names = dict.fromkeys(("branch", "box_key", "repo_key", "workflow"), "n" * 250)
        own.benches.report(tests=[failed], **names)
        fixed = {**names, "branch": "m" * 250}
        own.benches.report(run_id=2, tests=[failed], **fixed)
        own.benches.report(run_id=3, sha="b" * 40, tests=[{**failed, "outcome": "pass"}], **fixed)
        run = own.benches.opened(key, branch="feature/" + "x" * 200, workflow="w" * 200)
        own.benches.feed(key, run, *tests)
        for path in rounds(PATHS[1::2], PATHS):  # `test_hostile.py` looks at each at two widths
            page.set_viewport_size({"width": 360, "height": 800})
            own.open(path.format(run=run))
            expect(page.locator("tbody tr, .cause").first).to_be_visible()
            for width in (360, 1280, 2560):
                page.set_viewport_size({"width": width, "height": 800})

                found = page.evaluate("document.documentElement.scrollWidth")
                assert found <= width, (path, width)


def test_one_long_word_leaves_every_column_within_the_window(page: Page, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    with site(page, tmp_path) as own:
        _fill(own, "x" * 255)
        for path in TABLES:
            own.open(path)
            expect(page.get_by_role("cell", name=re.compile("x{255}")).first).to_be_visible()
            expect(page.locator(".waiting")).to_have_count(0)

            assert set(page.locator(".table-scroll").evaluate_all(OUT_OF_SIGHT)) == {0}, path


def test_an_ordinary_name_is_not_broken_within_a_word(page: Page, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    with site(page, tmp_path) as own:
        _fill(own, "gatewayfirmware")
        for path in TABLES:
            own.open(path)
            names = page.get_by_role("cell").get_by_text("gatewayfirmware", exact=True)
            expect(names.first).to_be_visible()
            expect(page.locator(".waiting")).to_have_count(0)

            assert set(names.evaluate_all(LINES)) == {1}, path


def _fill(own: Site, name: str) -> None:
    """Bring rows to the tables, of two repositories; a product, its workflow and its box
    have this name.
    """
    names = dict.fromkeys(("repo_key", "suite", "workflow", "branch", "box_key"), name)
    test = {"id": "tests/test_boot.py::test_cold", "duration_s": 1.0}
    failed, retried = [{"outcome": "fail", "attempts": 1}, {"outcome": "pass", "attempts": 2}]
    own.benches.report(run_id=2)
    own.benches.report(run_id=3, tests=[{**test, **failed}], sha="b" * 40, **names)
    own.benches.report(run_id=4, tests=[{**test, **retried}], sha="c" * 40, **names)
    key = ci_key(own.server.ci_key)
    for sha in ("c" * 40, "d" * 40):
        body = {"repo_key": name, "suite": name, "branch": name, "sha": sha}
        body["merged_at"] = own.benches.times()["started_at"]
        reply = ask(own.server.url, "POST", "/api/ci/merge-announce", key, json_body=body)
        assert reply.status == 204, reply.body


def test_tables_use_a_wide_screen_and_lines_stay_readable(page: Page, demo: Dashboard) -> None:
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/metrics?days=90")
    expect(page.locator("#flaky tbody tr").first).to_be_visible()

    for width, theme in product((390, 1440, 1920, 2560), SCHEMES):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        assert page.evaluate("document.documentElement.scrollWidth") == width, theme
        widths = page.locator("main .part").evaluate_all(WIDTHS)
        assert set(widths) == {min(width, PAGE_MAX) - 2 * MARGIN}, (width, theme)
        assert max(page.locator("main p").evaluate_all(WIDTHS)) <= LINE_MAX, (width, theme)


def test_a_number_and_the_word_after_it_stand_apart(page: Page, demo: Dashboard) -> None:
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/failures?days=90")
    expect(page.locator("tbody tr").first).to_be_visible()

    gaps = page.locator("tbody td.number + td").evaluate_all(GAPS)

    assert gaps
    assert min(gaps) >= GAP_MIN


def test_on_a_phone_each_value_of_a_run_stands_below_its_name(page: Page, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 375, "height": 740})
    with site(page, tmp_path) as own:
        own.benches.report()
        own.open("runs")
        expect(page.locator("tbody tr").first).to_be_visible()

        found = page.locator(".runs tbody td").evaluate_all(NAMES_AND_VALUES)

        assert len(found) == RUN_COLUMNS
        for cell in found:
            assert cell["name"] >= cell["left"], cell
            assert cell["value"] >= cell["top"] + cell["height"], cell


def test_on_a_phone_a_card_has_values_beside_each_other(page: Page, demo: Dashboard) -> None:
    page.set_viewport_size({"width": 390, "height": 740})
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/failures?days=90")
    row = page.locator("tbody tr").first
    expect(row).to_be_visible()

    found = row.locator("td").evaluate_all(NAMES_AND_VALUES)

    assert len({cell["top"] for cell in found}) <= len(found) / 2
    for cell in found[1:]:
        assert cell["value"] >= cell["top"] + cell["height"], cell
    assert page.locator(".table-scroll").evaluate_all(OUT_OF_SIGHT) == [0]


def test_names_of_boxes_and_branches_are_whole_in_the_list_of_runs(
    page: Page, demo: Dashboard
) -> None:
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/runs?branch=release/2.4")
    expect(page.locator("tbody tr").first).to_be_visible()
    branches = page.locator("tbody td[data-title=Branch]")
    boxes, rectangles = page.locator("tbody td[data-title=Box] a"), "one.getClientRects().length"
    for width in (1024, 1280):
        page.set_viewport_size({"width": width, "height": 900})

        assert set(branches.evaluate_all(LINES)) == {1}, width
        assert set(boxes.evaluate_all(f"all => all.map(one => {rectangles})")) == {1}, width
        bottoms = page.locator(".filters > label").evaluate_all(BOTTOMS)
        assert bottoms.count(max(bottoms)) > 1, f"no filter stands alone in a row of {width}"


@pytest.mark.parametrize("by", rounds(["cause"], ["failure", "cause"]))
def test_a_table_of_failures_shows_its_buttons_at_1024_pixels(
    page: Page, demo: Dashboard, by: str
) -> None:
    organization = demo.sign_in(page.context)
    page.set_viewport_size({"width": 1024, "height": 800})
    query = f"days=90&other=open&other.rows=all&bugs.rows=all&other.by={by}&bugs.by={by}"
    page.goto(f"{demo.url}/orgs/{organization}/metrics?{query}")
    for part in ("#bugs", "#other"):
        expect(page.locator(f"{part} [data-title=Review] button").first).to_be_visible()

        assert page.locator(f"{part} .table-scroll").evaluate_all(OUT_OF_SIGHT) == [0]


@pytest.mark.parametrize("name", rounds(["runs"], ["failures", "runs"]))
def test_on_a_phone_a_list_begins_with_a_few_rows_and_a_click_shows_more(
    page: Page, demo: Dashboard, name: str
) -> None:
    address = f"{demo.url}/orgs/{demo.sign_in(page.context)}/{name}"
    rows, switch = (
        page.locator("tbody tr"),
        page.get_by_role("button", name=re.compile("^Show all")),
    )
    page.set_viewport_size({"width": 390, "height": 740})
    page.goto(address)
    expect(rows).to_have_count(5)

    switch.click()

    expect(rows).to_have_count(20)
    expect(page).to_have_url(re.compile(rf"{name}\.rows=all"))
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(address)
    expect(rows).to_have_count(20)
    expect(switch).to_have_count(0)
