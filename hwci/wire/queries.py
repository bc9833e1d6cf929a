# SPDX-License-Identifier: Apache-2.0
"""Query strings: pages, periods and filters. Faults are 400 with a path such as
`["query", "limit"]`; unknown parameters are ignored.
"""

from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from hwci.engine.vocabulary import Label
from hwci.wire import limits
from hwci.wire.base import Name, Time


def _digits(value: Any) -> Any:  # noqa: ANN401 - whatever a query string holds
    """A number is digits only: no sign, blank, fraction or underscore."""
    if isinstance(value, str):
        if not (value.isascii() and value.isdigit()):
            raise PydanticCustomError("digits", "Should be a whole number")
        if len(value) > len(str(limits.INTEGER_MAX)):
            raise PydanticCustomError("large", "Should fit 64 bits")
        return int(value)
    return value


DIGITS = BeforeValidator(_digits)
PageNumber = Annotated[int, Field(ge=1, le=limits.INTEGER_MAX), DIGITS]
PageLimit = Annotated[int, Field(ge=1, le=limits.PAGE_LIMIT_MAX), DIGITS]
Days = Annotated[int, Field(ge=1, le=limits.DAYS_MAX), DIGITS]


class Query(BaseModel):
    """Base of query strings: camelCase names."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        hide_input_in_errors=True,
    )


class PageQuery(Query):
    """The pagination convention of the spec."""

    page: PageNumber = 1
    limit: PageLimit = limits.PAGE_LIMIT_DEFAULT

    @property
    def offset(self) -> int:
        """Rows before this page, within the 64 bits that a database counts in."""
        return min((self.page - 1) * self.limit, limits.INTEGER_MAX)


class PeriodQuery(Query):
    """The last `days` before `as_of` (default: now), of all or of some products."""

    days: Days = limits.DAYS_DEFAULT
    repo_key: Name | None = None
    suite: Name | None = None
    as_of: Time | None = None

    @field_validator("suite")
    @classmethod
    def _suite_needs_repository(cls, suite: str | None, info: ValidationInfo) -> str | None:
        # A faulty repository is no value of `info`, and its own fault says enough.
        if suite is not None and info.data.get("repo_key", suite) is None:
            raise PydanticCustomError("suite", "Needs `repoKey`: a suite belongs to a repository")
        return suite


class MetricsQuery(PeriodQuery):
    """Query of the metrics page: `limit` rows of each table."""

    limit: PageLimit = limits.PAGE_LIMIT_DEFAULT


class TableQuery(PageQuery, PeriodQuery):
    """Query of one table of the metrics page."""


class PlanQuery(PageQuery):
    """Query of a plan: of which period, and which page of what would change."""

    days: Days = limits.PLAN_DAYS_DEFAULT
    as_of: Time | None = None


class FailuresQuery(TableQuery):
    """Query of `ci-failures`."""

    label: Label | None = None
