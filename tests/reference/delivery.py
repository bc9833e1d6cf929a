# SPDX-License-Identifier: Apache-2.0
"""This module decides how true things are spelled and in which order they arrive.

Hashes come in either case or abbreviated, times with any offset, events late or twice. Events of
one identity keep their order, since for these alone the order of arrival decides (semantics §1.5).
"""

import random
from datetime import datetime, timedelta, timezone

from tests.reference.facts import Event, Json


def spelled_sha(rng: random.Random, sha: str) -> str:
    """Now and then in upper case; rarely abbreviated, which makes it another commit."""
    if rng.random() < 0.02:
        sha = sha[:12]
    return sha.upper() if rng.random() < 0.1 else sha


def spelled_time(rng: random.Random, moment: datetime) -> str:
    """The same instant in one of the spellings that are taken."""
    spelling = rng.randint(0, 4)
    if spelling == 0:
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    if spelling == 1:
        return moment.strftime("%Y-%m-%dt%H:%M:%S.000000z")
    if spelling == 2:
        return moment.astimezone(timezone(timedelta(hours=2))).strftime("%Y-%m-%dT%H:%M:%S%z")
    if spelling == 3:
        return moment.astimezone(timezone(-timedelta(hours=9, minutes=30))).isoformat()
    return moment.isoformat()


def identity(event: Event) -> tuple[object, ...]:
    """What must keep its order; the parts of a report count as one, since part 1 removes others."""
    kind, body = event
    if kind == "announce":
        return (kind, body["repo_key"], body.get("suite"), body["sha"].lower())
    if kind == "config":
        return (kind, body["repo_key"], body["suite"])
    return (kind, body["repo_key"], shown_run_id(body), body["run_attempt"], body["box_key"])


def shown_run_id(body: Json) -> int:
    run_id: int = (body.get("part_of") or body)["run_id"]
    return run_id


def in_arrival_order(rng: random.Random, events: list[Event]) -> list[Event]:
    """In order, a little late, or shuffled; some events twice."""
    arriving = list(events)
    if rng.random() < 0.4:
        arriving = [event for event in arriving for _ in range(rng.choice([1, 1, 1, 2]))]
    lateness = rng.choice([0.0, 0.0, 4.0, 12.0, 1e9])
    when = [index + rng.uniform(0, lateness) for index in range(len(arriving))]
    shuffled = [arriving[index] for index in sorted(range(len(arriving)), key=when.__getitem__)]
    return keeping_identities(arriving, shuffled)


def keeping_identities(original: list[Event], shuffled: list[Event]) -> list[Event]:
    """Each identity's events, in their own order, on the seats that the shuffle gave them."""
    queues: dict[tuple[object, ...], list[Event]] = {}
    for event in original:
        queues.setdefault(identity(event), []).append(event)
    return [queues[identity(event)].pop(0) for event in shuffled]
