# SPDX-License-Identifier: Apache-2.0
"""Figures of boxes and products for Prometheus, and the dashboard of Grafana that asks for them."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from prometheus_client.parser import text_string_to_metric_families

from hwci.server.services.analysis.fleet import OF_BOXES, OF_PRODUCTS
from tests.cli.two_boxes import with_reports
from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.running import RunningServer, report

__all__ = ["with_reports"]  # a fixture
DASHBOARD = Path(__file__).parents[2] / "examples/grafana/hwci.json"
Figures = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def scraped(server: RunningServer, query: str = "") -> Reply:
    path = f"/api/orgs/{server.org_id}/ci-analysis/fleet{query}"
    return ask(server.url, "GET", path, ci_key(reader_key(server)))


def reader_key(server: RunningServer) -> str:
    path = f"/api/orgs/{server.org_id}/reader-keys"
    made = ask(server.url, "POST", path, bearer(server.token), json_body={"name": "prometheus"})
    return str(made.json["apiKey"])


def figures(reply: Reply) -> Figures:
    """Return each sample by its name and labels."""
    assert reply.status == 200, reply
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(reply.body.decode())
        for sample in family.samples
    }


def of_box(samples: Figures, name: str, box: str) -> float | None:
    return samples.get((name, (("box", box),)))


def test_a_scrape_has_what_the_page_and_the_answer_about_boxes_have(
    with_reports: RunningServer,
) -> None:
    server, headers = with_reports, bearer(with_reports.token)
    reply = scraped(server)
    samples = figures(reply)
    organization = f"/api/orgs/{server.org_id}"
    page = ask(server.url, "GET", f"{organization}/ci-metrics", headers).json["tiles"]
    boxes = ask(server.url, "GET", f"{organization}/ci-analysis/boxes", headers).json["boxes"]
    pending = ask(server.url, "GET", f"{organization}/ci-analysis/incidents", headers).json

    assert reply.headers["content-type"].startswith("text/plain")
    of_product = {name: value for (name, labels), value in samples.items() if len(labels) == 2}
    assert of_product["hwci_runs"] == page["infraRuns"]["total"]
    assert of_product["hwci_runs_never_reached"] == page["infraRuns"]["infra"]
    assert of_product["hwci_merges_announced"] == page["mergesChecked"]["announced"]
    assert of_product["hwci_real_fw_bugs"] == page["realFwBugs"]["real"]
    assert of_product["hwci_failures_pending"] == sum(
        row["failuresTotal"] for row in pending["items"] if row["label"] == "pending"
    )
    for row in boxes:
        box = row["boxKey"]
        assert of_box(samples, "hwci_box_runs", box) == row["neverReached"]["total"]
        assert of_box(samples, "hwci_box_results_failed", box) == row["counts"]["failed"]
        assert of_box(samples, "hwci_box_worse", box) == row["comparison"]["named"]
    assert of_box(samples, "hwci_box_worse", "bench-2") == 1
    assert of_box(samples, "hwci_box_last_clean_run_timestamp_seconds", "bench-2") is None
    assert samples["hwci_period_days", ()] == 30


@pytest.mark.usefixtures("with_reports")
def test_names_of_a_product_and_a_box_cannot_break_the_format(server: RunningServer) -> None:
    odd = 'a"b\\c{d="e"} 7'
    body = report(run_id=900, box_key=odd, suite=odd)
    sent = ask(server.url, "POST", "/api/ci/run-report", ci_key(server.ci_key), json_body=body)
    assert sent.status == 204, sent
    samples = figures(scraped(server, "?days=3650"))

    assert of_box(samples, "hwci_box_runs", odd) == 1
    assert any(dict(labels).get("suite") == odd for _, labels in samples)


def test_the_dashboard_asks_for_what_the_route_has(with_reports: RunningServer) -> None:
    names = {name for name, _ in figures(scraped(with_reports))}
    dashboard: dict[str, Any] = json.loads(DASHBOARD.read_text())
    panels = dashboard["panels"]
    queries = [target for panel in panels for target in panel["targets"]]
    variables = [it["query"]["query"] for it in dashboard["templating"]["list"][1:]]

    asked = {
        name
        for text in [*(query["expr"] for query in queries), *variables]
        for name in re.findall(r"\bhwci_\w+", text)
    }
    assert asked <= {*OF_PRODUCTS, *OF_BOXES}
    # bench-1 has all figures of a box, and the product all of its own.
    assert asked <= names
    for query in queries:
        labels = set(re.findall(r"{{(\w+)}}", query["legendFormat"]))
        kind = {"box"} if "hwci_box" in query["expr"] else {"repository", "suite"}
        assert labels == kind
        assert set(re.findall(r"(\w+)=~", query["expr"])) <= kind


def test_each_query_of_the_dashboard_has_an_answer_by_the_figures(
    with_reports: RunningServer,
) -> None:
    """Its queries are sums, differences and ratios of figures with the same labels."""
    samples = figures(scraped(with_reports))
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        [query] = panel["targets"]
        text = re.sub(r"{.*?}", "", query["expr"])
        box = (("box", "bench-1"),)
        product = next(labels for name, labels in samples if name == "hwci_runs")
        of = box if "hwci_box" in text else product
        values = {name: samples[name, of] for name in re.findall(r"\bhwci_\w+", text)}
        known = text.replace("time()", "0")
        for name, value in values.items():
            known = re.sub(rf"\b{name}\b", str(value), known)
        assert re.fullmatch(r"[-+/() \d.]+", known), text


def test_a_key_that_is_bound_to_a_product_has_the_figures_of_that_alone(
    with_reports: RunningServer,
) -> None:
    server = with_reports
    body = report(run_id=930, box_key="bench-9", suite="other")
    sent = ask(server.url, "POST", "/api/ci/run-report", ci_key(server.ci_key), json_body=body)
    assert sent.status == 204, sent
    product = {"repoKey": body["repo_key"], "suite": "other"}
    made = ask(
        server.url,
        "POST",
        f"/api/orgs/{server.org_id}/reader-keys",
        bearer(server.token),
        json_body={"name": "bound", "products": [product]},
    )
    path, key = f"/api/orgs/{server.org_id}/ci-analysis/fleet", ci_key(str(made.json["apiKey"]))

    samples = figures(ask(server.url, "GET", f"{path}?{urlencode(product | {'days': 3650})}", key))
    labels = {key: value for _, pairs in samples for key, value in pairs}
    assert labels == {"repository": product["repoKey"], "suite": "other", "box": "bench-9"}
    assert {
        ask(server.url, "GET", f"{path}{query}", key).status
        for query in ("", f"?{urlencode(product | {'suite': 'hardware'})}")
    } <= {403, 404}


def test_a_period_without_runs_has_no_boxes(with_reports: RunningServer) -> None:
    before = "2020-01-01T00:00:00Z"
    samples = figures(scraped(with_reports, f"?asOf={before}"))

    assert not [name for name, _ in samples if name.startswith("hwci_box_")]
    assert timedelta(days=samples["hwci_period_days", ()]) == timedelta(days=30)


def test_runs_of_the_first_and_the_last_instant_are_figures(server: RunningServer) -> None:
    for number, at in enumerate(("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z")):
        body = report(run_id=950 + number, box_key=f"end-{number}", started_at=at, ended_at=at)
        sent = ask(server.url, "POST", "/api/ci/run-report", ci_key(server.ci_key), json_body=body)
        assert sent.status == 204, sent
        samples = figures(scraped(server, f"?asOf={at}&days=1"))
        assert of_box(samples, "hwci_box_runs", f"end-{number}") == 1
