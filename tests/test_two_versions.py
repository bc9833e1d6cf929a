# SPDX-License-Identifier: Apache-2.0
"""Clients, servers, files and benches of the version before work with this one, both ways round
(docs/adr/0022). It runs the wheel of `BEFORE`, built from the history of this repository.
"""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from tarfile import TarFile
from typing import Any
from urllib.parse import urlsplit
from zipfile import ZipFile

import pytest

from hwci.ci.systems import SYSTEMS
from hwci.server.clock import system_clock
from tests.support.answering import unused_url
from tests.support.commands import ROOT, hwci, hwci_beside, hwci_process, started
from tests.support.soak import rounds

BEFORE = "250d1770d1d8635def5abafac23a7a77b54138f8"
"""The version before: the tag of the last release, once there is one (docs/adr/0022)."""

EMAIL, PASSWORD = "ada@example.org", "correct horse battery"
PROJECT = """
repo_key = "acme/lamp"
[[product]]
suite = "lamp"
firmware_paths = ["src/**"]
harness_paths = ["hil/**"]
box = "bench-1"
[[verdict]]
message = "dark"
verdict = "device"
"""
RESULTS = {"passed": (2, ""), "failed": (2, '<failure message="dark"/>'), "many": (1001, "")}
"""How many tests a result file has, and what its first one holds."""
RUNS = ("passed", "failed", "passed", "many")
"""The result file of each run. The second and the third are of a commit of their own."""

READ = """
whoami --json
members list --json
suite-config plan --json
metrics
failures list
failures show {failure} --json
failures dismiss {failure}
runs list --output csv
runs show {run} --json
boxes list --json
sessions list
orgs audit-log
spool list --json
doctor
"""
"""What people type, command by command, with the ids of a failure and of a run."""


@dataclass(frozen=True)
class Version:
    """A version of hwci. `variables`: where Python finds it."""

    name: str
    variables: dict[str, str] = field(default_factory=dict)

    def run(
        self, folder: Path, *words: str, stdin: str = "", **variables: str
    ) -> "subprocess.CompletedProcess[str]":
        run = hwci_process if self.variables else hwci
        return run(folder, *words, stdin=stdin, **self.variables, **variables)


NOW = Version("now")


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Version:
    """The version before, from its wheel: only in `make soak`, as all of it takes a minute."""
    if not rounds(few=False, all_of_them=True):
        pytest.skip("only in `make soak` and `make versions`")
    folder = tmp_path_factory.mktemp("before")
    archive = ["git", "-C", str(ROOT), "archive", BEFORE]
    source = subprocess.run(archive, check=False, capture_output=True)
    if source.returncode != 0:
        pytest.skip(f"the history of this clone lacks {BEFORE}: git fetch --unshallow")
    with TarFile(fileobj=BytesIO(source.stdout)) as files:
        files.extractall(folder / "source", filter="data")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=folder / "source", check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    ZipFile(wheel).extractall(folder / "wheel")
    return Version("before", {"PYTHONPATH": str(folder / "wheel")})


@dataclass
class Bench:
    """A person and a bench: their repository is their home, too."""

    version: Version
    folder: Path
    variables: dict[str, str]

    def __call__(self, *words: str, stdin: str = "", by: Version | None = None) -> str:
        """Return what a command writes. `by`: the version to which this home is changed."""
        done = (by or self.version).run(self.folder, *words, stdin=stdin, **self.variables)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout + ("" if "--json" in words else done.stderr)

    def process(self, *words: str) -> "subprocess.Popen[str]":
        return hwci_beside(self.folder, *words, **self.variables, **self.version.variables)

    def ask(self, *words: str) -> Any:
        return json.loads(self(*words, "--json"))

    def commit(self, subject: str) -> None:
        (self.folder / "src").mkdir(exist_ok=True)
        (self.folder / "src" / "lamp.c").write_text(subject)
        for words in (["add", "src", "hwci.toml"], ["commit", "-q", "-m", subject]):
            subprocess.run(["git", *WHO, *words], cwd=self.folder, check=True)


WHO = ("-c", "user.name=Ada", "-c", f"user.email={EMAIL}")


@contextmanager
def served(version: Version, folder: Path, port: int = 0) -> Iterator[str]:
    """Serve the database of a folder; yield the address."""
    words = ("serve", "--database", "hwci.db", "--port", str(port))
    with started(folder, *words, **version.variables) as (_, line):
        yield re.findall(r"http://[\d.:]+", line)[0]


def set_up(version: Version, folder: Path) -> None:
    """Make a person and their organization, as an operator does."""
    database = ("--database", "hwci.db")
    words = ("create-user", "--email", EMAIL, "--organization", "Acme", "--password-stdin")
    made = version.run(folder, "admin", *words, *database, "--create", "--json", stdin=PASSWORD)
    assert made.returncode == 0, made.stderr
    org = json.loads(made.stdout)["orgId"]
    done = version.run(folder, "admin", "ci-metrics", "enable", org, *database)
    assert done.returncode == 0, done.stderr


def results(count: int, first: str) -> str:
    at = system_clock().isoformat()
    cases = "".join(
        f'<testcase name="t{number}">{first if number == 0 else ""}</testcase>'
        for number in range(count)
    )
    return f'<testsuite name="hil" timestamp="{at}">{cases}</testsuite>'


def new_bench(version: Version, folder: Path, url: str) -> Bench:
    """Return a bench that is signed in, has a key, and is known as a box."""
    folder.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, check=True)
    (folder / "hwci.toml").write_text(PROJECT)
    kept = {"HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"), "HWCI_DEADLINE": "5"}
    bench = Bench(version, folder, kept | {"HWCI_URL": url, "HWCI_STRICT": "1"})
    bench.commit("One")
    bench("login", "--url", url, "--email", EMAIL, "--password-stdin", stdin=PASSWORD)
    bench.variables["HWCI_CI_KEY"] = bench.ask("keys", "create", "ci")["apiKey"]
    token = bench.ask("boxes", "create", "bench-1")["installToken"]
    bench("box", "install", "--token-stdin", stdin=token)
    bench("box", "heartbeat", "--once")
    return bench


def report_all(bench: Bench) -> list[dict[str, Any]]:
    """Report every kind of thing; return the events of a live run that was watched."""
    bench("suite-config", "apply")
    for number, name in enumerate(RUNS, 1):
        if number in (2, 3):
            bench.commit(f"Change {number}")
            bench("merge-announce")
        (bench.folder / f"{name}.xml").write_text(results(*RESULTS[name]))  # it ran now
        bench("report-run", "--run-id", str(number), "--junit", f"{name}.xml")
    script = "cp passed.xml live.xml; until [ -e seen ]; do sleep 0.05; done"
    words = ("--run-id", "9", "--junit", "live.xml", "--", "sh", "-c", script)
    with bench.process("exec", *words) as job, ExitStack() as stack:
        stack.callback((bench.folder / "seen").touch)  # whatever happens, it ends
        while not (live := bench.ask("runs", "list", "--status", "running")["items"]):
            assert job.poll() is None
            time.sleep(0.2)  # a server limits how often it is asked
        watching = bench.process("runs", "watch", live[0]["id"], "--json")
        assert watching.stderr is not None
        assert "Watching" in watching.stderr.readline()
    events, _ = watching.communicate()
    assert (job.returncode, watching.returncode) == (0, 0)
    return [json.loads(line) for line in events.splitlines()]


@dataclass
class Met:
    """A client of one version at the server of the other. `place`: the folder of its database;
    `serving` ends with that server.
    """

    bench: Bench
    other: Version
    place: Path
    serving: ExitStack
    events: list[dict[str, Any]]


@pytest.fixture(scope="module")
def met(before: Version, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Met]]:
    """Both ways round, by the version of the client."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for system in SYSTEMS:  # these tests may run in one
            patch.delenv(system.variable, raising=False)
        found = {}
        for client, server in ((before, NOW), (NOW, before)):
            place = tmp_path_factory.mktemp(f"server-{server.name}")
            set_up(server, place)
            serving = stack.enter_context(ExitStack())
            url = serving.enter_context(served(server, place))
            bench = new_bench(client, tmp_path_factory.mktemp(client.name) / "lamp", url)
            found[client.name] = Met(bench, server, place, serving, report_all(bench))
        yield found


EITHER = pytest.mark.parametrize("client", ["before", "now"])


@EITHER
def test_what_a_client_reported_to_the_other_version_s_server_is_on_the_page(
    met: dict[str, Met], client: str
) -> None:
    tiles = {name: one.bench.ask("metrics")["tiles"] for name, one in met.items()}

    assert tiles[client]["realFwBugs"]["real"] == 1
    assert tiles["before"] == tiles["now"]


@EITHER
def test_a_live_run_is_watched_to_its_end(met: dict[str, Met], client: str) -> None:
    assert met[client].events[-1]["type"] == "run.reported"


@EITHER
def test_people_read_and_review_at_the_other_version_s_server(
    met: dict[str, Met], client: str
) -> None:
    bench = met[client].bench
    [failure] = bench.ask("failures", "list")["items"]
    run = bench.ask("runs", "list")["items"][0]

    for line in READ.strip().splitlines():
        assert bench(*line.format(failure=failure["id"], run=run["id"]).split())


@EITHER
def test_the_other_version_goes_on_with_the_files_of_a_home(
    met: dict[str, Met], client: str
) -> None:
    bench, other = met[client].bench, met[client].other

    assert EMAIL in bench("whoami", "--json", by=other)
    assert bench("box", "heartbeat", "--once", by=other) is not None
    assert bench("report-run", "--run-id", "30", "--junit", "passed.xml", by=other)


@EITHER
def test_no_report_that_waits_is_lost_when_the_version_changes(
    met: dict[str, Met], client: str
) -> None:
    bench, other = met[client].bench, met[client].other
    away = {"HWCI_URL": unused_url(), "HWCI_STRICT": "", "HWCI_DEADLINE": "0"}
    replace(bench, variables=bench.variables | away)(
        "report-run", "--run-id", "20", "--junit", "passed.xml"
    )

    bench("spool", "flush", "--any-server", by=other)

    assert 20 in [run["runId"] for run in bench.ask("runs", "list")["items"]]


def test_a_database_from_before_is_served(met: dict[str, Met]) -> None:
    bench = met["now"].bench
    tiles = bench.ask("metrics")["tiles"]
    met["now"].serving.close()

    with served(NOW, met["now"].place, urlsplit(bench.variables["HWCI_URL"]).port or 0):
        assert bench.ask("metrics")["tiles"] == tiles
        bench("report-run", "--run-id", "40", "--junit", "passed.xml")
