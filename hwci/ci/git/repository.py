# SPDX-License-Identifier: Apache-2.0
"""The git program: how it is started, how long it may take, what its failures mean for people, and
what it knows of a repository, its commits and their files (spec, "Run report"). What a shallow
clone lacks is fetched here.

Only plumbing commands are used: their output does not change with a person's configuration. What it
means for a report is decided in `hwci.ci.git.changes`. Paths are bytes here, as git keeps them. Of
a commit the first line, the time and the hashes are kept; authors, e-mail addresses and the rest of
the message are not.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from hwci.client.files import MEBIBYTE, read_whole
from hwci.wire.base import made_storable
from hwci.wire.hashes import is_hash

LOCAL_SECONDS = 60.0
"""How long a command may take that needs no network."""

STATUS_SECONDS = 10.0
"""How long the check of all files may take: it leads to a warning only."""

PATIENCE_S = 30.0
"""How long a report may wait for a remote to send more of the history."""

DEEPENING = ("--deepen=50", "--deepen=500", "--unshallow")
"""Each is tried when the one before it was not enough."""

BRANCHES = "+refs/heads/*:refs/hwci/*"
"""All of a remote's branches, beside those that are the user's."""

_LEFT_OUT = frozenset(
    (
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_REF_PARANOIA",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    )
)
"""Variables that name another repository than the folder's, as a hook of that repository has."""

_OURS = "HWCI_"
"""Variables of hwci, keys among them: git needs none."""

_SET_FOR_GIT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",  # the history that everyone has, not one retouched here
    "GIT_GRAFT_FILE": os.devnull,
    "LC_ALL": "C",  # its messages are read below
    "LANGUAGE": "",
}

_OPTIONS = (
    "--no-pager",
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "log.showSignature=false"),
    *("-c", "protocol.ext.allow=never"),
    *("-c", "core.alternateRefsCommand=true"),  # the program that does nothing
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    *("-c", "fetch.prune=false"),
    *("-c", "fetch.pruneTags=false"),
    *("-c", "fetch.writeCommitGraph=false"),
)

_TRANSPORT_PROGRAMS = (
    r"^(core\.(sshcommand|gitproxy|askpass)|credential\.(.*\.)?helper"
    r"|remote\..*\.(uploadpack|vcs)|ssh\.variant)$"
)
"""Keys of a configuration that name a program which a fetch starts."""
_OWN_SCOPES = frozenset((b"local", b"worktree"))
"""Of the repository itself, which may be anybody's; the others are of this machine's people."""
_NO_SUCH_KEY, _NO_SUCH_OPTION = 1, 129
_NO_TRANSPORT = {"GIT_ALLOW_PROTOCOL": "none"}

_UNFILTERED = ":(top,attr:!filter)"
"""The files whose content git compares without a program that the repository names."""

_FIXES = (
    (
        re.compile(r"transport '[^']*' not allowed"),
        (
            "The repository's own configuration names a program for it, such as core.sshCommand,"
            " which hwci does not start. Check out the whole history (fetch-depth: 0), or name the"
            " program outside of the repository: GIT_SSH_COMMAND, or git config --global"
        ),
    ),
    (
        re.compile(r"dubious ownership(?s:.*)(?P<advice>git config --global --add safe\.dir.+)"),
        "If you trust who owns the checkout: {advice}",
    ),
    (re.compile(r"not a git repository"), "Call hwci in the checkout that was tested"),
)
"""What git says, and what to do about it; `advice`: its own."""

_SECRET_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s]+@")


_NO_BRANCHES = {"HEAD", "manifest-rev"}
"""What else a clone has at the place of branches: the remote's default, and what west checked out.
"""
_NAMED = tuple(
    f"refs/{kind}/"
    for kind in ("heads", "remotes", "pull", "pull-requests", "merge-requests", "changes")
)
"""Where the names of branches and pull requests are."""
_REF = re.compile(r"^refs/(heads/|remotes/)?")
_FETCHED = re.compile(r"\t(?:branch )?'(?P<name>[^']+)' of (?P<address>.+)$")
"""A line that git writes of a fetch, but of a tag."""
FETCH_HEAD_BYTES_MAX = 4 * MEBIBYTE
"""A line for each branch that was fetched."""


class GitError(Exception):
    """Git is missing, or failed. `fix`: what to do next, "" if unknown; `status`: git's exit
    status.
    """

    def __init__(self, what: str, fix: str = "", status: int | None = None) -> None:
        super().__init__(what)
        self.fix = fix
        self.status = status


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, without personal data. `parents`: also those that are not in the clone."""

    tree: str
    parents: tuple[str, ...]
    subject: str
    committed_at: datetime | None


class Repository:
    """The repository of a folder, read by the git of this machine. Methods that return None do so
    if git fails or has no answer; the others raise GitError.
    """

    def __init__(self, folder: Path, environ: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        variables = os.environ if environ is None else environ
        own = {name: variables[name] for name in variables if not name.startswith(_OURS)}
        self._environ = {name: own[name] for name in own if name not in _LEFT_OUT} | _SET_FOR_GIT

    def offline(self, folder: Path) -> "Repository":
        """Return the repository of another folder, read alike but without any remote."""
        return Repository(folder, {**self._environ, **_NO_TRANSPORT})

    def run(self, *words: str, stdin: bytes = b"", seconds: float = LOCAL_SECONDS) -> bytes:
        """Return what git prints."""
        return self._run(words, stdin, seconds, {**self._environ, **self._transport})

    @cached_property
    def _transport(self) -> Mapping[str, str]:
        """What lets git reach a remote, also for what a partial clone left out: nothing, unless the
        repository itself names a program for that. Whoever wrote its files could run it as us.
        """
        for option, own in (("--show-scope", _OWN_SCOPES), ("--local", None)):
            words = ("config", option, "--includes", "--null", "--get-regexp", _TRANSPORT_PROGRAMS)
            try:
                output = self._run(words, b"", LOCAL_SECONDS, self._environ)
            except GitError as fault:
                if fault.status == _NO_SUCH_OPTION and own is not None:
                    continue  # before git 2.26
                return {} if fault.status == _NO_SUCH_KEY else _NO_TRANSPORT
            is_own = own is None or not own.isdisjoint(output.split(b"\0")[::2])
            return _NO_TRANSPORT if is_own else {}
        return _NO_TRANSPORT

    def _run(
        self, words: Sequence[str], stdin: bytes, seconds: float, environ: Mapping[str, str]
    ) -> bytes:
        program = shutil.which("git", path=self._environ.get("PATH"))
        if program is None:
            raise GitError("there is no git on this machine", "Install git, or add it to PATH")
        try:
            process = subprocess.Popen(  # noqa: S603 - a list of words, none of them a shell's
                [program, *_OPTIONS, *words],
                cwd=self._folder,
                env=environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # No terminal: ssh cannot ask there for a password. And one group to end.
                start_new_session=True,
            )
        except OSError as fault:
            raise GitError(
                f"git cannot be started in {self._folder}: {fault.strerror}",
                "Call hwci in a folder that this user may look into",
            ) from fault
        return _answer(process, stdin, seconds, words)

    def asked(self, *words: str) -> str | None:
        """Return what git prints as one text, None if it fails or prints nothing."""
        try:
            return self.run(*words).decode(errors="replace").strip() or None
        except GitError:
            return None

    def fault(self) -> GitError | None:
        """Return why git cannot work here, None if it can."""
        try:
            _ = self._shallow_file  # it is needed later
        except GitError as fault:
            return fault
        return None

    # The checkout

    def head(self) -> str | None:
        """Return the full hash of the commit that is checked out."""
        return self.asked("rev-parse", "--verify", "--quiet", "HEAD^{commit}")

    def resolved(self, revision: str) -> str | None:
        """Return the full hash of the commit that a revision such as `HEAD~1` names here."""
        if revision.startswith("-"):  # git would take it for an option
            return None
        sha = self.asked("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        return sha if sha and is_hash(sha) else None

    def branch(self) -> str | None:
        """Return the branch that is checked out; a detached head has none."""
        return self.asked("symbolic-ref", "--quiet", "--short", "HEAD")

    def branches(self, sha: str | None = None) -> set[str]:
        """Return the branches of its remote, of this clone where it knows none of a remote; with
        `sha`, those that hold the commit. One of this clone may hold what was never pushed.
        """
        which = ("--contains", sha) if sha else ()
        remote = self.remote()
        place = f"refs/remotes/{remote}/" if remote else ""
        if not (place and self._refs(place)):
            place = "refs/heads/"
        return {name.removeprefix(place) for name in self._refs(*which, place)} - _NO_BRANCHES

    def names_at(self, sha: str) -> list[str]:
        """Return the names of a commit that begin with none of `refs/heads/`, `refs/remotes/` and
        `refs/`: branches of this clone, and pull requests by the names that servers have for them.
        """
        names = self._refs("--points-at", sha, *_NAMED)
        return sorted({_REF.sub("", name) for name in names} - _NO_BRANCHES)

    def _refs(self, *words: str) -> list[str]:
        return (self.asked("for-each-ref", "--format=%(refname)", *words) or "").split()

    def fetched(self, sha: str) -> Iterator[tuple[str, str]]:
        """Yield the names under which the last fetch found a commit, each with its address."""
        with contextlib.suppress(GitError, OSError):
            place = self.run("rev-parse", "--git-path", "FETCH_HEAD").decode().rstrip("\n")
            text = read_whole(self._folder / place, FETCH_HEAD_BYTES_MAX).decode(errors="replace")
            for line in text.splitlines():
                if line.startswith(sha) and (fetched := _FETCHED.search(line)):
                    yield _REF.sub("", fetched["name"]), fetched["address"]

    def default_branch(self) -> str | None:
        """Return the default branch of the remote, if the clone knows it."""
        remote = self.remote()
        address = remote and self.asked(
            "symbolic-ref", "--quiet", "--short", f"refs/remotes/{remote}/HEAD"
        )
        return address.removeprefix(f"{remote}/") if address else None

    def remote(self) -> str | None:
        """Return the remote that this was cloned from: `origin`, else the first."""
        names = (self.asked("remote") or "").split("\n")
        return "origin" if "origin" in names else names[0] or None

    def remote_url(self) -> str | None:
        """Return the address that it was cloned from."""
        remote = self.remote()
        return remote and self.asked("config", "--get", f"remote.{remote}.url")

    def merged_head(self, sha: str, committer: str) -> str | None:
        """Return the first parent of a commit if it is a merge by the committer of this e-mail."""
        shown = self.asked("show", "--no-patch", "--format=%ce%n%P", sha, "--")
        email, _, parents = (shown or "").partition("\n")
        head, _, others = parents.partition(" ")
        return head if others and email == committer else None

    def committed_at(self, sha: str) -> datetime | None:
        """Return when a commit was made."""
        known = self.commit(sha)
        return None if known is None else self.commits([known])[known].committed_at

    def changed_files(self) -> list[str]:
        """Return the tracked files that differ from the commit that is checked out, as git prints
        them: an odd name quoted. New files do not count, nor do those in submodules; nor files with
        a filter, which is a program that anybody who wrote the repository's files may have named.
        """
        # Without renames, whose search could fetch what a partial clone left out.
        options = ("--porcelain", "--untracked-files=no", "--ignore-submodules=dirty")
        out = self.run(
            "status", *options, "--no-renames", "--", _UNFILTERED, seconds=STATUS_SECONDS
        )
        changed = [line[len("XY ") :] for line in out.decode(errors="replace").splitlines()]
        # In a submodule git would begin another git, with what that one configures.
        dirty = (name for name, inner in self._submodules() if inner.changed_files())
        return list(dict.fromkeys((*changed, *dirty)))

    def _submodules(self) -> Iterator[tuple[str, "Repository"]]:
        """Yield the submodules that are checked out, by their paths."""
        root = self.asked("rev-parse", "--show-toplevel")
        if root is None or not (modules := Path(root) / ".gitmodules").is_file():
            return
        paths = ("--file", str(modules), "--null", "--get-regexp", r"^submodule\..*\.path$")
        for line in (self.asked("config", *paths) or "").split("\0"):
            name = line.partition("\n")[2]
            folder = (Path(root) / name).resolve()
            inside = Path(root).resolve() in folder.parents
            if name and inside and (folder / ".git").exists():
                yield name, Repository(folder, self._environ)

    # The clone

    def commit(self, sha: str) -> str | None:
        """Return the full hash of a commit that is in this clone. It fetches nothing."""
        if not is_hash(sha):
            return None
        return self.asked(
            "rev-list", "--no-walk", "--missing=allow-any", "--max-count=1", sha, "--"
        )

    def among(self, shas: Collection[str]) -> list[str]:
        """Return the full hashes of those commits that are in this clone. It fetches nothing."""
        listed = "".join(f"{sha}\n" for sha in shas).encode()
        options = ("--no-walk", "--missing=allow-any", "--ignore-missing", "--stdin")
        return self.run("rev-list", *options, stdin=listed).decode().split() if shas else []

    def is_ancestor(self, sha: str, descendant: str) -> bool:
        """Return whether a commit is an ancestor of another, or the same, by this clone, which
        must have both.
        """
        try:
            self.run("merge-base", "--is-ancestor", sha, descendant)
        except GitError as fault:
            if fault.status != 1:
                raise
            return False
        return True

    def cut(self) -> frozenset[str]:
        """Return the commits at which a shallow clone ends: it lacks their parents."""
        try:
            return frozenset(self._shallow_file.read_text().split())
        except FileNotFoundError:
            return frozenset()
        except OSError as fault:
            raise GitError(f"{self._shallow_file} cannot be read: {fault}") from fault

    @cached_property
    def _shallow_file(self) -> Path:
        path = self.run("rev-parse", "--git-path", "shallow").decode().rstrip("\n")
        return self._folder / path

    def commits(self, shas: Sequence[str]) -> dict[str, Commit]:
        """Read commits that are in this clone."""
        listed = "".join(f"{sha}\n" for sha in shas).encode()
        rest = self.run("cat-file", "--batch", stdin=listed)
        subjects = {}
        for sha in shas:
            line, _, rest = rest.partition(b"\n")
            words = line.split()
            if len(words) != len(("hash", "kind", "size")) or words[1] != b"commit":
                raise GitError(f"{sha} is not a commit of this clone")
            size = int(words[2])
            subjects[sha], rest = commit_of(rest[:size]), rest[size + 1 :]
        return subjects

    def fetch(self, *words: str, seconds: float, stdin: bytes = b"") -> None:
        """Fetch from the clone's remote, and not for submodules. It must have a remote."""
        remote = self.remote()
        if remote is None:
            raise GitError("the clone has no remote")
        options = ("--quiet", "--no-tags", "--no-recurse-submodules")
        before, after = words[:-1], words[-1:]
        self.run("fetch", *options, *before, remote, *after, stdin=stdin, seconds=seconds)


def _answer(
    process: "subprocess.Popen[bytes]", stdin: bytes, seconds: float, words: Sequence[str]
) -> bytes:
    """Wait for what git prints. Its child processes end with it."""
    try:
        out, err = process.communicate(stdin, timeout=max(seconds, 0.1))
    except subprocess.TimeoutExpired as fault:
        _end(process)
        raise GitError(f"git {words[0]} did not end within {seconds:.0f} s") from fault
    except BaseException:
        _end(process)
        raise
    if process.returncode == 0:
        return out
    text = _SECRET_IN_ADDRESS.sub("", err.decode(errors="replace")).strip()
    lines = [line for line in text.split("\n") if line.startswith(("fatal:", "error:"))]
    why = (lines or text.split("\n"))[0] or f"exit status {process.returncode}"
    matches = ((fix, pattern.search(text)) for pattern, fix in _FIXES)
    fix = next((fix.format_map(match.groupdict()) for fix, match in matches if match), "")
    raise GitError(f"git {words[0]}: {why}", fix, process.returncode)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End git and its child processes, which would hold its pipes open."""
    with contextlib.suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.communicate()


_SECONDS = re.compile(r"(-?[0-9]+) [+-][0-9]+$")


def commit_of(written: bytes) -> Commit:
    """Return a commit from its form in git's store."""
    head, _, message = written.partition(b"\n\n")
    fields: dict[str, list[str]] = {}
    for line in head.decode("utf-8", "replace").split("\n"):
        name, _, value = line.partition(" ")
        fields.setdefault(name, []).append(value)
    encoding = fields.get("encoding", ["utf-8"])[0]
    return Commit(
        tree=fields["tree"][0],
        parents=tuple(fields.get("parent", ())),
        subject=_first_line(message, encoding),
        committed_at=_time(fields.get("committer", [""])[0]),
    )


def _first_line(message: bytes, encoding: str) -> str:
    line = next((line for line in message.split(b"\n") if line.strip()), b"").strip()
    try:
        return made_storable(line.decode(encoding, "replace"))
    except (LookupError, ValueError):  # no such encoding, or none for text
        return line.decode("utf-8", "replace")


def _time(committer: str) -> datetime | None:
    match = _SECONDS.search(committer)
    try:
        return datetime.fromtimestamp(int(match[1]), UTC) if match else None
    except (ValueError, OverflowError, OSError):  # a time that no calendar holds
        return None


# Fetching what a shallow clone lacks

_BEHIND = re.compile(r"(?P<tip>[^~^]+)[~^]")


class Deadline:
    """A time by which to end."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left, at least 0."""
        return max(0.0, self._end - time.monotonic())


def present(repository: Repository, sha: str, deadline: Deadline) -> str:
    """Return the full hash of a commit. Fetch it if the clone is of another branch's tip."""
    commit = repository.commit(sha)
    if commit is None:
        fetch_commit(repository, sha, deadline, *(DEEPENING[:1] if repository.cut() else ()))
        commit = repository.commit(sha)
    if commit is None:
        raise GitError(f"{sha} is not a commit of this clone")
    return commit


def fetch_commit(repository: Repository, sha: str, deadline: Deadline, *depth: str) -> None:
    """Fetch a commit with more of its history; `depth`: of `DEEPENING`."""
    try:
        repository.fetch(*depth, sha, seconds=deadline.left())
    except GitError:
        # An old server gives only what its branches name.
        repository.fetch(*depth, BRANCHES, seconds=deadline.left())


class DeepeningRepository(Repository):
    """A repository that fetches what a revision names beyond the ends of its clone, such as
    `HEAD~1` where it ends at `HEAD`.
    """

    def resolved(self, revision: str) -> str | None:
        """Return the full hash of the commit that a revision names, here or in the remote."""
        sha = super().resolved(revision)
        behind = _BEHIND.match(revision)
        tip = super().resolved(behind["tip"]) if behind and sha is None else None
        return sha if tip is None else self._resolved_behind(tip, revision)

    def _resolved_behind(self, tip: str, revision: str) -> str | None:
        sha = None
        try:
            for depth in DEEPENING:
                if sha is not None or not self.cut():
                    break
                fetch_commit(self, tip, self._deadline, depth)
                sha = super().resolved(revision)
        except GitError:  # what cannot be fetched counts as missing
            return None
        return sha

    @cached_property
    def _deadline(self) -> Deadline:
        """For all revisions of a command."""
        return Deadline(PATIENCE_S)
