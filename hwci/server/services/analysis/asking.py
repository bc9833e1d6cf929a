# SPDX-License-Identifier: Apache-2.0
"""What every answer beside the rules begins with: whether the caller may see what is asked for, and
of which runs and merges it is.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from hwci.analysis.branches import branches_of
from hwci.analysis.outcomes import RecordedRuns
from hwci.analysis.periods.trends import before_of
from hwci.contract.periods.days import CalendarDay
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from hwci.server.services import Service
from hwci.server.services.access import Viewer
from hwci.server.services.ci_metrics.tags import Tags
from hwci.server.services.known import known_scope
from hwci.server.storage.ports import Reader
from hwci.wire.endpoint import Endpoint
from hwci.wire.queries import PeriodQuery

Found = TypeVar("Found")
Answers = Mapping[Endpoint, Callable[..., Awaitable[object]]]
"""What answers each endpoint of a subject."""


class Asked(NamedTuple):
    """A history, and which part of it is asked about."""

    history: RecordedRuns
    scope: Scope
    period: Period


def asked(reader: Reader, viewer: Viewer, query: PeriodQuery, period: Period) -> Asked:
    """Return what a query asks about. Raises `HwciServerError`: it is unknown or not the caller's.
    `period`: the days of the query.
    """
    scope = known_scope(reader, viewer, query)
    return Asked(reader.history(viewer.org_id), scope, period)


def on_branches(about: Asked, choice: str | None) -> Asked:
    """Return the same with the runs on the branches of a choice alone (`branches_of`)."""
    branches = branches_of(*about, choice)
    if branches is None:
        return about
    return about._replace(history=about.history.on_branches(branches))


def note(tags: Tags, reader: Reader, viewer: Viewer, about: Asked, *moving: object) -> bool:
    """Note what an answer rests on: the history, what of its repository lies in the period, and
    what else is `moving` with the clock. Return whether it is answered by that.
    """
    around = Scope(about.scope.repo_key)
    extent = about.history.extent(around, about.period)
    tags.note(reader.state(viewer.org_id), extent, *moving)
    return tags.is_answered


def bounds(days: Sequence[CalendarDay]) -> object:
    """Return which days there are, and whether they are whole: another hour changes that."""
    return [(day.first_day, day.last_day, day.whole) for day in days]


def before_in(about: Asked) -> object:
    """Return what another hour changes of the period before, and whether the two are compared."""
    history, scope, period = about
    around, before = Scope(scope.repo_key), before_of(history, scope, period)
    return before.whole is not None, before.period and history.extent(around, before.period)


class Analysis(Service):
    """Answers beside the rules, of one subject. None instead of an answer: by its tag, there is one
    already.
    """

    async def _answer(
        self,
        viewer: Viewer,
        query: PeriodQuery,
        work: Callable[[Asked], Found],
        tags: Tags,
        moving: Callable[[Asked], object] = lambda _: None,
    ) -> Found | None:
        """Return what `work` makes of what is asked about, in one reading. `moving`: what else of
        it the clock moves.
        """
        period = self._period(query)

        def look(reader: Reader) -> Found | None:
            about = asked(reader, viewer, query, period)
            return None if note(tags, reader, viewer, about, moving(about)) else work(about)

        return await self._storage.read(
            look, organization=viewer.org_id, person=viewer.id, question=tags.question
        )
