# SPDX-License-Identifier: Apache-2.0
"""Lists of a body: their length, rules between their elements, and all faults at once (contract,
"Everywhere").

This module decides how faults of a list stand beside those of its elements, and that a list that
is too long is looked at no further than its limit. Which lists have which rules is decided by
the models in `reports.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import (
    CoreSchema,
    InitErrorDetails,
    PydanticCustomError,
    core_schema,
)

from hwci.wire import limits
from hwci.wire.errors import message_of

ListFault = tuple[tuple[int | str, ...], str]
"""Where in the list, and what."""


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
        """Say the limit in the JSON schema."""
        return {**handler(schema), "maxItems": self.max_items}

    def _validate(self, value: object, handler: Callable[[object], object]) -> object:
        if not isinstance(value, list | tuple):
            return handler(value)
        seen = value[: self.max_items]
        faults: list[ListFault] = []
        if len(value) > self.max_items:
            faults.append(((), f"Should have at most {self.max_items} items, not {len(value)}"))
        faults.extend(self.faults_between(seen))
        try:
            result = handler(seen)
        except ValidationError as fault:
            own = fault.errors(include_url=False, include_context=False, include_input=False)
            faults.extend((error["loc"], message_of(error)) for error in own)
        if faults:
            raise _fault(faults)
        return result


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
