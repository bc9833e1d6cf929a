# SPDX-License-Identifier: Apache-2.0
"""How a CI system is described: by which variable it is known, and where it says each field.

A description is data: for each field the readers that are asked, best first. This module decides
what counts as said: an empty variable, one that was never filled in, and a hash of zeros say
nothing.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import unquote, urlsplit

from hwci.ci.sourced import Sourced
from hwci.engine.vocabulary import Trigger
from hwci.wire.hashes import names_a_commit

EVENT = "GitHub's event file"
DEFAULT = "default"


class UnreadableError(Exception):
    """What a CI system left to be read cannot be, in words for people."""


@dataclass(frozen=True, slots=True)
class JobEnvironment:
    """What can be looked at. `told`: the fields that people said themselves."""

    environ: Mapping[str, str]
    event: Mapping[str, Any] = field(default_factory=dict)
    told: frozenset[str] = frozenset()
    merge_branches: tuple[str, ...] = ()

    def text(self, name: str) -> str:
        """Give a variable, "" where it says nothing. Azure hands on what it cannot fill in."""
        value = self.environ.get(name, "").strip()
        return "" if re.fullmatch(r"\$\([^)]*\)", value) else value

    def is_merged_into(self, branch: str) -> bool:
        """Tell whether a push to a branch is a merge."""
        return is_one_of(branch, self.merge_branches)


Reader = Callable[[JobEnvironment], Sourced[Any] | None]
Read = Callable[[str], Any]
Condition = Callable[[JobEnvironment], bool]


@dataclass(frozen=True, slots=True)
class System:
    """A CI system. `readers`: by field, and by `default_branch`, `before_sha`, `previous_sha`,
    `succeeded_sha`, `pushed_shas`, `queued` and `batched`.
    """

    name: str
    title: str
    variable: str
    """The variable that the system sets in each job."""

    readers: Mapping[str, Sequence[Reader]]
    event: Callable[[Mapping[str, str]], Mapping[str, Any]] = lambda _: {}
    """Read what it left in a file; raises UnreadableError."""

    def is_here(self, environ: Mapping[str, str]) -> bool:
        """Tell whether this job is one of the system."""
        return environ.get(self.variable, "").strip().lower() not in {"", "false", "0"}

    def read(self, name: str, seen: JobEnvironment) -> Sourced[Any] | None:
        """Read a field; None when the system does not say it."""
        return first(self.readers.get(name, ()), seen)


def first(readers: Sequence[Reader], seen: JobEnvironment) -> Sourced[Any] | None:
    """Ask one reader after the other, until one knows."""
    return next((told for reader in readers if (told := reader(seen)) is not None), None)


def is_one_of(branch: str, names: Sequence[str]) -> bool:
    """Tell whether a branch is among names. `*` in a name stands for anything."""
    return any(branch == name or fnmatchcase(branch, name) for name in names)


def same(text: str) -> str:
    """Take a text as it is."""
    return text


def variable(name: str, read: Read = same) -> Reader:
    """Read a variable. `read` gives None, or raises ValueError, where the text says nothing."""

    def told(seen: JobEnvironment) -> Sourced[Any] | None:
        text = seen.text(name)
        value = _read(read, text) if text else None
        return None if value is None else Sourced(value, name)

    return told


def in_event(*path: str, read: Read = same) -> Reader:
    """Read a place in the event file."""

    def told(seen: JobEnvironment) -> Sourced[Any] | None:
        found = placed(seen.event, *path)
        value = _read(read, found) if isinstance(found, str) and found else None
        return None if value is None else Sourced(value, EVENT)

    return told


def placed(event: object, *path: str) -> object:
    """Follow keys into JSON; None where one is missing."""
    for key in path:
        event = event.get(key) if isinstance(event, Mapping) else None
    return event


def always(value: object) -> Reader:
    """Say what holds of every job of the system."""
    return lambda _: Sourced(value, DEFAULT)


def where(holds: Condition, *readers: Reader) -> Reader:
    """Ask readers where a condition holds."""
    return lambda seen: first(readers, seen) if holds(seen) else None


def started_by(name: str, words: Mapping[str, Trigger], branch: Sequence[Reader]) -> Reader:
    """Read what started a run. A word that is not listed is a person; a push is a merge only on a
    branch that is merged into.
    """

    def told(seen: JobEnvironment) -> Sourced[Trigger] | None:
        text = seen.text(name)
        return (
            Sourced(push_or(words.get(text, Trigger.MANUAL), branch, seen), name) if text else None
        )

    return told


def push_or(trigger: Trigger, branch: Sequence[Reader], seen: JobEnvironment) -> Trigger:
    """Take back `merge` where the branch is not one that is merged into."""
    if trigger is not Trigger.MERGE:
        return trigger
    on = first(branch, seen)
    merged = on is not None and seen.is_merged_into(on.value)
    return Trigger.MERGE if merged else Trigger.MANUAL


def _read(read: Read, text: str) -> Any:  # noqa: ANN401 - a field's own type
    try:
        return read(text)
    except ValueError:
        return None


# What texts mean: each gives the value, or None where the text says nothing.


def commit(text: str) -> str | None:
    """Read a full or short hash; `HEAD` and a hash of zeros name no commit."""
    return text.lower() if names_a_commit(text) else None


def without(*prefixes: str) -> Read:
    """Take the first prefix that stands there away."""

    def read(text: str) -> str | None:
        found = next((prefix for prefix in prefixes if text.startswith(prefix)), "")
        return text.removeprefix(found) or None

    return read


_SCP = re.compile(r"(?:[^@/:]+@)?[^/:]{2,}:(?P<path>.*)")


def slug(address: str) -> str | None:
    """Name a repository by its address: `acme/firmware`, never what else stands in it."""
    scp = None if "://" in address else _SCP.fullmatch(address)
    try:
        path = scp["path"] if scp else urlsplit(address).path
    except ValueError:
        return None
    parts = [unquote(part) for part in path.split("/") if part and part != "_git"]
    if (scp is None and "://" not in address) or address.startswith("file:"):
        parts = parts[-1:]  # a folder of this machine: where it lies says nothing
    return "/".join(parts).removesuffix(".git") or None
