# SPDX-License-Identifier: Apache-2.0
"""What a row of a field table says, as values to send: which are taken, which are 400."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.spec.service import Json, Service, changes, commit, passed, report

Path = tuple[str | int, ...]
Place = Callable[[], tuple[Json, Path]]
"""Returns a good body, and the path of the object in it that has the field."""
Values = tuple[Any, ...]

NAMES_OK: Values = ("x", "x" * 255, "é" * 255, " ")
NAMES_BAD: Values = ("", "x" * 256, 1, True, [], {})
SHAS_OK: Values = ("a" * 7, "0123456789abcdefABCDEF", "f" * 64)
SHAS_BAD: Values = ("a" * 6, "f" * 65, "g" * 40, "0x" + "a" * 38, "", 1234567, True, [])
TIMES_OK: Values = (
    "2026-03-01T09:30:00+01:00",
    "2026-03-01T09:30:00.123456Z",
    "2026-03-01T09:30:00-08:00",
    "2026-03-01 09:30+01",
    "2026-03-01T09:30:00,123456789Z",
)
TIMES_BAD: Values = (
    "2026-03-01T09:30:00",
    "2026-03-01",
    "2026-02-30T09:30:00Z",
    "now",
    "",
    1772352000,
    {},
)
FLAGS_BAD: Values = ("true", 0, 1, [])
COUNTS_BAD: Values = ("1", 1.0, 1.5, True, [], 2**63)
"""What no integer field takes."""


@dataclass(frozen=True)
class Field:
    """A field by its row. `None` among the taken: null is the field left out, or null is a value.

    `inside`: where in a bad value the fault is (the element of a list).
    """

    name: str
    taken: Sequence[Any]
    refused: Sequence[Any]
    required: bool = True
    inside: Sequence[Path] = ()


def put(body: Json, path: Path, name: str, value: Any) -> Json:
    """Return a copy of a body with one field set."""
    made = copy.deepcopy(body)
    target: Any = made
    for step in path:
        target = target[step]
    target[name] = value
    return made


def without(body: Json, path: Path, name: str) -> Json:
    made = put(body, path, name, None)
    target: Any = made
    for step in path:
        target = target[step]
    del target[name]
    return made


def check(service: Service, endpoint: tuple[str, str], place: Place, field: Field) -> None:
    """Send every value of a field, and the body without it."""
    body, path = place()
    where = ["body", *path, field.name]
    for value in field.taken:
        reply = service.send(endpoint, put(body, path, field.name, value))
        assert (reply.status, reply.body) == (204, b""), (value, reply.body)
    nulls: tuple[Any, ...] = () if None in field.taken else (None,)
    for index, value in enumerate((*field.refused, *nulls)):
        inside = field.inside[index] if index < len(field.inside) else ()
        paths = service.send(endpoint, put(body, path, field.name, value)).issue_paths
        assert paths == [[*where, *inside]], (value, paths)
    left_out = service.send(endpoint, without(body, path, field.name))
    if field.required:
        assert left_out.issue_paths == [where]
    else:
        assert left_out.status == 204


def in_report() -> tuple[Json, Path]:
    return report("commit", 1, passed()), ()


def in_test() -> tuple[Json, Path]:
    return report("commit", 1, passed()), ("tests", 0)


def in_changes() -> tuple[Json, Path]:
    return report("commit", 1, passed(), changes=changes("base")), ("changes",)


def in_commit() -> tuple[Json, Path]:
    body = report("commit", 1, changes=changes("base", commit("commit", "src/a.c")))
    return body, ("changes", "commits", 0)
