# SPDX-License-Identifier: Apache-2.0
"""What a call is: one request to the server and the model of its answer, as a value.

Which calls exist is decided in `calls`, how one is sent in the two shells.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, Literal, TypeVar

T = TypeVar("T")

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
