# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - rows stand as the specification has them
"""Each limit is taken, one more is refused, and the OpenAPI document says so (spec, "Limits")."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.spec.fields import (
    Path,
    Place,
    in_changes,
    in_commit,
    in_report,
    in_test,
    put,
)
from tests.spec.quoting import shows
from tests.spec.service import (
    ANNOUNCE,
    CONFIGURE,
    REPORT,
    Json,
    Service,
    announcement,
    commit,
    configuration,
    passed,
)
from tests.support.asking import Reply, ask, bearer


def in_announcement() -> tuple[Json, Path]:
    return announcement(), ()


def in_configuration() -> tuple[Json, Path]:
    return configuration(), ()


@dataclass(frozen=True)
class Limit:
    """A field of a body, the smallest and largest values of it, and those just beyond.

    `model`: the name of the object in the OpenAPI document; `said`: what stands there.
    """

    endpoint: tuple[str, str]
    place: Place
    name: str
    taken: Iterable[Any]
    refused: Iterable[Any]
    model: str
    said: Json


def text(
    endpoint: tuple[str, str], place: Place, model: str, name: str, size: int, smallest: int = 1
) -> Limit:
    said = {"minLength": smallest, "maxLength": size} if smallest else {"maxLength": size}
    refused = ["x" * (size + 1), *(["x" * (smallest - 1)] if smallest else [])]
    return Limit(endpoint, place, name, ["x" * smallest, "x" * size], refused, model, said)


def commits_of(
    endpoint: tuple[str, str], place: Place, model: str, name: str, many: bool = False
) -> Limit:
    good, bad = ["a" * 7, "f" * 64], ["a" * 6, "f" * 65, "g" * 7]
    pattern = {"pattern": "^[0-9a-fA-F]{7,64}$"}
    if many:
        return Limit(endpoint, place, name, [good], [[one] for one in bad], model, {})
    return Limit(endpoint, place, name, good, bad, model, pattern)


def items(
    endpoint: tuple[str, str], place: Place, model: str, name: str, values: list[Any]
) -> Limit:
    """`values`: one more than the limit."""
    said = {"maxItems": len(values) - 1}
    return Limit(endpoint, place, name, [[], values[:-1]], [values], model, said)


MERGE, RUN, CONFIG = "MergeAnnouncement", "RunReport", "SuiteConfiguration"
NAMED = [
    *(
        text(ANNOUNCE, in_announcement, MERGE, name, 255)
        for name in ("repo_key", "suite", "branch")
    ),
    *(
        text(REPORT, in_report, RUN, name, 255)
        for name in ("repo_key", "suite", "workflow", "branch", "box_key")
    ),
    *(text(CONFIGURE, in_configuration, CONFIG, name, 255) for name in ("repo_key", "suite")),
]
PATHS = ("firmware_paths", "harness_paths", "trigger_paths")

LIMITS: dict[str, list[Limit]] = {
    "| Strings `repo_key`, `suite`, `workflow`, `branch`, `box_key` | 1 to 255 characters | CI report bodies |": NAMED,
    "| `conclusion` | 1 to 50 characters | run report |": [
        text(REPORT, in_report, RUN, "conclusion", 50)
    ],
    "| Test `id` | 1 to 512 characters | test item |": [
        text(REPORT, in_test, "TestItem", "id", 512)
    ],
    "| `sha` and `base_sha` | 7 to 64 hexadecimal characters | CI report bodies |": [
        commits_of(ANNOUNCE, in_announcement, MERGE, "sha"),
        commits_of(REPORT, in_report, RUN, "sha"),
        commits_of(REPORT, in_commit, "CommitItem", "sha"),
        commits_of(REPORT, in_changes, "Changes", "base_sha"),
        commits_of(REPORT, in_report, RUN, "covers_shas", many=True),
    ],
    "| `tests` | at most 1,000 items | run report |": [
        items(REPORT, in_report, RUN, "tests", [passed(f"t{n}") for n in range(1_001)])
    ],
    "| `covers_shas` | at most 1,000 items | run report |": [
        items(REPORT, in_report, RUN, "covers_shas", ["a" * 40] * 1_001)
    ],
    "| `changes.commits` | at most 250 items | run report |": [
        items(REPORT, in_changes, "Changes", "commits", [commit("one", "a.c")] * 251)
    ],
    "| `files` per commit | at most 2,000 paths | commit item |": [
        items(REPORT, in_commit, "CommitItem", "files", ["src/a.c"] * 2_001)
    ],
    "| `subject` | at most 1,000 characters | commit item |": [
        text(REPORT, in_commit, "CommitItem", "subject", 1_000, smallest=0)
    ],
    "| Path patterns | at most 200 per list | suite configuration |": [
        items(CONFIGURE, in_configuration, CONFIG, name, ["src/**"] * 201) for name in PATHS
    ],
}
KEY_NAME = "| CI key name | 1 to 255 characters | CI key creation |"
PAGES = "| Pagination | default 20, maximum 100 per page | list endpoints |"


def said_of(document: Json, model: str, name: str) -> Json:
    """Return the schema of a field; of an optional one, that beside null."""
    schemas = document["components"]["schemas"]
    field = schemas[model]["properties"][name]
    for one in field.get("anyOf", [field]):
        if one.get("type") != "null":
            return dict(one)
    raise AssertionError(field)


@shows(*LIMITS)
@pytest.mark.parametrize("row", LIMITS)
def test_a_limit_is_taken_and_one_more_is_400(service: Service, row: str) -> None:
    for limit in LIMITS[row]:
        body, path = limit.place()
        where = ["body", *path, limit.name]
        for value in limit.taken:
            sent = put(body, path, limit.name, value)
            assert service.send(limit.endpoint, sent).status == 204
        for value in limit.refused:
            (found,) = service.send(limit.endpoint, put(body, path, limit.name, value)).issue_paths
            assert found[: len(where)] == where


@shows(KEY_NAME, *LIMITS)
@pytest.mark.parametrize("row", [KEY_NAME, *LIMITS])
def test_a_limit_stands_in_the_openapi_document(service: Service, row: str) -> None:
    document = ask(service.url, "GET", "/api/openapi.json").json
    key_name = Limit(("", ""), in_report, "name", [], [], "NewCiKey", {"maxLength": 255})

    for limit in LIMITS.get(row, [key_name]):
        said = said_of(document, limit.model, limit.name)
        assert limit.said.items() <= said.items(), (limit.name, said)


@shows(PAGES)
def test_every_list_gives_20_unless_asked_otherwise_and_at_most_100(service: Service) -> None:
    org = f"/api/orgs/{service.org_id}"
    body = {"address": "https://chat.example/"}
    made = ask(service.url, "POST", f"{org}/webhooks", bearer(service.token), json_body=body)

    def read(path: str, query: str = "") -> Reply:
        whole = path.replace("/api/orgs/{orgId}", org).replace("{webhookId}", made.json["id"])
        address = f"{whole}?{query}"
        return ask(service.url, "GET", address, bearer(service.token))

    lists = list_paths(ask(service.url, "GET", "/api/openapi.json").json)
    assert len(lists) >= 9
    for path in lists:
        first = page_of(read(path))
        assert set(first) == {"items", "total", "page", "limit"}
        assert (first["page"], first["limit"]) == (1, 20)
        assert page_of(read(path, "limit=100"))["limit"] == 100
        for query in ("limit=101", "limit=0", "limit=x", "limit=", "page=0", "page=-1"):
            assert read(path, query).issue_paths == [["query", query.partition("=")[0]]]


def page_of(reply: Reply) -> Json:
    """Return the page of an answer: a plan holds it beside what it comes to."""
    found: Json = reply.json["runs"] if "boardSeconds" in reply.json else reply.json
    return found


def list_paths(document: Json) -> list[str]:
    """Return the addresses that take a page and a limit."""
    return [
        path
        for path, methods in document["paths"].items()
        if {"page", "limit"}
        <= {parameter["name"] for parameter in methods.get("get", {}).get("parameters", ())}
    ]


@shows(PAGES)
def test_a_list_of_more_than_a_page_is_read_page_by_page(service: Service) -> None:
    for number in range(101):
        service.announce(f"merge {number}")

    path = "ci-metrics/unchecked-merges"
    whole: list[str] = []
    for page, count in ((1, 20), (2, 20), (3, 20), (4, 20), (5, 20), (6, 1), (7, 0)):
        found = service.get(path, asOf="2026-03-02T00:00:00Z", page=page)
        assert (len(found["items"]), found["total"], found["page"]) == (count, 101, page)
        whole += [row["sha"] for row in found["items"]]
    assert len(set(whole)) == 101
    hundred = service.get(path, asOf="2026-03-02T00:00:00Z", limit=100)
    assert [row["sha"] for row in hundred["items"]] == whole[:100]
