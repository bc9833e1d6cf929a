# SPDX-License-Identifier: Apache-2.0
"""Histories that say too little, or contradict themselves."""

from collections.abc import Sequence
from dataclasses import replace

from hwci.engine.facts import Report
from tests.engine.timeline import changes, item, report

RUNS, BOXES = 30, 10_000


def runs(outcomes: str, boxes: int = 1, number: int = RUNS) -> list[Report]:
    """Runs of commits that nothing is known of, whose one test ends so in turn."""
    return [
        report(
            f"{n:07x}:P",
            n,
            box=f"box-{n % boxes}",
            tests=[item(outcomes[n % len(outcomes)], "boot")],
        )
        for n in range(number)
    ]


def rebased() -> list[Report]:
    """Each run lists the commits of the others before its own, in a circle."""
    return [
        replace(one, changes=changes(f"{(n + 7) % RUNS:07x}", *_circle(n)))
        for n, one in enumerate(runs("PFF", boxes=2))
    ]


def _circle(number: int) -> Sequence[str]:
    return [f"{(number + step) % RUNS:07x}" for step in range(8, RUNS + 1)]


HISTORIES = {
    "nothing": [],
    "one run": runs("F", number=1),
    "one box": runs("PF"),
    "no box in common": runs("PF", boxes=3),
    "all reruns of a run that nobody knows": [
        replace(one, sha="a" * 7, rerun_of=999) for one in runs("PF", boxes=2)
    ],
    "all runs lose their board": [
        replace(one, tests=tuple(item("F", f"test {at}") for at in range(8)), sha="a" * 7)
        for one in runs("P", boxes=2)
    ],
    "all failing": runs("F", boxes=2),
    "none failing": runs("P", boxes=2),
    "ten thousand boxes": runs("PPF", boxes=BOXES, number=BOXES),
    "rebased in circles": rebased(),
}
