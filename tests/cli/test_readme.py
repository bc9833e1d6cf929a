# SPDX-License-Identifier: Apache-2.0
"""README leads from a new server to the first report of a repository, command by command."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.cli.jobs import repository
from tests.support.commands import ROOT, environment, started

TESTS = "def test_boot() -> None: pass\ndef test_i2c() -> None: assert False\n"
USER = "--email you@example.org --password-stdin"


def commands() -> list[str]:
    """Return what README types in the repository of the firmware, behind the line to paste."""
    text = (ROOT / "README.md").read_text().split("## Use it")[1]
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [line for block in blocks[1:] for line in block.splitlines()]


def test_the_commands_of_the_readme_end_with_the_failure_of_the_first_report_and_a_job(
    tmp_path: Path,
) -> None:
    repository(tmp_path, "src/main.c", "tests/test_lamp.py")
    (tmp_path / "tests/test_lamp.py").write_text(TESTS)
    bin_folder = Path(sys.executable).parent
    person = environment(tmp_path) | {"PATH": f"{bin_folder}:{os.environ['PATH']}"}

    with started(tmp_path, "serve", "--port", "0", "--quiet") as (process, _):
        assert process.stderr is not None
        line = next(line for line in process.stderr if line.startswith("eval "))
        paste = line.replace("quick-start", f"quick-start {USER}")
        script = "\n".join(["set -x", paste, *commands()])
        done = subprocess.run(
            ["bash", "-c", script],
            input="correct horse battery\n",
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=person,
        )

    assert (done.returncode, "error:" in done.stderr) == (0, False), done.stderr
    assert "Reported 2 tests (1 failed) on bench-1" in done.stderr
    assert "test_i2c" in done.stdout
    assert "hwci exec" in (tmp_path / ".github/workflows/hil.yml").read_text()
