# SPDX-License-Identifier: Apache-2.0
"""The page of one failure: what it shows is the API's, and a reviewer can decide there (spec,
"Classification of a resolved failure", "Review of a resolved failure").
"""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from hwci.cli.terminal.tables import duration
from hwci.contract.vocabulary import CLASSES, REASONS, STEPS, FailureClass, Reason
from hwci.said import counted
from hwci.wire.limits import EVIDENCE_MAX
from tests.support.running import MEMBER_EMAIL, PASSWORD, RunningServer
from tests.support.soak import rounds
from tests.web.conftest import Account, Dashboard
from tests.web.failing import DRIVER, FILES, HARNESS, failing_server, pass_on_the_failing_commit
from tests.web.live import site

CHECKS = [reason.value for reason in REASONS if reason is not Reason.DISMISSED]
DEMO_HAS = [
    reason for reason in CHECKS if reason not in {"paths_not_configured", "fix_unconnected"}
]
ASKED = "nodes => nodes.map(n => [n.dataset.reason, n.querySelector('.found').textContent])"
PARTS = "nodes => nodes.map(n => [...n.children].map(part => part.textContent))"
SHAS = "nodes => nodes.map(node => node.dataset.sha)"
Evidence = dict[str, Any]

# What holds of a real firmware bug, in the command line's words.
CLAIMS = {reason: claim for step in STEPS for reason, claim in step.claims.items()}


class Reader:
    """Someone signed in to a server, in a browser and beside it."""

    def __init__(self, page: Page, dashboard: Dashboard, account: Account | None = None) -> None:
        self.page, self.dashboard = page, dashboard
        self.token = dashboard.token(account)
        self.org = dashboard.sign_in(page.context, account)
        self.api = f"/api/orgs/{self.org}"

    def ask(self, path: str) -> Any:
        return self.dashboard.ask(self.api + path, self.token)

    def evidence(self, failure_id: str) -> Evidence:
        found: Evidence = self.ask(f"/ci-failures/{failure_id}")
        return found

    def open(self, failure_id: str, query: str = "") -> None:
        self.page.goto(f"{self.dashboard.url}/orgs/{self.org}/failures/{failure_id}{query}")
        expect(self.page.get_by_role("heading", level=1)).to_be_visible()

    def act(self, failure_id: str, action: str) -> None:
        """Review without the browser."""
        url = f"{self.dashboard.url}{self.api}/ci-failures/{failure_id}/{action}"
        headers = {"Authorization": f"Bearer {self.token}"}
        with urlopen(Request(url, headers=headers, method="POST")):
            pass

    def resolved(self, reason: str | None) -> Evidence:
        """Return the evidence of a resolved failure that has this reason and no review."""
        table = "real-bugs" if reason is None else "other-failures"
        rows = self.ask(f"/ci-metrics/{table}?days=90&limit=100")["items"]
        row = next(row for row in rows if row["reason"] == reason and row["review"] is None)
        return self.evidence(row["id"])

    def labelled(self, label: str) -> Evidence:
        rows = self.ask(f"/ci-failures?days=90&label={label}&limit=100")["items"]
        return self.evidence(rows[0]["id"])


@pytest.fixture
def reader(page: Page, demo: Dashboard) -> Reader:
    return Reader(page, demo)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with failing_server(tmp_path_factory.mktemp("failing")) as server:
        yield server


@pytest.fixture
def owner(page: Page, own: RunningServer) -> Reader:
    return Reader(page, Dashboard(own.url, Account(own.email, own.password)))


def shows_checks(page: Page, evidence: Evidence) -> None:
    """See that the page has the check that decided, and the API's others, in order, below it."""
    expect(page.get_by_role("heading", name="Checks")).to_be_visible()
    decided = [check for check in evidence["checks"] if check["decided"]]
    shown = page.locator(".check[data-reason]")
    assert shown.evaluate_all(ASKED) == [[one["reason"], f"{one['found']}."] for one in decided]

    passed, left = (len(evidence["checks"]) - len(decided), len(CHECKS) - len(evidence["checks"]))
    words = [f"{counted(passed, 'check')} passed", f"{left} not reached"]
    words = [said for said, number in zip(words, (passed, left), strict=True) if number]
    page.get_by_role("button", name=", ".join(words), exact=True).click()

    checks = decided + [check for check in evidence["checks"] if not check["decided"]]
    expect(shown).to_have_count(len(checks))
    assert shown.evaluate_all(ASKED) == [[one["reason"], f"{one['found']}."] for one in checks]
    assert [one["reason"] for one in evidence["checks"]] == CHECKS[: len(checks)]
    expect(page.locator(".check", has_text="not reached")).to_have_count(left)
    assert page.locator(".check[data-reason] .asked").evaluate_all(PARTS) == [
        answered(check) for check in checks
    ]


def answered(check: Evidence) -> list[str]:
    """Return the answer of a check as it is drawn and read aloud, and its claim; or why it did not
    pass.
    """
    if check["decided"]:
        return ["✗not passed, this decided:", check["reasonText"]]
    return ["✓passed:", CLAIMS[check["reason"]]]


@pytest.mark.parametrize("reason", rounds(DEMO_HAS[::3], DEMO_HAS))
def test_a_reason_is_shown_with_its_checks_up_to_the_deciding_one(
    reader: Reader, reason: str
) -> None:
    evidence = reader.resolved(reason)
    reader.open(evidence["failure"]["id"])

    expect(reader.page.locator(".verdict-line")).to_contain_text(evidence["resolved"]["reasonText"])
    shows_checks(reader.page, evidence)
    assert evidence["checks"][-1]["reason"] == reason


@pytest.mark.parametrize("reason", rounds([None], [None, "verdict_missing"]))
def test_what_would_change_the_class_is_said_with_what_to_do(
    reader: Reader, reason: str | None
) -> None:
    evidence = reader.resolved(reason)
    found = reader.ask(f"/ci-analysis/failures/{evidence['failure']['id']}")["edits"]
    reader.open(evidence["failure"]["id"])

    lines = reader.page.locator(".what-if li")
    expect(lines).to_have_count(len({(one["class"], one["kind"]) for one in found}))
    first = found[0]
    said = lines.filter(has_text=first["condition"])
    expect(said).to_contain_text(CLASSES[FailureClass(first["class"])].would_be)
    expect(said).to_contain_text(first["toDo"])
    patterns = {(one["class"], one["kind"]) for one in found if one["pattern"] is not None}
    heading = "Only if the configured paths are wrong or missing:"
    expect(reader.page.get_by_text(heading)).to_have_count(1 if patterns else 0)
    expect(reader.page.locator(f"p:text-is('{heading}') + .what-if > li")).to_have_count(
        len(patterns)
    )


def test_the_metrics_page_says_what_would_decide_the_ambiguous_failures(reader: Reader) -> None:
    found = reader.ask("/ci-analysis/gaps?days=90")
    gaps, together = found["gaps"], found["together"]
    reader.page.goto(f"{reader.dashboard.url}/orgs/{reader.org}/metrics?days=90&other=open")
    reader.page.get_by_role("button", name="What would decide the ambiguous ones").click()

    expect(reader.page).to_have_url(re.compile(r"other\.gaps=open"))
    lines = reader.page.locator(".gaps li")
    expect(lines).to_have_count(len(gaps))
    for line, gap in zip(lines.all(), gaps, strict=True):
        expect(line).to_contain_text(gap["text"])
        expect(line).to_contain_text(gap["toDo"])
        expect(line.locator("code")).to_have_text([one["lines"] for one in gap["ciLines"]])
        expect(line).to_contain_text(f"{gap['ciLines'][0]['where']}:")
    assert {"noVerdict", "cutLists"} <= {gap["gap"] for gap in gaps}
    ends = f"{together['atLeast']} to {together['atMost']}"
    assert together["atLeast"] < together["atMost"]
    whole = f"All together: {together['failures']} failures; this would decide {ends}."
    expect(reader.page.locator(".gaps + p")).to_have_text(whole)
    others = found["lookedAt"] - together["failures"]
    assert others > 1
    left = "others lack nothing that CI could send: a person decides, with the buttons above."
    expect(reader.page.locator(".gaps + p + p")).to_have_text(f"{others} {left}")


@pytest.mark.parametrize("test_id", rounds(["unconnected"], ["unconfigured", "unconnected"]))
def test_failures_that_the_demo_does_not_have_are_shown_too(owner: Reader, test_id: str) -> None:
    evidence = owner.evidence(id_of(owner, test_id))
    owner.open(evidence["failure"]["id"])

    shows_checks(owner.page, evidence)
    assert evidence["checks"][-1]["decided"]


@pytest.mark.parametrize(
    "reason",
    rounds(
        ["changes_incomplete"],
        [None, "fix_mixed", "changes_incomplete", "fix_incomplete"],
    ),
)
def test_the_commits_and_their_files_are_those_of_the_api(
    reader: Reader, reason: str | None
) -> None:
    evidence = reader.resolved(reason)
    reader.open(evidence["failure"]["id"], "?commits=all")

    rows = reader.page.locator(".commit")
    shown = rows.evaluate_all(SHAS)
    lists = [evidence[name] for name in ("underTest", "beforeFix", "timelineChanges")]
    told = {item["sha"]: item for commits in lists for item in commits}
    tested = [commit["sha"] for commit in evidence["timeline"]]
    assert set(shown) == {*tested, *told}
    assert [sha for sha in shown if sha in tested] == tested
    for sha, commit in told.items():
        row = reader.page.locator(f".commit[data-sha='{sha}']")
        if row.locator(".subject").get_attribute("aria-expanded") == "false":
            row.get_by_role("button", name=commit["subject"]).click()
        files = row.get_by_role("list", name="Files").get_by_role("listitem")
        expect(files).to_have_count(len(commit["files"]))
        assert kinds_and_paths(files) == [[one["kind"], one["path"]] for one in commit["files"]]
        expect(row.get_by_text("not fully reported")).to_have_count(2 * commit["filesTruncated"])


def kinds_and_paths(files: Locator) -> Any:
    parts = "nodes => nodes.map(n => ['.kind', 'code'].map(s => n.querySelector(s).textContent))"
    return files.evaluate_all(parts)


def test_the_range_and_the_fix_are_marked(owner: Reader) -> None:
    evidence = owner.evidence(id_of(owner, "range"))
    owner.open(evidence["failure"]["id"], "?commits=all")

    broken = [one["sha"] for one in evidence["resolved"]["brokenBy"]["commits"]]
    marked = owner.page.locator(".commit", has_text="may have broken it")
    suspects = owner.page.locator(".commit.suspect")
    fix = owner.page.locator(".commit", has=owner.page.get_by_text("fix", exact=True))
    assert marked.evaluate_all(SHAS) == broken
    assert len(broken) == 2
    assert suspects.evaluate_all(SHAS) == [broken[0], HARNESS, broken[1]]
    assert fix.evaluate_all(SHAS) == [evidence["resolved"]["fix"]["sha"]]


def test_a_pending_failure_shows_what_may_have_broken_it(owner: Reader) -> None:
    evidence = owner.labelled("pending")
    owner.open(evidence["failure"]["id"], "?commits=all")

    assert evidence["failure"]["label"] == "pending"
    broken = evidence["brokenBy"]["commits"]
    assert [one["sha"] for one in broken] == [DRIVER, evidence["failure"]["sha"]]
    shown = fact(owner, "May have broken it").get_by_role("listitem")
    expect(shown).to_contain_text([f"{one['sha'][:12]} {one['subject']}" for one in broken])
    marked = owner.page.locator(".commit", has_text="may have broken it")
    assert marked.evaluate_all(SHAS) == [one["sha"] for one in broken]


def test_the_ci_job_of_the_first_failing_run_is_linked_where_it_was_told(
    page: Page, tmp_path: Path
) -> None:
    with site(page, tmp_path) as made:
        for number, job in enumerate((None, "https://ci.example/7")):
            failed = {"id": f"test-{number}", "outcome": "fail", "attempts": 1, "duration_s": 1.0}
            made.benches.report(run_id=number, sha="a" * 40, tests=[failed], ci_url=job)
        for row in made.ask("ci-failures?days=90&sort=testId")["items"]:
            told = row["testId"] == "test-1"
            with page.expect_response(re.compile(r"/runs\?.*ciRun=")) as answered:
                made.open(f"failures/{row['id']}")
            answered.value.finished()
            link = page.locator(".facts").get_by_role("link", name="page of the job", exact=True)
            expect(link).to_have_count(1 if told else 0)
            if told:
                expect(link).to_have_attribute("href", "https://ci.example/7")


def test_a_check_leads_to_its_commit(reader: Reader) -> None:
    evidence = reader.resolved("fix_touched_harness")
    sha, file = (evidence["checks"][-1][key] for key in ("commit", "file"))
    reader.open(evidence["failure"]["id"])

    reader.page.locator(".check.decided").get_by_role("link", name=sha[:12]).click()

    row = reader.page.locator(f".commit[data-sha='{sha}']")
    expect(row.locator(".subject")).to_be_focused()
    expect(row.locator(".subject")).to_be_in_viewport()
    expect(row.locator(".files .looked-at")).to_contain_text(file)
    assert f"commit={sha}" in reader.page.url


def test_an_opened_commit_has_the_runs_of_the_api(reader: Reader) -> None:
    evidence = reader.labelled("flake")
    reader.open(evidence["failure"]["id"])

    own = next(commit for commit in evidence["timeline"] if commit["this"])
    rows = reader.page.locator(".opened tbody tr")
    expect(rows).to_have_count(len(own["runs"]))
    for row, run in zip(rows.all(), own["runs"], strict=True):
        expect(row).to_contain_text(str(run["runId"]))
        expect(row).to_contain_text(run["workflow"])
        outcome = {"pass": "passed", "fail": "failed"}[run["outcome"]]  # as on the page of the run
        expect(row.get_by_text(outcome, exact=True)).to_be_visible()
        expect(row.get_by_text(duration(run["durationS"]), exact=True)).to_be_visible()


def test_every_run_that_is_shown_leads_to_its_page(reader: Reader) -> None:
    evidence = reader.resolved("fix_mixed")
    reader.open(evidence["failure"]["id"], "?checks=open")

    own = next(commit for commit in evidence["timeline"] if commit["this"])
    in_view = [*evidence["checks"][-1:], *evidence["checks"][:-1]]  # the one that decided is first
    checked = [check["run"] for check in in_view if check["run"]]
    for place, runs in ((".opened", own["runs"]), (".looked", checked)):
        links = reader.page.locator(place).get_by_role("link", name=re.compile(r"^run \d+"))
        expect(links).to_have_count(len(runs))
        hrefs = links.evaluate_all("nodes => nodes.map(node => node.getAttribute('href'))")
        assert hrefs == [f"/orgs/{reader.org}/runs/{run['runRecordId']}" for run in runs]

    first = str(evidence["resolved"]["firstFailure"]["runId"])
    reader.page.locator(".facts").get_by_role("link", name=f"run {first}", exact=True).click()
    expect(reader.page.get_by_role("heading", level=1)).to_contain_text(first)


def test_a_reviewer_confirms_and_resets_a_failure(reader: Reader) -> None:
    failure_id = reader.resolved("fix_not_firmware")["failure"]["id"]
    reader.open(failure_id)
    review, line = reader.page.get_by_role("group", name="Review"), verdict_line(reader)
    expect(review.get_by_role("button")).to_have_text(["Confirm as firmware bug"])

    review.get_by_role("button", name="Confirm").click()
    expect(line).to_contain_text("Confirmed as a real firmware bug, by Demo")
    expect(review.get_by_role("status")).to_have_text("Confirmed as a real firmware bug.")
    expect(fact(reader, "Reviewed by")).to_have_text("Demo")
    expect(review.get_by_role("button")).to_have_text(["Dismiss", "Reset"])
    expect(review).to_be_focused()
    expect(reader.page.get_by_text("Without the review it would be")).to_be_visible()
    assert reader.evidence(failure_id)["resolved"]["review"]["action"] == "confirm"

    review.get_by_role("button", name="Reset").click()
    expect(line).to_contain_text("Fix did not touch firmware")
    expect(fact(reader, "Status")).to_have_text("Automatic")
    expect(review.get_by_role("button")).to_have_text(["Confirm as firmware bug"])
    assert reader.evidence(failure_id)["resolved"]["review"] is None


def test_an_ambiguous_failure_is_settled_in_one_step_with_a_note_and_an_issue(
    reader: Reader, quiet_console: list[str]
) -> None:
    failure_id = reader.resolved("fix_mixed")["failure"]["id"]
    reader.open(failure_id)
    review = reader.page.get_by_role("group", name="Review")
    issue = "https://issues.example.org/7"
    review.get_by_label("Note (optional)").fill("<b>loose</b> cable")
    review.get_by_label("Issue link (optional)").fill("javascript:alert(1)")
    order = review.locator("input, button").evaluate_all("all => all.map(one => one.tagName)")
    assert order == ["INPUT", "INPUT", "BUTTON", "BUTTON"]  # what is written is sent by a button

    review.get_by_role("button", name="Dismiss").click()
    expect(review.get_by_role("alert")).to_contain_text("begins with http:// or https://")
    assert reader.evidence(failure_id)["resolved"]["review"] is None
    quiet_console.clear()  # the browser names every refused request
    review.get_by_label("Issue link (optional)").fill(issue)
    review.get_by_role("button", name="Dismiss").click()

    expect(verdict_line(reader)).to_contain_text("Dismissed by an admin")
    expect(reader.page.get_by_text("<b>loose</b> cable", exact=True)).to_be_visible()
    expect(review.get_by_role("status")).to_contain_text("with the note “<b>loose</b> cable”.")
    expect(reader.page.get_by_role("link", name=issue)).to_have_attribute("href", issue)
    expect(review.get_by_label("Note (optional)")).to_have_value("")
    kept = reader.evidence(failure_id)["resolved"]["review"]
    assert (kept["note"], kept["issue"]) == ("<b>loose</b> cable", issue)

    review.get_by_role("button", name="Reset").click()
    expect(verdict_line(reader)).to_contain_text("Fix changed firmware and harness")


def test_a_real_bug_passed_every_check_and_a_reviewer_dismisses_it(reader: Reader) -> None:
    evidence = reader.resolved(None)
    failure_id = evidence["failure"]["id"]
    reader.open(failure_id)

    failure = evidence["failure"]
    expect(reader.page).to_have_title(f"{failure['testId']} on {failure['boxKey']} · hwci")
    expect(verdict_line(reader)).to_contain_text("every check passed")
    expect(reader.page.get_by_text("All checks passed")).to_be_visible()
    shows_checks(reader.page, evidence)
    assert len(evidence["checks"]) == len(CHECKS)
    fix = reader.page.locator(f".commit[data-sha='{evidence['resolved']['fix']['sha']}']")
    expect(fix.get_by_text("fix", exact=True)).to_be_visible()
    expect(fix.get_by_text("before the fix")).to_have_count(0)
    for name, where in (("underTest", "under test"), ("beforeFix", "before the fix")):
        told = re.compile(rf"^{evidence[f'{name}Total']} reported commits? {where}$")
        expect(reader.page.get_by_text(told)).to_be_visible()

    review = reader.page.get_by_role("group", name="Review")
    review.get_by_role("button", name="Dismiss").click()
    expect(verdict_line(reader)).to_contain_text("Dismissed by an admin")
    expect(review.get_by_role("button")).to_have_text(["Confirm as firmware bug", "Reset"])
    review.get_by_role("button", name="Reset").click()
    expect(verdict_line(reader)).to_contain_text("every check passed")


def test_a_review_that_came_too_late_says_why_and_shows_what_is_now(
    reader: Reader, quiet_console: list[str]
) -> None:
    failure_id = reader.resolved("fix_mixed")["failure"]["id"]
    reader.open(failure_id)
    reader.act(failure_id, "confirm")

    review = reader.page.get_by_role("group", name="Review")
    review.get_by_role("button", name="Confirm").click()
    expect(review.get_by_role("alert")).to_contain_text(
        "Demo reviewed it meanwhile. Nothing was changed."
    )
    expect(review.get_by_role("button")).to_have_text(["Dismiss", "Reset"])
    quiet_console.clear()  # the browser names every refused request

    review.get_by_role("button", name="Reset").click()
    expect(verdict_line(reader)).to_contain_text("Fix changed firmware and harness")


def test_a_reset_failure_that_is_a_flake_by_now_becomes_the_page_of_one(
    owner: Reader, own: RunningServer
) -> None:
    failure_id = id_of(owner, "passes-later")
    owner.act(failure_id, "confirm")
    pass_on_the_failing_commit(own)
    owner.open(failure_id)
    expect(verdict_line(owner)).to_contain_text("Confirmed as a real firmware bug, by Olga Owner")

    owner.page.get_by_role("button", name="Reset").click()

    expect(verdict_line(owner)).to_contain_text("A flake: the test also passed")
    expect(owner.page.get_by_role("group", name="Review")).to_have_count(0)


def test_a_member_reads_all_of_it_and_reviews_nothing(page: Page, own: RunningServer) -> None:
    dashboard = Dashboard(own.url, Account(own.email, own.password))
    member = Reader(page, dashboard, Account(MEMBER_EMAIL, PASSWORD))
    member.open(id_of(member, "range"))

    expect(verdict_line(member)).to_contain_text("every check passed")
    expect(page.get_by_role("link", name="Runs", exact=True)).to_be_visible()
    expect(page.get_by_role("group", name="Review").get_by_role("button")).to_have_count(0)


def test_the_keyboard_reaches_every_commit_and_control(owner: Reader) -> None:
    owner.open(id_of(owner, "range"), "?commits=all")
    page = owner.page
    controls = page.locator("main :is(button, a, summary):visible")
    total = controls.count()
    controls.first.focus()
    reached = {0}
    for _ in range(total + 2):  # two tables scroll, and take the focus too
        page.keyboard.press("Tab")
        reached.add(controls.evaluate_all("nodes => nodes.indexOf(document.activeElement)"))
    assert reached - {-1} == set(range(total))

    subject = page.locator(".subject").first
    subject.focus()
    page.keyboard.press("Enter")
    expect(subject).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".opened")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(subject).to_have_attribute("aria-expanded", "false")


def test_commits_alike_are_folded_until_they_are_asked_for(owner: Reader) -> None:
    evidence = owner.evidence(id_of(owner, "long"))
    owner.open(evidence["failure"]["id"])

    tested = len(evidence["timeline"])
    note = f"Of {evidence['timelineTotal']} commits that ran the test {tested} are shown"
    expect(owner.page.get_by_text(note)).to_be_visible()
    expect(owner.page.locator(".commit[data-sha]")).not_to_have_count(tested)
    owner.page.get_by_role("button", name="more commits, failed").first.click()
    expect(owner.page.locator(".commit[data-sha]")).to_have_count(tested)
    expect(owner.page.locator(".subject:focus")).to_have_count(1)


def test_what_is_not_shown_of_a_commit_is_counted_as_the_answer_says(owner: Reader) -> None:
    def more(route: Route) -> None:
        answer = route.fetch()
        told = answer.json()
        for commit in told["underTest"]:
            if commit["sha"] == HARNESS:
                commit["filesTotal"] = 7_000
        route.fulfill(response=answer, json=told)

    failure_id = id_of(owner, "range")
    owner.page.route(f"**/ci-failures/{failure_id}", more)
    owner.open(failure_id, f"?commits=all&commit={DRIVER}")

    expect(owner.page.locator(f".commit[data-sha='{HARNESS}'] .counts")).to_contain_text("7,000")
    counts = owner.page.locator(f".commit[data-sha='{DRIVER}'] .counts span")
    expect(counts).to_have_text([f"{FILES} files", "firmware", "not fully reported"])
    expect(owner.page.locator(".opened")).to_contain_text("and 340 more not shown")
    expect(owner.page.locator(".opened")).to_contain_text("were not fully reported")


def test_unknown_changes_are_shown_with_the_reason(reader: Reader) -> None:
    reader.open(reader.resolved("changes_unknown")["failure"]["id"])

    expect(reader.page.locator(".notes")).to_contain_text("The changes under test are unknown")
    expect(reader.page.locator(".notes")).to_contain_text("have no base commit")


@pytest.mark.parametrize(
    ("label", "why", "said"),
    [
        ("flake", "Flakes are not checked", ["it ran there in {runs} runs"]),
        (
            "pending",
            "The checks run once",
            ["Still failing, since", "will resolve it; a pass on the same commit"],
        ),
    ],
)
def test_what_is_not_checked_says_why_and_what_all_runs_of_its_test_say(
    reader: Reader, label: str, why: str, said: list[str]
) -> None:
    evidence = reader.labelled(label)
    failure = evidence["failure"]
    reader.open(failure["id"])

    own = next(commit for commit in evidence["timeline"] if commit["this"])
    for words in said:
        expect(verdict_line(reader)).to_contain_text(words.format(runs=own["runsTotal"]))
    when = "only resolved failures are" if label == "flake" else "once the failure is resolved"
    expect(reader.page.get_by_text(when)).to_be_visible()
    expect(reader.page.get_by_role("group", name="Review")).to_have_count(0)
    test = urlencode({name: failure[name] for name in ("repoKey", "suite", "testId")})
    section = reader.page.get_by_role("region", name=re.compile(r"^The test in \d+ days"))
    days = re.findall(r"\d+", section.get_by_role("heading").inner_text())[0]
    age = reader.dashboard.now() - datetime.fromisoformat(failure["firstStartedAt"])
    assert int(days) >= max(30, age.days)
    told = reader.ask(f"/ci-analysis/test?days={days}&{test}")
    expect(section).to_contain_text(f"{told['answer']} {told['says']}")
    expect(section).to_contain_text(why)
    section.get_by_role("link", name="history").click()
    expect(reader.page).to_have_url(re.compile(rf"/test\?days={days}&{re.escape(test)}$"))


def test_the_runs_of_a_flake_are_counted_by_the_api(page: Page, tmp_path: Path) -> None:
    test = {"id": "boot", "attempts": 1, "duration_s": 1.0}
    with site(page, tmp_path) as own:
        for number in range(EVIDENCE_MAX + 1):
            outcome = "pass" if number else "fail"
            own.benches.report(run_id=number, tests=[{**test, "outcome": outcome}])
        (failure,) = own.ask("ci-failures?label=flake")["items"]
        own.open(f"failures/{failure['id']}")

        words = "the test also passed on the same commit and on bench-1; it ran there in 201 runs."
        expect(page.locator(".verdict-line")).to_contain_text(words)


@pytest.mark.parametrize("test_id", rounds(["cut"], ["long", "cut"]))
def test_every_commit_that_any_run_listed_has_its_subject_and_files(
    owner: Reader, test_id: str
) -> None:
    evidence = owner.evidence(id_of(owner, test_id))
    owner.open(evidence["failure"]["id"], "?commits=all")

    told = evidence["timelineChanges"]
    assert told
    assert {one["sha"] for one in told} <= {one["sha"] for one in evidence["timeline"]}
    for commit in (told[0], told[-1]):
        row = owner.page.locator(f".commit[data-sha='{commit['sha']}']")
        expect(row.locator(".subject")).to_have_text(commit["subject"])
        expect(row.locator(".counts span")).to_have_text(["1 file", "firmware"])
        if row.locator(".subject").get_attribute("aria-expanded") == "false":
            row.locator(".subject").click()
        files = row.get_by_role("list", name="Files").get_by_role("listitem")
        assert kinds_and_paths(files) == [["firmware", "src/main.c"]]


def test_a_commit_that_no_run_listed_has_no_guessed_content(owner: Reader) -> None:
    evidence = owner.evidence(id_of(owner, "range"))
    lists = [evidence[name] for name in ("underTest", "beforeFix", "timelineChanges")]
    told = {commit["sha"] for commits in lists for commit in commits}
    (untold,) = [one["sha"] for one in evidence["timeline"] if one["sha"] not in told]
    owner.open(evidence["failure"]["id"], f"?commits=all&commit={untold}")

    row = owner.page.locator(f".commit[data-sha='{untold}']")
    expect(row.locator(".commit-detail")).to_contain_text("Its changed files are unknown.")
    expect(row.locator(".commit-line")).to_contain_text(untold[:12])
    expect(row.locator(".commit-line")).not_to_contain_text("subject")
    expect(owner.page.get_by_text("only for commits that a run listed")).to_have_count(1)


def test_files_of_a_product_without_paths_have_no_kind_and_lead_on(owner: Reader) -> None:
    evidence = owner.evidence(id_of(owner, "unconfigured"))
    owner.open(evidence["failure"]["id"], "?commits=all")

    (commit,) = evidence["underTest"]
    assert [one["kind"] for one in commit["files"]] == [None]
    row = owner.page.locator(f".commit[data-sha='{commit['sha']}']")
    expect(row.locator(".counts")).to_have_text("1 file")
    expect(row.get_by_role("list", name="Files").get_by_role("listitem")).to_have_text("src/main.c")
    expect(owner.page.locator(".kind")).to_have_count(0)
    step = owner.page.locator(".notes code")
    expect(step).to_have_text("hwci suite-config apply hwci.toml")


def id_of(reader: Reader, test_id: str) -> str:
    tables = ("real-bugs", "other-failures")
    lists = [reader.ask(f"/ci-metrics/{table}?days=90")["items"] for table in tables]
    return str(next(row["id"] for rows in lists for row in rows if row["testId"] == test_id))


def verdict_line(reader: Reader) -> Locator:
    return reader.page.locator(".verdict-line")


def fact(reader: Reader, title: str) -> Locator:
    return reader.page.locator(f".facts div:has(dt:text-is('{title}')) dd")
