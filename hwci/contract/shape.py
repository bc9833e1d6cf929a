# SPDX-License-Identifier: Apache-2.0
"""What a shape is: a frozen dataclass whose fields have camelCase names in JSON.

A client reads answers of newer servers too: it ignores fields that it does not know, and keeps a
word that it does not know as text. This module knows no shape by name.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Generic, TypeVar, dataclass_transform

Word = TypeVar("Word", bound=StrEnum)
Item = TypeVar("Item")
Kind = TypeVar("Kind")


def camel(name: str) -> str:
    """Return the name of a field in JSON."""
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


@dataclass_transform(frozen_default=True, kw_only_default=True)
def shape(kind: type[Kind]) -> type[Kind]:
    """Make a class a shape. Its `JSON_NAMES`, if it has any, name fields that JSON calls by a word
    of Python, such as `from`. With `NO_NULLS` its JSON leaves out what is null.
    """
    return dataclass(frozen=True, kw_only=True)(_in_json(kind))


@dataclass_transform(frozen_default=True)
def sent(kind: type[Kind]) -> type[Kind]:
    """Make a class a shape that answers show as CI or a person sent it. Rules and stores make
    thousands of it, also by the places of its fields, which takes half as long. What may be left
    out has a default here, and is in every answer.
    """
    return dataclass(frozen=True)(_in_json(kind, json_schema_serialization_defaults_required=True))


def _in_json(kind: type[Kind], **more: bool) -> type[Kind]:
    names: dict[str, str] = getattr(kind, "JSON_NAMES", {})
    config = {
        "alias_generator": lambda name: names.get(name) or camel(name),
        "extra": "ignore",
        "serialize_by_alias": True,
        "hide_input_in_errors": True,
        **more,
    }
    kind.__pydantic_config__ = config  # type: ignore[attr-defined]
    return kind


class _Open:
    """Reads a word that an enum does not have as a member with that text, for pydantic."""

    def __get_pydantic_core_schema__(
        self, source: type[StrEnum], handler: Callable[[Any], dict[str, Any]]
    ) -> dict[str, Any]:
        def read(word: object, known: Callable[[object], StrEnum]) -> StrEnum:
            try:
                return known(word)
            except ValueError:
                if not isinstance(word, str):
                    raise
            member = str.__new__(source, word)
            member._name_ = member._value_ = word
            return member

        return {
            "type": "function-wrap",
            "function": {"type": "no-info", "function": read},
            "schema": handler(source),
        }


Open = Annotated[Word, _Open()]
"""A word of an enum, or one that a newer server added."""


@shape
class ListPage(Generic[Item]):
    """One page of a list (spec, "Pagination"). `total`: the items of all pages."""

    items: tuple[Item, ...]
    total: int
    page: int
    limit: int
