# SPDX-License-Identifier: Apache-2.0
"""README leads from a new server to the first report of a repository, command by command."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.cli.jobs import repository
from tests.support.commands import ROOT, environment, hwci, started

TESTS = "def test_boot() -> None: pass\ndef test_i2c() -> None: assert False\n"
RESULT = '<testsuite><testcase classname="a" name="i2c"><failure/></testcase></testsuite>'
USER = "--email you@example.org --password-stdin"
PASSWORD = "correct horse battery\n"


def commands() -> list[str]:
    """Return what README types in the repository of the firmware, behind the line to paste."""
    text = (ROOT / "README.md").read_text().split("## Use it")[1]
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [line for block in blocks[1:] for line in block.splitlines()]


def pasted(
    folder: Path, process: subprocess.Popen[str], *lines: str
) -> "subprocess.CompletedProcess[str]":
    """Paste the line of a server into a fresh shell in a folder, and then these."""
    assert process.stderr is not None
    line = next(line for line in process.stderr if line.startswith("eval "))
    paste = line.replace("quick-start", f"quick-start {USER}")
    path = f"{os.environ['PATH']}:{Path(sys.executable).parent}"
    return subprocess.run(
        ["bash", "-c", "\n".join(["set -x", paste, *lines])],
        input=PASSWORD,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment(folder) | {"PATH": path},
    )


def test_the_commands_of_the_readme_end_with_the_failure_of_the_first_report_and_a_job(
    tmp_path: Path,
) -> None:
    repository(tmp_path, "src/main.c", "tests/test_lamp.py")
    (tmp_path / "tests/test_lamp.py").write_text(TESTS)

    with started(tmp_path, "serve", "--port", "0", "--quiet") as (process, _):
        done = pasted(tmp_path, process, *commands())

    assert (done.returncode, "error:" in done.stderr) == (0, False), done.stderr
    assert "Reported 2 tests (1 failed) on bench-1" in done.stderr
    assert "test_i2c" in done.stdout
    assert "hwci exec" in (tmp_path / ".github/workflows/hil.yml").read_text()


def test_the_line_of_a_server_with_users_makes_a_fresh_shell_report_and_read(
    tmp_path: Path,
) -> None:
    repository(tmp_path, "src/main.c", "tests/test_lamp.py")
    (tmp_path / "out.xml").write_text(RESULT)
    user = ("admin", "create-user", *USER.split(), "--organization", "Acme", "--create")
    assert hwci(tmp_path, *user, stdin=PASSWORD).returncode == 0

    with started(tmp_path, "serve", "--port", "0", "--quiet") as (process, _):
        report = "hwci report-run --box bench-1 --junit out.xml --strict"
        done = pasted(tmp_path, process, report, "hwci failures list")

    assert done.returncode == 0, done.stderr
    assert "The organization is Acme" in done.stderr
    assert "i2c" in done.stdout
