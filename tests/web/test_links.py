# SPDX-License-Identifier: Apache-2.0
"""Links into the site of the repository: on every page commits, files and pull requests open there
(contract, "Links").
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.asking import ask, ci_key
from tests.support.benches import Benches
from tests.support.running import Hands, running_in_thread
from tests.web.conftest import Account, Dashboard

GOOD, BROKE, FIX = ("a" * 40, "b" * 40, "c" * 40)
# Number of the run, commit, how the test ended, the commit before, subject.
RUNS = (
    (1, GOOD, "pass", None, "Begin"),
    (2, BROKE, "fail", GOOD, "Break boot (#71)"),
    (3, FIX, "pass", BROKE, "Fix boot for #12 (#72)"),
)
REPO = "acme/firmware"
SITE = f"https://git.example/{REPO}"
LINKS = {
    "commit": "https://git.example/{repo}/commit/{sha}",
    "file": "https://git.example/{repo}/{sha}/{path}",
    "pull": "https://git.example/{repo}/pull/{number}",
}
FINGER = 24  # pixels
FILE, FILE_WRITTEN = "src/a b?.c", "src/a%20b%3F.c"
LED = """nodes => nodes.map(({ nextElementSibling: next, firstElementChild: button }) =>
  [button.title.replace("Copy ", ""), next?.href])"""


class Told:
    """A server that was told of a bug, which a person reviewed, and of how its site is linked."""

    def __init__(self, benches: Benches) -> None:
        self.benches = benches
        product = {"repo_key": REPO, "suite": "hardware"}
        paths = {"firmware_paths": ["src/**"], "harness_paths": [], "merge_trigger": True}
        self._ci("PUT", "suite-config", {**product, **paths, "links": LINKS})
        merge = {"sha": "d" * 40, "branch": "main", "merged_at": benches.hands.now.isoformat()}
        self._ci("POST", "merge-announce", {**product, **merge})
        for number, *run in RUNS:
            self._run(number, *run)
        found = benches.member("GET", "ci-metrics/real-bugs").json["items"]
        self.bug: str = found[0]["id"]
        for action in ("dismiss", "confirm"):
            assert benches.member("POST", f"ci-failures/{self.bug}/{action}").status == 200
        self.run: str = found[0]["firstFailure"]["runRecordId"]

    def _run(self, number: int, sha: str, outcome: str, base: str | None, subject: str) -> None:
        commit = {"sha": sha, "subject": subject, "files": [FILE]}
        test = {"id": "boot", "outcome": outcome, "attempts": 1, "duration_s": 1.0}
        blamed = {"verdict": "device"} if outcome == "fail" else {}
        at = (self.benches.hands.now - timedelta(hours=9 - number)).isoformat()
        made = self.benches.report(
            run_id=number,
            sha=sha,
            started_at=at,
            ended_at=at,
            tests=[{**test, **blamed}],
            changes={"base_sha": base, "commits": [commit]},
        )
        assert made.status == 204, made.body

    def _ci(self, method: str, path: str, body: dict[str, Any]) -> None:
        server = self.benches.server
        made = ask(server.url, method, f"/api/ci/{path}", ci_key(server.ci_key), json_body=body)
        assert made.status == 204, made.body


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    hands = Hands()
    with running_in_thread(tmp_path_factory.mktemp("links"), clock=hands) as server:
        yield Told(Benches(server, hands))


@pytest.fixture
def home(page: Page, told: Told) -> str:
    """Sign in; return the beginning of the organization's addresses."""
    server = told.benches.server
    org = Dashboard(server.url, Account(server.email, server.password)).sign_in(page.context)
    return f"{server.url}/orgs/{org}"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("metrics", {"b", "c", "d"}),
        ("failures", {"b"}),
        ("failures/{bug}", {"b", "c"}),
        ("runs", {"a", "b", "c"}),
        ("runs/{run}", {"a", "b"}),
        ("audit-log", {"b"}),
    ],
)
def test_each_hash_of_a_page_leads_to_its_commit(
    page: Page, told: Told, home: str, path: str, shown: set[str]
) -> None:
    page.goto(f"{home}/{path.format(bug=told.bug, run=told.run)}")
    arrow = page.get_by_role("link", name="Open commit").first
    expect(arrow).to_be_visible()
    size = arrow.bounding_box()
    assert size is not None
    assert min(size["width"], size["height"]) >= FINGER

    found = page.locator(".sha-all").evaluate_all(LED)
    assert shown <= {sha[0] for sha, _ in found}
    assert [led for _, led in found] == [f"{SITE}/commit/{sha}" for sha, _ in found]


def test_files_and_pull_requests_of_a_run_lead_to_their_site(
    page: Page, told: Told, home: str
) -> None:
    page.goto(f"{home}/runs/{told.run}")
    page.get_by_role("button", name="1 file").click()

    file = page.get_by_role("link", name=FILE)
    expect(file).to_have_attribute("href", f"{SITE}/{BROKE}/{FILE_WRITTEN}")
    pull = page.get_by_role("link", name="Open pull request #71")
    expect(pull).to_have_attribute("href", f"{SITE}/pull/71")


def test_what_broke_a_test_leads_to_its_pull_request(page: Page, told: Told, home: str) -> None:
    page.goto(f"{home}/metrics")
    pull = page.locator("#bugs").get_by_role("link", name="Open pull request #71")
    expect(pull).to_have_attribute("href", f"{SITE}/pull/71")

    page.goto(f"{home}/failures/{told.bug}")
    pull = page.locator(".facts").get_by_role("link", name="Open pull request #71")
    expect(pull).to_have_attribute("href", f"{SITE}/pull/71")
    expect(page.locator(".line").get_by_role("link", name="Open pull request #72")).to_be_visible()


def test_what_a_check_found_leads_to_commit_and_file(page: Page, told: Told, home: str) -> None:
    page.goto(f"{home}/failures/{told.bug}?checks=open")
    check = page.locator("[data-reason=changes_not_firmware]")

    commit = check.get_by_role("link", name="Open commit")
    expect(commit).to_have_attribute("href", f"{SITE}/commit/{BROKE}")
    expect(check.get_by_role("link", name="Open pull request #71")).to_be_visible()
    file = check.get_by_role("link", name=FILE)
    expect(file).to_have_attribute("href", f"{SITE}/{BROKE}/{FILE_WRITTEN}")
