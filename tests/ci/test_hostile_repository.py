# SPDX-License-Identifier: Apache-2.0
"""A repository whose own files name programs: whoever wrote them, none is started when a report
reads its commits, its state and what a remote has more of them.
"""

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hwci.ci.git.changes import collect
from hwci.ci.git.repository import Deadline, GitError, Repository, fetch_commit
from tests.support.clones import git

COMMITS = 3
SIGNATURE = "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----\n\n"
SSH, GIT = "ssh://127.0.0.1:9/x", "git://127.0.0.1:9/x"
FETCH, STATUS, SHOW = ("fetch", "origin"), ("status",), ("show", "HEAD")
# What is written into `.git/config`, and the command of git that starts it.
PROGRAMS: Mapping[str, tuple[Mapping[str, str], tuple[str, ...]]] = {
    "clean": ({"filter.evil.clean": "{program}"}, STATUS),
    "process": ({"filter.evil.process": "{program}"}, STATUS),
    "fsmonitor": ({"core.fsmonitor": "{program}"}, STATUS),
    "signature": (
        {"log.showSignature": "true", "gpg.program": "{program}", "gpg.format": "openpgp"},
        SHOW,
    ),
    "ext": ({"protocol.ext.allow": "always", "remote.origin.url": "ext::{program}"}, FETCH),
    "ext instead of": (
        {
            "protocol.ext.allow": "always",
            "url.ext::{program} .insteadOf": SSH,
            "remote.origin.url": SSH,
        },
        FETCH,
    ),
    "ssh": ({"core.sshCommand": "{program}", "remote.origin.url": SSH}, FETCH),
    "credential": ({"credential.helper": "!{program}", "remote.origin.url": "{asking}"}, FETCH),
    "askpass": ({"core.askPass": "{program}", "remote.origin.url": "{asking}"}, FETCH),
    "git proxy": ({"core.gitProxy": "{program}", "remote.origin.url": GIT}, FETCH),
    "upload pack": ({"remote.origin.uploadpack": "{program}"}, FETCH),
    "alternates": ({"core.alternateRefsCommand": "{program}"}, FETCH),
}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A shallow clone with a file that has a filter and is changed, and a commit that is signed."""
    origin = tmp_path / "origin"
    origin.mkdir()
    git(origin, "init", "--quiet", "--initial-branch=main")
    (origin / ".gitattributes").write_text("*.bin filter=evil\n")
    for number in range(COMMITS):
        (origin / "main.c").write_text(f"{number}")
        (origin / "image.bin").write_text(f"image {number}")
        git(origin, "add", "--all")
        git(origin, "commit", "--quiet", "--message=more")
    signed = git(origin, "cat-file", "commit", "HEAD").replace("\n\n", SIGNATURE, 1)
    words = ("hash-object", "-t", "commit", "-w", "--stdin")
    git(origin, "reset", "--quiet", "--hard", git(origin, *words, given=signed.encode()).strip())
    found = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", origin.as_uri(), str(found))
    (found / "image.bin").write_text("image 9")
    return found


class AskingForAPassword(BaseHTTPRequestHandler):
    """A remote that wants to know who asks."""

    def do_GET(self) -> None:
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="x"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@pytest.fixture(scope="module")
def asking() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), AskingForAPassword) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/x"
        server.shutdown()
        thread.join()


def hostile(clone: Path, settings: Mapping[str, str], asking: str = "") -> Path:
    """Write settings that name a program; return what the program leaves where it ran."""
    marker, program = clone.parent / "ran", clone.parent / "program"
    program.write_text(f"#!/bin/sh\nenv > {marker}\nexit 1\n")
    program.chmod(0o700)
    for name, value in settings.items():
        written = value.format(program=program, asking=asking)
        git(clone, "config", name.format(program=program), written)
    alternates = clone / ".git" / "objects" / "info" / "alternates"
    alternates.write_text(f"{clone.parent}/origin/.git/objects\n")
    return marker


@pytest.mark.parametrize("kind", PROGRAMS)
def test_no_program_of_a_repository_is_started(clone: Path, kind: str, asking: str) -> None:
    settings, starts = PROGRAMS[kind]
    marker = hostile(clone, settings, asking)
    without = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    command = ["git", *starts]
    subprocess.run(command, cwd=clone, env=without, capture_output=True, check=False)
    assert marker.exists(), "git itself starts it"
    marker.unlink()

    repository = Repository(clone, os.environ)
    head = repository.head()
    assert head is not None
    repository.changed_files()
    repository.merged_head(head, "somebody@example.org")
    repository.fault()
    collect(repository, head, f"{1:040x}", patience_s=5)
    for depth in ((), ("--unshallow",)):
        try:
            fetch_commit(repository, head, Deadline(5), *depth)
        except GitError:
            continue
    assert not marker.exists()


def test_a_fetch_that_is_not_made_is_said_with_what_to_do(clone: Path) -> None:
    hostile(clone, {"core.sshCommand": "{program}", "remote.origin.url": SSH})
    with pytest.raises(GitError, match="transport 'ssh' not allowed") as caught:
        Repository(clone, os.environ).fetch("HEAD", seconds=5)
    assert "GIT_SSH_COMMAND, or git config --global" in caught.value.fix


def test_what_the_people_of_a_machine_configured_is_used(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = hostile(clone, {"remote.origin.url": SSH})
    everywhere = clone.parent / "gitconfig"
    everywhere.write_text(f"[core]\n\tsshCommand = {clone.parent}/program\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(everywhere))
    monkeypatch.setenv("HWCI_CI_KEY", "svc_secret")
    with pytest.raises(GitError):
        Repository(clone, os.environ).fetch("HEAD", seconds=5)

    assert marker.exists()
    assert "svc_secret" not in marker.read_text(), "no program of git is told a key"


def test_changes_in_a_submodule_are_seen_without_its_programs(clone: Path) -> None:
    marker = hostile(clone, {})
    shutil.copytree(clone, inner := clone / "inner", ignore=lambda *_: ["inner"])
    git(clone, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},inner")
    (clone / ".gitmodules").write_text(
        '[submodule "inner"]\n\tpath = inner\n[submodule "self"]\n\tpath = .\n'
    )
    git(inner, "config", "filter.evil.clean", str(clone.parent / "program"))
    repository = Repository(clone, os.environ)
    assert "inner" in repository.changed_files(), "another commit of it"
    head = git(inner, "rev-parse", "HEAD").strip()
    git(clone, "update-index", "--cacheinfo", f"160000,{head},inner")
    git(clone, "commit", "--quiet", "--message=inner")
    assert repository.changed_files() == []
    (inner / "main.c").write_text("changed")

    assert repository.changed_files() == ["inner"]
    assert not marker.exists()
