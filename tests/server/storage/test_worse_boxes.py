# SPDX-License-Identifier: Apache-2.0
"""When a webhook is told that a box is worse: once until its runs no longer show it, however often
it crosses the edge meanwhile, and again if it is since it was noted what was done to it.
"""

from dataclasses import replace
from datetime import timedelta

from hwci.contract.boxes.benches import BoxHealth, Comparison, Counts, Note
from hwci.contract.shares import Share
from hwci.contract.vocabulary import WebhookEvent
from hwci.engine.history import Scope
from hwci.server.services.noticing import BOXES
from hwci.server.storage.ports import Storage, Writer
from tests.server.storage.examples import ACME, NOON, WEBHOOK

TOLD = replace(WEBHOOK, events=(WebhookEvent.WORSE,))
SURE = Comparison(
    odds_ratio=6.0,
    low=2.0,
    high=18.0,
    times_as_often=5.0,
    chance=0.001,
    false_discovery=0.002,
    named=True,
)
EDGE = replace(SURE, odds_ratio=1.4, low=1.1, named=False)
BETTER = replace(SURE, odds_ratio=1.2, low=0.8, named=False)
BOX = BoxHealth(
    says="fails 5 times as often as bench-1",
    counts=Counts(failed=12, results=48, others_failed=2, others_results=48),
    commits=12,
    comparison=SURE,
    missing=None,
    never_reached=Share(part=0, total=24, low=0.0, high=0.1),
    lost_board=None,
    lost_runs=(),
    board_seconds=60.0,
    last_run_at=NOON,
    last_clean_run_at=None,
    answer="fails 5 times as often as bench-1",
    evidence="12 of 48 against 2 of 48",
    box_key="bench-2",
    note=None,
    before=None,
    idle=False,
    last_seen_at=None,
)
STEPS = (
    (replace(BOX, comparison=EDGE), 0),
    (BOX, 1),
    (replace(BOX, comparison=EDGE), 1),
    (BOX, 1),
    (replace(BOX, comparison=BETTER), 1),
    (BOX, 2),
    (replace(BOX, comparison=None), 2),
    (BOX, 3),
    (replace(BOX, idle=True), 3),
    (BOX, 4),
    (replace(BOX, note=Note(at=NOON, text="new cable")), 5),
    (replace(BOX, note=Note(at=NOON, text="the same cable")), 5),
    (BOX, 5),
    (replace(BOX, note=Note(at=NOON + timedelta(hours=1), text="new board")), 6),
)


async def test_a_box_at_the_edge_is_not_told_of_again_and_again(storage: Storage) -> None:
    def begin(writer: Writer) -> None:
        writer.add_organization(ACME)
        writer.put_webhook(TOLD)

    await storage.write(begin)
    for number, (box, times) in enumerate(STEPS):

        def look(writer: Writer, number: int = number, box: BoxHealth = box) -> int:
            scope = Scope(TOLD.repo_key, TOLD.suite)
            BOXES.tell(writer, TOLD, {scope: (box,)}, NOON + timedelta(hours=number))
            return writer.deliveries(ACME.id, TOLD.id, 0, 99).total

        assert await storage.write(look) == times, number
