# SPDX-License-Identifier: Apache-2.0
"""GitHub Actions. What its variables do not say stands in the file of the event that started the
run: which commit a pull request is about, and where a branch stood before the push.

A branch of a fork is `owner:branch`, as GitHub writes it: a fork's `main` is not ours.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hwci.ci.bounded import MEBIBYTE, read_whole
from hwci.ci.fields import ATTEMPT, RUN_ID
from hwci.ci.sourced import Sourced
from hwci.ci.systems.system import (
    EVENT,
    Condition,
    JobEnvironment,
    System,
    UnreadableError,
    commit,
    in_event,
    placed,
    push_or,
    started_by,
    variable,
    where,
)
from hwci.engine.vocabulary import Trigger
from hwci.wire import limits
from hwci.wire.base import parse_time

_QUEUE = re.compile(r"(?:refs/heads/)?gh-readonly-queue/(?P<branch>.+)/pr-\d+-[0-9a-f]+")
QUEUED = "merge_group"
"""The event of a run that tries a merge in a queue."""
EVENT_BYTES_MAX = 64 * MEBIBYTE
"""GitHub cuts what it tells of an event at 25 MB."""
_WORDS = {
    "push": Trigger.MERGE,
    QUEUED: Trigger.MERGE,
    "schedule": Trigger.NIGHTLY,
}


def read_event(environ: Mapping[str, str]) -> Mapping[str, Any]:
    """Read the file of the event.

    Raises:
        UnreadableError: it cannot be read, or is none.
    """
    path = environ.get("GITHUB_EVENT_PATH", "")
    if not path:
        return {}
    try:
        found = json.loads(read_whole(Path(path), EVENT_BYTES_MAX))
        if isinstance(found, dict):
            return found
        why = "it is no JSON object"
    except OSError as fault:
        why = fault.strerror or str(fault)
    except (ValueError, RecursionError):
        why = "it is no JSON"
    raise UnreadableError(
        f"The event of this run cannot be read (GITHUB_EVENT_PATH): {path}: {why}"
    )


def _event_is(*names: str) -> Condition:
    return lambda seen: seen.text("GITHUB_EVENT_NAME") in names


def _is_tag(seen: JobEnvironment) -> bool:
    return seen.text("GITHUB_REF_TYPE") == "tag"


def _is_queue(seen: JobEnvironment) -> bool:
    return seen.text("GITHUB_EVENT_NAME") == QUEUED


def _pull_branch(seen: JobEnvironment) -> Sourced[str] | None:
    """Give the branch of a pull request, with its owner where it is another repository's."""
    name = seen.text("GITHUB_HEAD_REF")
    if not name:
        return None
    ours = placed(seen.event, "pull_request", "base", "repo", "full_name")
    theirs = placed(seen.event, "pull_request", "head", "repo", "full_name")
    label = placed(seen.event, "pull_request", "head", "label")
    if isinstance(label, str) and label and theirs != ours:
        return Sourced(label, EVENT)
    return Sourced(name, "GITHUB_HEAD_REF")


def _finished_branch(seen: JobEnvironment) -> Sourced[str] | None:
    """Give the branch of the run that this one follows."""
    run = placed(seen.event, "workflow_run")
    name, theirs = placed(run, "head_branch"), placed(run, "head_repository", "full_name")
    if not isinstance(name, str) or not name:
        return None
    ours = placed(seen.event, "repository", "full_name") or seen.text("GITHUB_REPOSITORY")
    if isinstance(theirs, str) and theirs != ours:
        return Sourced(f"{theirs.partition('/')[0]}:{name}", EVENT)
    return Sourced(name, EVENT)


def _finished_trigger(seen: JobEnvironment) -> Sourced[Trigger] | None:
    """Give what started the run that this one follows."""
    word = placed(seen.event, "workflow_run", "event")
    if not isinstance(word, str):
        return None
    trigger = _WORDS.get(word, Trigger.MANUAL)
    return Sourced(push_or(trigger, (_finished_branch,), seen), EVENT)


def unqueued(name: str) -> str:
    """Give the branch that a merge queue merges into; any other branch is itself."""
    match = _QUEUE.fullmatch(name)
    return match["branch"] if match else name


def _pushed(seen: JobEnvironment) -> Sourced[tuple[str, ...]] | None:
    commits = placed(seen.event, "commits")
    listed = [placed(item, "id") for item in commits] if isinstance(commits, list) else []
    shas = [sha for item in listed if isinstance(item, str) and (sha := commit(item))]
    return Sourced(tuple(shas[-limits.COVERS_MAX :]), EVENT) if shas else None


def _own_runner(seen: JobEnvironment) -> bool:
    """A runner that GitHub lends has another name each time, and no board."""
    return seen.text("RUNNER_ENVIRONMENT") != "github-hosted"


def _not_forced(seen: JobEnvironment) -> bool:
    return placed(seen.event, "forced") is not True


_BRANCH = (
    where(_event_is("workflow_run"), _finished_branch),
    _pull_branch,
    variable("GITHUB_REF_NAME", unqueued),
)

GITHUB = System(
    name="github",
    title="GitHub Actions",
    variable="GITHUB_ACTIONS",
    event=read_event,
    readers={
        "repo_key": (variable("GITHUB_REPOSITORY"),),
        "workflow": (variable("GITHUB_WORKFLOW"),),
        "run_id": (variable("GITHUB_RUN_ID", RUN_ID),),
        "run_attempt": (variable("GITHUB_RUN_ATTEMPT", ATTEMPT),),
        "sha": (
            where(
                _event_is("pull_request", "pull_request_target"),
                in_event("pull_request", "head", "sha", read=commit),
            ),
            where(_event_is("workflow_run"), in_event("workflow_run", "head_sha", read=commit)),
            variable("GITHUB_SHA", commit),
        ),
        "branch": _BRANCH,
        "trigger": (
            where(_event_is("workflow_run"), _finished_trigger),
            where(_is_tag, lambda _: Sourced(Trigger.MANUAL, "GITHUB_REF_TYPE")),
            where(_is_queue, lambda _: Sourced(Trigger.MERGE, "GITHUB_EVENT_NAME")),
            started_by("GITHUB_EVENT_NAME", _WORDS, _BRANCH),
        ),
        "box_key": (where(_own_runner, variable("RUNNER_NAME")),),
        "merged_at": (
            where(_event_is("push"), in_event("head_commit", "timestamp", read=parse_time)),
        ),
        "default_branch": (in_event("repository", "default_branch"),),
        "before_sha": (
            where(_not_forced, in_event("before", read=commit)),
            in_event(QUEUED, "base_sha", read=commit),
        ),
        "pushed_shas": (_pushed,),
        "queued": (where(_is_queue, lambda _: Sourced(True, "GITHUB_EVENT_NAME")),),
    },
)
