# SPDX-License-Identifier: Apache-2.0
"""`hwci init`: the first `hwci.toml` of a repository, and what it prints to go on."""

import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]  # it ships no types

from tests.cli.conftest import Command
from tests.cli.test_job_reports import git
from tests.support.running import RunningServer

ZEPHYR = (
    "app/src/main.c",
    "app/west.yml",
    "drivers/relay.c",
    "tests/hil/test_boot.py",
    "docs/relay.c",
    "odd[1]/a.c",
    "CMakeLists.txt",
)


def repository(folder: Path, *files: str, remote: str | None = None) -> Path:
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "One")
    if remote is not None:
        git(folder, "remote", "add", "origin", remote)
    return folder / "hwci.toml"


def test_the_file_holds_what_the_folders_say_and_passes_the_check(
    cli: Command, tmp_path: Path
) -> None:
    path = repository(tmp_path, *ZEPHYR, "west.yml", remote="git@github.com:acme/sensor-node.git")
    done = cli("init")
    [product] = tomllib.loads(path.read_text())["product"]

    assert done.code == 0, done.err
    assert product == {
        "suite": "sensor-node",
        "firmware_paths": ["app/**", "drivers/**", "CMakeLists.txt", "west.yml"],
        "harness_paths": ["tests/**"],
    }
    assert done.err.splitlines()[-1] == "Next: hwci suite-config check"
    checked = cli("suite-config", "check")
    assert (checked.code, "warning" in checked.err) == (0, False), checked.err


def test_a_file_that_is_there_is_never_overwritten(cli: Command, tmp_path: Path) -> None:
    path = repository(tmp_path, "src/a.c")
    path.write_text("# mine\n")
    done = cli("init")

    assert (done.code, done.out) == (1, "")
    assert f"{path} is there" in done.err
    assert path.read_text() == "# mine\n"


def test_a_repository_that_shows_nothing_gets_a_file_to_fill_in(
    cli: Command, tmp_path: Path
) -> None:
    path = repository(tmp_path, "README.md")

    assert cli("init", "--suite", 'a "b"\\c').code == 0
    file = tomllib.loads(path.read_text())
    assert (file["repo_key"], file["product"][0]["suite"]) == (tmp_path.name, 'a "b"\\c')


def test_outside_a_repository_it_writes_nothing(cli: Command, tmp_path: Path) -> None:
    done = cli("init")

    assert done.code == 2
    assert "fix: " in done.err
    assert not (tmp_path / "hwci.toml").exists()


@pytest.mark.parametrize("file", [".github/workflows/ci.yml", ".gitlab-ci.yml"])
def test_the_job_is_of_the_ci_whose_files_are_there_and_pins_the_wheel(
    cli: Command, server: RunningServer, tmp_path: Path, file: str
) -> None:
    repository(tmp_path, "src/a.c", "hil/test_a.py", file)
    done = cli("init", HWCI_URL=server.url)
    job = yaml.safe_load(done.out)
    values = job.get("env") or job["variables"]

    assert values["HWCI_URL"] == server.url
    assert values["HWCI_WHEEL"].startswith(f"{server.url}/dist/")
    assert "#sha256=" in values["HWCI_WHEEL"]
    assert "hwci merge-announce" in done.out
    assert "hwci exec --junit out.xml -- pytest hil --junit-xml=out.xml" in done.out


def test_for_any_other_ci_it_prints_two_lines_of_a_shell(cli: Command, tmp_path: Path) -> None:
    repository(tmp_path, "src/a.c")
    done = cli("init")

    assert subprocess.run(["bash", "-n", "-c", done.out], check=False).returncode == 0
    assert done.out.count("pipx run --spec") == 2
