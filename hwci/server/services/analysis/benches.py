# SPDX-License-Identifier: Apache-2.0
"""Boxes: which one fails more than the others, and how each fares (contract, "Answers beside the
rules").
"""

from collections.abc import Mapping
from datetime import datetime

from hwci.analysis.benches.one_box import one_box
from hwci.analysis.benches.report import Note, benches
from hwci.engine.periods import Period
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import Analysis, asked
from hwci.server.storage.ports import Reader
from hwci.wire import limits
from hwci.wire.analysis.benches import BenchesAnswer
from hwci.wire.analysis.one_box import OneBoxAnswer, OneBoxQuery
from hwci.wire.queries import PeriodQuery


class Benches(Analysis):
    """What the runs of a period say about boxes."""

    async def health(self, viewer: Viewer, query: PeriodQuery) -> BenchesAnswer:
        """Return the boxes, and the tests that fail on one of them."""
        period = self._period(query)

        def work(reader: Reader) -> BenchesAnswer:
            about = asked(reader, viewer, query, period)
            notes = notes_of(reader, viewer, period)
            found = benches(*about, limits.PAGE_LIMIT_MAX, notes)
            return BenchesAnswer.of(found, query, period, _seen(reader, viewer, period))

        return await self._storage.read(work, organization=viewer.org_id, person=viewer.id)

    async def show(self, viewer: Viewer, query: OneBoxQuery) -> OneBoxAnswer:
        """Return one box."""
        period = self._period(query)

        def work(reader: Reader) -> OneBoxAnswer:
            about = asked(reader, viewer, query, period)
            notes = notes_of(reader, viewer, period)
            found = one_box(*about, query.box_key, notes, limits.PAGE_LIMIT_MAX)
            seen = _seen(reader, viewer, period)
            return OneBoxAnswer.of(found, query, period, seen.get(query.box_key))

        return await self._storage.read(work, organization=viewer.org_id, person=viewer.id)


def _seen(reader: Reader, viewer: Viewer, period: Period) -> Mapping[str, datetime]:
    """Return when each box was last seen, if that was in the period or before it. Only the last
    time is kept, so a box that was seen later is left out.
    """
    seen = reader.boxes_seen(viewer.org_id)
    return {box: at for box, at in seen.items() if at <= period.end}


def notes_of(reader: Reader, viewer: Viewer, period: Period) -> Mapping[str, Note]:
    """Return the latest note of each box that has one in the period."""
    kept = reader.latest_box_notes(viewer.org_id, period)
    return {box: Note(note.at, note.text) for box, note in kept.items()}
