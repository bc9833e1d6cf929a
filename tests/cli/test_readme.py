# SPDX-License-Identifier: Apache-2.0
"""README leads from a new server to the first report of a repository, command by command."""

import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.cli.conftest import Command
from tests.cli.jobs import repository
from tests.support.commands import ROOT
from tests.support.running import RunningServer

ADDRESS = "http://127.0.0.1:8080"
TESTS = "def test_boot() -> None: pass\ndef test_i2c() -> None: assert False\n"


def commands() -> Iterator[list[str]]:
    """Return what README types after `hwci`, but for the server itself."""
    text = (ROOT / "README.md").read_text()
    for block in re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        for line in re.findall(r"^hwci .*", block, re.MULTILINE):
            words = shlex.split(line, comments=True)[1:]
            if words != ["serve"]:
                yield words


def test_the_commands_of_the_readme_end_with_the_failure_of_the_first_report(
    cli: Command, server: RunningServer, tmp_path: Path
) -> None:
    repository(tmp_path, "src/main.c", "tests/test_lamp.py")
    (tmp_path / "tests/test_lamp.py").write_text(TESTS)
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {"HWCI_DATABASE": str(server.database), "PATH": programs}
    typed = list(commands())

    for words in typed:
        here = [word.replace(ADDRESS, server.url) for word in words]
        asked = ["--password-stdin"] if "--email" in here else []
        done = cli(*here, *asked, stdin="correct horse battery\n", **env)
        assert done.code == (words[0] == "exec"), (words, done.err)  # a test of it fails
        if words[0] == "keys":
            env |= {"HWCI_URL": server.url, "HWCI_CI_KEY": done.out.strip()}

    assert [words[0] for words in typed][-4:] == [
        "merge-announce",
        "exec",
        "metrics",
        "failures",
    ]
    assert "test_i2c" in done.out
