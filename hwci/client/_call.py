# SPDX-License-Identifier: Apache-2.0
"""What a call is: one request to the server and the model of its answer, as a value. How its path,
query and body are written, and checked before anything is sent.

Which calls exist is decided in `hwci.wire.endpoints`, how one is sent in the two shells.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic, TypeVar
from urllib.parse import quote
from uuid import UUID

from pydantic import BaseModel, ValidationError

from hwci.client.errors import InvalidCallError
from hwci.wire.endpoint import Endpoint, Method, Who
from hwci.wire.errors import issues_of
from hwci.wire.nearest import hint

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)

Id = UUID | str


class Credential(Enum):
    """What a call must be signed with, in words for people (spec, "Authentication")."""

    NONE = "no credential"
    CI_KEY = "a CI key"
    BOX_KEY = "a box key"
    TOKEN = "an access token"
    READER_KEY = "a reader key"
    READER = "an access token or a reader key"


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request. `answer` None: the answer has no body.

    `repeatable` false: the request is never sent a second time.
    `compressed`: the body is gzip already.
    The body stays out of `repr`, as it may hold a password.
    """

    method: Method
    path: str
    answer: type[T] | None
    status: int
    credential: Credential = Credential.TOKEN
    query: tuple[tuple[str, str], ...] = ()
    body: bytes | None = field(default=None, repr=False)
    repeatable: bool = True
    compressed: bool = False


def segment(value: Id) -> str:
    """Write one part of a path."""
    return quote(str(value), safe="")


def query_of(model: type[BaseModel], **fields: object) -> tuple[tuple[str, str], ...]:
    """Check and write a query. Raises `InvalidCallError`, and `TypeError` for an argument that the
    call does not have: the type checker finds it only in calls that it checks.
    """
    for name in fields.keys() - model.model_fields.keys():
        raise TypeError(no_argument(name, model.model_fields))
    values = checked(model, "query", **fields).model_dump(
        mode="json", by_alias=True, exclude_unset=True
    )
    return tuple((name, str(value)) for name, value in values.items())


def no_argument(name: str, known: Collection[str]) -> str:
    """Say that a call has no such argument, and which it may mean."""
    return "; ".join(filter(None, (f"There is no argument {name!r}", hint(name, known))))


def checked(model: type[Model], part: str, **fields: object) -> Model:
    """Make a model of what was given. Raises `InvalidCallError`, its issues below `part`."""
    # Arguments that were not given are not sent: the server fills in the defaults.
    values = {name: value for name, value in fields.items() if value is not None}
    try:
        return model(**values)
    except ValidationError as fault:
        # The fault holds the values, which may be secrets: it goes no further.
        raise InvalidCallError(issues_of(fault, part)) from None


def written(body: BaseModel) -> bytes:
    """Write a body."""
    return body.model_dump_json(by_alias=True, exclude_unset=True).encode()


def body_of(model: type[BaseModel], **fields: object) -> bytes:
    """Check and write a body. Raises `InvalidCallError`."""
    return written(checked(model, "body", **fields))


_SIGNED_BY = {
    Who.ANYONE: Credential.NONE,
    Who.READER: Credential.READER,
    Who.FOLLOWER: Credential.READER,
    Who.READER_KEY: Credential.READER_KEY,
    Who.CI_KEY: Credential.CI_KEY,
    Who.BOX: Credential.BOX_KEY,
}


def call_of(
    endpoint: Endpoint,
    *,
    ids: Sequence[Id] = (),
    query: tuple[tuple[str, str], ...] = (),
    body: bytes | None = None,
    compressed: bool = False,
) -> Call[Any]:
    """Return the call of an endpoint. `ids`: those of its path, in order; `body`: as it is sent."""
    path = endpoint.path.format(**dict(zip(endpoint.ids, map(segment, ids), strict=True)))
    return Call(
        endpoint.method,
        path,
        endpoint.answer,
        endpoint.status,
        _SIGNED_BY.get(endpoint.who, Credential.TOKEN),
        query,
        body,
        endpoint.repeatable,
        compressed,
    )
