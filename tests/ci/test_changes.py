# SPDX-License-Identifier: Apache-2.0
"""What is collected of a commit, the notes when it cannot be, and what never leaves."""

import json
import os
import socket
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hwci.ci.git.changes import FilesUnknownError, Push, collect, covered, touched
from hwci.ci.git.repository import GitError, Repository, commit_of
from tests.support.clones import OF_ANOTHER_USER, Story, git

ROOT = Path(__file__).parents[2]
ABSENT = "1" * 40


def line_of(many: int, folder: Path) -> dict[int, str]:
    story = Story()
    story.branches["main"] = story.walk(0, many)
    return dict(story.made(folder))


def clone_of(origin: Path, folder: Path, *options: str) -> Path:
    git(origin.parent, "clone", "--quiet", *options, origin.as_uri(), str(folder))
    return folder


# What leaves


CANARY = "canary"


def test_nothing_leaves_but_hashes_first_lines_times_and_paths(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "remote", "add", "origin", f"https://{CANARY}:{CANARY}@{CANARY}.example/{CANARY}")
    for name in ("user.name", "user.email", "section.secret"):
        git(folder, "config", name, f"{CANARY}@example.org")
    (folder / "fw.c").write_text(CANARY)
    git(folder, "add", ".")
    person = f"--author={CANARY} <{CANARY}@example.org>"
    message = f"First\n{CANARY}\n\n{CANARY}\n\nSigned-off-by: {CANARY} <{CANARY}@example.org>"
    git(folder, "commit", "--quiet", person, "-m", message)
    git(folder, "tag", "-a", CANARY, "-m", CANARY)
    git(folder, "notes", "add", "-m", CANARY)
    base = git(folder, "rev-parse", "HEAD").strip()
    (folder / "fw.c").write_text(f"{CANARY} {CANARY}")
    git(folder, "commit", "--quiet", "-a", person, "-m", f"Second\n\n{CANARY}")
    sha = git(folder, "rev-parse", "HEAD").strip()

    given = ("--repo-key=r", "--box=b", "--hello=ok", "--started-at=2026-03-02T12:00:00Z")
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "hwci", "report-run", "--dry-run", *given]
    for earlier in (base, ABSENT):
        done = subprocess.run(
            [*command, f"--base-sha={earlier}"],
            cwd=folder,
            env=environ,
            capture_output=True,
            check=True,
        )
        (line,) = done.stdout.splitlines()
        (item,) = json.loads(line)["changes"]["commits"]

        assert CANARY.encode() not in done.stdout + done.stderr
        assert set(item) == {"sha", "subject", "committed_at", "files"}
        assert (item["sha"], item["subject"], item["files"]) == (sha, "Second", ["fw.c"])


def test_a_blobless_clone_fetches_no_content(tmp_path: Path) -> None:
    shas = line_of(12, tmp_path / "origin")
    clone = clone_of(tmp_path / "origin", tmp_path / "clone", "--bare", "--filter=blob:none")

    collected = collect(Repository(clone), shas[12], shas[1])

    assert collected.changes is not None
    assert len(collected.changes.commits) == 11
    assert "blob" not in git(clone, "cat-file", "--batch-all-objects", "--batch-check")


def test_a_treeless_clone_is_completed_in_one_request(tmp_path: Path) -> None:
    shas = line_of(12, tmp_path / "origin")
    clone = clone_of(tmp_path / "origin", tmp_path / "clone", "--bare", "--filter=tree:0")

    collect(Repository(clone), shas[12], shas[1])

    packs = git(clone, "count-objects", "-v")
    assert "packs: 2\n" in packs


def test_an_address_with_a_password_is_not_shown(tmp_path: Path) -> None:
    shas = line_of(3, tmp_path / "origin")
    clone = clone_of(tmp_path / "origin", tmp_path / "clone", "--depth=1")
    git(clone, "remote", "set-url", "origin", "http://user:hunter2@127.0.0.1:1/x.git")

    (note,) = collect(Repository(clone), shas[3], shas[1]).notes

    assert "127.0.0.1" in note
    assert "hunter2" not in note
    assert "fetch-depth: 0" in note


# What is said of a commit


def commit(
    message: bytes, committer: bytes = b"n <n@x> 1767225600 +0200", more: bytes = b""
) -> bytes:
    return b"tree %s\nauthor n <n@x> 1 +0000\ncommitter %s\n%s\n%s" % (
        b"a" * 40,
        committer,
        more,
        message,
    )


@pytest.mark.parametrize(
    ("message", "subject"),
    [
        (b"One\nTwo\n\nThree", "One"),
        (b"\n  \n  Late  \n", "Late"),
        (b"", ""),
        (b"Windows\r\nline", "Windows"),
        (b"caf\xe9", "caf\ufffd"),
        ("größe 🔥".encode(), "größe 🔥"),
        (b"nul\0nul", "nul\ufffdnul"),
    ],
)
def test_the_subject_is_the_first_line(message: bytes, subject: str) -> None:
    assert commit_of(commit(message)).subject == subject


@pytest.mark.parametrize(
    ("encoding", "subject"),
    [
        (b"ISO-8859-1", "café"),
        (b"no-such-encoding", "caf\ufffd"),
        (b"hex", "caf\ufffd"),
        (b"unicode_escape", "café"),
    ],
)
def test_a_commit_may_name_its_own_encoding(encoding: bytes, subject: str) -> None:
    written = commit(b"caf\xe9", more=b"encoding " + encoding + b"\n")

    assert commit_of(written).subject == subject


def test_an_encoding_cannot_bring_in_what_no_report_can_hold() -> None:
    written = commit(rb"half \ud800", more=b"encoding unicode_escape\n")

    assert commit_of(written).subject == "half \ufffd"


@pytest.mark.parametrize(
    ("committer", "time"),
    [
        (b"n <n@x> 1767225600 +0200", datetime(2026, 1, 1, tzinfo=UTC)),
        (b"n <n@x> 99999999999999 +0000", None),
        (b"n <n@x>", None),
    ],
)
def test_a_time_that_no_calendar_holds_is_left_out(committer: bytes, time: datetime | None) -> None:
    assert commit_of(commit(b"x", committer)).committed_at == time


def test_a_long_subject_is_cut(tmp_path: Path) -> None:
    story = Story()
    story.branches["main"] = story.commit([story.walk(0, 1)], {}, "ß" * 1_500)
    shas = story.made(tmp_path / "origin")

    changes = collect(Repository(tmp_path / "origin"), shas[2], shas[1]).changes

    assert changes is not None
    assert changes.commits[0].subject == "ß" * 1_000


# Notes for people


def test_without_an_earlier_run_the_commit_alone_is_sent(tmp_path: Path) -> None:
    shas = line_of(3, tmp_path / "origin")

    collected = collect(Repository(tmp_path / "origin"), shas[3], None)
    root = collect(Repository(tmp_path / "origin"), shas[1], None)

    assert collected.changes is not None
    assert collected.changes.base_sha is None
    assert [item.sha for item in collected.changes.commits] == [shas[3]]
    assert collected.changes.truncated
    assert root.changes is not None
    assert root.changes.truncated is None


@pytest.mark.parametrize("options", [("--depth=1",), ("--depth=1", "--filter=blob:none")])
def test_a_clone_of_one_commit_is_deepened_for_the_files_of_it(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    shas = line_of(5, tmp_path / "origin")
    clone = clone_of(tmp_path / "origin", tmp_path / "clone", *options)
    whole = collect(Repository(tmp_path / "origin"), shas[5], None)

    assert collect(Repository(clone), shas[5], None) == whole
    assert collect(Repository(clone), shas[5], None) == whole
    assert git(clone, "rev-list", "--count", "HEAD") == "2\n"


def test_a_work_tree_beside_a_clone_ends_where_that_ends(tmp_path: Path) -> None:
    shas = line_of(5, tmp_path / "origin")
    clone = clone_of(tmp_path / "origin", tmp_path / "clone", "--depth=2")
    git(clone, "worktree", "add", "--quiet", "--detach", "../beside")
    git(clone, "remote", "set-url", "origin", (tmp_path / "gone").as_uri())
    beside = Repository(tmp_path / "beside")

    near, far = (collect(beside, shas[5], shas[number]).changes for number in (4, 3))

    assert near is not None
    assert near.base_sha == shas[4]
    assert not near.commits[0].files_truncated
    assert far is not None
    assert (far.base_sha, far.truncated) == (None, True)


def test_a_clone_without_trees_whose_remote_is_gone_gives_the_commits_alone(
    tmp_path: Path,
) -> None:
    shas = line_of(4, tmp_path / "origin")
    clone = clone_of(tmp_path / "origin", tmp_path / "clone", "--bare", "--filter=tree:0")
    git(clone, "remote", "set-url", "origin", (tmp_path / "gone").as_uri())

    collected = collect(Repository(clone), shas[4], shas[2])

    assert collected.changes is not None
    result = [(item.sha, item.files_truncated) for item in collected.changes.commits]
    assert result == [(shas[3], True), (shas[4], True)]
    assert "filter: blob:none" in collected.notes[0]


def test_where_a_clone_of_one_commit_cannot_be_deepened_its_files_are_cut_short(
    tmp_path: Path,
) -> None:
    shas = line_of(5, tmp_path / "origin")
    clone = clone_of(tmp_path / "origin", tmp_path / "clone", "--depth=1")
    shallow = clone_of(clone, tmp_path / "of-a-clone")
    git(clone, "remote", "remove", "origin")

    for folder, why in ((clone, "no remote"), (shallow, "its remote has no more")):
        collected = collect(Repository(folder), shas[5], None)

        assert collected.changes is not None
        (item,) = collected.changes.commits
        assert (item.files, item.files_truncated) == ([], True)
        (note,) = collected.notes
        assert why in note
        assert "fetch-depth: 0" in note


def test_a_base_that_does_not_exist_is_named_as_such(tmp_path: Path) -> None:
    shas = line_of(3, tmp_path / "origin")

    (note,) = collect(Repository(tmp_path / "origin"), shas[3], ABSENT).notes

    assert f"{ABSENT[:12]}, which was tested before, is not in this clone" in note


def test_the_same_commit_again_has_no_changes(tmp_path: Path) -> None:
    shas = line_of(3, tmp_path / "origin")

    collected = collect(Repository(tmp_path / "origin"), shas[3], shas[3].upper())

    assert collected.changes is None
    assert shas[3][:12] in collected.notes[0]


def test_a_commit_that_is_nowhere_is_named(tmp_path: Path) -> None:
    line_of(1, tmp_path / "origin")
    clone = clone_of(tmp_path / "origin", tmp_path / "clone")

    collected = collect(Repository(clone), ABSENT, None)

    assert collected.changes is None
    assert "is not a commit of this clone" in collected.notes[0]
    assert covered(Repository(clone), ABSENT, ABSENT.replace("1", "2")) is None


def test_a_commit_of_another_ref_is_fetched(tmp_path: Path) -> None:
    """A pull request is checked out as its merge: the commit that is reported is not there."""
    shas = line_of(9, tmp_path / "origin")
    clone = tmp_path / "clone"
    clone.mkdir()
    git(clone, "init", "--quiet")
    git(clone, "remote", "add", "origin", (tmp_path / "origin").as_uri())
    git(clone, "fetch", "--quiet", "--depth=1", "origin", shas[3])

    collected = collect(Repository(clone), shas[9], shas[4])

    assert collected.changes is not None
    assert collected.changes.base_sha == shas[4]
    assert len(collected.changes.commits) == 5


def test_outside_of_a_repository_people_learn_where_to_go(tmp_path: Path) -> None:
    fault = Repository(tmp_path).fault()

    assert fault is not None
    assert "not a git repository" in str(fault)
    assert "checkout" in fault.fix
    assert collect(Repository(tmp_path), ABSENT, None).changes is None


def test_without_git_the_fix_is_to_install_it(tmp_path: Path) -> None:
    collected = collect(Repository(tmp_path, {"PATH": str(tmp_path)}), ABSENT, None)

    (note,) = collected.notes
    assert "there is no git on this machine. Install git" in note


def test_a_checkout_of_another_user_is_an_error_with_its_fix(tmp_path: Path) -> None:
    line_of(1, tmp_path / "origin")
    clone = clone_of(tmp_path / "origin", tmp_path / "clone")

    fault = Repository(clone, {"PATH": os.environ["PATH"], **OF_ANOTHER_USER}).fault()

    assert fault is not None
    assert "dubious ownership" in str(fault)
    assert "safe.directory" in fault.fix


# How git is asked


def test_patience_ends_with_all_that_git_started(tmp_path: Path) -> None:
    """A remote that takes the call and never answers."""
    shas = line_of(4, tmp_path / "origin")
    clone = clone_of(tmp_path / "origin", tmp_path / "clone", "--depth=1")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        git(clone, "remote", "set-url", "origin", f"http://127.0.0.1:{port}/x.git")

        collected = collect(Repository(clone), shas[4], shas[1], patience_s=3)

    assert collected.changes is not None
    assert collected.changes.base_sha is None
    assert "did not end within" in collected.notes[0]


def test_hooks_and_other_repositories_of_the_environment_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shas = line_of(9, tmp_path / "origin")
    line_of(1, tmp_path / "other")
    clone = clone_of(tmp_path / "origin", tmp_path / "clone", "--depth=1")
    hook = clone / ".git" / "hooks" / "reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "other" / "objects"))

    changes = collect(Repository(clone), shas[9], shas[2]).changes

    assert changes is not None
    assert changes.base_sha == shas[2]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "setting",
    [
        "log.showSignature=true",
        "diff.renames=copies",
        "diff.ignoreSubmodules=all",
        "diff.noprefix=true",
        "log.follow=true",
        "core.quotePath=false",
        "core.pager=false",
        "i18n.logOutputEncoding=UTF-16",
        "color.ui=always",
    ],
)
def test_what_a_person_configured_changes_nothing(setting: str, tmp_path: Path) -> None:
    shas = line_of(4, tmp_path / "origin")
    name, _, value = setting.partition("=")
    plain = collect(Repository(tmp_path / "origin"), shas[4], shas[1])
    git(tmp_path / "origin", "config", name, value)

    assert collect(Repository(tmp_path / "origin"), shas[4], shas[1]) == plain


def test_words_that_are_no_hash_never_reach_git(tmp_path: Path) -> None:
    line_of(1, tmp_path / "origin")
    repository = Repository(tmp_path / "origin")

    assert repository.commit("--all") is None
    assert repository.commit("main") is None
    assert repository.committed_at("HEAD") is None
    assert repository.resolved("--all") is None
    assert repository.resolved("^main") is None
    assert repository.resolved("main..main") is None
    assert repository.resolved("") is None
    with pytest.raises(GitError):
        repository.run("rev-parse", "--verify", "nothing")


# What a merge touched


def test_a_merge_touches_what_it_brought_to_its_branch(tmp_path: Path) -> None:
    story = Story()
    base = story.walk(0, 2)
    side = story.commit([base], {b"boards/a.dts": ("100644", b"a")})
    trunk = story.commit([base], {b"docs/x.md": ("100644", b"x")})
    merged = story.merge([trunk, side])
    rebased = story.commit([merged], {b"boards/b.dts": ("100644", b"b")})
    last = story.commit([rebased], {b"docs/y.md": ("100644", b"y")})
    story.branches["main"] = last
    shas = story.made(tmp_path / "origin")
    clone = clone_of(tmp_path / "origin", tmp_path / "clone", "--depth=1")

    repository = Repository(clone)

    def by(*listed: int) -> Push:
        return Push(listed=[shas[number] for number in listed])

    assert touched(repository, shas[last], Push(shas[rebased])) == ("docs/y.md",)
    assert touched(repository, shas[last], Push(shas[merged])) == ("boards/b.dts", "docs/y.md")
    assert touched(repository, shas[merged]) == ("boards/a.dts",)
    assert touched(repository, shas[last], by(rebased, last)) == ("boards/b.dts", "docs/y.md")
    # One that lists not even what its merge brought.
    assert touched(repository, shas[merged], by(merged)) == ("boards/a.dts",)


@pytest.mark.parametrize(
    ("push", "why"),
    [
        (Push(), "it is unknown what was pushed"),
        (Push(batched=True), "several pushes are built at once"),
        (Push(listed=[ABSENT]), "it is unknown what was pushed"),
        (Push(ABSENT), f"{ABSENT} is not an ancestor of "),
    ],
)
def test_what_a_push_touched_is_never_guessed(tmp_path: Path, push: Push, why: str) -> None:
    shas = line_of(3, tmp_path / "origin")

    with pytest.raises(FilesUnknownError, match=why):
        touched(Repository(tmp_path / "origin"), shas[3], push)


def test_more_files_than_are_read_are_not_taken_for_all(tmp_path: Path) -> None:
    story = Story()
    wide = {b"docs/%04d.md" % number: ("100644", b"x") for number in range(2_001)}
    first = story.commit([story.walk(0, 1)], wide | {b"fw/last.c": ("100644", b"x")})
    story.branches["main"] = last = story.walk(first, 1)
    shas = story.made(tmp_path / "origin")

    with pytest.raises(FilesUnknownError, match="more files than are read"):
        touched(Repository(tmp_path / "origin"), shas[last], Push(listed=[shas[first], shas[last]]))


def test_a_clone_that_is_too_shallow_says_so_of_a_push(tmp_path: Path) -> None:
    shas = line_of(4, tmp_path / "origin")
    clone = clone_of(tmp_path / "origin", tmp_path / "clone", "--depth=2")
    git(clone, "remote", "remove", "origin")

    for push in (Push(shas[1]), Push(listed=[shas[3], shas[4]])):
        with pytest.raises(FilesUnknownError, match="the clone has no remote"):
            touched(Repository(clone), shas[4], push)


def test_a_first_commit_touches_all_its_files(tmp_path: Path) -> None:
    story = Story()
    story.branches["main"] = story.commit([], {b"a.c": ("100644", b"a"), b"b.c": ("100644", b"b")})
    shas = story.made(tmp_path / "origin")

    assert touched(Repository(tmp_path / "origin"), shas[1]) == ("a.c", "b.c")


# What a job asks of its checkout


def test_a_checkout_gives_its_branch_its_remote_and_its_commit(tmp_path: Path) -> None:
    shas = line_of(3, tmp_path / "origin")
    clone = clone_of(tmp_path / "origin", tmp_path / "clone")
    inside = clone / "deeper"
    inside.mkdir()

    repository = Repository(inside)

    assert repository.head() == shas[3]
    assert repository.branch() == "main"
    assert repository.default_branch() == "main"
    assert repository.remote_url() == (tmp_path / "origin").as_uri()
    seconds = int(git(clone, "show", "--no-patch", "--format=%ct", shas[1]))
    assert repository.committed_at(shas[1]) == datetime.fromtimestamp(seconds, UTC)
    git(clone, "checkout", "--quiet", "--detach")
    assert repository.branch() is None
