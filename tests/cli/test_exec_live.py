# SPDX-License-Identifier: Apache-2.0
"""`hwci exec` on a box: the live run has each test as it begins and ends. A real server, and real
children that write their results as they run.
"""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from hwci.client import Client, calls
from hwci.wire.runs import RunAnswer
from tests.cli.test_exec import Bench, shell
from tests.support.running import RunningServer

QUICK = """
from hwci.bench import live_run
from hwci.cli.main import main
live_run.FEED_S = 0.05
main()
"""
"""The command, which looks at its files more often."""
WAIT = """
import time
from pathlib import Path
def until(name):
    while not Path(name).exists():
        time.sleep(0.02)
"""
SUITE = f"""{WAIT}
def test_boot():
    until("boot")
def test_i2c():
    until("i2c")
    assert False
"""
CASE = '<testcase classname="t" name="{}" time="1"/>'


class LiveBench(Bench):
    """A box, and the person who watches it."""

    def __init__(self, folder: Path, server: RunningServer, person: Client, name: str) -> None:
        super().__init__(folder, server.url)
        self.org, self.person, self.name = server.org_id, person, name
        self.ending = ExitStack()
        self.box = person.send(calls.create_box(self.org, name))
        with Client(server.url) as client:
            key = client.send(calls.install_box(self.box.install_token)).api_key
        own = {"HWCI_CI_KEY": server.ci_key, "HWCI_BOX_KEY": key, "HWCI_BOX": name}
        plain = {k: v for k, v in self.environ.items() if not k.startswith("PYTEST")}
        self.environ = plain | own | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    def begin(self, *arguments: str) -> "subprocess.Popen[str]":
        self.started = subprocess.Popen(
            [sys.executable, "-c", QUICK, "exec", *arguments],
            cwd=self.folder,
            env=self.environ,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        too_long = threading.Timer(60, self.started.terminate)
        too_long.start()
        self.ending.callback(self.started.communicate, timeout=60)
        self.ending.callback(self.started.terminate)
        self.ending.callback(too_long.cancel)
        return self.started

    def end(self) -> None:
        """End the run, and its tests with it, if one began and is not over."""
        self.ending.close()

    def runs(self) -> Sequence[RunAnswer]:
        return list(self.person.items(calls.list_runs(self.org, box_key=self.name)))

    def shown(self) -> dict[str, str | None]:
        """Return the tests of the run."""
        for run in self.runs():
            found = self.person.send(calls.get_run(self.org, run.id))
            return {test.id: test.outcome and str(test.outcome) for test in found.items}
        return {}

    def until_shown(self, **tests: str | None) -> None:
        while self.shown() != {f"t.{name}": outcome for name, outcome in tests.items()}:
            self.wait()

    def wait(self) -> None:
        """Wait a moment of a run that is not over."""
        assert self.started.poll() is None, self.started.communicate()[1]
        time.sleep(0.05)

    def lose_key(self) -> None:
        """Install the box anew: its earlier key stops once the new one is used."""
        token = self.person.send(calls.new_install_token(self.org, self.box.id)).install_token
        with Client(self.environ["HWCI_URL"]) as client:
            key = client.send(calls.install_box(token)).api_key
        with Client(self.environ["HWCI_URL"], box_key=key) as client:
            client.send(calls.heartbeat())

    def touch(self, name: str) -> None:
        (self.folder / name).touch()


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
