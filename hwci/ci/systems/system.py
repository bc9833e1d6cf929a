# SPDX-License-Identifier: Apache-2.0
"""How a CI system is described: the variable by which it is detected, for each field the readers
to try, best first, and what else is peculiar to it.

A description is data. What the server and the store of a bench know of a system stands in
`hwci.contract.ci_systems`. An empty variable, one that was never filled in, and a hash of zeros
count as missing.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from hwci.ci.job import DEFAULT, Sourced, matches_branch
from hwci.ci.systems.earlier import EarlierRunsApi
from hwci.ci.systems.identity import Identity
from hwci.contract.ci_systems import CiSystem
from hwci.contract.vocabulary import Trigger
from hwci.wire.hashes import names_a_commit


@dataclass(frozen=True, slots=True)
class JobEnvironment:
    """What readers look at. `set_by_people`: the fields that flags and `HWCI_*` set."""

    environ: Mapping[str, str]
    event: Mapping[str, Any] = field(default_factory=dict)
    set_by_people: frozenset[str] = frozenset()
    merge_branches: tuple[str, ...] = ()

    def text(self, name: str) -> str:
        """Return a variable, "" if it is missing. Azure leaves `$(NAME)` where it knows none."""
        value = self.environ.get(name, "").strip()
        return "" if re.fullmatch(r"\$\([^)]*\)", value) else value


QUEUE = re.compile(r"(?:refs/heads/)?gh-readonly-queue/(?P<branch>.+)/pr-\d+-[0-9a-f]+")
"""A branch on which GitHub's merge queue has a merge tested, on any CI system."""
TAGS, PULLS = "tags", "pulls"
"""What a run is of that counts for no branch of its own name."""

Reader = Callable[[JobEnvironment], Sourced[Any] | None]
Read = Callable[[str], Any]
Condition = Callable[[JobEnvironment], bool]
Tell = Callable[[str], None]
"""Prints a line of output that the system obeys."""
ShowSummary = Callable[[Mapping[str, str], str, Sequence[str], Tell], None]
"""Shows Markdown and warnings on the page of a job of this environment; raises OSError and
SubprocessError.
"""


class PrintedJob(NamedTuple):
    """The job that `hwci init` prints: the whole file of a CI system. `pattern`: which files the
    system has in a repository; `text`: the job, with `{NAME}` for what differs
    (`hwci.ci.new_job`); `host`: what is in the address of a repository that the system is a part
    of; `dollar`: how it wants the dollar of a shell.
    """

    pattern: str
    text: str
    host: str | None = None
    dollar: str = "$"

    def is_of(self, files: Sequence[str]) -> bool:
        """Return whether a repository of these files uses the system."""
        folder = self.pattern.removesuffix("**")
        return self.pattern in files or (
            folder != self.pattern and any(file.startswith(folder) for file in files)
        )


@dataclass(frozen=True, slots=True)
class System:
    """A CI system. `readers`: by field, and by `default_branch`, `before_sha`, `previous_sha`,
    `succeeded_sha`, `pushed_shas`, `pull`, `queued`, `batched`; `job`: its name, where the jobs of
    a build share its number; `built`: the commit that it checks out by itself where that is not
    `sha`; `kind`: what the run is of if that is no branch.
    """

    name: CiSystem
    title: str
    variable: str
    """The variable that the system sets in each job."""

    readers: Mapping[str, Sequence[Reader]]
    job: PrintedJob
    guide: Mapping[str, str]
    """What the guide says of a field, or of the triggers `merge` and `nightly`, in the rows of
    `docs/ci_systems.py`. What is missing has to be set by a person.
    """

    show_summary: ShowSummary | None = None
    """None if the page of a job shows none."""

    event_path: str = ""
    """The variable that names the file with the event that started the run; empty: there is none.
    """

    may_queue: Condition = lambda _: True
    """Whether what started the run may be a merge queue: a person may call a branch like its."""

    merger: str | None = None
    """The e-mail of the committer of merges that the system makes up to test a pull request, whose
    head is their first parent. They are in the job's clone only."""

    api: EarlierRunsApi | None = None
    """None if it has no such API, or a job has nothing to request it with."""

    identity: Identity | None = None
    """None if it signs no identity of jobs that a server takes."""

    def is_here(self, environ: Mapping[str, str]) -> bool:
        """Return whether this job is one of the system."""
        return environ.get(self.variable, "").strip().lower() not in {"", "false", "0"}

    def in_place(
        self, fields: Mapping[str, Sourced[Any]], env: JobEnvironment
    ) -> dict[str, Sourced[Any]]:
        """Return fields with the branch for which the run counts: that which a merge queue merges
        into; and of a pull request or a tag, never one that is merged into, nor as a merge.
        """
        branch, trigger = fields.get("branch"), fields.get("trigger")
        if branch is None:
            return dict(fields)
        is_merge = trigger is not None and trigger.value is Trigger.MERGE
        kind = self.read("kind", env)
        if kind is not None:
            apart = dict(fields)
            if trigger is not None and is_merge:
                apart["trigger"] = Sourced(Trigger.MANUAL, trigger.source)
            if matches_branch(branch.value, env.merge_branches):
                apart["branch"] = Sourced(f"{kind.value}/{branch.value}", branch.source)
            return apart
        queue = QUEUE.fullmatch(str(branch.value))
        if queue is None or not self.may_queue(env):
            return dict(fields)
        into = Sourced(queue["branch"], branch.source)
        merge = trigger if trigger and is_merge else Sourced(Trigger.MERGE, branch.source)
        queued = fields.get("queued", Sourced(value=True, source=branch.source))
        return {**fields, "branch": into, "trigger": merge, "queued": queued}

    def read(self, name: str, env: JobEnvironment) -> Sourced[Any] | None:
        """Return a field, None if the system does not know it."""
        return first(self.readers.get(name, ()), env)


def first(readers: Sequence[Reader], env: JobEnvironment) -> Sourced[Any] | None:
    """Return what the first reader that knows the value returns."""
    return next((value for reader in readers if (value := reader(env)) is not None), None)


def variable(name: str, read: Read = str) -> Reader:
    """Read a variable. `read` returns None, or raises ValueError, if the text means nothing."""

    def reader(env: JobEnvironment) -> Sourced[Any] | None:
        return sourced(env.text(name), name, read)

    return reader


def sourced(text: str, source: str, read: Read) -> Sourced[Any] | None:
    """Read a text that may be empty."""
    try:
        value = read(text) if text else None
    except ValueError:
        return None
    return None if value is None else Sourced(value, source)


def address(template: str) -> Reader:
    """Put an address together of the variables that it names; all must be set."""
    names = re.findall(r"{(\w+)}", template)

    def reader(env: JobEnvironment) -> Sourced[str] | None:
        texts = {name: quote(env.text(name), safe=":/%") for name in names}
        return Sourced(template.format(**texts), names[0]) if all(texts.values()) else None

    return reader


def always(value: object, source: str = DEFAULT) -> Reader:
    """Return what holds for every job of the system."""
    return lambda _: Sourced(value, source)


def where(holds: Condition, *readers: Reader) -> Reader:
    """Use readers only where a condition holds."""
    return lambda env: first(readers, env) if holds(env) else None


def is_set(name: str, *values: str) -> Condition:
    """Return whether a variable has one of some values."""
    return lambda env: env.text(name) in values


def is_not(name: str, *values: str) -> Condition:
    """Return whether a variable has none of some values."""
    return lambda env: env.text(name) not in values


def started_by(name: str, words: Mapping[str, Trigger], branch: Sequence[Reader]) -> Reader:
    """Read what started a run. A word that is not listed stands for a person."""

    def reader(env: JobEnvironment) -> Sourced[Trigger] | None:
        text = env.text(name)
        trigger = words.get(text, Trigger.MANUAL)
        return Sourced(merge_or_manual(trigger, branch, env), name) if text else None

    return reader


def merge_or_manual(trigger: Trigger, branch: Sequence[Reader], env: JobEnvironment) -> Trigger:
    """Return the trigger; a push to a branch that is not merged into is not a merge."""
    on = first(branch, env) if trigger is Trigger.MERGE else None
    if trigger is not Trigger.MERGE or (on and matches_branch(on.value, env.merge_branches)):
        return trigger
    return Trigger.MANUAL


# What texts mean: each returns the value, or None if the text means nothing.


def commit(text: str) -> str | None:
    """Read a full or short hash; `HEAD` and a hash of zeros name no commit."""
    return text.lower() if names_a_commit(text) else None


def without(*prefixes: str) -> Read:
    """Return a reader that removes the first of these prefixes that matches."""

    def read(text: str) -> str | None:
        start = next((prefix for prefix in prefixes if text.startswith(prefix)), "")
        return text.removeprefix(start) or None

    return read


_SCP = re.compile(r"(?:[^@/:]+@)?(?P<host>[^/:]{2,}):(?P<path>.*)")


def slug(address: str) -> str | None:
    """Return the name of a repository in its address: `acme/firmware`, never a secret in it."""
    return _joined(_of_azure(*_place(address)))


def _place(address: str) -> tuple[str, list[str]]:
    """Return the host and the path of a repository."""
    scp = None if "://" in address else _SCP.fullmatch(address)
    try:
        split = urlsplit(f"ssh://{scp['host']}/{scp['path']}" if scp else address)
    except ValueError:
        return "", []
    parts = [unquote(part) for part in split.path.split("/") if part]
    if (scp is None and "://" not in address) or address.startswith("file:"):
        parts = parts[-1:]  # a folder of this machine: where it lies says nothing
    return split.hostname or "", parts


def _of_azure(host: str, parts: list[str]) -> list[str]:
    """Return organization, project and repository, whichever of its addresses Azure DevOps gave;
    the path as it is at another host. A repository with the project's name may stand alone.
    """
    if host in {"ssh.dev.azure.com", "vs-ssh.visualstudio.com"}:
        return parts[1:]  # after `v3`
    if host.endswith(".visualstudio.com"):
        collection = int(parts[:1] == ["DefaultCollection"])
        parts = [host.partition(".")[0], *parts[collection:]]
    elif host != "dev.azure.com":
        return parts
    return [parts[0], *parts[2:], *parts[2:]] if parts[1:2] == ["_git"] else parts


def _joined(parts: Sequence[str]) -> str | None:
    return "/".join(part for part in parts if part != "_git").removesuffix(".git") or None


def on_one_line(text: str, percent: str) -> str:
    """Keep a text on the line of a command to GitHub or Azure."""
    return text.replace("%", percent).replace("\r", "%0D").replace("\n", "%0A")
