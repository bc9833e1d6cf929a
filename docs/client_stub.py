# SPDX-License-Identifier: Apache-2.0
"""Writes `hwci/client/calls.pyi`, the types of the client's calls, from the endpoints."""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from hwci.engine.page.tables import Sort
from hwci.wire.endpoint import Endpoint
from hwci.wire.endpoints import named

PATH = Path(__file__).parents[1] / "hwci" / "client" / "calls.pyi"
HEAD = '''# SPDX-License-Identifier: Apache-2.0
"""The types of the client's calls: `make docs` writes this file from `hwci.wire.endpoints`."""
'''


class _Imports:
    """The names that a file needs, by their modules."""

    def __init__(self) -> None:
        self._names: dict[str, set[str]] = {}

    def add(self, module: str, name: str) -> str:
        if module != "builtins":
            self._names.setdefault(module, set()).add(name)
        return name

    def lines(self) -> Iterator[str]:
        for module, names in self._names.items():
            yield f"from {module} import {', '.join(sorted(names))}"


def stub() -> str:
    """Return the whole file."""
    imports = _Imports()
    for module, name in (("hwci.client._call", "Call"), ("hwci.client._call", "Id")):
        imports.add(module, name)
    endpoints = {name: value for name, value in named().items() if value.called}
    queries = {value.query: None for value in endpoints.values() if _has_fields(value.query)}
    body = [_typed_dict(query, imports) for query in queries if query is not None]
    body += [_function(name.lower(), value, imports) for name, value in endpoints.items()]
    return _formatted("\n".join([HEAD, *imports.lines(), "", *body]))


def _formatted(text: str) -> str:
    ruff = (sys.executable, "-m", "ruff")
    for step in (("check", "--select", "I", "--fix", "--quiet"), ("format",)):
        command = [*ruff, *step, "--stdin-filename", str(PATH), "-"]
        done = subprocess.run(  # noqa: S603 - our own linter
            command, input=text, capture_output=True, text=True, check=True
        )
        text = done.stdout
    return text


def _has_fields(model: type[BaseModel] | None) -> bool:
    return model is not None and bool(model.model_fields)


def _fields_name(query: type[BaseModel]) -> str:
    return query.__name__.removesuffix("Query") + "Fields"


def _typed_dict(query: type[BaseModel], imports: _Imports) -> str:
    base = imports.add("typing", "TypedDict")
    lines = [f"class {_fields_name(query)}({base}, total=False):"]
    for name, field in query.model_fields.items():
        kind = _optional(field, imports)
        if field.is_required():
            kind = f"{imports.add('typing', 'Required')}[{kind}]"
        lines.append(f"    {name}: {kind}")
    return "\n".join([*lines, ""])


def _function(name: str, endpoint: Endpoint, imports: _Imports) -> str:
    parameters = [f"{_snake(part)}: Id" for part in endpoint.ids]
    if parameters:
        parameters.append("/")
    parameters += _of_body(endpoint, imports)
    if endpoint.query is not None and _has_fields(endpoint.query):
        unpack = imports.add("typing", "Unpack")
        parameters.append(f"**query: {unpack}[{_fields_name(endpoint.query)}]")
    answer = "None" if endpoint.answer is None else _source(endpoint.answer, imports)
    head = f"def {name}({', '.join(parameters)}) -> Call[{answer}]:"
    return f'{head}\n    """{endpoint.summary}."""\n'


def _of_body(endpoint: Endpoint, imports: _Imports) -> Iterable[str]:
    if endpoint.body is None:
        return []
    if endpoint.whole_body:
        return [f"body: {_source(endpoint.body, imports)}"]
    return [
        f"{name}: {_optional(field, imports)}{'' if field.is_required() else ' = None'}"
        for name, field in endpoint.body.model_fields.items()
    ]


def _optional(field: FieldInfo, imports: _Imports) -> str:
    """Return the type of a field. None is the same as to leave the field out."""
    kind = _source(field.annotation, imports)
    optional = field.is_required() or kind.endswith("None")
    return kind if optional else f"{kind} | None"


def _source(kind: Any, imports: _Imports) -> str:  # noqa: ANN401 - any annotation
    """Return a type as source text."""
    origin, arguments = get_origin(kind), get_args(kind)
    generic = getattr(kind, "__pydantic_generic_metadata__", {})
    if generic.get("origin"):
        origin, arguments = generic["origin"], generic["args"]
    if origin is Annotated:
        return _source(arguments[0], imports)
    if origin in {Union, UnionType}:
        parts = sorted(arguments, key=lambda part: part is NoneType)
        return " | ".join(_source(part, imports) for part in parts)
    if origin is Literal:
        return _literal(arguments, imports)
    if (origin or kind) is Sort:
        return "str"
    name = _name(Sequence if origin is list else origin or kind, imports)
    inner = ", ".join(_source(part, imports) for part in arguments)
    return f"{name}[{inner}]" if inner else name


def _literal(values: Sequence[object], imports: _Imports) -> str:
    """Return some members of an enumeration as all of it: the server says which it takes."""
    if isinstance(values[0], Enum):
        return _name(type(values[0]), imports)
    words = ", ".join(f'"{value}"' for value in values)
    return f"{imports.add('typing', 'Literal')}[{words}]"


def _name(kind: type, imports: _Imports) -> str:
    return "None" if kind is NoneType else imports.add(kind.__module__, kind.__name__)


def _snake(name: str) -> str:
    return re.sub(r"([A-Z])", lambda letter: f"_{letter[1].lower()}", name)
