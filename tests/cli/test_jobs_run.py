# SPDX-License-Identifier: Apache-2.0
"""The jobs that `hwci init` prints, run as their systems run them, with a server that is away at
each step: real shells, the wheel of a real server, pip, and tests of pytest one of which fails.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, chdir
from dataclasses import replace
from pathlib import Path
from sysconfig import get_path

import pytest

from hwci.client import Client, calls
from hwci.server.app import serving
from tests.cli.conftest import Command
from tests.cli.jobs import git, repository
from tests.cli.printed_jobs import SYSTEMS, CiShell
from tests.support.held_port import held_port
from tests.support.recorded import recorded
from tests.support.running import RunningServer, in_thread, running_in_thread, settings_of

REPO = "acme/firmware"
TESTS_FAILED = 1
HIL = """
import os, pathlib, time

def test_passes():
    pathlib.Path("began").touch()
    while "HIL_WAITS" in os.environ and not pathlib.Path("go-on").exists():
        time.sleep(0.05)

def test_fails():
    raise AssertionError("the relay is stuck")
"""


class Switched:
    """A server at one address that goes away and comes back with its database."""

    def __init__(self, folder: Path, port: int) -> None:
        self._port = port
        self._running = ExitStack()
        self.server = self._running.enter_context(running_in_thread(folder, port=port))

    def goes_away(self) -> None:
        self._running.close()

    def comes_back(self) -> None:
        settings = replace(settings_of(self.server.location), port=self._port)
        self._running.enter_context(in_thread(serving(settings)))

    def run_ids(self) -> list[int]:
        with Client(self.server.url, token=self.server.token) as client:
            runs = client.send(calls.list_runs(self.server.org_id, repo_key=REPO)).items
        return sorted(run.run_id for run in runs)


@pytest.fixture
def switched(tmp_path: Path) -> Iterator[Switched]:
    with held_port() as port:
        server = Switched(tmp_path / "server", port)
        yield server
        server.goes_away()


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the libraries of this environment, without hwci: nothing comes from an index."""
    folder = tmp_path_factory.mktemp("libraries")
    for library in Path(get_path("purelib")).iterdir():
        if "hwci" not in library.name and not library.name.startswith("pip"):
            (folder / library.name).symlink_to(library)
    return folder


class Bench:
    """A user of a bench with a checkout of a repository, where the jobs of a system run."""

    def __init__(self, folder: Path, libraries: Path, system: CiShell) -> None:
        self.checkout = folder / "checkout"
        self._folder = folder
        self._system = system
        # `python3 -m venv DIR`, and what the line for the needs of the tests would install.
        lines = (
            "#!/bin/sh",
            f'"{sys.executable}" -m venv "$3" || exit',
            f'cp "{folder}/libraries.pth" "$3"/lib/python3.*/site-packages/',
            f'cp "{folder}/pytest" "$3/bin/"',
        )
        tools = folder / "tools"
        tools.mkdir()
        (folder / "libraries.pth").write_text(f"{libraries}\n")
        (tools / "python3").write_text("\n".join(lines))
        (folder / "pytest").write_text('#!/bin/sh\nexec "${0%/*}/python" -m pytest "$@"\n')
        for script in (tools / "python3", folder / "pytest"):
            script.chmod(0o755)

    def fails(self, text: str, server: RunningServer, **more: str) -> str:
        """Run the job at the bench, whose exit code is that of its tests; return its output."""
        code, output = self.runs(text, "hil", server, **more)
        assert code == TESTS_FAILED, output
        assert (self.checkout / "out.xml").exists(), output
        return output

    def runs(self, text: str, job: str, server: RunningServer, **more: str) -> tuple[int, str]:
        """Run a job in a clean checkout, as most systems do; return its exit code and output."""
        git(self.checkout, "clean", "-ffdxq")
        jobs, variables = self._system.read(text)
        environ = {
            **recorded(self._system.environment),
            "PATH": f"{self._folder / 'tools'}:{os.environ['PATH']}",
            "HOME": str(self._folder),
            "PIP_NO_INDEX": "1",
            **{name: value for name, value in variables.items() if "${{" not in value},
            "HWCI_CI_KEY": server.ci_key,
            "HWCI_REPO_KEY": REPO,
            "HWCI_SHA": git(self.checkout, "rev-parse", "HEAD"),
            "HWCI_DEADLINE": "0",
            **more,
        }
        output = ""
        for script in jobs[job]:
            ran = subprocess.run(
                [*self._system.shell, "-c", script],
                cwd=self.checkout,
                env=environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=120,
            )
            output += ran.stdout
            if ran.returncode:
                return ran.returncode, output
        return 0, output


@pytest.mark.parametrize("file", SYSTEMS)
def test_the_tests_run_wherever_the_server_is_and_the_reports_arrive_later(
    cli: Command, switched: Switched, libraries: Path, tmp_path: Path, file: str
) -> None:
    bench = Bench(tmp_path, libraries, SYSTEMS[file])
    repository(bench.checkout, file)
    (bench.checkout / "hil").mkdir()
    (bench.checkout / "hil" / "test_a.py").write_text(HIL)
    server = switched.server
    with chdir(bench.checkout):
        text = cli("init", "--suite", "sensor-fw", HWCI_URL=server.url).out
    git(bench.checkout, "add", "-A")
    git(bench.checkout, "commit", "-q", "-m", "Report")

    switched.goes_away()
    output = bench.fails(text, server, HWCI_RUN_ID="1")
    assert "Before the next job, hwci report-run --junit out.xml in this folder" in output

    switched.comes_back()
    code, output = bench.runs(text, "announce", server)
    assert (code, "Announced" in output) == (0, True), output
    bench.fails(text, server, HWCI_RUN_ID="2")
    assert switched.run_ids() == [2]

    with ThreadPoolExecutor(1) as thread:
        job = thread.submit(bench.fails, text, server, HWCI_RUN_ID="3", HIL_WAITS="1")
        while not (bench.checkout / "began").exists() and not job.done():
            time.sleep(0.05)
        switched.goes_away()
        (bench.checkout / "go-on").touch()
        output = job.result()
    assert "hwci @" in output  # nothing was installed again

    bench.fails(text, server, HWCI_RUN_ID="4")
    # Another wheel is pinned, which cannot be fetched now.
    bench.fails(
        text, server, HWCI_RUN_ID="5", HWCI_WHEEL=f"{server.url}/dist/hwci-9-py3-none-any.whl"
    )

    switched.comes_back()
    bench.fails(text, server, HWCI_RUN_ID="6")
    assert switched.run_ids() == [2, 3, 4, 5, 6]
