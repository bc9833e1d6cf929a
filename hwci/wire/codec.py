# SPDX-License-Identifier: Apache-2.0
"""The one codec of answers: their JSON, how it is read, and its schema.

What an answer has is decided by its shape in `hwci.contract`, or, of accounts and keys, by its
model in this room. Nothing is checked while an answer is written: the type checker did that.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, TypeVar, cast, get_args, get_origin

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from hwci.contract.shape import ListPage

Answered = TypeVar("Answered")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - any type
    return TypeAdapter(kind)


def adapter(kind: type[Answered]) -> TypeAdapter[Answered]:
    """Return what writes and reads answers of a kind. It is made when first needed: a command of CI
    reads one kind of a hundred.
    """
    return _adapter(cast("Any", kind))


def as_json(kind: type[Answered], answer: Answered) -> bytes:
    """Return an answer as JSON. `adapter(kind).dump_json` makes text of the same length in
    between.
    """
    data: bytes = adapter(kind).serializer.to_json(
        answer, by_alias=True, exclude_none=_has_no_nulls(kind)
    )
    return data


def plain(answer: object, *, by_alias: bool = True) -> Any:  # noqa: ANN401 - any JSON
    """Return an answer, or a sequence of them, as values of JSON."""
    if isinstance(answer, Sequence):
        return [plain(item, by_alias=by_alias) for item in answer]
    if type(answer) is ListPage:
        # The class of a page alone does not tell what its items are.
        return {**vars(answer), "items": plain(answer.items, by_alias=by_alias)}
    kind = type(answer)
    return adapter(kind).dump_python(
        answer, mode="json", by_alias=by_alias, exclude_none=_has_no_nulls(kind)
    )


def _has_no_nulls(kind: type[Any]) -> bool:
    return getattr(kind, "NO_NULLS", False)


def from_json(kind: type[Answered], data: bytes | str) -> Answered:
    """Read an answer. Raises `pydantic.ValidationError`."""
    return adapter(kind).validate_json(data)


def item_of(kind: type[Any]) -> type[Any] | None:
    """Return what a page of a list has; None of an answer that is no such page."""
    return get_args(kind)[0] if get_origin(kind) is ListPage else None


def name_of(kind: type[Any]) -> str:
    """Return the name of an answer, a list's with its items'."""
    item = item_of(kind)
    if item is None:
        return kind.__name__
    names = " | ".join(each.__name__ for each in get_args(item) or [item])
    return f"ListPage[{names}]"


def schemas(
    kinds: Iterable[tuple[type[Any], JsonSchemaMode]], ref_template: str
) -> tuple[dict[tuple[Any, JsonSchemaMode], dict[str, Any]], dict[str, Any]]:
    """Return the JSON schema of each kind, and the definitions that they share."""
    inputs: list[tuple[Any, JsonSchemaMode, TypeAdapter[Any]]]
    inputs = [(kind, mode, adapter(kind)) for kind, mode in kinds]
    by_kind, shared = TypeAdapter.json_schemas(inputs, ref_template=ref_template)
    return by_kind, shared["$defs"]
