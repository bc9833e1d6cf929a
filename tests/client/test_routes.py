# SPDX-License-Identifier: Apache-2.0
"""An endpoint is stated once: the server serves it as it stands there, and the client calls it."""

import json
from dataclasses import is_dataclass
from datetime import UTC, datetime
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import pytest
from pydantic import BaseModel

from hwci.client import Call, calls
from hwci.client._call import Credential
from hwci.contract.ci_systems import SigningSystem
from hwci.contract.vocabulary import (
    FailureClass,
    Label,
    Outcome,
    RankBy,
    Role,
    RunEnding,
    RunStatus,
    Trigger,
    WebhookEvent,
    WebhookForm,
)
from hwci.server.http.call import Handler, parameters_of
from hwci.server.routes.table import ROUTES
from hwci.server.services.ci_metrics.tags import Tags
from hwci.wire.accounts import KeyProduct, NewKeepDays
from hwci.wire.analysis.causes import OfTable, OneReview, ReviewsBody, ReviewStep
from hwci.wire.analysis.explanations import UnsentChanges
from hwci.wire.endpoint import Endpoint, Who
from hwci.wire.endpoints import every, named
from hwci.wire.queries import Detail, Query
from hwci.wire.reports import Changes, MergeAnnouncement, RunReport, SuiteConfiguration
from hwci.wire.runs import RunEvents, RunHead, TestEvent

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
PRODUCT: dict[str, Any] = {"repo_key": "r", "suite": "s"}
RUN: dict[str, Any] = {
    **PRODUCT,
    "workflow": "hil",
    "run_id": 1,
    "run_attempt": 1,
    "trigger": Trigger.NIGHTLY,
    "branch": "main",
    "sha": "0123abc",
    "started_at": NOON,
}
REPORT = RunReport(
    **RUN, ended_at=NOON, conclusion="success", hello_ok=True, box_key="bench", tests=[]
)
CONFIGURATION = SuiteConfiguration(
    **PRODUCT, firmware_paths=["src/**"], harness_paths=[], merge_trigger=True
)
REVIEW = OneReview(failure_id=UUID(int=1), action=ReviewStep.RESET, seen_review_at=NOON)
BODIES = [
    MergeAnnouncement(repo_key="r", sha="0123abc", branch="main", merged_at=NOON),
    REPORT,
    CONFIGURATION,
    RunHead(**RUN),
    RunEvents(events=[TestEvent(type="test", id="boot", outcome=Outcome.PASS, attempts=1)]),
    ReviewsBody(reviews=[REVIEW]),
]
VALUES: dict[str, Any] = {
    **PRODUCT,
    "address": "https://chat.example/hook",
    "as_of": NOON,
    "at": NOON,
    "bad": "4567def",
    "box_key": "bench",
    "boxes": 4,
    "branch": "main",
    "broken": False,
    "ci_run": 4242,
    "code": "code",
    "current_password": "correct horse battery",
    "days": 7,
    "detail": Detail.ANSWERS,
    "device_token": "device",
    "email": "a@b",
    "end": NOON,
    "environment": "bench",
    "enabled": False,
    "ending": RunEnding.FAILED,
    "events": [WebhookEvent.SILENT],
    "failed_attempt": True,
    "failure_class": FailureClass.AMBIGUOUS,
    "flaked": True,
    "form": WebhookForm.SLACK,
    "good": "0123abc",
    "hello_ok": False,
    "install_token": "token",
    "invite_token": "token",
    "keep_days": NewKeepDays(messages=30),
    "issue": "https://issues.example/7",
    "issuer": "https://gitlab.example",
    "label": Label.PENDING,
    "limit": 5,
    "known": True,
    "lost_board": True,
    "message": "timeout",
    "name": "Engines",
    "new_password": "another good password",
    "note": "why",
    "org_id": UUID(int=3),
    "organization": "Engines",
    "page": 2,
    "password": "correct horse battery",
    "products": [KeyProduct(**PRODUCT)],
    "rank_by": RankBy.LOWER_BOUND,
    "refresh_token": "token",
    "reported": True,
    "repository": "acme/firmware",
    "repository_id": "74",
    "reset_token": "token",
    "retry_pass": True,
    "reviewed": False,
    "role": Role.ADMIN,
    "run_id": UUID(int=1),
    "search": "uart",
    "sha": "0123abc",
    "silent_hours": 2,
    "sort": "-suite",
    "start": NOON,
    "status": RunStatus.LOST,
    "system": SigningSystem.GITLAB,
    "table": OfTable.REAL_BUGS,
    "test_id": "boot",
    "text": "new cable",
    "ticket": "FW-7",
    "to_review": True,
    "token": "token",
    "unassigned": True,
    "unchecked_hours": 8,
    "unsent": [UnsentChanges(sha="0123abc", changes=Changes(base_sha="fedcba9", commits=[]))],
    "until": NOON,
    "verifier": "verifier",
    "zone": "Europe/Berlin",
}
CALLED = {name: endpoint for name, endpoint in named().items() if endpoint.called}
each = pytest.mark.parametrize("name", CALLED)


def whole_call(name: str) -> Call[Any]:
    """Ask for all that an endpoint can be asked for."""
    endpoint = CALLED[name]
    fields = names_of(endpoint.query) | (set() if endpoint.whole_body else names_of(endpoint.body))
    bodies: dict[object, BaseModel] = {type(body): body for body in BODIES}
    body = {"body": bodies[endpoint.body]} if endpoint.whole_body else {}
    ids = [UUID(int=place) for place, _ in enumerate(endpoint.ids, 1)]
    made: Call[Any] = getattr(calls, name.lower())(
        *ids, **{field: VALUES[field] for field in fields}, **body
    )
    return made


def names_of(model: type[BaseModel] | None) -> set[str]:
    """`session` is for browsers, which keep the refresh token in a cookie."""
    return set() if model is None else set(model.model_fields) - {"session"}


def on_the_wire(model: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


def returned(handler: Handler) -> Any:
    answer = get_type_hints(handler)["return"]
    kinds = get_args(answer) if get_origin(answer) in {UnionType, Union} else (answer,)
    return next((kind for kind in kinds if is_answer(get_origin(kind) or kind)), None)


def is_answer(kind: type) -> bool:
    return is_dataclass(kind) or issubclass(kind, BaseModel)


def test_the_server_serves_every_endpoint() -> None:
    assert set(ROUTES) == set(every())
    places = [(endpoint.method, endpoint.path) for endpoint in every()]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("name", named())
def test_a_handler_takes_and_returns_what_its_endpoint_states(name: str) -> None:
    endpoint = named()[name]
    handler = ROUTES[endpoint]
    taken = parameters_of(handler)
    models = [it for it in taken if isinstance(it, type) and issubclass(it, BaseModel)]

    # A read without parameters refuses all: nothing is left to its handler.
    query = None if endpoint.query is Query else endpoint.query
    assert models == [it for it in (endpoint.body, query) if it] or models == [query, endpoint.body]
    assert returned(handler) == endpoint.answer
    assert (Tags in taken) is endpoint.tagged


@pytest.mark.parametrize("endpoint", every(), ids=list(named()))
def test_a_read_of_the_api_refuses_parameters_that_it_does_not_know(endpoint: Endpoint) -> None:
    if endpoint.method == "GET" and endpoint.limited:
        assert endpoint.query is not None


@each
def test_a_call_asks_for_everything_that_its_endpoint_can_be_asked_for(name: str) -> None:
    call, query = whole_call(name), CALLED[name].query

    assert {it for it, _ in call.query} == (set() if query is None else on_the_wire(query))
    if query is not None:
        query.model_validate(dict(call.query), by_alias=True, by_name=False)
    assert call.path.count("/00000000-") == len(CALLED[name].ids)


@each
def test_a_body_can_hold_every_field_and_is_one_that_the_server_reads(name: str) -> None:
    call, endpoint = whole_call(name), CALLED[name]

    assert (call.body is None) is (endpoint.body is None)
    if endpoint.body is not None and call.body is not None:
        endpoint.body.model_validate_json(call.body, by_alias=True, by_name=False)
        if not endpoint.whole_body:
            assert set(json.loads(call.body)) == on_the_wire(endpoint.body) - {"session"}


@pytest.mark.parametrize(
    ("call", "credential"),
    [
        (calls.health(), Credential.NONE),
        (calls.list_orgs(), Credential.TOKEN),
        (calls.list_boxes(UUID(int=1)), Credential.TOKEN),
        (calls.create_box(UUID(int=1), "bench"), Credential.TOKEN),
        (calls.list_runs(UUID(int=1)), Credential.READER),
        (calls.own_reader_key(), Credential.READER_KEY),
        (calls.report_run(REPORT), Credential.CI_KEY),
        (calls.heartbeat(), Credential.BOX_KEY),
    ],
    ids=lambda it: it.path if isinstance(it, Call) else it.name,
)
def test_a_call_is_signed_by_who_may_call(call: Call[Any], credential: Credential) -> None:
    assert call.credential is credential


def test_everyone_who_may_call_is_claimed_above() -> None:
    assert {endpoint.who for endpoint in CALLED.values()} == set(Who) - {Who.FOLLOWER}


def test_a_review_without_words_has_no_body() -> None:
    assert calls.confirm_failure(UUID(int=1), UUID(int=2)).body is None
    assert calls.confirm_failure(UUID(int=1), UUID(int=2), "why").body == b'{"note":"why"}'


@pytest.mark.parametrize(
    ("name", "given", "fields"),
    [
        ("get_run", [UUID(int=1)], {}),
        ("get_run", [UUID(int=1), UUID(int=2), UUID(int=3)], {}),
        ("login", ["a@b", "password", "device", "cookie", "more"], {}),
        ("heartbeat", ["now"], {}),
        ("list_runs", [UUID(int=1)], {"bench": "bench-1"}),
        ("remove_box", [UUID(int=1), UUID(int=2)], {"days": 7}),
        ("report_run", [], {}),
    ],
)
def test_wrong_arguments_are_named_before_anything_is_sent(
    name: str, given: list[Any], fields: dict[str, Any]
) -> None:
    with pytest.raises(TypeError):
        getattr(calls, name)(*given, **fields)


@pytest.mark.parametrize("name", ["list_run", "LIST_RUNS", "follow_runs", "openapi", "_call"])
def test_what_is_no_call_is_no_attribute(name: str) -> None:
    with pytest.raises(AttributeError):
        getattr(calls, name)
