# SPDX-License-Identifier: Apache-2.0
"""Boxes: which one fails more than the others, and how each fares (contract, "Answers beside the
rules").
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

from hwci.analysis.benches.by_day import TimeLine
from hwci.analysis.benches.one_box import one_box
from hwci.analysis.benches.report import KnownOfBoxes, benches
from hwci.contract.boxes import benches as shapes
from hwci.contract.boxes.boxes import BoxNote
from hwci.engine.calendar import calendar_days
from hwci.engine.periods import Period
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import Analysis, Answers, asked, bounds, note, on_branches
from hwci.server.services.ci_metrics.tags import Tags
from hwci.server.storage.ports import Reader
from hwci.wire import limits
from hwci.wire.analysis.one_box import OneBoxQuery
from hwci.wire.endpoints import analysis
from hwci.wire.queries import BoxHealthQuery


class Benches(Analysis):
    """What the runs of a period say about boxes."""

    async def health(
        self, viewer: Viewer, query: BoxHealthQuery, tags: Tags
    ) -> shapes.Benches | None:
        """Return the boxes, and the tests that fail on one of them."""
        period = self._period(query)

        def work(reader: Reader) -> shapes.Benches | None:
            about = asked(reader, viewer, query, period)
            known = known_of_boxes(reader, viewer.org_id, period)
            if note(tags, reader, viewer, about, known):
                return None
            return benches(*on_branches(about, query.branch), limits.PAGE_LIMIT_MAX, known)

        return await self._storage.read(
            work, organization=viewer.org_id, person=viewer.id, question=tags.question
        )

    async def show(self, viewer: Viewer, query: OneBoxQuery, tags: Tags) -> shapes.OneBox | None:
        """Return one box."""
        period = self._period(query)
        days = calendar_days(period, query.zone_info)

        def work(reader: Reader) -> shapes.OneBox | None:
            about = asked(reader, viewer, query, period)
            notes = reader.box_notes_of(viewer.org_id, period)
            known = _known(reader, viewer.org_id, period, notes)
            own = [_note(row) for row in notes if row.box_key == query.box_key]
            if note(tags, reader, viewer, about, known, own, bounds(days)):
                return None
            history, scope, _ = on_branches(about, query.branch)
            line = TimeLine(query.zone, days, own)
            return one_box(history, scope, line, query.box_key, limits.PAGE_LIMIT_MAX, known)

        return await self._storage.read(
            work, organization=viewer.org_id, person=viewer.id, question=tags.question
        )


ANSWERS: Answers = {
    analysis.BOX_HEALTH: Benches.health,
    analysis.ONE_BOX: Benches.show,
}


def known_of_boxes(reader: Reader, org_id: UUID, period: Period) -> KnownOfBoxes:
    """Return what is known of boxes beside their runs."""
    return _known(reader, org_id, period, reader.box_notes_of(org_id, period))


def _known(reader: Reader, org_id: UUID, period: Period, notes: Sequence[BoxNote]) -> KnownOfBoxes:
    """Return the same with these notes of the period. Only the last time that a box was seen is
    kept, so one that was seen after the period is left out.
    """
    seen = {box: at for box, at in reader.boxes_seen(org_id).items() if at <= period.end}
    return KnownOfBoxes(_latest(notes), seen)


def notes_of(reader: Reader, org_id: UUID, period: Period) -> Mapping[str, shapes.Note]:
    """Return the latest note of each box that has one in the period."""
    return _latest(reader.box_notes_of(org_id, period))


def _latest(notes: Sequence[BoxNote]) -> Mapping[str, shapes.Note]:
    return {row.box_key: _note(row) for row in notes}


def _note(row: BoxNote) -> shapes.Note:
    return shapes.Note(at=row.at, text=row.text)
