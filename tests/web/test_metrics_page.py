# SPDX-License-Identifier: Apache-2.0
"""The metrics page in a browser: what a person sees, and what they do there (spec, "Metrics page
(dashboard)"). That its figures are the API's, `test_metrics_figures.py` claims.
"""

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.support.asking import ask, ci_key
from tests.support.soak import rounds
from tests.web.conftest import Dashboard, module
from tests.web.live import Site, site
from tests.web.reading import between, part, percent, rows, saved

OTHER = "Resolved by a bench or harness change, ambiguous or dismissed"
PLACES = "cells => cells.map(cell => cell.getBoundingClientRect().left)"
# What is told for a moment stays, however long a test takes to look.
NEVER_AFTER_A_COPY = """
  const later = window.setTimeout.bind(window);
  window.setTimeout = (what, after, ...more) => after === 1500 ? 0 : later(what, after, ...more);
"""


def asked(demo: Dashboard, metrics: str, path: str) -> Any:
    """Ask the API for something of the organization whose metrics are at this address."""
    organization = metrics.removeprefix(demo.url).removesuffix("/metrics")
    return demo.ask(f"/api{organization}/{path}", demo.token())


@pytest.fixture
def metrics(page: Page, demo: Dashboard) -> str:
    """Sign in; return the address of the metrics page."""
    return f"{demo.url}/orgs/{demo.sign_in(page.context)}/metrics"


def test_a_reviewer_opens_a_failure_confirms_it_sees_it_among_the_bugs_and_resets_it(
    page: Page, demo: Dashboard
) -> None:
    page.goto(f"{demo.url}/sign-in")
    page.get_by_label("E-mail").fill(demo.account.email)
    page.get_by_label("Password").fill(demo.account.password)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("90d", exact=True).click()
    with page.expect_response(re.compile(r"/ci-metrics\?.*suite=sensor-fw")):
        page.get_by_label("Product").select_option(label="sensor-fw")
    expect(page.locator(".page-head")).not_to_contain_text("Loading")
    page.get_by_role("button", name=OTHER).click()
    for table in ("bugs", "other"):
        expect(
            part(page, table).get_by_role("columnheader", name="Test and box")
        ).to_have_attribute("aria-sort", "none")
    page.get_by_role("button", name=re.compile("Show all .*: Real FW bugs caught")).click()
    row = rows(page, "other").filter(has=page.get_by_role("button", name=re.compile("^Confirm")))
    link = row.first.get_by_role("link").first
    failure = str(link.get_attribute("href")).rpartition("/")[2]
    ours = page.locator(f'a[href*="{failure}"]')
    before = int(str(part(page, "bugs").locator(".total").text_content()))
    expect(rows(page, "bugs")).to_have_count(before)

    link.click()
    page.get_by_role("button", name="Confirm").click()

    expect(page.get_by_role("status").filter(has_text="real firmware bug")).to_be_visible()
    page.get_by_role("link", name="Back to metrics").click()
    expect(rows(page, "bugs")).to_have_count(before + 1)
    expect(page).to_have_url(re.compile("days=90.*suite=sensor-fw"))
    expect(rows(page, "bugs").filter(has=ours)).to_contain_text("Demo")

    bug = rows(page, "bugs").filter(has=ours)
    bug.get_by_role("button", name=re.compile("^Reset")).click()

    expect(page.get_by_role("status").filter(has_text="the review is reset")).to_be_visible()
    expect(rows(page, "bugs")).to_have_count(before)
    expect(rows(page, "other").filter(has=ours)).to_contain_text("Automatic")


def test_dismiss_moves_a_bug_to_the_other_table_with_the_reason_and_reset_gives_it_back(
    page: Page, metrics: str
) -> None:
    page.goto(f"{metrics}?other=open&other.rows=all")
    row = rows(page, "bugs").filter(has_text="Automatic").first
    test = row.get_by_role("link").first.inner_text()

    row.get_by_role("button", name=re.compile("^Dismiss")).click()

    dismissed = rows(page, "other").filter(has_text="Dismissed by an admin").filter(has_text=test)
    expect(dismissed).to_contain_text("Demo")
    expect(page.get_by_label("Tiles")).to_contain_text("1 dismissed")

    message = page.get_by_role("status").filter(has_text="dismissed as not a firmware bug")
    message.get_by_role("button", name="Undo").click()

    expect(rows(page, "bugs").filter(has_text="Automatic").first).to_contain_text(test)
    expect(page.get_by_label("Tiles")).not_to_contain_text("dismissed")


def test_focus_goes_to_a_row_nearby_when_the_reviewed_one_leaves(page: Page, metrics: str) -> None:
    page.goto(f"{metrics}?other=open&bugs.rows=all")
    button = rows(page, "other").first.get_by_role("button", name=re.compile("^Confirm"))
    test = rows(page, "other").first.get_by_role("link").first.inner_text()
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="confirmed as a real")).to_be_visible()
    moved = rows(page, "bugs").filter(has_text="Demo").filter(has_text=test)
    expect(moved.first).to_be_visible()

    expect(rows(page, "other").locator(":focus")).to_have_count(1)

    moved.first.get_by_role("button", name=re.compile("^Reset")).click()
    expect(page.get_by_role("status").filter(has_text="the review is reset")).to_be_visible()


def test_what_the_server_refuses_is_shown_beside_the_row(
    page: Page, metrics: str, quiet_console: list[str]
) -> None:
    page.goto(f"{metrics}?other=open")
    row = rows(page, "other").first
    page.route(
        "**/ci-reviews",
        lambda route: route.fulfill(
            status=500, json={"message": "Something broke"}, headers={"x-request-id": "request-1"}
        ),
    )

    row.get_by_role("button", name=re.compile("^Confirm")).click()

    said = "Something broke. It was not reviewed. Try again. Request request-1"
    expect(row.get_by_role("alert")).to_have_text(said)
    expect(row.get_by_role("button", name=re.compile("^Confirm"))).to_be_enabled()
    quiet_console.clear()  # the browser itself tells of the status


def test_the_page_begins_with_thirty_days_and_a_closed_table_and_a_number_leads_to_its_rows(
    page: Page, metrics: str
) -> None:
    page.goto(metrics)
    expect(page.get_by_role("radio", name="30d")).to_be_checked()
    expect(page.get_by_label("Product")).to_have_value("")
    title = page.get_by_role("button", name=OTHER)
    expect(title).to_have_attribute("aria-expanded", "false")
    expect(rows(page, "other")).to_have_count(0)

    title.click()

    expect(rows(page, "other").first).to_be_visible()
    expect(page).to_have_url(re.compile("other=open"))
    title.first.click()
    expect(page).not_to_have_url(re.compile("other=open"))

    page.get_by_role("link", name=re.compile("bench or harness")).click()

    expect(page).to_have_url(
        re.compile("other=open&other.rows=all&other.by=failure&other.class=bench_or_harness#other$")
    )
    for row in rows(page, "other").all():
        expect(row).to_contain_text("Bench or harness")
    expect(rows(page, "other").first).to_be_in_viewport()
    expect(part(page, "other").locator("h2 button")).to_be_focused()


def test_the_merges_that_were_not_checked_are_what_their_link_counts(
    page: Page, metrics: str
) -> None:
    page.goto(f"{metrics}?days=90")
    link = page.get_by_label("Tiles").get_by_role("link", name=re.compile("not checked"))
    told = str(link.text_content()).split()[0]

    link.click()

    choice = part(page, "merges").get_by_role("radio", name=f"Not checked ({told})")
    expect(choice).to_be_checked()
    expect(part(page, "merges").get_by_role("heading", level=2)).to_be_in_viewport()


def test_an_address_leads_to_a_part_of_the_page_and_may_have_days_of_its_own(
    page: Page, metrics: str
) -> None:
    page.goto(f"{metrics}?days=14&flaky.sort=-attempts#flaky")
    expect(page.get_by_role("heading", name="Flakiest tests")).to_be_in_viewport()
    expect(page.get_by_role("columnheader", name="Attempts", exact=True)).to_have_attribute(
        "aria-sort", "descending"
    )
    expect(page.get_by_role("radio", name="14d")).to_be_checked()
    expect(page.locator("input[name=days]")).to_have_count(4)


def test_a_strip_unfolds_to_one_for_each_box_and_what_its_runs_suggest(
    page: Page, metrics: str, demo: Dashboard
) -> None:
    page.goto(f"{metrics}?days=90&flaky.search=lora_join")
    row = rows(page, "flaky")
    expect(row).to_have_count(1)
    row.scroll_into_view_if_needed()
    expect(
        row.get_by_role("img", name=re.compile("failed on .* of .* days with runs"))
    ).to_be_visible()

    row.get_by_role("button", name=re.compile("show the boxes")).click()

    boxes = part(page, "flaky").locator(".below tbody tr")
    expect(boxes).to_have_count(2)
    zone = page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone")
    query = f"days=90&search=lora_join&zone={zone}"
    told = asked(demo, metrics, f"ci-metrics/flakiest-tests/history?{query}")
    for box, strip in zip(told["items"][0]["boxes"], boxes.all(), strict=True):
        ran = len(box["slots"])
        failing = sum(slot["failedAttempts"] > 0 for slot in box["slots"])
        days = f"failed on {failing} of {ran} days" if failing else f"ran on {ran} days, no attempt"
        expect(strip.get_by_role("img")).to_have_attribute("aria-label", re.compile(days))
    analysis = "ci-analysis/flaky-tests?days=90&search=lora_join"
    [found] = asked(demo, metrics, analysis)["items"]
    assert found["found"] is not None
    below = part(page, "flaky").locator(".below")
    expect(below).to_contain_text(f"Its runs suggest: {found['text']}")
    low, high = (percent(Decimal(found[end])) for end in ("low", "high"))
    expect(below).to_contain_text(f" ({low[:-2]} to {high}). Its runs")


def test_each_flaky_test_says_whether_it_fails_now_or_whom_to_suspect(
    page: Page, metrics: str, demo: Dashboard
) -> None:
    items = asked(demo, metrics, "ci-analysis/flaky-tests?days=90&limit=100")["items"]
    answers = {one["testId"]: one["answer"] for one in items}
    assert {"fixed", "fails now on bench-2", "flaky on bench-2 only"} <= {*answers.values()}
    page.goto(f"{metrics}?days=90&flaky.rows=all")
    part(page, "flaky").scroll_into_view_if_needed()
    shown = rows(page, "flaky").locator(".whom")
    expect(shown.first).not_to_be_empty()
    tests = rows(page, "flaky").locator("td:first-child > a").all_inner_texts()
    expect(shown).to_have_text([answers[one] for one in tests])


def test_flaky_tests_are_ranked_by_what_their_rate_is_at_least_if_that_is_chosen(
    page: Page, metrics: str, demo: Dashboard
) -> None:
    query = "ci-analysis/flaky-tests?days=30&flaked=true&rankBy=lowerBound&detail=rates"
    told = asked(demo, metrics, query)["items"]
    table, tests = part(page, "flaky"), rows(page, "flaky").locator("td:first-child > a")
    page.goto(f"{metrics}?days=30&flaky.tests=flaked&flaky.rows=all")
    expect(tests).to_have_count(len(told))
    plain = tests.all_inner_texts()
    # Two products may have a test of the same name.
    suites = rows(page, "flaky").locator("td[data-title='Product']").all_inner_texts()
    every = asked(demo, metrics, f"{query}&limit=100")["items"]
    ranges = {(one["testId"], one["suite"]): between(one["low"], one["high"]) for one in every}
    table.scroll_into_view_if_needed()
    shown = [ranges[one] for one in zip(plain, suites, strict=True)]
    expect(rows(page, "flaky").locator(".sure")).to_have_text(shown)

    choice = table.get_by_role("button", name="Surest first")
    expect(choice).to_have_attribute("aria-pressed", "false")
    choice.click()
    expect(tests).to_have_text([one["testId"] for one in told])
    lows = [percent(Decimal(str(one["low"]))) for one in told]
    expect(rows(page, "flaky").locator("td[data-title='At least']")).to_have_text(lows)
    expect(rows(page, "flaky").first.get_by_role("img")).to_be_visible()

    page.reload()
    expect(choice).to_have_attribute("aria-pressed", "true")
    expect(tests).to_have_text([one["testId"] for one in told])
    rows(page, "flaky").first.get_by_role("button", name=re.compile("show the boxes")).click()
    expect(table.locator(".below")).to_contain_text("Its runs suggest: ")
    table.get_by_role("columnheader", name="Test").get_by_role("button").click()
    expect(choice).to_have_attribute("aria-pressed", "false")
    choice.click()
    choice.click()
    expect(tests).to_have_text(plain)


def test_a_test_that_failed_once_in_two_runs_is_not_above_one_that_often_did(
    page: Page, tmp_path: Path
) -> None:
    often = {"id": "often", "outcome": "pass", "duration_s": 1.0}
    seldom = {"id": "seldom", "outcome": "pass", "attempts": 2, "duration_s": 1.0}
    with site(page, tmp_path) as own:
        own.benches.report(run_id=1, tests=[seldom, {**often, "attempts": 2}])
        for run in range(2, 5):
            own.benches.report(run_id=run, tests=[{**often, "attempts": 1 + run % 2}])
        own.open("metrics")
        names = rows(page, "flaky").locator("td.name > a")
        expect(names).to_have_text(["seldom", "often"])

        part(page, "flaky").get_by_role("button", name="Surest first").click()

        expect(names).to_have_text(["often", "seldom"])


def test_the_runs_that_would_check_the_merges_are_commands_to_paste(
    page: Page, metrics: str, demo: Dashboard
) -> None:
    page.goto(f"{metrics}?days=90")
    merges = part(page, "merges")
    merges.get_by_role("button", name="Runs that would check them").click()

    expect(page).to_have_url(re.compile(r"merges\.plan=open"))
    plan = asked(demo, metrics, "ci-analysis/merge-plan?days=90")
    runs = plan["runs"]["items"]
    assert len(runs) < plan["runs"]["total"]
    expect(merges.locator(".plan code").filter(has_text="git checkout")).to_have_text(
        [run["command"] for run in runs]
    )
    expect(merges).to_contain_text(f"{plan['runs']['total']} runs, about ")
    expect(merges).to_contain_text(f"{plan['toFillIn']}. Both are in your CI job: ")
    for job in plan["ciJobs"]:
        link = merges.get_by_role("link", name=job["suite"], exact=True)
        expect(link).to_have_attribute("href", job["ciUrl"])
    assert len(plan["ciJobs"]) == 2
    expect(merges).to_contain_text(f"{plan['runs']['total'] - len(runs)} more: hwci merges plan")
    merges.get_by_role("radio", name=re.compile("^Checked")).check()
    expect(merges.locator(".plan")).to_have_count(0)


def test_a_merge_unfolds_what_to_do_about_it_and_the_run_that_would_check_it(
    page: Page, metrics: str, demo: Dashboard
) -> None:
    told = asked(demo, metrics, "ci-analysis/unchecked-merges?days=90")["items"]
    (one, *_) = (row for row in told if row["cause"] == "not_in_push_list")
    alike = [row for row in told if row["sha"] == one["sha"]]
    assert len(alike) == 2
    page.set_viewport_size({"width": 1024, "height": 768})
    page.goto(f"{metrics}?days=90&merges.rows=all")
    merges = part(page, "merges")
    expect(merges.get_by_role("link", name="What to do about").first).to_be_visible()
    columns = "rows => rows.map((row) => row.getBoundingClientRect().width)"
    widths = merges.locator("th").evaluate_all(columns)
    command = merges.locator(".plan code").filter(has_text="git checkout")
    for place, row in enumerate(alike):
        link = merges.get_by_role("link", name=f"What to do about {one['sha'][:12]}").nth(place)
        link.focus()
        page.keyboard.press("Enter")

        expect(link).to_have_attribute("aria-expanded", "true")
        expect(link).to_be_focused()
        below = rows(page, "merges").nth(told.index(row)).locator("+ .below")
        expect(below).to_contain_text(f"{row['causeText']}. {row['toDo']}.")
        of = urlencode({name: row[name] for name in ("repoKey", "suite", "sha")})
        (run,) = asked(demo, metrics, f"ci-analysis/merge-plan?days=90&{of}")["runs"]["items"]
        expect(command).to_have_text([run["command"]])
        assert row["suite"] in run["command"]
        assert merges.locator("th").evaluate_all(columns) == widths
    page.reload()
    expect(command).to_have_count(1)
    link.click()
    expect(command).to_have_count(0)
    page.goto(f"{metrics}?days=90&merges.toDo={'f' * 40}")
    expect(merges).to_contain_text("The merge of this address is not among these")


@pytest.mark.own_tab
def test_the_strips_are_asked_for_when_their_table_comes_near(page: Page, metrics: str) -> None:
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if "/history?" in one.url else None)
    page.goto(metrics)
    expect(rows(page, "flaky").first).to_be_visible()
    assert asked == []

    rows(page, "flaky").first.scroll_into_view_if_needed()

    expect(rows(page, "flaky").first.get_by_role("img")).to_be_visible()
    assert len(asked) == 1


def test_times_can_be_read_in_full_with_their_zone_by_whom_the_link_is_given(
    page: Page, metrics: str
) -> None:
    page.goto(metrics)
    time = rows(page, "merges").first.locator("time")
    expect(time).to_have_text(re.compile(" ago$|just now"))

    page.get_by_role("button", name="Exact times").click()

    in_full = re.compile(r"20\d\d, \d\d:\d\d:\d\d \S+$")  # and its zone
    expect(time).to_have_text(in_full)
    expect(page).to_have_url(f"{metrics}?times=exact")
    page.evaluate("localStorage.clear()")
    page.reload()
    expect(time).to_have_text(in_full)
    page.get_by_role("button", name="Time to detect and to fix").click()
    expect(page).to_have_url(re.compile("times=exact"))  # a section that opens is another matter
    page.get_by_role("link", name="Boxes").click()
    expect(page.locator("tbody time").first).to_have_text(in_full)
    page.get_by_role("button", name="Exact times").click()
    expect(page.locator("tbody time").first).to_have_text(re.compile("ago|just now"))
    expect(page).not_to_have_url(re.compile("times"))


AGO = f"""async (seconds) => {{
  const {{ ago }} = await {module("js/format.js")};
  return seconds.map((one) => ago(one * 1000, 0));
}}"""


def test_what_is_to_come_is_rounded_and_what_is_past_is_full(page: Page, demo: Dashboard) -> None:
    page.goto(f"{demo.url}/sign-in")

    told = page.evaluate(AGO, [86_395, 5_500, 30, -5_500, -86_395])

    assert told == ["in 24 hours", "in 92 minutes", "just now", "91 minutes ago", "23 hours ago"]


OWN_ORDERS = {
    "merges": ("unchecked-merges", "Merged", "mergedAt"),
    "bugs": ("real-bugs", "First failure", "startedAt"),
    "other": ("other-failures", "First failure", "startedAt"),
    "flaky": ("flakiest-tests", "Flake rate", "flakeRate"),
}


def test_a_table_marks_the_order_that_it_has_to_begin_with(
    page: Page, metrics: str, demo: Dashboard
) -> None:
    page.goto(f"{metrics}?other=open")
    token, api = demo.token(), metrics.removeprefix(demo.url).replace("/metrics", "/ci-metrics")
    for anchor, (table, title, column) in OWN_ORDERS.items():
        marked = part(page, anchor).locator("th[aria-sort=descending]")
        expect(marked).to_have_text(title)
        expect(part(page, anchor).locator("th[aria-sort=ascending]")).to_have_count(0)
        own, same = (
            demo.ask(f"/api{api}/{table}?limit=100{sort}", token)["items"]
            for sort in ("", f"&sort=-{column}")
        )
        assert own == same

    merged = part(page, "merges").locator("th", has_text="Merged")
    for order, sort in (
        ("ascending", r"merges\.sort=mergedAt$"),
        ("descending", "other=open$"),
    ):
        merged.get_by_role("button").click()
        expect(merged).to_have_attribute("aria-sort", order)
        expect(page).to_have_url(re.compile(sort))
    part(page, "merges").get_by_role("button", name="Branch").click()
    expect(merged).to_have_attribute("aria-sort", "none")
    merged.get_by_role("button").click()
    expect(merged).to_have_attribute("aria-sort", "descending")


# The parts of each test's name that stand on more than one line.
TORN = """links => links.flatMap((link) => [...link.childNodes]).filter((node) => {
  if (node.nodeType !== Node.TEXT_NODE || !node.data.trim()) return false;
  const range = document.createRange();
  range.selectNodeContents(node);
  return new Set([...range.getClientRects()].map((rect) => rect.top)).size > 1;
}).map((node) => node.data)"""


def test_names_of_tests_break_between_their_parts(page: Page, metrics: str) -> None:
    page.goto(f"{metrics}?days=90&other=open&times=exact")
    names = page.locator("#bugs td.name a, #other td.name a")
    expect(names.first).to_be_visible()

    for width in (1280, 700):
        page.set_viewport_size({"width": width, "height": 900})
        assert names.evaluate_all(TORN) == []
    assert page.locator("#bugs td.name a wbr").count() > 0
    name = names.first
    name.evaluate("node => getSelection().selectAllChildren(node)")
    assert page.evaluate("getSelection().toString()") == name.text_content()


@pytest.mark.own_clock
def test_how_long_ago_something_was_grows_while_one_looks(page: Page, metrics: str) -> None:
    page.goto(metrics)
    time = rows(page, "merges").first.locator("time")
    before = time.inner_text()

    page.clock.fast_forward(70 * 86_400_000)

    expect(time).not_to_have_text(before)
    expect(time).to_contain_text("month")


@pytest.mark.own_tab
def test_a_hash_is_copied_whole_with_and_without_a_clipboard(page: Page, metrics: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{metrics}?merges.sort=sha")
    sha = rows(page, "merges").first.get_by_role("button")
    sha.click()
    expect(rows(page, "merges").first.get_by_role("status")).to_have_text("copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert re.fullmatch("[0-9a-f]{40}", copied)

    page.evaluate("navigator.clipboard.writeText('nothing')")
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})"
    )
    sha.click()

    expect(rows(page, "merges").first.get_by_role("status")).to_have_text("copied")
    assert page.evaluate("delete navigator.clipboard && navigator.clipboard.readText()") == copied


@pytest.mark.own_tab
def test_no_column_moves_while_a_hash_is_marked_as_copied(page: Page, metrics: str) -> None:
    page.add_init_script(NEVER_AFTER_A_COPY)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(metrics)
    first = rows(page, "merges").filter(has=page.get_by_role("link", name="Runs on")).first
    expect(first).to_be_visible()
    before = first.locator("td").evaluate_all(PLACES)

    first.get_by_role("button").click()

    expect(first.get_by_role("status")).to_have_text("copied")
    assert first.locator("td").evaluate_all(PLACES) == before
    link = first.get_by_role("link", name="Runs on").bounding_box()
    told = first.get_by_role("status").bounding_box()
    assert link is not None
    assert told is not None
    assert told["x"] + told["width"] <= link["x"], "it hides nothing but the hash"


def test_on_a_phone_what_fails_now_stands_on_the_first_screen_and_the_charts_unfold(
    page: Page, metrics: str
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{metrics}?days=90")
    expect(page.locator("#failing tbody tr").first).to_be_in_viewport()
    charts = page.get_by_label("Tiles").locator(".bars")
    expect(charts.first).not_to_be_visible()

    page.get_by_role("button", name="Charts").click()

    expect(charts).to_have_count(4)
    for chart in charts.all():
        expect(chart).to_be_visible()
    expect(page).to_have_url(re.compile("charts=open"))
    page.set_viewport_size({"width": 1280, "height": 844})
    expect(page.get_by_role("button", name="Charts")).not_to_be_visible()


def test_a_slow_answer_keeps_the_figures_and_says_that_it_is_awaited(
    page: Page, metrics: str
) -> None:
    page.goto(metrics)
    expect(rows(page, "merges").first).to_be_visible()
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route(re.compile(r"/ci-metrics\?.*days=90"), hold)

    page.get_by_text("90d", exact=True).click()

    expect(page.locator(".page-head")).to_contain_text("Loading")
    expect(rows(page, "merges").first).to_be_visible()
    while not waiting:
        page.wait_for_timeout(10)
    waiting[0].continue_()
    expect(page.locator(".page-head")).not_to_contain_text("Loading")


def test_a_fault_is_shown_with_its_request_and_a_second_try_and_no_figures_of_another_choice(
    page: Page, metrics: str, quiet_console: list[str]
) -> None:
    faulty = "**/ci-metrics?*"
    page.goto(metrics)
    expect(page.get_by_label("Tiles")).to_be_visible()
    page.route(faulty, lambda route: route.abort())
    page.get_by_text("7d", exact=True).click()
    expect(page.get_by_role("alert").first).to_contain_text("The server did not answer")
    expect(page.get_by_label("Tiles")).to_have_count(0)
    page.unroute(faulty)
    page.route(
        faulty,
        lambda route: route.fulfill(
            status=503, json={"message": "Come back later"}, headers={"x-request-id": "request-2"}
        ),
    )
    page.get_by_role("button", name="Try again").first.click()
    expect(page.get_by_role("alert")).to_contain_text("Come back later")
    expect(page.get_by_role("alert")).to_contain_text("request-2")
    page.unroute(faulty)

    page.get_by_role("button", name="Try again").click()

    expect(page.get_by_label("Tiles")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    quiet_console.clear()  # the browser itself tells of what was cut


@pytest.mark.own_tab
def test_a_second_click_at_the_same_place_reviews_no_other_failure(
    page: Page, metrics: str
) -> None:
    page.goto(f"{metrics}?days=90&other=open")
    confirm = rows(page, "other").get_by_role("button", name=re.compile("^Confirm")).first
    named = str(confirm.get_attribute("aria-label")).removeprefix("Confirm as firmware bug ")
    confirm.scroll_into_view_if_needed()
    box = confirm.bounding_box()
    assert box is not None
    reviewed: list[str] = []

    def note(request: Request) -> None:
        if request.method == "POST":
            reviewed.extend(one["action"] for one in json.loads(request.post_data or "")["reviews"])

    page.on("request", note)
    page.evaluate("() => { const now = performance.now(); performance.now = () => now; }")
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.up()
    expect(part(page, "bugs").get_by_role("button", name=f"Reset {named}").first).to_be_visible()

    page.mouse.down()
    page.mouse.up()
    page.get_by_role("button", name=f"Reset {named}").first.click()

    expect(page.get_by_role("status").filter(has_text="the review is reset")).to_be_visible()
    assert reviewed == ["confirm", "reset"]


LOOKED_AT = """isHidden => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.mark.own_clock
def test_a_page_that_was_left_for_a_while_asks_again_when_it_is_looked_at(
    page: Page, metrics: str
) -> None:
    page.goto(metrics)
    expect(page.get_by_label("Tiles")).to_be_visible()
    expect(page.locator(".period")).to_contain_text("as of")
    asked: list[str] = []

    def note(request: Request) -> None:
        if "/ci-metrics?" in request.url:
            asked.append(request.url)

    page.on("request", note)

    page.evaluate(LOOKED_AT, True)
    page.clock.fast_forward(30_000)
    page.evaluate(LOOKED_AT, False)
    assert asked == []
    page.evaluate(LOOKED_AT, True)
    page.clock.fast_forward(61_000)
    with page.expect_response(re.compile(r"/ci-metrics\?")):
        page.evaluate(LOOKED_AT, False)


def test_nothing_moves_when_what_comes_later_comes(page: Page, metrics: str) -> None:
    figures = re.compile(r"/ci-analysis/page\?")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(figures, hold)
    with page.expect_request(figures):
        page.goto(metrics)
    tiles = page.get_by_label("Tiles")
    expect(tiles).to_be_visible()
    before = tiles.bounding_box()

    held[0].continue_()

    expect(page.locator(".tile svg.plot")).to_have_count(4)
    expect(page.locator(".pending").first).to_contain_text("pending")
    assert tiles.bounding_box() == before


def test_what_fails_now_is_a_click_away(page: Page, metrics: str) -> None:
    page.goto(f"{metrics}?days=90&repoKey=acme/sensor-node&suite=sensor-fw")
    expect(page.locator("#bugs .to-review")).to_contain_text("Not among these, ")
    told = page.locator(".pending").inner_text().split(" ")[0]

    page.get_by_role("link", name=re.compile("^Show each: [0-9]+ pending failures?$")).click()

    expect(page).to_have_url(re.compile(r"/failures\?.*days=90.*suite=sensor-fw.*label=pending"))
    expect(page.locator(".table-tools [role=status]")).to_have_text(f"{told} failures")


def test_an_unchecked_merge_leads_to_what_ran_on_its_commit_and_counts_for_each_product(
    page: Page, metrics: str
) -> None:
    said = part(page, "merges").get_by_text("A merge that was announced for two products counts")
    page.goto(f"{metrics}?repoKey=acme/sensor-node&suite=sensor-fw")
    expect(rows(page, "merges").first).to_be_visible()
    expect(said).to_have_count(0)
    page.goto(metrics)
    expect(said).to_be_visible()
    row = rows(page, "merges").filter(has=page.get_by_role("link", name="Runs on")).first
    sha = str(row.locator("button.copy").get_attribute("title")).removeprefix("Copy ")

    row.get_by_role("link", name="Runs on").click()

    expect(page).to_have_url(re.compile(rf"/runs\?repoKey=acme%2Fsensor-node&sha={sha}$"))


def announce(own: Site, *shas: str, **product: str) -> None:
    """Announce merges of the repository that its benches report, or of a `suite` of it."""
    server, merged_at = own.benches.server, own.benches.times()["started_at"]
    body = {"repo_key": "acme/firmware", "branch": "main", "merged_at": merged_at, **product}
    for sha in shas:
        key = ci_key(server.ci_key)
        ask(server.url, "POST", "/api/ci/merge-announce", key, json_body={**body, "sha": sha})


def test_unassigned_merges_name_their_repository_once_there_is_a_second(
    page: Page, tmp_path: Path
) -> None:
    sha, (ours, other) = "c0ffee" + "0" * 34, ("acme/firmware", "acme/gateway")
    products = rows(page, "merges").locator("td[data-title=Product]")
    selector = page.get_by_label("Product", exact=True)
    with site(page, tmp_path) as own:
        own.benches.report()
        announce(own, sha)
        own.open("metrics")
        expect(products).to_have_text(["Unassigned"])
        expect(selector.locator("optgroup")).to_have_count(0)

        announce(own, sha, repo_key=other)  # no report, no suite: nothing else names it
        own.open("metrics")

        expect(products).to_contain_text([ours, other])
        expect(selector.locator("optgroup")).to_have_count(2)
        page.keyboard.press("Control+k")
        page.keyboard.type(sha[:7])
        merges = page.get_by_role("dialog").get_by_role("group", name="Merges not checked")
        expect(merges.get_by_role("option")).to_contain_text([ours, other])
        page.keyboard.press("Escape")
        selector.select_option(label=f"All of {other}")
        expect(products).to_have_count(1)
        expect(products).to_contain_text([other])
        expect(page).to_have_url(re.compile("repoKey=acme%2Fgateway"))
        expect(selector).to_have_value(json.dumps([other, None], separators=(",", ":")))


def test_an_unchecked_merge_says_why_and_leads_to_the_run_that_tells_it(
    page: Page, tmp_path: Path
) -> None:
    lost, unseen, alone = "a" * 40, "b" * 40, "c" * 40
    with site(page, tmp_path) as own:
        for box_key in ("bench-1", "bench-2"):
            own.benches.report(sha=lost, hello_ok=False, tests=[], box_key=box_key)
        own.benches.report(sha=alone, run_id=9, hello_ok=False, tests=[], box_key="bench-3")
        announce(own, lost, unseen, alone)
        own.open("metrics")
        table = rows(page, "merges")
        why = table.filter(has_text=unseen[:7]).locator(".why")
        expect(why).to_have_text(re.compile(r"^nothing ran\s*what to do$"))
        for sha, links in ((unseen, 0), (lost, 1)):
            to_runs = table.filter(has_text=sha[:7]).get_by_role("link", name="Runs on")
            expect(to_runs).to_have_count(links)
        why = table.filter(has_text=lost[:7]).locator(".why")
        beside = re.compile(r"^on bench-1\s+and bench-2 · what to do$")
        expect(why.locator(".under")).to_have_text(beside)
        for name in ("bench-1", "bench-2"):
            link = why.get_by_role("link", name=name, exact=True)
            expect(link).to_have_attribute("href", re.compile(rf"/box\?boxKey={name}$"))
        # Of several boxes the words lead to the runs of all.
        why.get_by_role("link", name="never reached the hardware").click()
        expect(page).to_have_url(re.compile(rf"/runs\?.*suite=.*sha={lost}$"))
        expect(page.locator("tbody tr")).to_have_count(2)
        page.go_back()
        why = table.filter(has_text=alone[:7]).locator(".why")

        why.get_by_role("link", name="never reached the hardware").click()

        expect(page.get_by_role("heading", level=1)).to_contain_text("on bench-3")


def test_why_a_merge_is_unchecked_leads_to_the_runs_of_its_product(
    page: Page, tmp_path: Path
) -> None:
    merged = "a" * 40
    with site(page, tmp_path) as own:
        for box_key in ("bench-1", "bench-2"):
            own.benches.report(sha=merged, hello_ok=False, tests=[], box_key=box_key)
        own.benches.report(sha=merged, run_id=8, suite="other", box_key="bench-3")
        announce(own, merged, suite="hardware")
        own.open("metrics")

        rows(page, "merges").get_by_role("link", name="never reached the hardware").click()

        expect(page).to_have_url(re.compile(rf"/runs\?.*suite=hardware&sha={merged}$"))
        expect(page.locator("tbody tr")).to_have_count(2)


def test_of_runs_on_several_commits_of_a_push_the_earliest_tells_why(
    page: Page, tmp_path: Path
) -> None:
    merged, pushed = "a" * 40, "b" * 40
    with site(page, tmp_path) as own:
        lost = {"hello_ok": False, "tests": [], "trigger": "merge"}
        own.benches.report(**lost, sha=merged, box_key="bench-1")
        own.benches.report(**lost, sha=pushed, covers_shas=[merged], run_id=2, box_key="bench-2")
        announce(own, merged)
        own.open("metrics")
        why = rows(page, "merges").filter(has_text=merged[:7]).locator(".why")
        expect(why.locator(".under")).to_contain_text("bench-2")

        why.get_by_role("link", name="never reached the hardware").click()

        # The list of runs on the commit would not have the other one.
        expect(page.get_by_role("heading", level=1)).to_contain_text("on bench-1")


# The causes of the first rows come with all figures, those of a sorted table by themselves.
@pytest.mark.parametrize("sort", rounds([""], ["", "?merges.sort=branch"]))
def test_the_table_of_unchecked_merges_stands_without_their_causes(
    page: Page, metrics: str, quiet_console: list[str], sort: str
) -> None:
    missing = "unchecked-merges" if sort else "page"
    page.route(re.compile(rf"/ci-analysis/{missing}\?"), lambda route: route.abort())
    with page.expect_console_message(lambda told: "ERR_FAILED" in told.text):
        page.goto(f"{metrics}{sort}")
    quiet_console.clear()

    expect(rows(page, "merges").first.locator(".why")).to_have_text("\u00a0")
    expect(part(page, "merges").get_by_role("alert")).to_have_count(0)


def test_a_test_that_never_passed_stands_apart_from_flaky_ones(page: Page, tmp_path: Path) -> None:
    boot = {"id": "boot", "outcome": "fail", "attempts": 1, "duration_s": 1.0}
    retried = {"id": "retried", "outcome": "pass", "attempts": 2, "duration_s": 1.0}
    with site(page, tmp_path) as own:
        own.benches.report(tests=[boot, retried])
        own.open("metrics")
        found, total = rows(page, "flaky"), part(page, "flaky").locator(".total")
        switch = part(page, "flaky").get_by_role("button", name="Leave out the 1 without a flake")
        expect(found).to_contain_text(["boot", "retried"])
        expect(found.filter(has=page.get_by_text("broken", exact=True))).to_contain_text(["boot"])
        expect(total).to_have_text("2")
        assert len(saved(page, "Flakiest tests")[1]) == 1 + 2

        switch.click()

        expect(switch).to_have_attribute("aria-pressed", "true")
        expect(page).to_have_url(re.compile(r"flaky\.tests=flaked"))
        expect(found).to_contain_text(["retried"])
        expect(total).to_have_text("1 of 2")
        assert len(saved(page, "Flakiest tests")[1]) == 1 + 1
        own.open("metrics")  # it is remembered
        expect(total).to_have_text("1 of 2")
        expect(page).to_have_url(re.compile(r"flaky\.tests=flaked"))
        switch.click()
        expect(found).to_contain_text(["boot", "retried"])
        own.open("metrics")
        expect(found).to_contain_text(["boot", "retried"])


def test_a_test_that_was_broken_until_its_fix_is_told_apart_from_flaky_ones(
    page: Page, tmp_path: Path
) -> None:
    def test(name: str, outcome: str, attempts: int = 1) -> dict[str, object]:
        return {"id": name, "outcome": outcome, "attempts": attempts, "duration_s": 1.0}

    fixed = test("fixed", "fail")
    with site(page, tmp_path) as own:
        first = [fixed, test("flake", "fail"), test("retried", "pass", attempts=2)]
        own.benches.report(run_id=1, sha="a" * 40, tests=first)
        own.benches.report(run_id=2, sha="a" * 40, tests=[fixed, test("flake", "pass")])
        own.benches.report(run_id=3, sha="b" * 40, tests=[test("fixed", "pass")])
        own.open("metrics")

        names = rows(page, "flaky").locator("td.name > a")
        expect(names).to_have_text(["fixed", "flake", "retried"])
        told = page.get_by_text("no flake seen", exact=True)
        expect(rows(page, "flaky").filter(has=told).locator("td.name > a")).to_have_text(["fixed"])
        part(page, "flaky").get_by_role("button", name="Leave out the 1 without a flake").click()
        expect(names).to_have_text(["flake", "retried"])


def test_the_switch_of_broken_tests_is_there_where_some_are(page: Page, tmp_path: Path) -> None:
    def test(name: str, outcome: str, attempts: int = 1) -> dict[str, object]:
        return {"id": name, "outcome": outcome, "attempts": attempts, "duration_s": 1.0}

    names, asked = rows(page, "flaky").locator("td.name > a"), list[str]()
    page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    with site(page, tmp_path) as own:
        retried = test("retried", "pass", attempts=2)
        own.benches.report(suite="none", run_id=10, tests=[retried])
        own.benches.report(suite="all", run_id=11, tests=[test("boot", "fail")])
        for number, outcome in enumerate(("fail", "pass")):
            tests = [test("broken", "fail"), test("fixed", outcome)]
            own.benches.report(suite="some", run_id=number, sha=f"{number:040x}", tests=tests)

        own.open("metrics?repoKey=acme/firmware&suite=none")
        expect(names).to_have_text(["retried"])
        expect(part(page, "flaky").get_by_role("button", name="Leave out")).to_have_count(0)
        assert not [path for path in asked if path.endswith("/flakiest-tests")]

        own.open("metrics?repoKey=acme/firmware&suite=some")  # where nothing is tried again
        expect(names).to_have_text(["broken", "fixed"])
        part(page, "flaky").get_by_role("button", name="Leave out the 1 broken").click()
        expect(names).to_have_text(["fixed"])

        own.open("metrics?repoKey=acme/firmware&suite=all")
        expect(part(page, "flaky")).to_contain_text("Each test with a failed attempt is broken")


def test_a_product_without_a_configuration_is_named_above_the_bugs(
    page: Page, tmp_path: Path
) -> None:
    said = part(page, "bugs").get_by_text("has no suite configuration")
    with site(page, tmp_path) as own:
        own.benches.report()
        own.benches.report(run_id=2, suite="other")
        own.benches.configure(suite="other")
        own.open("metrics")
        expect(said).to_have_text(
            re.compile(r"^hardware has .* hwci suite-config apply$", re.DOTALL)
        )

        own.open("metrics?repoKey=acme/firmware&suite=other")
        expect(part(page, "bugs")).to_be_visible()
        expect(said).to_have_count(0)

        own.benches.configure()
        own.open("metrics")
        expect(part(page, "bugs")).to_be_visible()
        expect(said).to_have_count(0)
