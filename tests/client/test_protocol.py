# SPDX-License-Identifier: Apache-2.0
"""What is sent, what an answer means and whether to try again, with plain values."""

import ast
import gzip
import json
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from hwci import __version__
from hwci.client import Call, _protocol, calls, errors
from hwci.client._call import Credential
from hwci.client._protocol import (
    Credentials,
    NoAnswer,
    Request,
    Response,
    build_request,
    conclude,
    next_page,
    retry_after,
    retry_delay,
)
from hwci.contract.shape import ListPage
from hwci.wire.accounts import CiKeyAnswer, Me
from hwci.wire.reports import SuiteConfiguration

KEY = "svc_" + "0" * 64
BOTH = Credentials(ci_key=KEY, token="t.o.k")
REFUSED = NoAnswer("http://h", "Connection refused", sent=False)
CUT = NoAnswer("http://h", "Connection reset by peer", sent=True)


def configuration(patterns: int = 1) -> SuiteConfiguration:
    return SuiteConfiguration(
        repo_key="firmware",
        suite="hil",
        firmware_paths=[
            f"src/some/longer/path/{index}/of/the/firmware/**" for index in range(patterns)
        ],
        harness_paths=["tests/**"],
        merge_trigger=True,
    )


def built(call: Call[None]) -> Request:
    return build_request(call, BOTH, "r1")


def refusal(status: int, headers: dict[str, str] | None = None, **body: object) -> Response:
    content = {"statusCode": status, "error": "E", "message": "M", **body}
    return Response(status, {"x-request-id": "r9", **(headers or {})}, json.dumps(content).encode())


# What is sent


def test_every_request_names_the_program_and_carries_the_request_id() -> None:
    request = build_request(calls.health(), Credentials(), "r1")

    assert request.headers["User-Agent"] == f"hwci/{__version__}"
    assert request.headers["x-request-id"] == "r1"
    assert (request.method, request.target, request.body) == ("GET", "/healthz", None)
    assert "Content-Type" not in request.headers


def test_each_call_carries_its_own_kind_of_credential_only() -> None:
    ci = build_request(calls.put_suite_config(configuration()), BOTH, "r").headers
    user = build_request(calls.me(), BOTH, "r").headers
    nobody = build_request(calls.login("a@example.org", "x"), BOTH, "r").headers

    assert (ci["X-API-Key"], "Authorization" in ci) == (KEY, False)
    assert (user["Authorization"], "X-API-Key" in user) == ("Bearer t.o.k", False)
    assert "Authorization" not in nobody
    assert "X-API-Key" not in nobody


@pytest.mark.parametrize(
    ("call", "needed"),
    [(calls.me(), "an access token"), (calls.put_suite_config(configuration()), "a CI key")],
)
def test_a_credential_that_is_not_there_is_named(call: Call[object], needed: str) -> None:
    with pytest.raises(errors.CredentialMissingError, match=needed):
        build_request(call, Credentials(), "r")


@pytest.mark.parametrize("token", ["", "two words", "line\nend", "schlüssel", "x\r\nX-Evil: 1"])
def test_a_credential_that_no_header_can_hold_is_refused_and_not_repeated(token: str) -> None:
    with pytest.raises(errors.CredentialMalformedError) as caught:
        build_request(calls.me(), Credentials(token=token), "r")

    assert not token or token not in str(caught.value)


def test_a_ci_body_above_8_kib_is_gzipped_and_a_small_one_is_not() -> None:
    small, large = configuration(1), configuration(200)

    plain, pressed = built(calls.put_suite_config(small)), built(calls.put_suite_config(large))

    assert "Content-Encoding" not in plain.headers
    assert plain.body == calls.put_suite_config(small).body
    assert pressed.headers["Content-Encoding"] == "gzip"
    assert pressed.body is not None
    assert gzip.decompress(pressed.body) == calls.put_suite_config(large).body


def test_other_bodies_are_never_gzipped() -> None:
    request = build_request(calls.login("a@" + "x" * 9_000, "x"), BOTH, "r")

    assert "Content-Encoding" not in request.headers
    assert request.headers["Content-Type"] == "application/json"


def test_values_that_hold_secrets_show_none() -> None:
    call = calls.login("a@example.org", "correct horse battery")
    shown = repr([BOTH, call, build_request(call, BOTH, "r"), build_request(calls.me(), BOTH, "r")])

    assert KEY not in shown
    assert "t.o.k" not in shown
    assert "correct horse" not in shown
    assert "Credentials(ci_key=…, token=…)" in shown


def test_an_answer_at_fault_is_shown_without_the_key_in_it() -> None:
    key = "hunter2"
    answer = Response(201, {}, json.dumps({"name": "ci", "apiKey": key}).encode())

    with pytest.raises(errors.AnswerShapeError, match="id: Field required") as caught:
        conclude(calls.create_ci_key("o", "ci"), answer)

    assert key not in "".join(traceback.format_exception(caught.value))
    assert key not in repr(answer)


# What an answer means


def test_an_answer_becomes_its_model() -> None:
    body = b'{"user": {"id": "7b0a3c0e-1111-4222-8333-444455556666", "email": "a@b", "name": "A"},'
    body += b' "organizations": [], "total": 0, "page": 1, "invitations": 0, "later": 1}'
    me = conclude(calls.me(), Response(200, {}, body))

    assert isinstance(me, Me)
    assert me.user.name == "A"


def test_an_answer_without_body_is_none() -> None:
    answer_of: Callable[..., object] = conclude
    assert answer_of(calls.put_suite_config(configuration()), Response(204, {}, b"")) is None


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.BadRequestError),
        (401, errors.UnauthorizedError),
        (403, errors.ForbiddenError),
        (404, errors.NotFoundError),
        (409, errors.ConflictError),
        (413, errors.TooLargeError),
        (415, errors.ApiError),
        (429, errors.RateLimitedError),
        (500, errors.ServerError),
        (503, errors.ServerError),
    ],
)
def test_each_status_has_its_error(status: int, kind: type[errors.ApiError]) -> None:
    with pytest.raises(errors.ApiError) as caught:
        conclude(calls.me(), refusal(status))

    fault = caught.value
    assert type(fault) is kind
    assert (fault.status_code, fault.error, fault.message, fault.request_id) == (
        status,
        "E",
        "M",
        "r9",
    )
    assert str(fault) == f"{status} E: M (request r9)"


def test_faults_of_the_body_are_listed_with_their_place() -> None:
    issues = [{"path": ["body", "tests", n, "id"], "message": "Too long"} for n in range(5)]

    with pytest.raises(errors.BadRequestError) as caught:
        conclude(calls.me(), refusal(400, issues=issues))

    assert [list(issue.path) for issue in caught.value.issues] == [
        ["body", "tests", n, "id"] for n in range(5)
    ]
    assert "body.tests.0.id: Too long" in str(caught.value)
    assert "and 2 more" in str(caught.value)


def test_a_refusal_in_other_words_than_the_servers_still_has_its_status() -> None:
    with pytest.raises(errors.ServerError) as caught:
        conclude(calls.me(), Response(502, {}, b"<html>Bad gateway</html>"))

    assert (caught.value.status_code, caught.value.error) == (502, "Bad Gateway")
    assert caught.value.request_id is None


def test_an_unknown_status_is_a_refusal_too() -> None:
    with pytest.raises(errors.ApiError, match="499 Refused"):
        conclude(calls.me(), Response(499, {}, b""))


@pytest.mark.parametrize(
    ("call", "response", "message"),
    [
        (calls.me(), Response(200, {}, b"{"), "body: "),
        (calls.me(), Response(200, {}, b'{"user": 1}'), "user: "),
        (calls.me(), Response(200, {}, b"<html>"), "body: "),
        (calls.me(), Response(204, {}, b""), "200 was expected"),
        (calls.put_suite_config(configuration()), Response(200, {}, b"{}"), "204 was expected"),
        (calls.me(), Response(302, {"location": "https://h/"}, b""), "redirects to 'https://h/'"),
        (calls.me(), Response(304, {}, b""), "200 was expected"),
    ],
)
def test_an_answer_that_is_not_the_servers_is_an_error(
    call: Call[object], response: Response, message: str
) -> None:
    with pytest.raises(errors.AnswerShapeError, match=message):
        conclude(call, response)


def test_no_answer_says_why_and_whether_the_request_may_have_been_taken() -> None:
    with pytest.raises(errors.ConnectionFailedError, match=r"http://h: Connection refused$"):
        conclude(calls.me(), REFUSED)
    with pytest.raises(errors.ConnectionFailedError, match="it may have been taken"):
        conclude(calls.me(), CUT)
    with pytest.raises(errors.TimedOutError):
        conclude(calls.me(), NoAnswer("http://h", "timed out", sent=True, timed_out=True))


# Whether to try again

SAFE = calls.me()


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_a_passing_fault_is_retried(status: int) -> None:
    assert retry_delay(SAFE, refusal(status), 1, 0, 0.5) is not None


@pytest.mark.parametrize("status", [200, 204, 302, 400, 401, 403, 404, 409, 413, 415])
def test_a_lasting_fault_is_not_retried(status: int) -> None:
    assert retry_delay(SAFE, refusal(status), 1, 0, 0.5) is None


def test_no_answer_is_tried_again_unless_it_cannot_get_better() -> None:
    assert retry_delay(SAFE, REFUSED, 1, 0, 0.5) is not None
    assert retry_delay(SAFE, CUT, 1, 0, 0.5) is not None
    untrusted = NoAnswer("http://h", "certificate", sent=False, passing=False)
    assert retry_delay(SAFE, untrusted, 1, 0, 0.5) is None


def test_tries_end() -> None:
    assert retry_delay(SAFE, REFUSED, 0, 4, 0.5) is None


@pytest.mark.parametrize(
    "call",
    [
        calls.create_ci_key("o", "ci"),
        calls.register("a@example.org", "correct horse battery"),
        calls.login("a@example.org", "x"),
        calls.refresh("token"),
        calls.create_org("o"),
        calls.confirm_failure("o", "f"),
        calls.dismiss_failure("o", "f"),
        calls.reset_failure("o", "f"),
    ],
)
def test_a_call_that_must_not_happen_twice_is_never_sent_twice(call: Call[object]) -> None:
    assert retry_delay(call, CUT, 4, 0, 0.5) is None
    assert retry_delay(call, refusal(503), 4, 0, 0.5) is None
    assert retry_delay(call, refusal(429), 4, 0, 0.5) is None
    assert retry_delay(call, REFUSED, 4, 0, 0.5) is not None, "it was never sent"


def test_pauses_double_to_a_bound_and_chance_spreads_them_whole() -> None:
    pauses = [retry_delay(SAFE, REFUSED, 1, tried, 1.0) for tried in range(7)]

    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
    assert retry_delay(SAFE, REFUSED, 1, 3, 0.0) == 0.0


def test_a_pause_that_the_server_asks_for_is_kept_and_spread() -> None:
    asked = refusal(429, {"retry-after": "7"})

    assert retry_delay(SAFE, asked, 1, 0, 0.0) == 7.0
    assert retry_delay(SAFE, asked, 1, 0, 1.0) == 7.5


def test_a_server_that_asks_for_too_long_a_pause_is_not_waited_for() -> None:
    asked = refusal(429, {"retry-after": "3600"})

    assert retry_delay(SAFE, asked, 4, 0, 0.0) is None
    with pytest.raises(errors.RateLimitedError) as caught:
        conclude(SAFE, asked)
    assert caught.value.retry_after == 3600


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Fri, 20 Nov 2026 12:00:09 GMT"}, None),
        (
            {
                "retry-after": "Fri, 20 Nov 2026 12:00:09 GMT",
                "date": "Fri, 20 Nov 2026 12:00:00 GMT",
            },
            9.0,
        ),
        (
            {
                "retry-after": "Fri, 20 Nov 2026 12:00:00 GMT",
                "date": "Fri, 20 Nov 2026 12:00:09 GMT",
            },
            0.0,
        ),
    ],
)
def test_retry_after_is_seconds_or_a_date_by_the_servers_own_clock(
    headers: dict[str, str], expected: float | None
) -> None:
    assert retry_after(Response(429, headers, b"")) == expected


# Pages


def page_of(number: int, total: int, items: int = 1) -> ListPage[CiKeyAnswer]:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    key = CiKeyAnswer(
        id=UUID(int=1), name="ci", created_at=moment, last_used_at=None, revoked_at=None
    )
    return ListPage(items=(key,) * items, total=total, page=number, limit=10)


def test_the_next_page_is_the_same_call_one_page_on() -> None:
    call = calls.list_ci_keys("o", page=1, limit=10)

    following = next_page(call, page_of(1, 11))

    assert following is not None
    assert dict(following.query) == {"page": "2", "limit": "10"}


@pytest.mark.parametrize("last", [page_of(1, 10), page_of(2, 11), page_of(1, 99, items=0)])
def test_there_is_no_page_after_the_last(last: ListPage[CiKeyAnswer]) -> None:
    assert next_page(calls.list_ci_keys("o"), last) is None


def test_the_health_call_needs_no_credential() -> None:
    assert calls.health().credential is Credential.NONE


def test_the_protocol_half_imports_nothing_that_waits() -> None:
    text = Path(_protocol.__file__).read_text(encoding="utf-8")
    imported = {
        name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
        )
    }

    own = {"hwci", "hwci.client._address", "hwci.client._call", "hwci.client.errors"}
    assert imported - own == {
        "collections.abc",
        "dataclasses",
        "email.utils",
        "gzip",
        "http",
        "hwci.contract.shape",
        "hwci.wire.codec",
        "hwci.wire.errors",
        "hwci.wire.limits",
        "pydantic",
        "sys",
        "typing",
        "urllib.parse",
    }
