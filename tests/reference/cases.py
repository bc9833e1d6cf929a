# SPDX-License-Identifier: Apache-2.0
"""A notation for small hand-computed cases.

A commit is one letter, a time the minutes after the start of a day. `"b:fw c:hs+fw d:ot~"` lists
three commits with the kinds of their files; `~` says that a list of files is cut.

    run("b", 10, "fail", after="a", of="b:fw")   # b fails at minute 10; its changes are a..b
"""

from datetime import timedelta
from typing import Any

from tests.reference import brute
from tests.reference.facts import Event, Json, instant

DAY = "2026-02-03T00:00:00Z"
AS_OF = "2026-02-04T00:00:00Z"
FILES = {"fw": "src/x.c", "hs": "hil/x.py", "bo": "shared/x.h", "ot": "README.md"}
ADA = {"id": "1", "name": "Ada"}


def sha(letter: str) -> str:
    return letter * 7


def at(minutes: float) -> str:
    return (instant(DAY) + timedelta(minutes=minutes)).isoformat()


def config(**fields: object) -> Event:
    body: Json = {
        "repo_key": "fw",
        "suite": "hil",
        "firmware_paths": ["src/**", "shared/**"],
        "harness_paths": ["hil/**", "shared/**"],
        "merge_trigger": True,
    }
    return ("config", body | fields)


def announce(letter: str, minutes: float, **fields: object) -> Event:
    body: Json = {
        "repo_key": "fw",
        "sha": sha(letter),
        "branch": "main",
        "merged_at": at(minutes),
    }
    return ("announce", body | fields)


def listed(of: str) -> list[Json]:
    commits = []
    for one in of.split():
        letter, _, kinds = one.partition(":")
        files = [FILES[kind] for kind in kinds.rstrip("~").split("+") if kind]
        item: Json = {"sha": sha(letter), "subject": f"Commit {letter}", "files": files}
        commits.append(item | ({"files_truncated": True} if kinds.endswith("~") else {}))
    return commits


def run(
    letter: str,
    minutes: float,
    outcome: str | None = None,
    *,
    after: str | None = None,
    of: str | None = None,
    truncated: bool = False,
    verdict: str | None = "device",
    attempts: int = 1,
    **fields: object,
) -> Event:
    """A report of one test, or of none; without `of` it carries no changes."""
    body: Json = {
        "repo_key": "fw",
        "workflow": "hil",
        "run_id": round(minutes * 100),
        "run_attempt": 1,
        "trigger": "merge",
        "branch": "main",
        "sha": sha(letter),
        "started_at": at(minutes),
        "ended_at": at(minutes + 1),
        "conclusion": "success",
        "hello_ok": True,
        "box_key": "box",
        "tests": [],
    }
    if outcome is not None:
        item: Json = {"id": "t", "outcome": outcome, "attempts": attempts, "duration_s": 1}
        body["tests"] = [item | ({} if verdict is None else {"verdict": verdict})]
    if of is not None:
        base = None if after is None else sha(after)
        body["changes"] = {"base_sha": base, "commits": listed(of), "truncated": truncated}
    return ("report", body | fields)


def review(action: str, letter: str, **fields: object) -> Event:
    failure = ("fw", "hil", "t", "box", "main", sha(letter))
    return ("review", {"failure": failure, "action": action, "by": ADA, "at": AS_OF} | fields)


def page(*events: Event, **view: Any) -> Json:
    return brute.page(list(events), **{"days": 1, "as_of": AS_OF, **view})


def failures(*events: Event, **view: Any) -> list[Json]:
    return brute.failures(list(events), **{"days": 1, "as_of": AS_OF, **view})


def checked_merges(*events: Event, **view: Any) -> list[Json]:
    return brute.checked_merges(list(events), **{"days": 1, "as_of": AS_OF, **view})


def labels(*events: Event) -> dict[str, str]:
    """The label of each failing commit, by its letter."""
    return {row["sha"][0]: row["label"] for row in failures(*events)}


def resolved(*events: Event) -> list[Json]:
    shown = page(*events)
    rows: list[Json] = shown["realBugs"] + shown["otherFailures"]
    return rows


def the_one(*events: Event) -> Json:
    (row,) = resolved(*events)
    return row


def reason(*events: Event) -> str | None:
    found: str | None = the_one(*events)["reason"]
    return found


# A passes, b breaks the firmware, c mends it.
BREAK = run("b", 10, "fail", after="a", of="b:fw")
MEND = run("c", 20, "pass", after="b", of="c:fw")
REAL = [config(), run("a", 0, "pass"), BREAK, MEND]
