# SPDX-License-Identifier: Apache-2.0
"""Turns are fair: whatever is asked for, given up and done in whatever order, each has one piece of
work at a time, first come, first served, as a plain list of those who wait says.
"""

import asyncio
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwci.server.errors import OverloadedError
from hwci.server.storage.turns import Turns

STEPS = st.lists(
    st.tuples(st.sampled_from(("ask", "end", "leave")), st.integers(0, 2), st.integers(0, 5)),
    max_size=40,
)


class Reference:
    """The same as lists: of each, who waits, the first of them being at work."""

    def __init__(self) -> None:
        self.asked: dict[int, list[int]] = defaultdict(list)

    def at_work(self) -> set[int]:
        return {waiting[0] for waiting in self.asked.values() if waiting}


@given(STEPS)
def test_each_has_one_turn_at_a_time_in_the_order_of_asking(
    steps: list[tuple[str, int, int]],
) -> None:
    asyncio.run(follow(steps))


async def follow(steps: list[tuple[str, int, int]]) -> None:
    turns, reference = Turns(), Reference()
    asking: dict[int, asyncio.Task[object]] = {}
    for number, (step, whose, which) in enumerate(steps):
        mine = reference.asked[whose]
        if step == "ask":
            asking[number] = asyncio.create_task(turns.take(whose, 60))
            mine.append(number)
        elif step == "end" and mine:
            end = asking[mine.pop(0)].result()
            assert callable(end)
            end()
        elif step == "leave" and len(mine) > 1:
            asking[mine.pop(1 + which % (len(mine) - 1))].cancel()
        for _ in range(5):
            await asyncio.sleep(0)
        done = {one for one, task in asking.items() if task.done() and not task.cancelled()} & {
            one for waiting in reference.asked.values() for one in waiting
        }
        assert done == reference.at_work()
    for task in asking.values():
        task.cancel()


async def test_a_turn_that_does_not_come_in_time_is_left() -> None:
    turns = Turns()
    end = await turns.take("a", 60)
    with pytest.raises(TimeoutError):
        await turns.take("a", 0.01)
    end()

    (await turns.take("a", 60))()


async def test_those_who_wait_are_told_whose_turns_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hwci.server.storage.turns.WAITING_OF_ONE_MAX", 0)
    turns = Turns("Too many of yours")
    end = await turns.take("a", 60)
    with pytest.raises(OverloadedError, match="Too many of yours"):
        await turns.take("a", 60)
    end()
