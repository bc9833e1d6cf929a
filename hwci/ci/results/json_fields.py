# SPDX-License-Identifier: Apache-2.0
"""Fields of results in JSON, and the line about a document that is not as its format has it."""

from typing import Annotated

from pydantic import BeforeValidator, Field, ValidationError

from hwci.ci.results.content import ContentError
from hwci.wire.base import made_storable

Text = Annotated[
    str, BeforeValidator(lambda text: made_storable(text) if isinstance(text, str) else text)
]
"""Words of a tool or of a device, which may hold what no report can."""
Name = Annotated[Text, Field(min_length=1)]


def unlike(form: str, fault: ValidationError, fix: str) -> ContentError:
    """Return the fault of a document that is not as its form wants it, by the first that is."""
    first = fault.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return ContentError(f"It is not as {form}: {place}: {first['msg']}", fix)
