# SPDX-License-Identifier: Apache-2.0
"""The target of a share: a line in its chart, and words that say whether the period met it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Dashboard
from tests.web.live import Site, site
from tests.web.reading import SCHEMES, luminance

LINE = "node => node.getAttribute('d').match(/[\\d.]+/g).map(Number)[1]"
COLOURS = """(line) => {
  const rgb = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const tile = getComputedStyle(line.closest(".tile"));
  return [getComputedStyle(line).stroke, tile.backgroundColor].map(rgb);
}"""


@pytest.fixture
def own(page: Page, tmp_path: Path) -> Iterator[Site]:
    with site(page, tmp_path) as made:
        for run in range(1, 5):
            assert made.benches.report(run_id=run, hello_ok=run > 1).status == 204
        yield made


def test_the_demo_shows_its_targets(page: Page, demo: Dashboard) -> None:
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/metrics?days=90")

    for title, words in (("Merges checked", "at least 95 %"), ("Infra runs", "at most 5 %")):
        tile = page.locator(".tile", has_text=title)
        expect(tile.locator("path.target")).to_have_count(1)
        expect(tile.locator(".trend-target")).to_contain_text(words)


def test_the_tile_says_its_target_and_the_line_is_where_the_share_would_be(own: Site) -> None:
    tile = own.page.locator(".tile", has_text="Infra runs")
    words = tile.locator(".trend-target")
    for most, result in ((25, "met"), (10, "not met")):
        own.benches.configure(targets={"infra_runs": most})
        own.open("metrics")

        expect(words).to_have_text(f"Target at most {most} %: {result}")
        assert tile.locator("path.target").evaluate(LINE) == 1 + 28 * (1 - most / 100)
        expect(own.page.locator(".trend-target")).to_have_count(1)  # no other tile has one

    line = own.page.locator("path.target")
    expect(line).to_have_css("stroke-dasharray", "5px, 3px")
    for scheme in SCHEMES:
        own.page.emulate_media(color_scheme=scheme)
        mark, behind = (luminance(one) for one in line.evaluate(COLOURS))
        assert (max(mark, behind) + 0.05) / (min(mark, behind) + 0.05) >= 3, scheme

    # The words of a day take their place; who hears the page is still told.
    tile.locator(".bars").focus()
    own.page.keyboard.press("Home")
    expect(words).to_have_css("opacity", "0")
    expect(tile.get_by_role("paragraph").filter(has_text="Target")).to_have_text(
        "Target at most 10 %: not met"
    )

    own.benches.configure(targets={})
    own.open("metrics")
    expect(own.page.locator(".plot")).to_have_count(4)
    expect(own.page.locator("path.target, .trend-target")).to_have_count(0)
