# SPDX-License-Identifier: Apache-2.0
"""Incidents of a period (contract, "Answers beside the rules")."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from hwci.analysis.branches import branches_of
from hwci.analysis.failures.incident_rows import incident_row
from hwci.analysis.failures.incidents import (
    Incident,
    by_harm,
    described,
    failures_by_incident,
    incidents,
    seen_products,
)
from hwci.analysis.failures.last_days import last_day
from hwci.analysis.flaky.suspects import SeenProduct
from hwci.contract.failures import incidents as shapes
from hwci.contract.shape import ListPage
from hwci.contract.vocabulary import Label
from hwci.engine.facts import Product
from hwci.engine.history import Listing
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import Analysis, Answers, Asked
from hwci.server.services.ci_metrics.tags import Tags
from hwci.wire import limits
from hwci.wire.analysis.incidents import IncidentsQuery
from hwci.wire.endpoints import analysis


class Incidents(Analysis):
    """Reads of failures that one cause explains."""

    async def incidents(
        self, viewer: Viewer, query: IncidentsQuery, tags: Tags
    ) -> ListPage[shapes.Incident] | None:
        """List the incidents with a failure in the period, the last to begin first; pending ones
        by harm.
        """

        def work(about: Asked) -> ListPage[shapes.Incident]:
            rows = incidents_of(about, query)
            seen = seen_products(*about, rows)
            if query.label is Label.PENDING:
                rows = [banded.incident for banded in by_harm(about.history, rows, seen)]
            return rows_of(about, query, query.slice_of(rows), seen)

        return await self._answer(viewer, query, work, tags, lambda about: last_day(about.period))


ANSWERS: Answers = {
    analysis.LIST_INCIDENTS: Incidents.incidents,
}


def incidents_of(about: Asked, query: IncidentsQuery) -> list[Incident]:
    """Return the incidents that a query asks for."""
    where = replace(query.where, branch=None)
    branches = branches_of(*about, query.branch)
    rows = [
        incident
        for incident in incidents(*about, query.label)
        if where.has_box(incident.boxes)
        and (branches is None or branches(incident.lane.repo_key, incident.lane.branch))
    ]
    if where.sha is None:
        return rows
    return [
        incident
        for incident, failures in zip(rows, failures_by_incident(about.history, rows), strict=True)
        if where.has_commit(incident.lane.branch, failures.shas)
    ]


def rows_of(
    about: Asked,
    query: IncidentsQuery,
    shown: Listing[Incident],
    seen: Mapping[Product, SeenProduct],
) -> ListPage[shapes.Incident]:
    """Return the page of these incidents that a query asks for. `seen`: the runs of their
    products.
    """
    rows = Listing(described(about.history, shown.items, about.period, seen), shown.total)
    return query.page_of(rows, partial(incident_row, most=limits.INCIDENT_MAX))
