# SPDX-License-Identifier: Apache-2.0
"""Writes the JSON Schema of `hwci.toml`, which the server hands out, from the tables that read
the file.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from hwci.ci.project import File

SCHEMA = Path(__file__).parents[1] / "hwci" / "server" / "routes" / "hwci.schema.json"


class _OfToml(GenerateJsonSchema):
    """TOML has no null, and an editor shows a key beside its description: it needs no title."""

    def nullable_schema(self, schema: Any) -> JsonSchemaValue:  # noqa: ANN401 - as pydantic has it
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: Any) -> JsonSchemaValue:  # noqa: ANN401 - as pydantic has it
        if isinstance(schema.get("default"), bool | str):
            return super().default_schema(schema)
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, _: object) -> bool:
        return False


def schema() -> str:
    """Return the schema as text."""
    made = File.model_json_schema(schema_generator=_OfToml)
    whole = {"$schema": _OfToml.schema_dialect, **made, "title": "hwci.toml"}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


FILES: dict[Path, Callable[[], str]] = {SCHEMA: schema}
