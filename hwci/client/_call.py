# SPDX-License-Identifier: Apache-2.0
"""What a call is: one request to the server and the model of its answer, as a value. How its path,
query and body are written, and checked before anything is sent.

Which calls exist is decided in `calls`, how one is sent in the two shells. The calls of CI stand
here: a reporter does not load all the others, with their questions and answers. Each of them may be
repeated: the server knows its identity (spec, rule 3).
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, Literal, TypeVar
from urllib.parse import quote
from uuid import UUID

from pydantic import BaseModel, ValidationError

from hwci.client.errors import InvalidCallError
from hwci.wire import reports
from hwci.wire.errors import issues_of
from hwci.wire.nearest import hint

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)

Id = UUID | str
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


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


def org_path(org_id: Id) -> str:
    """Write the path of an organization."""
    return f"/api/orgs/{segment(org_id)}"


def query_of(model: type[BaseModel], **fields: object) -> tuple[tuple[str, str], ...]:
    """Check and write a query. Raises `InvalidCallError`, and `TypeError` for an argument that the
    call does not have: the type checker finds it only in calls that it checks.
    """
    for name in fields.keys() - model.model_fields.keys():
        raise TypeError(f"There is no argument {name!r}; {hint(name, model.model_fields)}")
    values = checked(model, "query", **fields).model_dump(
        mode="json", by_alias=True, exclude_unset=True
    )
    return tuple((name, str(value)) for name, value in values.items())


def checked(model: type[Model], part: str, **fields: object) -> Model:
    """Make a model of what was given. Raises `InvalidCallError`, its issues below `part`."""
    # Arguments that were not given are not sent: the server fills in the defaults.
    given = {name: value for name, value in fields.items() if value is not None}
    try:
        return model(**given)
    except ValidationError as fault:
        # The fault holds the values, which may be secrets: it goes no further.
        raise InvalidCallError(issues_of(fault, part)) from None


def written(body: BaseModel) -> bytes:
    """Write a body."""
    return body.model_dump_json(by_alias=True, exclude_unset=True).encode()


def body_of(model: type[BaseModel], **fields: object) -> bytes:
    """Check and write a body. Raises `InvalidCallError`."""
    return written(checked(model, "body", **fields))


RUN_REPORT = "/api/ci/run-report"
MERGE_ANNOUNCE = "/api/ci/merge-announce"


def announce_merge(body: reports.MergeAnnouncement) -> Call[None]:
    """Announce a merge."""
    return call_of_ci(MERGE_ANNOUNCE, written(body))


def report_run(body: reports.RunReport) -> Call[None]:
    """Report one attempt of a run on one box."""
    return call_of_ci(RUN_REPORT, written(body))


def put_suite_config(body: reports.SuiteConfiguration) -> Call[None]:
    """Send which files of a product are its firmware and which its harness."""
    return call_of_ci("/api/ci/suite-config", written(body), "PUT")


def call_of_ci(
    path: str, body: bytes, method: Method = "POST", *, compressed: bool = False
) -> Call[None]:
    """Return the call that sends a body as it is."""
    ci = Credential.CI_KEY
    return Call(method, path, None, 204, credential=ci, body=body, compressed=compressed)
