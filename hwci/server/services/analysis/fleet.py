# SPDX-License-Identifier: Apache-2.0
"""Figures of boxes and products for Prometheus: gauges over the days that are asked for, which a
scrape reads with a reader key (contract, "Answers beside the rules").

This module decides their names. The figures are those of the page and of the answer about boxes.
The library is imported when they are asked for.
"""

from asyncio import to_thread
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hwci.analysis.benches.report import benches
from hwci.contract.boxes.benches import BoxHealth
from hwci.contract.page.metrics import Tiles
from hwci.contract.vocabulary import Label
from hwci.engine.facts import Product
from hwci.engine.history import History, Scope
from hwci.engine.page.overview import read_tiles
from hwci.engine.periods import Period
from hwci.engine.rules.labels import groups_of
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import Analysis, Answers, Asked, asked
from hwci.server.services.analysis.benches import known_of_boxes
from hwci.server.storage.ports import Reader
from hwci.wire.endpoints import analysis
from hwci.wire.queries import PeriodQuery

_ALL_BOXES = 10_000
"""More than an organization has."""
Figures = Mapping[str, float | None]
"""Figures by the names of their gauges; None if unknown: then there is no such sample."""

OF_PRODUCTS = {
    "hwci_merges_announced": "Merges that were announced",
    "hwci_merges_checked": "Of these, merges that ran on hardware",
    "hwci_real_fw_bugs": "Resolved failures that were real firmware bugs",
    "hwci_ambiguous_failures": "Resolved failures of which CI does not tell what they were",
    "hwci_failures_pending": "Failures that are not resolved",
    "hwci_flaky_failures": "Failing results of tests that also passed on the commit and box",
    "hwci_runs": "Reports of runs",
    "hwci_runs_never_reached": "Of these, runs that never reached the hardware",
}
OF_BOXES = {
    "hwci_box_runs": "Reports of runs on the box",
    "hwci_box_runs_never_reached": "Of these, runs that never reached the hardware",
    "hwci_box_runs_reached": "Runs on the box that reached the hardware",
    "hwci_box_runs_lost_board": "Of these, runs that lost their board",
    "hwci_box_results": "Results on commits that other boxes ran, too",
    "hwci_box_results_failed": "Of these, results whose first attempt failed",
    "hwci_box_worse": "1: it is worse than the other boxes on the same commits; 0: no sign of it",
    "hwci_box_last_run_timestamp_seconds": "Start of the last run",
    "hwci_box_last_clean_run_timestamp_seconds": "Start of the last run without a failure",
}


class Sample(NamedTuple):
    """The figures of a product or a box, with the labels that name it."""

    labels: Mapping[str, str]
    figures: Figures


Samples = tuple[Sequence[Sample], Sequence[Sample]]
"""Those of products, and of boxes."""


class Fleet(Analysis):
    """Figures for Prometheus."""

    async def figures(self, viewer: Viewer, query: PeriodQuery) -> bytes:
        """Return the figures in Prometheus' text format."""
        period = self._period(query)

        def work(reader: Reader) -> Samples:
            about = asked(reader, viewer, query, period)
            known = known_of_boxes(reader, viewer.org_id, period)
            boxes = benches(*about, _ALL_BOXES, known).boxes
            return [*_of_products(about)], [*map(_of_box, boxes)]

        samples = await self._storage.read(work, organization=viewer.org_id, person=viewer.id)
        return await to_thread(_written, query.days, *samples)


def _written(days: int, products: Sequence[Sample], boxes: Sequence[Sample]) -> bytes:
    import prometheus_client as prometheus  # noqa: PLC0415 - few servers are asked for it

    registry = prometheus.CollectorRegistry()
    prometheus.Gauge("hwci_period_days", "Days that all figures are of", registry=registry).set(
        days
    )
    kinds = ((OF_PRODUCTS, ("repository", "suite"), products), (OF_BOXES, ("box",), boxes))
    for gauges, labels, samples in kinds:
        for name, text in gauges.items():
            gauge = prometheus.Gauge(name, text, labels, registry=registry)
            for sample in samples:
                if (figure := sample.figures[name]) is not None:
                    gauge.labels(**sample.labels).set(figure)
    return prometheus.generate_latest(registry)


def _of_products(about: Asked) -> Iterable[Sample]:
    history, scope, period = about
    pending = _pending(history, scope, period)
    for state in history.products():
        product = state.product
        if scope.holds(*product):
            history.check_time()
            tiles = read_tiles(history, Scope(*product), period)
            yield Sample(
                {"repository": product.repo_key, "suite": product.suite},
                _of_tiles(tiles, pending[product]),
            )


def _pending(history: History, scope: Scope, period: Period) -> Counter[Product]:
    """Count the pending failures of each product."""
    groups = groups_of(history, history.failures(scope, period))
    return Counter(group.first.key.lane.product for group in groups if group.label is Label.PENDING)


def _of_tiles(tiles: Tiles, pending: int) -> Figures:
    return {
        "hwci_merges_announced": tiles.merges_checked.announced,
        "hwci_merges_checked": tiles.merges_checked.checked,
        "hwci_real_fw_bugs": tiles.real_fw_bugs.real,
        "hwci_ambiguous_failures": tiles.real_fw_bugs.ambiguous,
        "hwci_failures_pending": pending,
        "hwci_flaky_failures": tiles.flaky_failures.count,
        "hwci_runs": tiles.infra_runs.total,
        "hwci_runs_never_reached": tiles.infra_runs.infra,
    }


def _of_box(box: BoxHealth) -> Sample:
    clean, lost = box.last_clean_run_at, box.lost_board
    figures = {
        "hwci_box_runs": box.never_reached.total,
        "hwci_box_runs_never_reached": box.never_reached.part,
        "hwci_box_runs_reached": None if lost is None else lost.total,
        "hwci_box_runs_lost_board": None if lost is None else lost.part,
        "hwci_box_results": box.counts.results or None,
        "hwci_box_results_failed": box.counts.failed if box.counts.results else None,
        "hwci_box_worse": None if box.comparison is None else float(box.comparison.named),
        "hwci_box_last_run_timestamp_seconds": box.last_run_at.timestamp(),
        "hwci_box_last_clean_run_timestamp_seconds": None if clean is None else clean.timestamp(),
    }
    return Sample({"box": box.box_key}, figures)


ANSWERS: Answers = {analysis.FLEET: Fleet.figures}
