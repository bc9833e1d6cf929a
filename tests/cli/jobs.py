# SPDX-License-Identifier: Apache-2.0
"""What the commands of a job are given: its flags, its result file and its checkout; and what they
would send.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Answer
from tests.support import clones

HEAD = [
    "--repo-key",
    "acme/firmware",
    "--workflow",
    "hil",
    "--run-id",
    "4711",
    "--run-attempt",
    "1",
    "--trigger",
    "merge",
    "--branch",
    "main",
    "--sha",
    "abcdef0123456789abcdef0123456789abcdef01",
    "--no-changes",  # these tests run outside of a checkout
]
ANNOUNCED = [
    "--repo-key",
    "acme/firmware",
    "--sha",
    "abcdef0123",
    "--branch",
    "main",
    "--merged-at",
    "2026-01-31T09:30:00+0100",
]
NOWHERE = "http://127.0.0.1:9"


def junit(
    *names: str, fails: str = "", timestamp: str = ' timestamp="2026-01-31T09:30:00Z"'
) -> str:
    """Return a result file; `fails` names the test that failed."""
    cases = "".join(
        f'<testcase classname="t" name="{name}" time="0.5">'
        f"{'<failure/>' if name == fails else ''}</testcase>"
        for name in names
    )
    return f'<testsuite name="s"{timestamp}>{cases}</testsuite>'


def git(folder: Path, *words: str) -> str:
    """Run git at one time of day; return what it says, without the end of its line."""
    at = "2026-01-31T09:00:00+01:00"
    main = ("-c", "init.defaultBranch=main")
    return clones.git(folder, *main, *words, GIT_AUTHOR_DATE=at, GIT_COMMITTER_DATE=at).strip()


def commit(folder: Path, path: str, subject: str) -> str:
    """Commit a file; return the hash."""
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(subject)
    git(folder, "add", "--", path)
    git(folder, "commit", "-q", "-m", subject)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def three_commits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository that each checkout is a copy of."""
    folder = tmp_path_factory.mktemp("template")
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", "https://u:hunter2@git.example/acme/firmware.git")
    for number in range(3):
        commit(folder, f"fw/{number}.c", f"Change {number}")
    (folder / "one.xml").write_text(junit("a", "b", fails="b"))
    return folder


@pytest.fixture
def checkout(three_commits: Path, tmp_path: Path) -> Path:
    """A checkout of three commits with a result file, in which the commands run."""
    shutil.copytree(three_commits, tmp_path, dirs_exist_ok=True)
    return tmp_path


def bodies(answer: Answer) -> list[dict[str, Any]]:
    """Return what a command with `--dry-run` would send."""
    assert answer.code == 0, answer.err
    return [json.loads(line) for line in answer.out.splitlines()]


def body(answer: Answer) -> dict[str, Any]:
    """Return the one thing that a command with `--dry-run` would send."""
    [only] = bodies(answer)
    return only


def repository(folder: Path, *files: str, remote: str | None = None) -> Path:
    """Make a repository of empty files; return where its `hwci.toml` belongs."""
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "One")
    if remote is not None:
        git(folder, "remote", "add", "origin", remote)
    return folder / "hwci.toml"
