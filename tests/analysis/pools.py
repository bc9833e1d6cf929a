# SPDX-License-Identifier: Apache-2.0
"""Runs of a pool of boxes, of which each push takes some, by hand and at random: and which failures
are one there, in the plainest way.
"""

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hwci.contract.runs.commits import Commit
from hwci.contract.vocabulary import Verdict
from hwci.engine.facts import Report
from tests.engine.timeline import Past, changes, commit, item, report

COMMITS = "abcdef"
TESTS = ("i2c", "spi")
BOXES = ("box-1", "box-2", "box-3")


def pushes(picture: str, fw: str = "", test: str = "i2c", *, sent: str | None = None) -> Past:
    """Read `a:1P2F b:3P`: the boxes that each push ran on, with what they did. Each lists what came
    since the push before it, on any box; `fw` changed firmware. `sent`: the pushes that list it.
    """
    reports, before = [], None
    for minute, word in enumerate(picture.split()):
        sha, ran = word.split(":")
        listed = [commit(sha, "fw" if sha in fw else "doc")]
        told = None if sent is not None and sha not in sent else changes(before, *listed)
        for at in range(0, len(ran), 2):
            box, outcome = f"box-{ran[at]}", ran[at + 1]
            tests = [item(outcome, test)]
            when = minute + at / 60
            reports.append(report(f"{sha}:P", when, box=box, sent=told, tests=tests))
        before = sha
    return Past(reports)


def random_pool(draw: random.Random) -> Past:
    """Draw pushes of one to three boxes, some of which list no changes, and commits between."""
    reports, before = [], None
    last = -1
    while last < len(COMMITS) - 1:
        head = min(len(COMMITS) - 1, last + draw.randint(1, 2))
        listed = [commit(sha, draw.choice(["fw", "doc"])) for sha in COMMITS[last + 1 : head + 1]]
        sent = None if draw.random() < 0.1 else changes(before, *listed)
        for number, box in enumerate(sorted(draw.sample(BOXES, draw.randint(1, 3)))):
            tests = [item(draw.choice("PPFFI"), name) for name in TESTS]
            at = head + number / 60
            reports.append(report(f"{COMMITS[head]}:P", at, box=box, sent=sent, tests=tests))
        before, last = COMMITS[head], head
    return Past(reports)


class Episode(NamedTuple):
    """Failures of a test on a box with no pass between, by the numbers of their commits. `fix`: the
    next pass.
    """

    test: str
    box: str
    first: int
    last: int
    of_bench: bool
    fix: int | None


@dataclass(frozen=True)
class Plain:
    """What a pool did, by test and box: on which commits it ran, and how each ended. `lists`: what
    the runs on a commit listed.
    """

    ran: Mapping[tuple[str, str], Mapping[int, str]]
    lists: Mapping[int, Sequence[Commit]]

    @classmethod
    def of(cls, reports: Sequence[Report]) -> "Plain":
        ran: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
        lists = {}
        for one in reports:
            at = COMMITS.index(one.sha)
            if one.changes is not None and one.changes.base_sha is not None:
                lists[at] = one.changes.commits
            for test in one.tests:
                ended = "I" if test.verdict is Verdict.INFRA else test.outcome
                ran[test.id, one.box_key][at] = ended
        return cls(ran, lists)

    def episodes(self) -> Iterator[Episode]:
        for (test, box), ended in self.ran.items():
            failing: list[int] = []
            for at in [*sorted(ended), None]:
                if at is not None and ended[at] != "pass":
                    failing.append(at)
                elif failing:
                    of_bench = ended[failing[0]] == "I"
                    yield Episode(test, box, failing[0], failing[-1], of_bench, at)
                    failing = []

    def passed_before(self, one: Episode) -> int | None:
        ended = self.ran[one.test, one.box]
        return max((at for at in ended if at < one.first and ended[at] == "pass"), default=None)

    def are_alike(self, pool: Sequence[Episode]) -> bool:
        """Whether no box of them passed on a commit from the first to the last failure."""
        first, last = min(one.first for one in pool), max(one.last for one in pool)
        return not any(
            self.ran[one.test, one.box].get(at) == "pass"
            for one in pool
            for at in range(first, last + 1)
        )

    def pools(self) -> list[list[Episode]]:
        """Each joins the first that it is alike, those that passed before first."""
        found: list[list[Episode]] = []

        def order(one: Episode) -> tuple[object, ...]:
            return self.passed_before(one) is None, one.first, one.box

        for one in sorted(self.episodes(), key=order):
            for pool in found:
                same = (pool[0].test, pool[0].of_bench) == (one.test, one.of_bench)
                if same and self.are_alike([*pool, one]) and self._while_failing(pool, one):
                    pool.append(one)
                    break
            else:
                found.append([one])
        return found

    def _while_failing(self, pool: Sequence[Episode], one: Episode) -> bool:
        if self.passed_before(one) is not None or self.passed_before(pool[0]) is None:
            return True
        return min(it.first for it in pool) <= one.first <= max(it.last for it in pool)

    def suspects(self, pool: Sequence[Episode]) -> str | None:
        """The firmware commits after the last pass of all boxes, up to the first failure."""
        first = min(one.first for one in pool)
        passed = max(
            (at for one in pool if (at := self.passed_before(one)) is not None), default=-1
        )
        at, listed = first, ""
        while at > passed:
            if at not in self.lists:
                return None
            one = self.lists[at]
            listed = "".join(it.sha for it in one if "src/main.c" in it.files) + listed
            at -= len(one)
            if passed < 0:
                break
        return listed or None

    def causes(self) -> list[set[tuple[str, str, int]]]:
        """The episodes of each incident, each by its test, its box, and its first commit."""
        found: dict[object, set[tuple[str, str, int]]] = defaultdict(set)
        for pool in self.pools():
            fix = min((one.fix for one in pool if one.fix is not None), default=None)
            suspects = self.suspects(pool)
            began = suspects or min(one.first for one in pool)
            cause = (began, fix, pool[0].of_bench)
            found[cause].update((one.test, one.box, one.first) for one in pool)
        return [*found.values()]
