# SPDX-License-Identifier: Apache-2.0
"""Many patterns are followed at once, exactly, and at a cost that grows with nothing but the length
of path and list (semantics, 11).
"""

import random
import tracemalloc
from collections.abc import Sequence

import pytest

from hwci.engine import automaton, patterns
from hwci.engine.automaton import Automaton, CacheBudget
from hwci.engine.patterns import LENGTH_MAX, PathList
from tests.reference.paths import matches, matches_list

TOKENS = ["a", "b", "ab", "/", "*", "**", "**/", "a/"]


def some_pattern(draw: random.Random, most: int = 7) -> str:
    return "".join(draw.choices(TOKENS, k=draw.randint(1, most)))


def some_path(draw: random.Random) -> str:
    return "".join(draw.choices("aab/c?*[]}", k=draw.randint(0, 9)))


def test_twenty_thousand_pairs_match_as_the_rules_read() -> None:
    draw = random.Random(11)
    for _ in range(2_000):
        pattern = some_pattern(draw)
        one = Automaton([pattern])
        for path in (some_path(draw) for _ in range(10)):
            expected = pattern if matches(pattern, path) else None
            assert one.first(path) == expected, (pattern, path)


@pytest.mark.parametrize("together", [0, 3, 40])
@pytest.mark.parametrize("budget", [2_000, 20_000, 10**8])
def test_a_list_decides_the_same_followed_together_or_apart_and_within_any_budget(
    together: int, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(automaton, "_TOGETHER_MAX", together)
    for module in (automaton, patterns):
        monkeypatch.setattr(module, "BUDGET", CacheBudget(budget))
    draw = random.Random(together)
    for _ in range(60):
        plain = [some_pattern(draw, 5) for _ in range(draw.randint(1, 6))]
        given = [*plain, *("!" + some_pattern(draw, 4) for _ in range(draw.randint(0, 2)))]
        paths = PathList.parse(given)
        for path in (some_path(draw) for _ in range(40)):
            expected = matches_list(given, path)
            assert paths.matches(path) is expected, (given, path)
            if expected:
                assert paths.deciding(path) == next(p for p in plain if matches(p, path))


def steps_of(monkeypatch: pytest.MonkeyPatch, given: Sequence[str], paths: Sequence[str]) -> int:
    """Count the steps that are computed, and not looked up, to match all of these paths."""
    steps = 0
    compute = Automaton.after

    def counted(one: Automaton, states: int, sign: str) -> object:
        nonlocal steps
        steps += 1
        return compute(one, states, sign)

    with monkeypatch.context() as patch:
        patch.setattr(Automaton, "after", counted)
        listed = PathList.parse(given)
        for path in paths:
            listed.deciding(path)
    return steps


STARRED = ["**a" * 340 + "b"] * 10
"""As long as a pattern may be, and for a search that goes back, as bad."""


def test_more_paths_cost_no_more_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(1)
    paths = ["a" * draw.randint(60, 1_000) + f"{number:04}" for number in range(1_000)]

    steps = steps_of(monkeypatch, STARRED, paths)

    assert steps < 2 * LENGTH_MAX


def test_patterns_that_take_turns_of_their_own_cost_the_sum_and_not_the_product(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw = random.Random(2)
    given = ["**" + "**".join(draw.choices("ab", k=60)) for _ in range(6)]
    paths = ["".join(draw.choices("ab", k=80)) for _ in range(1_500)]

    steps = steps_of(monkeypatch, given, paths)

    assert steps < 20_000 < sum(map(len, paths)) / 5


def test_a_path_is_matched_once_for_each_list(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    match = Automaton.first

    def shown(one: Automaton, path: str) -> str | None:
        asked.append(path)
        return match(one, path)

    monkeypatch.setattr(Automaton, "first", shown)
    paths, other = PathList.parse(["src/**"]), PathList.parse(["src/*"])
    for _ in range(3):
        assert [paths.deciding(one) for one in ("src/a", "docs/b")] == ["src/**", None]
        assert other.matches("src/a")

    assert sorted(asked) == ["docs/b", "src/a", "src/a", "src/a", "src/a"]  # `!` patterns twice


def test_what_is_kept_is_bounded_for_all_lists_together(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = 4 * 1024 * 1024
    for module in (automaton, patterns):
        monkeypatch.setattr(module, "BUDGET", CacheBudget(budget))
    draw = random.Random(3)
    tracemalloc.start()
    try:
        for _ in range(30):
            listed = PathList.parse([some_pattern(draw, 300) for _ in range(5)])
            for _ in range(200):
                listed.deciding("".join(draw.choices("ab/", k=100)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak <= 2 * budget
