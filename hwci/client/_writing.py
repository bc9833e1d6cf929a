# SPDX-License-Identifier: Apache-2.0
"""How paths, queries and bodies of calls are written, and checked before anything is sent."""

from typing import TypeVar
from urllib.parse import quote
from uuid import UUID

from pydantic import BaseModel, ValidationError

from hwci.client.errors import InvalidCallError
from hwci.wire.errors import issues_of
from hwci.wire.nearest import hint

Model = TypeVar("Model", bound=BaseModel)
Id = UUID | str


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
