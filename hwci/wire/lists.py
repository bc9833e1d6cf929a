# SPDX-License-Identifier: Apache-2.0
"""Lists of a body: their length, rules between their elements, and all faults at once.

This module decides how faults of a list are listed with those of its elements, and that a list that
is too long is read no further than its limit. `reports.py` decides which rules a list has.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import (
    CoreSchema,
    ErrorDetails,
    InitErrorDetails,
    PydanticCustomError,
    core_schema,
)

from hwci.wire import limits
from hwci.wire.errors import message_of

_STEP = 20
"""Elements that are validated together; every fault of each is collected."""

ListFault = tuple[tuple[int | str, ...], str]
"""The place in the list, and the message."""


def _no_faults(_items: Sequence[object]) -> Sequence[ListFault]:
    return ()


@dataclass(frozen=True, slots=True)
class ListRule:
    """At most `max_items` elements, and what `faults_between` finds among them."""

    max_items: int
    faults_between: Callable[[Sequence[object]], Sequence[ListFault]] = _no_faults

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Wrap the validation of the list."""
        return core_schema.no_info_wrap_validator_function(self._validate, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Add the limit to the JSON schema."""
        return {**handler(schema), "maxItems": self.max_items}

    def _validate(
        self, value: object, handler: Callable[[object], Iterable[object]]
    ) -> Iterable[object]:
        """Validate a few elements at a time, up to as many faults as one answer lists."""
        if not isinstance(value, list | tuple):
            return handler(value)
        seen = value[: self.max_items]
        faults: list[ListFault] = []
        if len(value) > self.max_items:
            faults.append(((), f"Should have at most {self.max_items} items, not {len(value)}"))
        faults.extend(self.faults_between(seen))
        items: list[object] = []
        for start in range(0, len(seen), _STEP):
            if len(faults) >= limits.ISSUES_MAX:
                break
            try:
                items.extend(handler(seen[start : start + _STEP]))
            except ValidationError as fault:
                own = fault.errors(include_url=False, include_context=False, include_input=False)
                faults.extend(_moved(error, start) for error in own)
        if faults:
            raise _fault(faults)
        return tuple(items) if isinstance(value, tuple) else items


def _moved(error: ErrorDetails, start: int) -> ListFault:
    """Return a fault of a part of the list at its place in the whole."""
    index, *rest = error["loc"]
    return (int(index) + start, *rest), message_of(error)


def _fault(faults: Sequence[ListFault]) -> ValidationError:
    """More faults than one answer lists are not carried: a body can hold half a million."""
    return ValidationError.from_exception_data(
        "list",
        [
            InitErrorDetails(
                type=PydanticCustomError("list_rule", "{fault}", {"fault": message}),
                loc=path,
                input=None,
            )
            for path, message in faults[: limits.ISSUES_MAX]
        ],
    )
