# SPDX-License-Identifier: Apache-2.0
"""The page of the audit log: who did what to which thing, for owners and admins (contract,
"Organizations").
"""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.support.asking import ask, bearer
from tests.support.running import ADMIN_EMAIL, MEMBER_EMAIL
from tests.web.conftest import Dashboard
from tests.web.live import Site, cells, site

ROWS = 20
TIMES = "nodes => nodes.map(one => one.dateTime)"
ACTIONS = "nodes => nodes.map(one => one.querySelector('td:nth-child(3) span').title)"
DEEDS = {
    "box.created": ("added a box", "bench-7"),
    "box.install_token": ("made a new install token", "bench-7"),
    "box.renamed": ("renamed a box", "bench-8"),
    "box.removed": ("removed a box", "bench-8"),
    "box.note_added": ("noted what was done to a box", "bench-7"),
    "box.note_removed": ("removed a note of a box", "bench-7"),
    "box.installed": ("was installed with a new key", "bench-7"),
    "ci_key.created": ("created a CI key", "nightly"),
    "ci_key.revoked": ("revoked a CI key", "nightly"),
    "trust.created": ("trusted CI jobs of a repository", "acme/firmware"),
    "trust.removed": ("trusts CI jobs of a repository no more", "acme/firmware"),
    "known_failure.added": ("called failures known", "FW-7"),
    "known_failure.removed": ("removed a rule for known failures", "FW-7"),
    "webhook.created": ("made a webhook", "chat.example"),
    "webhook.changed": ("changed a webhook", "chat.example"),
    "webhook.removed": ("removed a webhook", "chat.example"),
    "member.role": ("changed a role", "member@example.org"),
    "member.removed": ("removed a member", "member@example.org"),
    "invite.created": ("invited somebody", "new@example.org"),
    "invite.withdrawn": ("withdrew an invitation", "new@example.org"),
    "ci_metrics.enabled": ("turned CI Metrics on", "the organization"),
}


def do_all(own: Site) -> None:
    """Do what leaves an entry of each kind that one person can make."""
    member = own.benches.member
    own.benches.installed("bench-7")
    box = f"boxes/{own.ask('boxes')['items'][0]['id']}"
    member("POST", f"{box}/install-token")
    noted = member("POST", "box-notes", {"boxKey": "bench-7", "text": "new cable"}).json["id"]
    member("DELETE", f"box-notes/{noted}")
    member("PATCH", box, {"name": "bench-8"})
    member("DELETE", box)
    made = member("POST", "ci-keys", {"name": "nightly"}).json["id"]
    member("DELETE", f"ci-keys/{made}")
    trusted = {"system": "github", "repository": "acme/firmware"}
    trust = member("POST", "ci-trusts", trusted).json["id"]
    member("DELETE", f"ci-trusts/{trust}")
    until = (datetime.now(UTC) + timedelta(days=9)).isoformat()  # noqa: TID251 - the server's
    body = {"ticket": "FW-7", "testId": "uart.*", "until": until}
    rule = member("POST", "known-failures", body).json["id"]
    member("DELETE", f"known-failures/{rule}")
    hook = member("POST", "webhooks", {"address": "https://chat.example/"}).json["id"]
    member("PATCH", f"webhooks/{hook}", {"silentHours": 2})
    member("DELETE", f"webhooks/{hook}")
    people = {one["user"]["email"]: one["user"]["id"] for one in own.ask("members")["items"]}
    member("PATCH", f"members/{people[MEMBER_EMAIL]}", {"role": "admin"})
    member("DELETE", f"members/{people[MEMBER_EMAIL]}")
    member("POST", "invites", {"email": "new@example.org", "role": "member"})
    member("DELETE", f"invites/{own.ask('invites')['items'][0]['id']}")


def test_every_action_is_shown_in_words_with_who_and_which(page: Page, tmp_path: Path) -> None:
    with site(page, tmp_path) as own:
        do_all(own)
        own.open("audit-log?audit.limit=50")
        result = own.ask("audit-log?limit=50")["items"]
        rows = page.locator("tbody tr")
        expect(rows).to_have_count(len(result))

        assert rows.evaluate_all(ACTIONS) == [entry["action"] for entry in result]
        assert page.locator("tbody time").evaluate_all(TIMES) == [entry["at"] for entry in result]
        assert {entry["action"] for entry in result} == set(DEEDS)
        for place, entry in enumerate(result):
            _, who, what, which = cells(rows.nth(place))
            deed, thing = DEEDS[entry["action"]]
            assert (who, what) == (entry["actor"]["name"], deed)
            named = "tests" if entry["details"].get("name") == "tests" else thing
            assert which.startswith(named)
            if entry["action"].startswith("box."):
                link = rows.nth(place).get_by_role("link", name=thing, exact=True)
                expect(link).to_have_attribute("href", re.compile(rf"/box\?boxKey={thing}$"))


def test_a_review_leads_to_its_failure(page: Page, demo: Dashboard) -> None:
    org, token = demo.sign_in(page.context), demo.token()
    entries = demo.ask(f"/api/orgs/{org}/audit-log", token)["items"]
    place, entry = next(
        (place, one) for place, one in enumerate(entries) if one["action"] == "dismiss"
    )
    page.goto(f"{demo.url}/orgs/{org}/audit-log")
    shown = page.locator("tbody tr").nth(place)
    expect(shown).to_contain_text("a real firmware bug → dismissed")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown.get_by_role("button", name=entry["details"]["sha"][:12]).click()
    expect(shown.get_by_role("status")).to_have_text("copied")
    assert page.evaluate("navigator.clipboard.readText()") == entry["details"]["sha"]

    shown.get_by_role("link", name=entry["details"]["testId"]).click()

    assert page.url.endswith(f"/failures/{entry['target']}")


def test_the_log_is_paged_as_the_api_pages_it_for_owners_and_admins(
    page: Page, tmp_path: Path
) -> None:
    with site(page, tmp_path) as own:
        for number in range(ROWS + 4):
            own.benches.member("POST", "ci-keys", {"name": f"key {number}"})
        own.open("audit-log")
        expect(page.locator("tbody tr")).to_have_count(ROWS)

        page.get_by_role("button", name="Next").click()

        result: list[Any] = own.ask(f"audit-log?page=2&limit={ROWS}")["items"]
        expect(page.locator("tbody tr")).to_have_count(len(result))
        assert page.locator("tbody time").evaluate_all(TIMES) == [one["at"] for one in result]
        page.reload()
        expect(page.get_by_text("Page 2 of 2")).to_be_visible()

        own.sign_in(ADMIN_EMAIL)  # may read it too
        page.reload()
        expect(page.locator("tbody tr")).to_have_count(len(result))
        own.sign_in(MEMBER_EMAIL)
        page.reload()
        expect(page.get_by_text("The audit log is for owners and admins")).to_be_visible()
        expect(page.get_by_role("link", name="Audit log")).to_have_count(0)
        path = f"/api/orgs/{own.server.org_id}/audit-log"
        assert ask(own.server.url, "GET", path, bearer(own.server.member_token)).status == 403


def test_an_empty_log_says_what_will_stand_there_and_leads_to_it(
    page: Page, tmp_path: Path
) -> None:
    with site(page, tmp_path) as own:
        made = ask(
            own.server.url, "POST", "/api/orgs", bearer(own.server.token), json_body={"name": "New"}
        )
        page.goto(f"{own.server.url}/orgs/{made.json['id']}/audit-log")

        expect(page.locator(".empty")).to_contain_text("Each review of a failure will be")
        page.locator(".empty").get_by_role("link", name="boxes").click()
        expect(page.get_by_role("heading", level=1, name="Boxes")).to_be_visible()
