# SPDX-License-Identifier: Apache-2.0
"""This module decides what CI sends about one repository while people work on it.

It tells the truth of a commit graph, and spoils it here and there: ranges without base, cut lists,
lost benches, runs by hand of older commits, reports sent again with other content.
"""

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tests.reference.delivery import spelled_sha, spelled_time
from tests.reference.facts import Event, Json
from tests.reference.graph import Graph, Node

START = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
TESTS = ["boot", "uart::echo[115200]", "flash/erase \u20ac"]

PATH_LISTS = [
    (["src/**", "boards/**", "shared/**", "!**/NOTES.md"], ["hil/**", ".ci/*", "shared/**"]),
    (["src/**", "boards/*/*.c", "shared/*"], ["hil/*", "**/bench.py", ".ci/**", "shared/*"]),
    (["**/*.c", "**/*.h"], ["**/*.py", "**/*.yml", "shared/**/map.h", "!hil/lib/*"]),
    (["src/**/*.c", "shared/pins.h"], ["hil/**", ".ci/**"]),
]
ODD_PATH_LISTS: list[tuple[list[str], list[str]]] = [
    ([], []),
    (["!src/**"], ["hil/**"]),
    (["**"], ["**"]),
    (["src/**"], []),
]


@dataclass(frozen=True)
class Product:
    suite: str
    workflow: str
    says_suite: bool
    tests: list[str]


class Pipeline:
    """One repository, its products and benches, and everything that its CI sends."""

    def __init__(self, rng: random.Random, repo: str, boxes: list[str], narrow: bool) -> None:
        self.rng = rng
        self.repo = repo
        self.boxes = boxes
        self.products = self._products(narrow)
        tested = {test for product in self.products for test in product.tests}
        self.graph = Graph(rng, sorted(tested), boxes)
        self.events: list[Event] = []
        self.now = START + timedelta(hours=rng.randint(0, 48))
        self.runs = 0
        self.first_run_id = rng.choice([0, 100, 7_000_000_000, 2**53 - 3, 2**62])
        self.last_tested: dict[tuple[str, str], str] = {}
        self.skips = rng.choice([0.05, 0.4, 0.6])
        self.thoroughness = rng.choice([0.3, 0.7, 1.0])
        for _ in range(rng.randint(1, 3)):
            self.graph.commit("main", self.now)

    def _products(self, narrow: bool) -> list[Product]:
        """Narrow: one product with one test, so that its runs have to do with each other."""
        some = []
        for name in ["hil", "Soak", "ota"][: 1 if narrow else self.rng.choice([1, 2, 2, 3])]:
            says_suite = self.rng.random() < 0.6
            workflow = f"{name} workflow" if says_suite else name
            tests = self.rng.sample(TESTS, 1 if narrow else self.rng.randint(2, 3))
            some.append(Product(name, workflow, says_suite, tests))
        return some

    def act(self) -> None:
        """One thing that happens in this repository."""
        minutes = self.rng.choice([2, 30, 90, 300, 1500])
        self.now += timedelta(minutes=minutes, seconds=self.rng.randint(0, 59))
        acts = [self.push, self.run_again, self.two_pushes, self.bisect, self.configure]
        acts += [self.branch, self.replace, self.announce_alone]
        self.rng.choices(acts, [50, 16, 8, 24, 3, 12, 10, 3])[0]()

    def push(self) -> None:
        branch = self.rng.choice(["main", "main", "main", *self.graph.tips])
        pushed = [self.graph.commit(branch, self.now) for _ in range(self.rng.choice([1, 1, 2, 3]))]
        self.announce(branch, pushed[-1])
        self.test_push(branch, pushed)

    def test_push(self, branch: str, pushed: list[str]) -> None:
        for product in self.products:
            if self.rng.random() < self.thoroughness:
                covers = pushed if self.rng.random() < 0.5 else None
                self.run(product, branch, pushed[-1], covers=covers)

    def two_pushes(self) -> None:
        """Seconds apart: the bench tests only the second."""
        first = self.graph.commit("main", self.now)
        self.announce("main", first)
        self.now += timedelta(seconds=self.rng.randint(0, 3))
        second = self.graph.commit("main", self.now)
        self.announce("main", second)
        self.test_push("main", [second])

    def branch(self) -> None:
        """Open a release or a topic branch, or merge the topic."""
        if "release" not in self.graph.tips and self.rng.random() < 0.4:
            self.graph.branch_off("release", "main")
            self.run(self.rng.choice(self.products), "release", self.graph.tips["release"])
        elif "topic" in self.graph.tips:
            merged = self.graph.merge("topic", "main", self.now)
            del self.graph.tips["topic"]
            self.announce("main", merged)
            self.test_push("main", [merged])
        else:
            self.graph.branch_off("topic", "main")
            pushed = [self.graph.commit("topic", self.now)]
            self.test_push("topic", pushed)

    def run_again(self) -> None:
        """By hand or at night, on a branch's newest commit."""
        branch = self.rng.choice(["main", *self.graph.tips])
        product = self.rng.choice(self.products)
        night = self.rng.random() < 0.4
        self.run(
            product,
            branch,
            self.graph.tips[branch],
            workflow="nightly" if night else product.workflow,
        )

    def bisect(self) -> None:
        """By hand: an older commit, run after newer ones."""
        branch = self.rng.choice(["main", "main", *self.graph.tips])
        older = self.graph.between(None, self.graph.tips[branch])
        sha = self.rng.choice(older[-6:]).sha
        product = self.rng.choice(self.products)
        workflow = self.rng.choice([product.workflow, product.workflow, "by hand"])
        self.run(product, branch, sha, workflow=workflow, trigger="manual")

    def configure(self) -> None:
        product = self.rng.choice(self.products)
        firmware, harness = self.rng.choice([*PATH_LISTS * 5, *ODD_PATH_LISTS])
        body = {
            "repo_key": self.repo,
            "suite": product.suite,
            "firmware_paths": firmware,
            "harness_paths": harness,
            "merge_trigger": self.rng.random() < 0.8,
        }
        if self.rng.random() < 0.3:
            body["trigger_paths"] = self.rng.choice([None, [], ["src/**"]])
        self.events.append(("config", body))

    def announce(self, branch: str, sha: str) -> None:
        if self.rng.random() < 0.1:
            return
        suites = [product.suite for product in self.products if self.rng.random() < 0.8]
        if not suites:
            self.send_announcement(branch, sha, None)
        for suite in suites:
            self.send_announcement(branch, sha, suite)

    def announce_alone(self) -> None:
        """A merge announced without `suite`, or twice with differing content."""
        sha = self.rng.choice(list(self.graph.nodes))
        suite = self.rng.choice([None, None, self.products[0].suite])
        self.send_announcement("main", sha, suite)
        self.now += timedelta(minutes=5)
        self.send_announcement("release", sha, suite)

    def send_announcement(self, branch: str, sha: str, suite: str | None) -> None:
        body: Json = {
            "repo_key": self.repo,
            "sha": spelled_sha(self.rng, sha),
            "branch": branch,
            "merged_at": spelled_time(self.rng, self.now),
        }
        if suite is not None or self.rng.random() < 0.3:
            body["suite"] = suite
        self.events.append(("announce", body))

    def run(
        self,
        product: Product,
        branch: str,
        sha: str,
        workflow: str | None = None,
        covers: list[str] | None = None,
        trigger: str = "merge",
    ) -> None:
        """One CI run with one or two attempts, each on some of the boxes."""
        workflow = workflow or product.workflow
        head: Json = {
            "repo_key": self.repo,
            "workflow": workflow,
            "run_id": self.new_run_id(),
            "trigger": "nightly" if workflow == "nightly" else trigger,
            "branch": branch,
            "sha": spelled_sha(self.rng, sha),
        }
        if self.runs % 3 == 0:
            head["ci_run"] = self.runs
        if product.says_suite or workflow != product.workflow:
            head["suite"] = product.suite
        elif self.rng.random() < 0.2:
            head["suite"] = None
        if covers is not None:
            head["covers_shas"] = [spelled_sha(self.rng, one) for one in covers]
        changes = self.changes(workflow, branch, sha)
        boxes = self.rng.sample(self.boxes, self.rng.randint(1, len(self.boxes)))
        for attempt in range(1, self.rng.choice([2, 2, 2, 3])):
            lost = self.rng.random() < 0.12
            said = self.said_by_attempt(changes, workflow, branch, sha)
            self.now += timedelta(minutes=self.rng.choice([0, 3, 8, 15]))
            self.send_attempt(product, head | {"run_attempt": attempt}, sha, boxes, lost, said)
            if not lost:
                self.last_tested[(workflow, branch)] = sha

    def new_run_id(self) -> int:
        """Never twice, and not in the order of time."""
        self.runs += 1
        return self.first_run_id + self.runs * 37 % 997

    def said_by_attempt(
        self, changes: Json | None, workflow: str, branch: str, sha: str
    ) -> Json | None:
        """The same changes in each attempt, as the spec asks; some reporters compute them again."""
        chance = self.rng.random()
        if chance < 0.1:
            return {"base_sha": spelled_sha(self.rng, sha), "commits": []}
        return self.changes(workflow, branch, sha) if chance < 0.25 else changes

    def send_attempt(
        self,
        product: Product,
        head: Json,
        sha: str,
        boxes: list[str],
        lost: bool,
        changes: Json | None,
    ) -> None:
        for box in boxes:
            tested = product
            if head.get("suite") and self.rng.random() < 0.08:  # a matrix: each box its product
                tested = self.rng.choice(self.products)
                head = head | {"suite": tested.suite}
            lag = timedelta(seconds=self.rng.choice([0, 0, 1, 7, 40]))
            body = head | {
                "started_at": spelled_time(self.rng, self.now + lag),
                "ended_at": spelled_time(self.rng, self.now + timedelta(minutes=2)),
                "conclusion": "failure" if lost else "success",
                "hello_ok": not lost,
                "box_key": box,
                "tests": [] if lost and self.rng.random() < 0.6 else self.tests(tested, box, sha),
            }
            if changes is not None or self.rng.random() < 0.2:
                body["changes"] = changes
            if self.rng.random() < 0.15 and len(body["tests"]) > 1:
                self.send_in_parts(body)
            else:
                self.events.append(("report", body))

    def send_in_parts(self, body: Json) -> None:
        """More tests than one report holds: each part carries the whole head and the changes."""
        tests = body["tests"]
        for part, run_id in [(1, body["run_id"]), (2, self.new_run_id() + 90_000)]:
            part_of = {"run_id": body["run_id"], "part": part, "parts": 2}
            mine = tests[:1] if part == 1 else tests[1:]
            more = {"run_id": run_id, "part_of": part_of, "tests": mine}
            self.events.append(("report", body | more))
        if self.rng.random() < 0.3:
            part_of = {"run_id": body["run_id"], "part": 1, "parts": 1}
            self.events.append(("report", body | {"part_of": part_of, "tests": tests[:1]}))

    def lose_passes(self) -> list[Event]:
        """All that passed on some commit and box is sent again as failed."""
        reports = self.reports_with("pass")
        if not reports:
            return []
        chosen = self.rng.choice(reports)
        here = (chosen["sha"].lower(), chosen["box_key"])
        alike = [body for body in reports if (body["sha"].lower(), body["box_key"]) == here]
        return [("report", body | {"tests": turned_to("fail", body)}) for body in alike]

    def pass_after_all(self) -> list[Event]:
        """A report sent again, or a new attempt on its commit, in which all passed."""
        reports = self.reports_with("fail")
        if not reports:
            return []
        body = self.rng.choice(reports)
        attempt = body["run_attempt"] + self.rng.choice([0, 10])
        return [("report", body | {"run_attempt": attempt, "tests": turned_to("pass", body)})]

    def reports_with(self, outcome: str) -> list[Json]:
        return [
            body
            for kind, body in self.events
            if kind == "report" and any(item["outcome"] == outcome for item in body["tests"])
        ]

    def tests(self, product: Product, box: str, sha: str) -> list[Json]:
        return [
            self.test_item(test, self.graph.is_broken(test, box, sha))
            for test in product.tests
            if self.rng.random() >= self.skips
        ]

    def test_item(self, test: str, broken: bool) -> Json:
        fails = broken or self.rng.random() < 0.06
        item: Json = {
            "id": test,
            "outcome": "fail" if fails else "pass",
            "attempts": self.rng.choice([1, 1, 1, 2, 3]),
            "duration_s": self.rng.choice([0, 1, 0.25]),
        }
        choices = ["device"] * 16 + ["infra", "unknown", None]
        verdict = self.rng.choice(choices if fails else ["absent", "absent", "device"])
        if verdict != "absent":
            item["verdict"] = verdict
        return item

    def changes(self, workflow: str, branch: str, sha: str) -> Json | None:
        """The true range since the last run of workflow and branch that tested, or nearly."""
        if self.rng.random() < 0.05:
            return None
        base = self.last_tested.get((workflow, branch))
        by_hand = base is None or not self.graph.between(base, sha)
        if by_hand and base != sha and self.rng.random() < 0.8:
            base = self.older(sha)
        elif self.rng.random() < 0.05:
            base = self.rng.choice([None, *self.graph.nodes])
        commits = [self.commit_item(node) for node in self.graph.between(base, sha)[-8:]]
        if commits and self.rng.random() < 0.12:  # a commit listed twice, or the base itself
            again = self.rng.choice(commits)
            if base is not None and self.rng.random() < 0.6:
                again = self.commit_item(self.graph.nodes[base])
            commits.insert(self.rng.randrange(len(commits)), again)
        changes: Json = {
            "base_sha": base and spelled_sha(self.rng, base),
            "commits": commits,
        }
        if self.rng.random() < 0.06:
            changes["truncated"] = True
            del commits[: self.rng.randint(0, 2)]
        elif self.rng.random() < 0.3:
            changes["truncated"] = self.rng.choice([False, None])
        return changes

    def older(self, sha: str) -> str | None:
        """The commit itself is under test, and a few before it perhaps."""
        before = [node.sha for node in self.graph.between(None, sha)][:-1]
        return self.rng.choice(before[-3:]) if before else None

    def commit_item(self, node: Node) -> Json:
        item: Json = {
            "sha": spelled_sha(self.rng, node.sha),
            "subject": node.subject,
            "files": list(node.files),
        }
        if self.rng.random() < 0.5:
            item["committed_at"] = spelled_time(self.rng, node.at)
        if self.rng.random() < 0.1:
            item["files_truncated"] = True
            item["files"] = item["files"][:-1] if self.rng.random() < 0.5 else item["files"]
        return item

    def replace(self) -> None:
        """A report sent again under its identity, with other content."""
        reports = [body for kind, body in self.events if kind == "report"]
        if not reports:
            return
        body = dict(self.rng.choice(reports))
        product = self.rng.choice(self.products)
        other: list[Json] = [
            {"tests": [self.test_item(test, False) for test in product.tests]},
            {"tests": body["tests"][1:]},
            {"suite": product.suite},
            {"branch": self.rng.choice(["main", "release"])},
            {"started_at": spelled_time(self.rng, self.now)},
            {"hello_ok": not body["hello_ok"]},
            {"sha": self.rng.choice(list(self.graph.nodes))},
            {"changes": self.changes(body["workflow"], body["branch"], self.graph.tips["main"])},
        ]
        for change in self.rng.sample(other, self.rng.choice([1, 1, 2])):
            body |= change
        self.events.append(("report", body))


def turned_to(outcome: str, body: Json) -> list[Json]:
    return [item | {"outcome": outcome, "verdict": "device"} for item in body["tests"]]
