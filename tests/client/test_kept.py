# SPDX-License-Identifier: Apache-2.0
"""Which answers a client keeps, and when one counts again, with plain values."""

import pytest

from hwci.client import Call
from hwci.client._call import Credential
from hwci.client._kept import ANSWERS_MOST, BYTES_MOST, KeptAnswers
from hwci.client._protocol import Credentials, Response, build_request
from hwci.client.errors import AnswerShapeError
from hwci.wire.base import HealthAnswer
from hwci.wire.endpoint import Method

NOT_MODIFIED = Response(304, {}, b"")


def asked(number: int = 0, method: Method = "GET") -> Call[HealthAnswer]:
    query = (("page", str(number)),)
    return Call(method, "/healthz", HealthAnswer, 200, Credential.NONE, query)


def answered(tag: str | None = 'W/"a"', more: int = 0) -> Response:
    body = b'{"status":"ok","version":"1"}' + b" " * more
    return Response(200, {} if tag is None else {"etag": tag}, body)


def test_an_answer_that_is_the_same_is_the_same_object() -> None:
    answers = KeptAnswers()
    first = answers.conclude(asked(), answered(), None)
    kept = answers.of(asked())
    assert kept is not None
    request = build_request(asked(), Credentials(), "r", kept.tag)
    assert request.headers["If-None-Match"] == 'W/"a"'
    assert answers.conclude(asked(), NOT_MODIFIED, kept) is first
    other = answers.conclude(asked(), answered('W/"b"'), kept)
    assert other is not first
    assert answers.of(asked()) == ('W/"b"', other)


@pytest.mark.parametrize(
    ("call", "outcome"),
    [
        (asked(), answered(None)),
        (asked(), answered('W/"a"\r\nX-Evil: 1')),
        (asked(), answered("plain")),
        (asked(), answered(more=BYTES_MOST)),
        (asked(method="POST"), answered()),
    ],
    ids=["no tag", "two lines", "no quotes", "long", "no GET"],
)
def test_what_is_not_kept_is_asked_for_without_a_tag(
    call: Call[HealthAnswer], outcome: Response
) -> None:
    answers = KeptAnswers()
    answers.conclude(call, outcome, None)
    assert answers.of(call) is None
    assert "If-None-Match" not in build_request(call, Credentials(), "r").headers


def test_the_last_answers_are_kept() -> None:
    answers = KeptAnswers()
    for number in [*range(ANSWERS_MOST), 0, ANSWERS_MOST]:
        answers.conclude(asked(number), answered(), None)
    assert [answers.of(asked(number)) is None for number in (0, 1, 2)] == [False, True, False]


def test_a_304_that_nobody_asked_for_is_no_answer() -> None:
    with pytest.raises(AnswerShapeError):
        KeptAnswers().conclude(asked(), NOT_MODIFIED, None)
