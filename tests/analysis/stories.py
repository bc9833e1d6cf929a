# SPDX-License-Identifier: Apache-2.0
"""Runs of several tests, by hand and at random, whose failures may have one cause."""

import random

from hwci.engine.facts import Report
from tests.engine.timeline import MAIN, SUITE, Past, changes, commit, item, report


def run(sha: str, at: float, tests: dict[str, str], box: str = "box-1", base: str = "") -> Report:
    """A run with outcomes by test; `base`: its changes are the commit alone, of the firmware."""
    sent = changes(base, commit(sha, "fw")) if base else None
    items = [item(outcome, name) for name, outcome in tests.items()]
    return report(f"{sha}:P", at, box=box, tests=items, sent=sent)


BROKEN = [
    run("a", 1, {"i2c": "P", "spi": "P", "adc": "P"}),
    run("b", 2, {"i2c": "F", "spi": "F", "adc": "P"}, base="a"),
    run("b", 2.5, {"i2c": "F"}, "box-2", base="a"),
    run("c", 3, {"i2c": "F", "spi": "F", "adc": "F"}, base="b"),
    run("d", 4, {"i2c": "P", "spi": "P", "adc": "F"}, base="c"),
    run("d", 4.5, {"i2c": "P"}, "box-2", base="c"),
]


def story(draw: random.Random) -> Past:
    """Runs of two tests on two boxes and branches over few commits."""
    commits = "abcdef"
    made = []
    for number in range(draw.randint(1, 10)):
        end = draw.randint(1, 5)
        start = draw.randint(0, end - 1)
        listed = [commit(sha, draw.choice(["fw", "doc"])) for sha in commits[start + 1 : end + 1]]
        tests = [item(draw.choice("PFFFI"), name) for name in ("i2c", "spi")]
        made.append(
            report(
                f"{commits[end]}:{draw.choice('PPPPPL')}",
                draw.randint(0, 6) + number / 60,
                box=draw.choice(["box-1", "box-2"]),
                branch=draw.choice([MAIN, MAIN, "topic"]),
                suite=draw.choice([SUITE, SUITE, "boot"]),
                sent=draw.choice([None, changes(commits[start], *listed)]),
                tests=tests,
            )
        )
    return Past(made)


COMMITS = 40  # in `runs`


def runs(**failing: set[int]) -> list[Report]:
    """One run a commit; each test fails on the commits of these numbers."""
    return [
        report(
            f"c{number:02}:P",
            number,
            tests=[item("F" if number in on else "P", name) for name, on in failing.items()],
        )
        for number in range(COMMITS)
    ]
