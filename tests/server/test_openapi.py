# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI document is valid, and says what the route table says."""

import json
import re
from enum import StrEnum
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from docs.project_schema import SCHEMA
from hwci.contract.vocabulary import (
    FailureColumn,
    FlakyColumn,
    MergeColumn,
    ResolvedColumn,
    WebhookEvent,
)
from hwci.server.routes.table import ROUTES
from hwci.wire import limits
from tests.support.asking import ask, successes
from tests.support.running import RunningServer


@pytest.fixture(scope="module")
def document(server: RunningServer) -> Any:
    reply = ask(server.url, "GET", "/api/openapi.json")
    assert reply.status == 200
    return reply.json


def test_the_document_is_valid_openapi_3_1(document: Any) -> None:
    OpenAPIV31SpecValidator(document).validate()


def test_the_schema_of_the_project_file_is_that_of_the_repository(server: RunningServer) -> None:
    reply = ask(server.url, "GET", "/api/hwci.schema.json")

    assert (reply.status, reply.json) == (200, json.loads(SCHEMA.read_text()))


def test_every_route_stands_in_it_and_nothing_else(document: Any) -> None:
    described = {
        (method.upper(), path) for path, item in document["paths"].items() for method in item
    }

    assert described == {(route.method, route.path) for route in ROUTES}


def test_every_operation_has_the_routes_status_errors_and_a_name_of_its_own(document: Any) -> None:
    names = set()
    for route in ROUTES:
        operation = document["paths"][route.path][route.method.lower()]
        names.add(operation["operationId"])
        assert set(operation["responses"]) == {
            str(int(status)) for status in (*successes(route), *route.errors, 500, 503)
        }
        assert ("requestBody" in operation) is (route.body is not None)
        assert {item["name"] for item in operation["parameters"] if item["in"] == "path"} == set(
            re.findall(r"{(\w+)}", route.path)
        )
    assert len(names) == len(ROUTES)


def test_the_limits_of_the_spec_stand_in_it(document: Any) -> None:
    schemas = document["components"]["schemas"]
    report = schemas["RunReport"]["properties"]
    listed = document["paths"]["/api/orgs"]["get"]["parameters"]

    assert report["tests"]["maxItems"] == limits.TESTS_MAX
    assert report["repo_key"]["maxLength"] == limits.NAME_MAX
    patterns = schemas["SuiteConfiguration"]["properties"]["firmware_paths"]["items"]
    assert patterns["maxLength"] == limits.PATTERN_MAX == 1_024
    assert schemas["NewCiKey"]["properties"]["name"]["maxLength"] == limits.NAME_MAX
    assert {item["name"]: item["schema"].get("maximum") for item in listed}["limit"] == 100


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("ci-metrics/unchecked-merges", MergeColumn),
        ("ci-metrics/checked-merges", MergeColumn),
        ("ci-metrics/real-bugs", ResolvedColumn),
        ("ci-metrics/other-failures", ResolvedColumn),
        ("ci-metrics/flakiest-tests", FlakyColumn),
        ("ci-failures", FailureColumn),
    ],
)
def test_every_order_of_a_table_stands_in_it(
    document: Any, table: str, columns: type[StrEnum]
) -> None:
    operation = document["paths"][f"/api/orgs/{{orgId}}/{table}"]["get"]
    (sort,) = (one["schema"] for one in operation["parameters"] if one["name"] == "sort")

    words = [word for column in columns for word in (column.value, f"-{column.value}")]
    assert sort["anyOf"] == [{"enum": words, "type": "string"}, {"type": "null"}]


def test_what_runs_are_asked_for_by_is_described(document: Any) -> None:
    operation = document["paths"]["/api/orgs/{orgId}/runs"]["get"]
    schemas = {one["name"]: one["schema"] for one in operation["parameters"]}
    asked = {name: schemas[name]["anyOf"][0] for name in ("sha", "helloOk", "from", "to")}

    assert asked["sha"] == {"type": "string", "pattern": "^[0-9a-fA-F]{4,64}$"}
    assert asked["helloOk"] == {"type": "boolean"}
    assert asked["from"] == asked["to"] == {"type": "string", "format": "date-time"}


def test_bodies_of_ci_are_snake_case_and_all_else_is_camel_case(document: Any) -> None:
    schemas = document["components"]["schemas"]

    assert "started_at" in schemas["RunReport"]["properties"]
    assert "apiKey" in schemas["CreatedCiKey"]["properties"]
    assert "statusCode" in schemas["ErrorBody"]["properties"]


def test_headers_that_callers_go_by_are_described_with_the_status_that_has_them(
    document: Any,
) -> None:
    responses = document["components"]["responses"]
    has = {status: set(response["headers"]) for status, response in responses.items()}

    assert all("x-request-id" in names for names in has.values())
    for status, name in (
        ("401", "WWW-Authenticate"),
        ("429", "Retry-After"),
        ("503", "Retry-After"),
    ):
        assert name in has[status]
    for stream in ("stream", "ws"):
        parameters = document["paths"][f"/api/orgs/{{orgId}}/runs/{stream}"]["get"]["parameters"]
        (last,) = (one for one in parameters if one["in"] == "header")
        assert (last["name"], last["schema"]["pattern"]) == ("Last-Event-ID", "^[0-9]{1,18}$")
    login = document["paths"]["/api/auth/sso/{provider}/login"]["get"]["responses"]
    assert "Location" in login["302"]["headers"]


def test_what_null_stands_for_is_described(document: Any) -> None:
    schemas = document["components"]["schemas"]

    for model, name in (("TestItem", "verdict"), ("CommitItem", "files_truncated")):
        assert {"type": "null"} in schemas[model]["properties"][name]["anyOf"]


BOUNDS = ("maxLength", "minLength", "maxItems", "minItems", "maximum", "minimum")
OWN = {0, 1, len(WebhookEvent)}
"""Nothing, something, and each event that a webhook may want."""
ELSEWHERE = {"SHA_MAX", "REQUEST_ID_MAX", "LIVE_TESTS_MAX", "MESSAGES_MAX"}
"""Patterns hold the first two; the third is of all requests of a run together, the last of what is
answered.
"""


def bounds(node: Any) -> set[float]:
    """Return every bound of a length, a count or a number in a document."""
    if isinstance(node, list):
        return set().union(*map(bounds, node))
    if not isinstance(node, dict):
        return set()
    own = {node[name] for name in BOUNDS if isinstance(node.get(name), int)}
    return own.union(*map(bounds, node.values()))


def test_each_bound_of_the_api_is_a_limit_with_a_name_and_each_limit_stands_in_it(
    document: Any,
) -> None:
    named = {name: one for name, one in vars(limits).items() if isinstance(one, int)}
    found = bounds(document)

    assert found - set(named.values()) - OWN == set()
    missing = {name for name, one in named.items() if name.endswith("_MAX") and one not in found}
    assert missing == ELSEWHERE
