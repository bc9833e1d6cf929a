# SPDX-License-Identifier: Apache-2.0
"""`hwci exec` on a box, seen by people as its tests run: on the page of the run, and by `hwci runs
watch`. Real children write their results in the way of pytest and of Twister.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from hwci.client import Client
from tests.cli.benches import SUITE, WAIT, LiveBench
from tests.cli.terminals import watching
from tests.support.running import RunningServer, running_in_thread
from tests.web.conftest import Account, Dashboard
from tests.web.live import row

# Twister writes its whole file again; a suite that has not run has no status, nor have its tests.
TWISTER = f"""{WAIT}
import json
def suite(name, status, **tests):
    cases = [{{"identifier": test, "status": one}} for test, one in tests.items()]
    return dict(name=name, platform="board", runnable=True, status=status, testcases=cases)
def write(*suites):
    Path("twister.json").write_text(json.dumps({{"testsuites": suites}}))
first = suite("t", "passed", boot="passed")
write(first, suite("u", None, i2c=None))
until("i2c")
write(first, suite("u", "failed", i2c="failed"))
until("end")
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_in_thread(tmp_path_factory.mktemp("live")) as made:
        yield made


@pytest.fixture
def live(
    tmp_path: Path, server: RunningServer, request: pytest.FixtureRequest
) -> Iterator[LiveBench]:
    with Client(server.url, token=server.token) as person:
        made = LiveBench(tmp_path, server, person, f"bench-{request.node.name[:40]}")
        yield made
        made.end()


def look(page: Page, live: LiveBench, server: RunningServer) -> str:
    """Open the page of the run that goes on; return the run's id."""
    Dashboard(server.url, Account(server.email, server.password)).sign_in(page.context)
    [run] = live.runs()
    page.goto(f"{server.url}/orgs/{live.org}/runs/{run.id}")
    return str(run.id)


def test_the_tests_of_pytest_are_seen_as_they_begin_and_end(
    page: Page, live: LiveBench, server: RunningServer
) -> None:
    (live.folder / "t.py").write_text(SUITE + 'def test_spi():\n    until("spi")\n')
    plugin = ("-p", "hwci.pytest_plugin", "-p", "no:cacheprovider", "--hwci-results=r.json")
    live.begin("--junit=r.json", "--", sys.executable, "-m", "pytest", *plugin, "t.py")
    live.until_shown(test_boot=None)
    run = look(page, live, server)

    expect(row(page, "t.test_boot")).to_contain_text("running")
    with watching(live.folder, server, run) as watch:
        live.touch("boot")
        expect(row(page, "t.test_boot")).to_contain_text("passed")
        expect(row(page, "t.test_i2c")).to_contain_text("running")
        live.touch("i2c")
        expect(row(page, "t.test_i2c")).to_contain_text("failed")
        expect(row(page, "t.test_spi")).to_contain_text("running")
        live.touch("spi")
        out, _ = watch.communicate(timeout=60)

    expect(page.locator(".verdict-line")).to_contain_text("2 tests passed, 1 failed")
    seen = [line.split("  ")[2].partition(" after ")[0] for line in out.splitlines()[:3]]
    assert seen == ["pass: t.test_boot", "running: t.test_i2c", "fail: t.test_i2c"]


def test_the_tests_of_twister_are_seen_as_its_file_grows(
    page: Page, live: LiveBench, server: RunningServer
) -> None:
    live.begin("--junit=twister.json", "--", sys.executable, "-c", TWISTER)
    live.until_shown(boot="pass")
    look(page, live, server)

    expect(row(page, "t.boot")).to_contain_text("passed")
    expect(page.locator("#tests tbody tr")).to_have_count(1)
    live.touch("i2c")
    expect(row(page, "u.i2c")).to_contain_text("failed")
    expect(page.locator(".verdict-line")).to_contain_text("running")
    live.touch("end")
    expect(page.locator(".verdict-line")).to_contain_text("1 test passed, 1 failed")
