# SPDX-License-Identifier: Apache-2.0
"""Writes the types of the client's calls and resources from the endpoints: `calls.pyi` and
`resources.pyi` in `hwci/client`.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from hwci.client._resources import FOLLOW, ORG_ID
from hwci.engine.page.tables import Sort
from hwci.wire.codec import item_of
from hwci.wire.endpoint import Endpoint
from hwci.wire.endpoints import named

_CLIENT = Path(__file__).parents[1] / "hwci" / "client"
CALLS, RESOURCES = _CLIENT / "calls.pyi", _CLIENT / "resources.pyi"
PREFIXES = ("", "Async")
CALLS_HEAD = '''# SPDX-License-Identifier: Apache-2.0
"""The types of the client's calls: `make docs` writes this file from `hwci.wire.endpoints`."""
'''
RESOURCES_HEAD = '''# SPDX-License-Identifier: Apache-2.0
"""The types of a client's resources: `make docs` writes this file from `hwci.wire.endpoints`."""
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


def calls() -> str:
    """Return `calls.pyi`."""
    imports = _Imports()
    for module, name in (("hwci.client._call", "Call"), ("hwci.client._call", "Id")):
        imports.add(module, name)
    endpoints = {name: value for name, value in named().items() if value.called}
    queries = {value.query: None for value in endpoints.values() if _has_fields(value.query)}
    body = [_typed_dict(query, imports) for query in queries if query is not None]
    body += [_function(name.lower(), value, imports) for name, value in endpoints.items()]
    return _formatted(CALLS_HEAD + "\n".join([*imports.lines(), "", *body]), CALLS)


def _formatted(text: str, path: Path) -> str:
    ruff = (sys.executable, "-m", "ruff")
    for step in (("check", "--select", "I", "--fix", "--quiet"), ("format",)):
        command = [*ruff, *step, "--stdin-filename", str(path), "-"]
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
    ids = [f"{_snake(part)}: Id" for part in endpoint.ids]
    parameters = _parameters(ids, endpoint, imports)
    head = f"def {name}({', '.join(parameters)}) -> Call[{_answer(endpoint, imports)}]:"
    return f'{head}\n    """{endpoint.summary}."""\n'


def _parameters(ids: list[str], endpoint: Endpoint, imports: _Imports) -> list[str]:
    parameters = [*ids, "/"] if ids else []
    parameters += _of_body(endpoint, imports)
    if endpoint.query is not None and _has_fields(endpoint.query):
        unpack, fields = imports.add("typing", "Unpack"), _fields_name(endpoint.query)
        parameters.append(f"**query: {unpack}[{fields}]")
    return parameters


def _answer(endpoint: Endpoint, imports: _Imports) -> str:
    return "None" if endpoint.answer is None else _source(endpoint.answer, imports)


def resources() -> str:
    """Return `resources.pyi`."""
    imports = _Imports()
    imports.add("hwci.client._call", "Id")
    methods: dict[str, dict[str, Endpoint]] = {}
    for endpoint in named().values():
        if endpoint.called or endpoint.name == FOLLOW:
            resource, _, method = endpoint.name.partition(".")
            methods.setdefault(resource, {})[method] = endpoint
    body = [
        _class_of(prefix, resource, own, imports)
        for prefix in PREFIXES
        for resource, own in methods.items()
    ]
    for prefix in PREFIXES:
        lines = [f"    {it}: {prefix}{_camel(it)}" for it in methods]
        body.append("\n".join([f"class {prefix}Resources:", *lines, ""]))
    text = RESOURCES_HEAD + "\n".join([*imports.lines(), "", *body])
    return _formatted(text, RESOURCES)


def _class_of(prefix: str, resource: str, own: dict[str, Endpoint], imports: _Imports) -> str:
    methods = [_method(prefix, name, endpoint, imports) for name, endpoint in own.items()]
    return "\n".join([f"class {prefix}{_camel(resource)}:", *methods])


def _method(prefix: str, name: str, endpoint: Endpoint, imports: _Imports) -> str:
    ids = [f"{_snake(part)}: Id" for part in endpoint.ids if part != ORG_ID]
    if endpoint.name == FOLLOW:
        module = "hwci.client._aio" if prefix else "hwci.client._sync"
        parameters = ["run_id: Id | None = None", "last_event_id: str | None = None"]
        answer = imports.add(module, f"{prefix}Following")
    else:
        parameters = _parameters(ids, endpoint, imports)
        fields = [it for it in parameters if it.startswith("**query")]
        if fields and endpoint.query is not None:
            imports.add("hwci.client.calls", _fields_name(endpoint.query))
        answer = _of_client(prefix, endpoint, imports)
    asynchronous = "async " if prefix else ""
    head = f"    {asynchronous}def {name}({', '.join(['self', *parameters])}) -> {answer}:"
    return f'{head}\n        """{endpoint.summary}."""\n'


def _of_client(prefix: str, endpoint: Endpoint, imports: _Imports) -> str:
    item = None if endpoint.answer is None else item_of(endpoint.answer)
    if item is None:
        return _answer(endpoint, imports)
    listing = imports.add("hwci.client._resources", f"{prefix}Listing")
    return f"{listing}[{_source(item, imports)}]"


def _camel(name: str) -> str:
    return "".join(part.title() for part in name.split("_"))


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


FILES: dict[Path, Callable[[], str]] = {CALLS: calls, RESOURCES: resources}
