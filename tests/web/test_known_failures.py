# SPDX-License-Identifier: Apache-2.0
"""Known failures on the pages of failures, of one failure, of a test and of a run."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Page, expect

from hwci.client import Client, calls
from tests.support.scene import REPO, SUITE, C, play
from tests.web.live import Site, site

UNTIL = datetime.now(UTC) + timedelta(days=9)  # noqa: TID251 - as the server's clock
TICKET = "https://issues.example.org/7"
SAYS = f"known: {TICKET} until {UNTIL:%Y-%m-%d}"


def know(own: Site) -> str:
    """Report failures of which those of `spi` are known; return the id of a run with only such."""
    play(own.server)
    with Client(own.server.url, token=own.server.token) as person:
        person.send(calls.add_known_failure(own.server.org_id, TICKET, UNTIL, "spi"))
        [run] = person.send(calls.list_runs(own.server.org_id, sha=C)).items
    return str(run.id)


def test_known_failures_have_a_badge_and_are_filtered(page: Page, tmp_path: Path) -> None:
    with site(page, tmp_path) as own:
        run = know(own)
        own.open("failures")
        table = page.get_by_role("region", name="Failures", exact=True)
        badges = table.get_by_title(SAYS)
        expect(badges).to_have_count(2)
        expect(table.get_by_role("link", name="Known").first).to_have_attribute("href", TICKET)

        page.get_by_text("Not known", exact=True).click()
        expect(badges).to_have_count(0)
        expect(table).not_to_contain_text("spi")
        page.get_by_text("Known", exact=True).first.click()
        expect(badges).to_have_count(2)
        expect(table).not_to_contain_text("i2c")
        own.open("failures?known=true&label=pending")
        page.get_by_role("button", name="Show both").click()
        expect(table).to_contain_text("adc")

        own.open(f"test?repoKey={REPO}&suite={SUITE}&testId=spi")
        expect(page.get_by_title(SAYS)).to_have_count(2)
        page.get_by_role("region", name="Failures of the test").get_by_role("link", name="spi")
        own.open(f"commit?repoKey={REPO}&sha={C}")
        expect(page.get_by_text("of all 1 test known")).to_be_visible()
        expect(page.get_by_title(SAYS)).to_have_count(1)
        own.open(f"runs/{run}")
        expect(page.get_by_text("only known failures")).to_be_visible()
        expect(page.get_by_text("1 failed (1 known)")).to_be_visible()
        expect(page.get_by_title(SAYS)).to_have_count(1)
        page.get_by_role("region", name="Tests").get_by_role("link", name="spi").click()
        expect(page.get_by_text(SAYS)).to_be_visible()
