# SPDX-License-Identifier: Apache-2.0
"""The webhooks of an organization on its page of members: what each was sent, why that failed, and
again.
"""

from pathlib import Path

from playwright.sync_api import Page, expect

from hwci.client import Client, calls
from tests.support.running import MEMBER_EMAIL
from tests.support.scene import play
from tests.web.live import Site, site

NOWHERE = "http://127.0.0.1:9/services/hush"


def tell(own: Site) -> None:
    """Have a webhook be told of a failure that is confirmed."""
    play(own.server)
    with Client(own.server.url, token=own.server.token) as person:
        person.send(calls.create_webhook(own.server.org_id, NOWHERE))
        (failure, *_) = person.send(calls.other_failures(own.server.org_id)).items
        person.send(calls.confirm_failure(own.server.org_id, failure.id))


def test_deliveries_are_shown_with_what_failed_and_sent_again(page: Page, tmp_path: Path) -> None:
    with site(page, tmp_path) as own:
        tell(own)
        own.open("members")
        hooks = page.get_by_role("region", name="Webhooks 1")
        expect(hooks.get_by_role("region", name="Webhooks", exact=True)).to_contain_text(
            "127.0.0.1:9"
        )
        expect(hooks).not_to_contain_text("hush")

        hooks.get_by_role("button", name="Show the deliveries of 127.0.0.1:9").click()

        sent = hooks.get_by_role("region", name="Deliveries")
        expect(sent).to_contain_text("Real firmware bug: spi on bench-1")
        again = sent.get_by_role("button", name="Send again")
        again.click()
        expect(sent).to_contain_text("waiting")
        expect(page.get_by_role("alert")).to_have_count(0)


def test_only_owners_and_admins_see_webhooks(page: Page, tmp_path: Path) -> None:
    with site(page, tmp_path) as own:
        own.open("members")
        expect(page.get_by_text("hwci webhooks create ADDRESS")).to_be_visible()
        own.sign_in(MEMBER_EMAIL)
        own.open("members")
        expect(page.get_by_role("region", name="Members")).to_be_visible()
        expect(page.get_by_text("Webhooks")).to_have_count(0)
