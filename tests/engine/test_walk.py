# SPDX-License-Identifier: Apache-2.0
"""From the fix back to the last failing commit (semantics, 6.1 and 6.2)."""

import random
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

import pytest

from hwci.contract.runs.commits import ChangeList
from hwci.engine.facts import Facts
from hwci.engine.full_history import FullHistory
from hwci.engine.history import RunChanges
from hwci.engine.rules.walk import Step, Walks
from tests.engine.timeline import ORG, REPO, Past, changes, report, seen
from tests.support.soak import rounds


class Counting(FullHistory):
    """Notes the commits that were asked about."""

    def __init__(self, org_id: UUID, facts: Facts) -> None:
        super().__init__(org_id, facts)
        self.asked: list[str] = []

    def changes_listing(self, repo_key: str, sha: str) -> Sequence[RunChanges]:
        self.asked.append(sha)
        return super().changes_listing(repo_key, sha)

    def changes_based_on(self, repo_key: str, sha: str) -> Sequence[RunChanges]:
        self.asked.append(sha)
        return super().changes_based_on(repo_key, sha)


def walked(past: Past, last_failing: str = "a", fix: str = "z") -> str | None:
    """Draw a walk from the failing commit on: `run(commits) run(commits)`."""
    walk = Walks(past.history).between(REPO, last_failing, fix).steps
    if walk is None:
        return None
    return " ".join(
        f"{step.run.order.run_id}({' '.join(one.sha for one in step.commits)})" for step in walk
    )


def after(*sent: ChangeList) -> Past:
    """Make runs 1, 2, … that carry these changes, each on the last commit of its list."""
    return Past(
        [
            report(f"{one.commits[-1].sha}:P", number, run_id=number, sent=one)
            for number, one in enumerate(sent, start=1)
        ]
    )


def test_one_step_leads_from_the_fix_to_its_base() -> None:
    assert walked(after(changes("a", "y", "z"))) == "1(y z)"


def test_steps_are_walked_back_over_all_runs_until_the_last_failing_commit() -> None:
    past = after(changes("a", "b", "c"), changes("c", "d"), changes("d", "z"))

    assert walked(past) == "1(b c) 2(d) 3(z)"


def test_the_range_lies_after_the_groups_last_failing_commit() -> None:
    past = seen("box-1 | a:P b:F c:F d:F e:- f:P", changed={"b": "fw", "c": "hs", "f": "fw"})

    assert past.reason("b") == "real"
    assert walked(past, "d", "f") == "4000(e) 5000(f)"


def test_runs_of_any_product_branch_and_workflow_count() -> None:
    past = Past(
        [
            report("c:P", 1, run_id=1, suite="boot", workflow="n", sent=changes("a", "c")),
            report("z:P", 2, run_id=2, branch="topic", sent=changes("c", "z")),
        ]
    )

    assert walked(past) == "1(c) 2(z)"


def test_runs_of_another_repository_do_not() -> None:
    assert walked(Past([report("z:P", 1, repo="elsewhere", sent=changes("a", "z"))])) is None


def test_changes_lead_from_any_commit_of_their_list_over_those_up_to_it() -> None:
    past = after(changes("a", "b", "z", "y"))

    assert walked(past) == "1(b z)"


def test_the_last_place_of_a_commit_in_the_list_counts() -> None:
    assert walked(after(changes("a", "z", "b", "z", "y"))) == "1(z b z)"


def test_truncated_changes_and_changes_without_base_are_no_step() -> None:
    assert walked(after(changes("a", "z", truncated=True))) is None
    assert walked(after(changes(None, "a", "b", "z"))) is None


def test_a_runs_commit_that_its_own_list_lacks_leads_nowhere() -> None:
    assert walked(Past([report("z:P", 1, sent=changes("a", "y"))])) is None
    assert walked(Past([report("z:P", 1, sent=changes("a"))])) is None


def test_a_gap_is_no_walk() -> None:
    assert walked(after(changes("a", "b"), changes("c", "z"))) is None


def test_the_walk_with_the_fewest_steps_counts() -> None:
    past = after(changes("a", "b"), changes("b", "z"), changes("a", "p", "q", "z"))

    assert walked(past) == "3(p q z)"


def test_of_equally_short_walks_the_one_whose_steps_come_first_from_the_fix_backwards() -> None:
    early_last = after(
        changes("c", "z"),  # run 1: the earlier step at the fix
        changes("b", "z"),
        changes("a", "b"),  # run 3: the earlier step at the failure
        changes("a", "c"),
    )
    early_first_step_shared = after(changes("b", "z"), changes("a", "p", "b"), changes("a", "b"))

    assert walked(early_last) == "4(c) 1(z)"
    assert walked(early_first_step_shared) == "2(p b) 1(z)"


def test_a_step_is_placed_by_the_report_that_its_runs_changes_come_from() -> None:
    late_carrier = [
        report("z:P", 1, run_id=1),
        report("z:P", 9, run_id=1, attempt=2, sent=changes("a", "x", "z")),
        report("z:P", 5, run_id=5, sent=changes("a", "y", "z")),
    ]

    assert walked(Past(late_carrier)) == "5(y z)"


def test_an_exact_step_counts_whole_also_where_its_list_names_the_failing_commit() -> None:
    assert walked(after(changes("a", "b", "a", "z"))) == "1(b a z)"


def test_only_without_an_exact_walk_may_the_last_step_be_cut() -> None:
    assert walked(after(changes("o", "n", "a", "b", "z"))) == "1(b z)"
    assert walked(after(changes("o", "a", "z"), changes("a", "b"), changes("b", "z"))) == (
        "2(b) 3(z)"
    )


def test_commits_after_the_last_place_of_the_failing_one_among_those_led_over_count() -> None:
    assert walked(after(changes("o", "a", "b", "a", "c", "z", "a"))) == "1(c z)"
    assert walked(after(changes("o", "b", "z", "a"))) is None


def test_a_cut_step_too_has_a_base_and_is_not_truncated() -> None:
    assert walked(after(changes("o", "a", "z", truncated=True))) is None
    assert walked(after(changes(None, "a", "z"))) is None


def test_of_cut_walks_the_fewest_steps_then_the_same_order() -> None:
    longer_first = after(
        changes("o", "a", "m"),
        changes("m", "z"),
        changes("n", "a", "y", "z"),
        changes("n", "a", "x", "z"),
    )

    assert walked(longer_first) == "3(y z)"


def test_a_cut_walk_stands_although_the_failing_commit_is_a_base_elsewhere() -> None:
    past = after(changes("o", "a", "z"), changes("a", "q"))

    assert walked(past) == "1(z)"


def test_an_exact_walk_far_back_goes_before_a_cut_one_at_hand() -> None:
    far = after(
        changes("o", "a", "z"), changes("y", "z"), changes("x", "y"), changes("a", "w", "x")
    )

    assert walked(far) == "4(w x) 3(y) 2(z)"


def test_circles_end() -> None:
    assert walked(after(changes("y", "z"), changes("z", "y"), changes("a", "q"))) is None


@pytest.mark.parametrize(
    "sent",
    [
        (),
        (changes("c9", "a"),),
        (changes("c8", "c9", "a", "a"), changes("c9", "a")),
        (changes(None, "a", "b"), changes("c9", "a", "b", truncated=True)),
    ],
    ids=["no list", "its own list", "at the end of every list", "no list that leads back"],
)
def test_a_failing_commit_that_no_walk_can_end_at_spares_the_walk(
    sent: Sequence[ChangeList],
) -> None:
    history = Counting(ORG, after(*(changes(f"c{n}", f"c{n + 1}") for n in range(50)), *sent).facts)

    assert Walks(history).between(REPO, "a", "c50").steps is None
    assert history.asked == ["a", "a"]


def pushes(line: str, number: int) -> list[ChangeList]:
    """Each lists two commits; the next one begins at the last of them."""
    return [
        changes(f"{line}{2 * n}", f"{line}{2 * n + 1}", f"{line}{2 * n + 2}") for n in range(number)
    ]


@pytest.mark.parametrize(
    ("to_fix", "lists"),
    [
        (2_500, [*pushes("old", 3)]),
        (3, [*pushes("old", 2_500)]),
        (2_500, [changes("z", "y", "old0", "x"), *pushes("old", 1)]),
    ],
    ids=["long to the fix", "long from the failure", "in a list of its own"],
)
def test_a_fix_on_a_line_that_was_force_pushed_costs_the_shorter_line(
    to_fix: int, lists: list[ChangeList]
) -> None:
    history = Counting(ORG, after(*pushes("new", to_fix), *lists).facts)

    found = Walks(history).between(REPO, "old0", f"new{2 * to_fix}")

    assert found.steps is None
    assert len(history.asked) < 20
    assert len(found.rests_on) < 10


def test_a_walk_is_found_in_few_more_questions_than_it_has_steps() -> None:
    history = Counting(ORG, after(*pushes("new", 50)).facts)

    steps = Walks(history).between(REPO, "new0", "new100").steps

    assert steps is not None
    assert len(steps) == 50
    assert len(history.asked) <= 90


def drawn(draw: random.Random, names: str) -> ChangeList:
    listed = draw.choices(names, k=draw.randint(1, 3))
    base = draw.choice([*names, None])
    return changes(base, *listed, truncated=draw.random() < 0.1)


def test_the_walk_of_any_lists_is_that_of_a_search_from_the_fix_alone() -> None:
    seen_steps: Counter[int | None] = Counter()
    for seed in range(rounds(400, 20_000)):
        draw = random.Random(seed)
        names = "abcdefghijz"[-draw.randint(4, 11) :] + "a"
        past = after(*(drawn(draw, names) for _ in range(draw.randint(1, 9))))
        found = Walks(past.history).between(REPO, "a", "z")
        assert found.steps == plainly(past.history, "a", "z"), seed
        seen_steps[None if found.steps is None else len(found.steps)] += 1

        more = drawn(draw, names)
        if {more.base_sha, *(one.sha for one in more.commits)} & found.rests_on:
            continue
        with_more = past.and_also(
            report(f"{more.commits[-1].sha}:P", 99, run_id=99, sent=more)
        ).history
        assert Walks(with_more).between(REPO, "a", "z").steps == found.steps, seed
    assert len(seen_steps) > 3


def plainly(history: FullHistory, goal: str, fix: str) -> tuple[Step, ...] | None:
    """Search every way back from the fix, the shortest first, without an end to meet."""
    ways: list[tuple[str, tuple[Step, ...]]] = [(fix, ())]
    cut: tuple[Step, ...] | None = None
    visited = {fix}
    for sha, way in ways:
        for run in history.changes_listing(REPO, sha):
            listed = [one.sha for one in run.changes.commits]
            last = len(listed) - listed[::-1].index(sha)
            base, over = run.changes.base_sha, run.changes.commits[:last]
            if base is None or run.changes.truncated:
                continue
            if base == goal:
                return (Step(run, over), *way)
            if cut is None and goal in listed[:last]:
                cut = (Step(run, over[last - listed[:last][::-1].index(goal) :]), *way)
            if base not in visited:
                visited.add(base)
                ways.append((base, (Step(run, over), *way)))
    return cut


def test_a_list_that_names_the_failing_commit_last_once_more_may_be_cut() -> None:
    assert walked(after(changes("o", "a", "z", "a"))) == "1(z)"


# What an answer rests on


def test_a_cut_walk_rests_on_all_that_leads_on_from_the_failing_commit_too() -> None:
    """A list that joins it to the way back from the fix makes an exact walk."""
    back = [changes(f"{n + 1}", f"{n}") for n in range(5)]
    past = after(changes("o", "a", "z"), changes("0", "z"), *back, changes("a", "w"))
    joined = past.and_also(report("5:P", 99, run_id=99, sent=changes("w", "5")))
    rests_on = Walks(past.history).between(REPO, "a", "z").rests_on

    assert walked(past) == "1(z)"
    assert walked(joined) == "8(w) 99(5) 7(4) 6(3) 5(2) 4(1) 3(0) 2(z)"
    assert "w" in rests_on
    assert "5" not in rests_on


def test_all_that_steps_lead_back_to_from_a_fix_is_found_over_forks_and_circles() -> None:
    past = after(
        changes("x", "z"), changes("w", "y", "z"), changes("z", "w"), changes("v", "y", "x")
    )
    cut = past.and_also(report("v:P", 9, sent=changes("u", "v", truncated=True)))

    assert Walks(cut.history).back_from(REPO, "z") == frozenset("vwxz")
    assert Walks(cut.history).back_from("elsewhere", "z") == {"z"}
