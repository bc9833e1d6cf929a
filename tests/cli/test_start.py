# SPDX-License-Identifier: Apache-2.0
"""What `hwci` imports before it knows what it is asked for: only what it then shows or runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "aiohttp", "asyncio", "concurrent.futures", "http.client", "jwt", "pydantic", "rich", "secrets",
    "sqlite3", "tempfile", "tomllib",
    "hwci.ci", "hwci.client._call", "hwci.client.errors", "hwci.server", "hwci.wire.base",
}  # fmt: skip
ROOT = {
    "hwci",
    "hwci.cli",
    "hwci.cli.main",
    "hwci.cli.terminal",
    "hwci.cli.terminal.grouped",
    "hwci.cli.terminal.lines",
}
INVOKED = ROOT | {"hwci.cli.terminal.again", "hwci.client", "hwci.client.explained"}
COMMANDS = "hwci.cli.commands"
MAIN = "from hwci.cli.main import main; main()"
ALL = f"""
import importlib, pkgutil, {COMMANDS} as found
for one in pkgutil.walk_packages(found.__path__, found.__name__ + "."):
    importlib.import_module(one.name)
"""


def imported(script: str, *arguments: str, **variables: str) -> set[str]:
    """Return the modules that a new interpreter imports for a script."""
    at_end = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
    done = subprocess.run(
        [sys.executable, "-c", at_end + script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2]), **variables},
    )
    return set(done.stderr.splitlines()[-1].split())


def own(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] == "hwci"}


def completing(line: str) -> set[str]:
    variables = {"_HWCI_COMPLETE": "complete_bash", "COMP_WORDS": line}
    return imported(MAIN, **variables, COMP_CWORD=str(line.count(" ")))


@pytest.mark.parametrize("arguments", [(), ("--help",), ("--version",)], ids=" ".join)
def test_the_list_of_commands_imports_none_of_them(arguments: tuple[str, ...]) -> None:
    reads = {"hwci.version"} if "--version" in arguments else set()
    assert own(imported(MAIN, *arguments)) == ROOT | reads


def test_a_list_of_a_group_imports_none() -> None:
    assert own(imported(MAIN, "admin")) == INVOKED


@pytest.mark.parametrize("arguments", [("metric",), ("admin", "x")], ids=" ".join)
def test_an_unknown_command_imports_none(arguments: tuple[str, ...]) -> None:
    modules = imported(MAIN, *arguments)

    assert {name for name in modules if name.startswith(COMMANDS)} == set()


@pytest.mark.parametrize("line", ["hwci ", "hwci re", "hwci --", "hwci admin "])
def test_the_shell_completes_names_of_commands_without_importing_them(line: str) -> None:
    assert own(completing(line)) == ROOT


def test_the_shell_completes_the_flags_of_a_command_by_its_module_alone() -> None:
    modules = completing("hwci report-run --")

    assert {name for name in modules if name.startswith(f"{COMMANDS}.")} == {f"{COMMANDS}.reports"}
    assert own(modules) & HEAVY == set()


@pytest.mark.parametrize(
    ("command", "module"),
    [
        ("report-run", "reports"),
        ("merge-announce", "reports"),
        ("keys", "organizations"),
        ("metrics", "metrics"),
    ],
)
def test_the_help_of_a_command_imports_its_module_alone(command: str, module: str) -> None:
    modules = imported(MAIN, command, "--help")

    assert {name for name in modules if name.startswith(f"{COMMANDS}.")} == {f"{COMMANDS}.{module}"}
    assert modules & {*HEAVY, "hwci.contract.shape"} == set()  # a shape takes a millisecond


def test_no_module_of_a_command_imports_a_heavy_room() -> None:
    modules = imported(ALL)

    assert {f"{COMMANDS}.admin.audit", f"{COMMANDS}.spool"} <= modules
    assert modules & HEAVY == set()
