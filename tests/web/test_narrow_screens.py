# SPDX-License-Identifier: Apache-2.0
"""Failures, runs, boxes and the audit log on a narrow screen: what is long breaks or scrolls."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.live import site

TEST = "t" * 500
PATHS = (
    "failures",
    f"failures?testId={TEST}&label=pending",
    "runs",
    "runs?status=running&from=2020-01-01T00:00:00Z&to=2099-12-31T23:59:59Z",
    "boxes",
    "audit-log",
    "runs/{run}",
)


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("path", PATHS)
def test_no_page_is_wider_than_its_window(
    page: Page, tmp_path: Path, path: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    with site(page, tmp_path) as own:
        key = own.benches.installed("b" * 200)
        tests = [{"id": TEST, "outcome": "pass", "attempts": 1}]
        failed = {"id": TEST, "outcome": "fail", "attempts": 1, "duration_s": 1.0}
        names = dict.fromkeys(("branch", "box_key", "repo_key", "workflow"), "n" * 250)
        own.benches.report(tests=[failed], **names)
        run = own.benches.opened(key, branch="feature/" + "x" * 200, workflow="w" * 200)
        own.benches.feed(key, run, *tests)
        own.open(path.format(run=run))
        expect(page.locator("tbody tr").first).to_be_visible()

        assert page.evaluate("document.documentElement.scrollWidth") <= width
