# SPDX-License-Identifier: Apache-2.0
"""Known failures on the wire: the body that makes a rule (contract, "Known failures")."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from hwci.wire import limits
from hwci.wire.base import STORABLE, Body, Name, TestId, Time


def _is_narrow(pattern: str) -> str:
    if not pattern.strip("* "):
        raise PydanticCustomError("wide", "Should have more than *, which matches everything")
    return pattern


_NARROW = AfterValidator(_is_narrow)
Message = Annotated[
    str,
    Field(min_length=1, max_length=limits.MESSAGE_MAX),
    STORABLE,
]


class NewKnownFailure(Body):
    """Body of `POST …/known-failures`. It needs `testId` or `message`."""

    ticket: Name
    until: Time
    test_id: Annotated[TestId, _NARROW] | None = None
    message: Annotated[Message, _NARROW] | None = None
    box_key: Name | None = None

    @model_validator(mode="after")
    def _tells_which(self) -> Self:
        if self.test_id is None and self.message is None:
            raise PydanticCustomError("rule", "Needs `testId` or `message`: which failures it is")
        return self
