# SPDX-License-Identifier: Apache-2.0
"""Narrow answers from SQLite equal the engine's definition over all facts, for every history."""

import random
from functools import partial
from pathlib import Path

import pytest

from hwci.engine.full import FullHistory
from hwci.server.storage.memory import MemoryTransaction, State
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Writer
from tests.server.storage.histories import NOON, ORG, HistoryDraw, questions

HISTORIES = 160
AT_ONCE = 20


def fill(seed: int, memory: Writer, sqlite: Writer) -> None:
    """Send one random history to both, asking both as it grows."""
    draw = HistoryDraw(seed)
    events = draw.random.randrange(4, 40)
    for number in range(events):
        if draw.random.random() < 0.3:
            announcement, config = draw.announcement(), draw.config()
            for writer in (sqlite, memory):
                writer.announce(ORG, announcement)
                writer.put_config(ORG, config, NOON)
        report = draw.next_report()
        for writer in (sqlite, memory):
            writer.put_report(ORG, report)
        if number % 13 == 12 or number == events - 1:
            compare(seed, sqlite, memory)


def compare(seed: int, sqlite: Writer, memory: Writer) -> None:
    facts = memory.facts(ORG)
    assert sqlite.facts(ORG) == facts
    narrow, definition = sqlite.history(ORG), FullHistory(ORG, facts)
    answers = zip(
        questions(narrow, facts, random.Random(seed)),
        questions(definition, facts, random.Random(seed)),
        strict=True,
    )
    for (question, narrowly), (_, fully) in answers:
        assert narrowly == fully, f"seed {seed}: {question}"


@pytest.mark.parametrize("first", range(0, HISTORIES, AT_ONCE))
async def test_every_answer_equals_the_definition(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + AT_ONCE):
        storage = open_storage(tmp_path / f"{seed}.db")
        await storage.write(partial(fill, seed, MemoryTransaction(State())))
        await storage.close()
