# SPDX-License-Identifier: Apache-2.0
"""Runs pytest in a process of its own, on tests that note each of their tries themselves."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hwci.ci.results.model import BoxResults, FileResults, merged
from hwci.ci.results.read import read_results
from hwci.ci.results.verdicts import BUILT_IN

ROOT = Path(__file__).parents[2]

RERUNFAILURES = ("-p", "pytest_rerunfailures", "--reruns=2")
FLAKY = ("-p", "flaky.flaky_pytest_plugin", "--force-flaky", "--max-runs=3")
XDIST = ("-p", "xdist.plugin", "-n2")

# xdist tells its workers to load it a second time, and pytest warns of that.
INI = """[pytest]
filterwarnings =
    error
    ignore:Module already imported:pytest.PytestAssertRewriteWarning
"""

TRIED = """
import json, os, pytest

def note(request, outcome):
    with open(os.environ["TRIES"], "a") as file:
        file.write(json.dumps([request.node.nodeid, outcome]) + "\\n")

def number(request):
    number.of[request.node.nodeid] = number.of.get(request.node.nodeid, 0) + 1
    return number.of[request.node.nodeid]
number.of = {}

@pytest.fixture
def setup_fails(request):
    note(request, "fail")
    raise ConnectionError("no relay")

@pytest.fixture
def teardown_fails(request):
    yield
    raise ValueError("still powered")
"""
"""What the modules under test begin with."""

SUITE = (
    TRIED
    + """
def test_passes(request):
    note(request, "pass")

def test_passes_at_the_second_try(request):
    passes = number(request) > 1
    note(request, "pass" if passes else "fail")
    assert passes

def test_passes_at_the_third_try(request):
    passes = number(request) > 2
    note(request, "pass" if passes else "fail")
    assert passes

def test_never_passes(request):
    note(request, "fail")
    raise RuntimeError("silent")

def test_is_not_set_up(setup_fails):
    pass

def test_is_not_torn_down(request, teardown_fails):
    note(request, "fail")

def test_fails_twice_over(request, teardown_fails):
    note(request, "fail")
    assert False

@pytest.mark.skip(reason="no such board")
def test_is_skipped(request):
    note(request, "pass")

def test_skips_itself():
    pytest.skip("no such board")

@pytest.mark.xfail
def test_is_known_to_fail():
    assert False

@pytest.mark.xfail
def test_passes_unexpectedly(request):
    note(request, "pass")

@pytest.mark.parametrize("baud", ["9600", "a/b", "x::y", "[z]", "\u00e9"])
def test_of_many(request, baud):
    note(request, "pass")

class TestUart:
    def test_in_a_class(self, request):
        note(request, "pass")
"""
)


@dataclass(frozen=True)
class Run:
    """What a run of pytest left behind."""

    folder: Path
    arguments: tuple[str, ...]
    exit_code: int
    output: str

    @property
    def noted(self) -> list[tuple[str, str]]:
        """Tries in their order, as the tests themselves noted them."""
        path = self.folder / "tries.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(nodeid, outcome) for nodeid, outcome in map(json.loads, lines)]

    @property
    def results(self) -> FileResults:
        """What the plugin wrote."""
        return read_results(self.folder / "results.json", BUILT_IN)

    @property
    def xml(self) -> FileResults:
        """What pytest wrote."""
        return read_results(self.folder / "junit.xml", BUILT_IN)


def run_pytest(folder: Path, *arguments: str, **files: str) -> Run:
    """Run modules, with `--hwci-results` and `--junitxml`; no other plugin is loaded."""
    flags = ("--hwci-results=results.json", "--junitxml=junit.xml")
    return run_plain(folder, "-p", "hwci.pytest_plugin", *flags, *arguments, **files)


def run_plain(folder: Path, *arguments: str, **files: str) -> Run:
    """Run modules with the plugins and flags that are given, and no others."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pytest.ini").write_text(INI)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env=environment(folder) | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    return Run(folder, arguments, done.returncode, done.stdout + done.stderr)


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a run: this hwci, nothing of the pytest that runs these tests."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return own | {"PYTHONPATH": str(ROOT), "TRIES": str(folder / "tries.jsonl")}


def counted(file: FileResults) -> dict[str, tuple[str, int]]:
    """Return the outcome and the attempts of each test."""
    return {item.id: (item.outcome.value, item.attempts) for item in boxed(file).tests}


def boxed(*files: FileResults) -> BoxResults:
    """Return what a report would hold."""
    return merged(files)


def counted_tries(tries: Sequence[tuple[str, str]]) -> dict[str, tuple[str, int]]:
    """Count what tests noted as a report counts it: one pass is a pass."""
    outcomes: dict[str, list[str]] = {}
    for nodeid, outcome in tries:
        outcomes.setdefault(nodeid, []).append(outcome)
    return {
        nodeid: ("pass" if "pass" in own else "fail", len(own)) for nodeid, own in outcomes.items()
    }
