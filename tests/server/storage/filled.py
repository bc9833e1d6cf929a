# SPDX-License-Identifier: Apache-2.0
"""A store with a random history, and one of each other thing that CI and people send."""

from dataclasses import replace

from hwci.engine.facts import failure_id
from hwci.server.storage.ports import Storage, Writer
from tests.server.storage.examples import ANNOUNCEMENT, CONFIG, FAILURE, NOON, REVIEW
from tests.server.storage.histories import ORG, HistoryDraw


async def fill(storage: Storage, reports: int = 40, seed: int = 1) -> None:
    """Write reports, an announcement, a configuration and a review."""
    draw = HistoryDraw(seed)

    def work(writer: Writer) -> None:
        for _ in range(reports):
            writer.put_report(ORG, draw.next_report(), NOON)
        writer.announce(ORG, ANNOUNCEMENT, NOON)
        writer.put_config(ORG, replace(CONFIG, links=None), NOON)
        writer.put_config(ORG, CONFIG, NOON)
        writer.put_review(ORG, failure_id(ORG, FAILURE), REVIEW)

    await storage.write(work)
