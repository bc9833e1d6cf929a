# SPDX-License-Identifier: Apache-2.0
"""This module decides what CI and its people do in a random history: small, plausible and nasty.

    story = generate(seed)      # the same seed gives the same story
    story.events                # in the order of arrival: ("report", body), ("announce", body), …
    story.views                 # keyword arguments of `brute.page` worth comparing
    story.latest                # an `as_of` with 3650 days before it that hold everything

A review is not fixed in advance, since what is legal depends on all that arrived before it:
`("review", {"action", "choose", "member", "reviewer"})` means the `choose`-th failure that `action`
is legal for. `choose` settles it on rows from either side, `review_event` makes the event that the
reference understands, and `settle` does both with the reference alone.
"""

import random
from dataclasses import dataclass
from datetime import timedelta

from tests.reference import brute
from tests.reference.delivery import in_arrival_order
from tests.reference.facts import Event, Json, instant
from tests.reference.pipeline import Pipeline

LATEST = "2026-12-31T00:00:00+00:00"
ACTIONS = ["confirm", "confirm", "dismiss", "reset"]
COVERING = (51, 53, 141, 149, 156, 157, 161, 162)
"""Seeds of few stories that together hold all that `test_generator` expects. Where a change of this
module makes other stories, others are found among those that `make soak` reads, which hold it too.
"""


@dataclass(frozen=True)
class Story:
    seed: int
    events: list[Event]
    views: list[Json]
    latest: str = LATEST


def generate(seed: int) -> Story:
    """A story of 5 to 60 events, delivered in some order."""
    rng = random.Random(seed)
    narrow = rng.random() < 0.6
    boxes = ["bench-1", "Bench-1", "rack/2"][: rng.choice([1, 2] if narrow else [1, 2, 3])]
    repos = ["acme/fw", "acme/boot"][: 1 if narrow else rng.choice([1, 1, 2])]
    pipelines = [Pipeline(rng, repo, boxes, narrow) for repo in repos]
    for pipeline in pipelines:
        if rng.random() < 0.95:
            for _ in range(2 * len(pipeline.products)):
                pipeline.configure()
    size = rng.choice([rng.randint(5, 60), rng.randint(40, 60)])
    while sum(len(pipeline.events) for pipeline in pipelines) < size:
        rng.choice(pipelines).act()
    events = in_arrival_order(rng, [event for one in pipelines for event in one.events][:size])
    events = with_people(rng, pipelines, events)
    return Story(seed, events, views(rng, events))


def with_people(
    rng: random.Random, pipelines: list[Pipeline], arriving: list[Event]
) -> list[Event]:
    """Reviews on the way, then reports that change what was reviewed, then reviews again."""
    events = list(arriving)
    for _ in range(rng.choice([0, 8, 16])):
        events.insert(rng.randint(len(events) // 3, len(events)), review_choice(rng))
    for _ in range(rng.choice([0, 3, 8])):
        pipeline = rng.choice(pipelines)
        events += rng.choice([pipeline.lose_passes, pipeline.pass_after_all])()
    return events + [review_choice(rng) for _ in range(rng.choice([0, 3]))]


def review_choice(rng: random.Random) -> Event:
    choice = {
        "action": rng.choice(ACTIONS),
        "choose": rng.randint(0, 9),
        "member": rng.randint(0, 3),
        "reviewer": rng.randint(0, 1),
    }
    return ("review", choice)


def views(rng: random.Random, events: list[Event]) -> list[Json]:
    """Everything; and windows, one of which begins or ends exactly with some report."""
    reports = [body for kind, body in events if kind == "report"] or [{"started_at": LATEST}]
    edge = rng.choice(reports)
    start = instant(edge["started_at"])
    days = rng.choice([1, 2, 7])
    seen = [
        {"days": 3650, "as_of": LATEST},
        {"days": days, "as_of": (start + timedelta(days=days)).isoformat()},
        {"days": 1, "as_of": start.isoformat()},
    ]
    if "repo_key" not in edge:  # a server refuses products that no report names
        return seen
    product = {"repo_key": edge["repo_key"], "suite": edge.get("suite") or edge["workflow"]}
    return [
        *seen,
        {"days": 3650, "as_of": LATEST, "repo_key": edge["repo_key"]},
        {"days": 3650, "as_of": LATEST, **product},
    ]


def choose(choice: Json, resolved: list[Json], listed: list[Json]) -> Json | None:
    """The failure that a choice means, of the rows of both tables and of `ci-failures`.

    Rows of a server serve as well as those of the reference: what is chosen depends on natural
    keys only. None: the action is legal for nothing now.
    """
    legal = [row for row in resolved if is_legal(choice["action"], row)]
    if not legal:
        return None
    row = sorted(legal, key=natural_key)[choice["choose"] % len(legal)]
    members: list[Json] = [failure for failure in listed if failure["groupId"] == row["id"]]
    members.sort(key=natural_key)
    return members[int(choice["member"]) % len(members)]


def is_legal(action: str, row: Json) -> bool:
    if action == "reset":
        return row["review"] is not None
    return bool((row["class"] == "real_fw_bug") == (action == "dismiss"))


def natural_key(row: Json) -> tuple[str, ...]:
    """(repo_key, suite, test id, box_key, branch, sha) of a row of either list."""
    sha = row["sha"] if "sha" in row else row["firstFailure"]["sha"]
    return (row["repoKey"], row["suite"], row["testId"], row["boxKey"], row["branch"], sha)


def review_event(choice: Json, chosen: Json, by: Json, at: str) -> Event:
    """The event that the reference understands."""
    body = {"failure": natural_key(chosen), "action": choice["action"], "by": by, "at": at}
    return ("review", body)


def settle(events: list[Event]) -> list[Event]:
    """The events with each choice settled by the reference; those legal for nothing are gone."""
    arrived: list[Event] = []
    for kind, body in events:
        if kind != "review":
            arrived.append((kind, body))
            continue
        now = brute.page(arrived, 3650, LATEST)
        listed = brute.failures(arrived, 3650, LATEST)
        chosen = choose(body, now["realBugs"] + now["otherFailures"], listed)
        if chosen is not None:
            by = {"id": f"reviewer-{body['reviewer']}", "name": f"Reviewer {body['reviewer']}"}
            arrived.append(review_event(body, chosen, by, LATEST))
    return arrived
