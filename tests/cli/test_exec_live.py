# SPDX-License-Identifier: Apache-2.0
"""`hwci exec` on a box: the live run has each test as it begins and ends. A real server, and real
children that write their results as they run.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hwci.client import Client
from tests.cli.benches import SUITE, LiveBench, shell
from tests.support.running import RunningServer

CASE = '<testcase classname="t" name="{}" time="1"/>'


@pytest.fixture(scope="module")
def person(server: RunningServer) -> Iterator[Client]:
    with Client(server.url, token=server.token) as client:
        yield client


@pytest.fixture
def live(
    tmp_path: Path, server: RunningServer, person: Client, request: pytest.FixtureRequest
) -> Iterator[LiveBench]:
    made = LiveBench(tmp_path, server, person, f"bench-{request.node.name[:40]}")
    yield made
    made.end()


def test_the_live_run_has_each_test_of_pytest_as_it_begins_and_ends(live: LiveBench) -> None:
    (live.folder / "t.py").write_text(SUITE)
    plugin = ("-p", "hwci.pytest_plugin", "-p", "no:cacheprovider", "--hwci-results=r.json")
    command = (sys.executable, "-m", "pytest", *plugin, "t.py")

    started = live.begin("--junit=r.json", "--", *command)
    live.until_shown(test_boot=None)
    live.touch("boot")
    live.until_shown(test_boot="pass", test_i2c=None)
    live.touch("i2c")
    _, err = started.communicate(timeout=60)

    assert started.returncode == 1
    assert "live run" not in err
    assert live.shown() == {"t.test_boot": "pass", "t.test_i2c": "fail"}


def test_the_live_run_has_what_is_whole_in_a_file_that_grows(live: LiveBench) -> None:
    """Of a file that is there from before, nothing is shown."""
    (live.folder / "old.xml").write_text(f"<testsuite>{CASE.format('old')}</testsuite>")
    lines = f"""
    printf '%s' '<testsuite>{CASE.format("boot")}<testcase classname="t" na' > r.xml
    while ! test -e go; do sleep 0.02; done
    printf '%s' 'me="i2c"><failure/></testcase>' >> r.xml
    while ! test -e end; do sleep 0.02; done
    printf '%s' '</testsuite>' >> r.xml
    """

    started = live.begin("--junit=*.xml", *shell(lines))
    live.until_shown(boot="pass")
    live.touch("go")
    live.until_shown(boot="pass", i2c="fail")
    live.touch("end")
    _, err = started.communicate(timeout=60)

    assert started.returncode == 0
    assert "live run" not in err
    assert "r.xml" not in err


def test_a_live_run_that_takes_no_tests_is_one_note_and_changes_nothing_else(
    live: LiveBench,
) -> None:
    write = f"echo '<testsuite>{CASE.format('boot')}</testsuite>' > r.xml"
    wait = "while ! test -e {}; do sleep 0.02; done"
    lines = f"{wait.format('go')}; {write}; {wait.format('end')}"

    started = live.begin("--junit=r.xml", *shell(lines))
    while not live.runs():
        live.wait()
    live.lose_key()
    live.touch("go")
    assert started.stderr is not None
    assert started.stderr.readline().startswith("note: The live run is not kept up: ")
    live.touch("end")
    _, err = started.communicate(timeout=60)

    assert started.returncode == 0
    assert "live run" not in err
    assert live.shown() == {"t.boot": "pass"}
