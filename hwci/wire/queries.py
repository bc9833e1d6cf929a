# SPDX-License-Identifier: Apache-2.0
"""Query strings: pages, periods and filters. Faults are 400 with a path such as
`["query", "limit"]`. A parameter that does not exist is one: a filter with a slip in its name would
give everybody's figures for those of one product.
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Generic, Literal, TypeVar, overload
from uuid import UUID

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from hwci.contract.scope import ProductKey
from hwci.contract.shape import ListPage
from hwci.contract.vocabulary import (
    FailureClass,
    FailureColumn,
    FlakyColumn,
    Label,
    MergeColumn,
    RankBy,
    ResolvedColumn,
)
from hwci.engine.history import Listing, Scope, Where
from hwci.engine.page.tables import (
    FailureSelection,
    FlakySelection,
    OtherSelection,
    Selection,
    Sort,
)
from hwci.engine.periods import Period
from hwci.wire import limits
from hwci.wire.base import STORABLE, Name, NamePattern, TestId, Time, read_id

Column = TypeVar("Column", bound=StrEnum)
Item = TypeVar("Item")
Row = TypeVar("Row")


def _digits(value: object) -> object:
    """A number is digits only: no sign, blank, fraction or underscore."""
    if isinstance(value, str):
        if not (value.isascii() and value.isdigit()):
            raise PydanticCustomError("digits", "Should be a whole number, in digits only")
        if len(value) > len(str(limits.INTEGER_MAX)):
            raise PydanticCustomError("large", "Should fit 64 bits")
        return int(value)
    return value


def _flag(value: object) -> bool:
    """Read `true` or `false`; any other word is refused."""
    if isinstance(value, bool):
        return value
    if value not in ("true", "false"):
        raise PydanticCustomError("flag", "Should be `true` or `false`")
    return value == "true"


_SHA_START = re.compile(rf"[0-9a-fA-F]{{{limits.SHA_START_MIN},{limits.SHA_MAX}}}")


def _sha_start(value: object) -> str:
    if not isinstance(value, str) or not _SHA_START.fullmatch(value):
        raise PydanticCustomError(
            "sha_start",
            "Should be the first {least} to {most} hexadecimal digits of a commit",
            {"least": limits.SHA_START_MIN, "most": limits.SHA_MAX},
        )
    return value.lower()


def _id(value: object) -> UUID:
    uuid = read_id(value) if isinstance(value, str) else value
    if not isinstance(uuid, UUID):
        raise PydanticCustomError("id", "Should be an id: a UUID, in hexadecimal digits and dashes")
    return uuid


Id = Annotated[UUID, BeforeValidator(_id)]
Flag = Annotated[
    bool,
    PlainValidator(_flag),
    PlainSerializer(lambda flag: "true" if flag else "false", return_type=str, when_used="json"),
    WithJsonSchema({"type": "boolean"}),
]
ShaStart = Annotated[
    str,
    PlainValidator(_sha_start),
    WithJsonSchema({"type": "string", "pattern": f"^{_SHA_START.pattern}$"}),
]
"""The beginning of a commit's hash, in lower case; a whole hash is one too."""

DIGITS = BeforeValidator(_digits)
PageNumber = Annotated[int, Field(ge=1, le=limits.INTEGER_MAX), DIGITS]
PageLimit = Annotated[int, Field(ge=1, le=limits.PAGE_LIMIT_MAX), DIGITS]
RunNumber = Annotated[int, Field(ge=0, le=limits.INTEGER_MAX), DIGITS]
Days = Annotated[int, Field(ge=1, le=limits.DAYS_MAX), DIGITS]


class Query(BaseModel):
    """Base of query strings: camelCase names."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
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

    def slice_of(self, rows: Sequence[Row]) -> Listing[Row]:
        """Return the rows of this page, and the number of all."""
        return Listing(rows[self.offset :][: self.limit], len(rows))

    def paged(self, rows: Sequence[Row]) -> ListPage[Row]:
        """Make the answer with this page of all rows."""
        return self.page_of(self.slice_of(rows))

    @overload
    def page_of(self, rows: Listing[Row]) -> ListPage[Row]: ...

    @overload
    def page_of(self, rows: Listing[Row], item_of: Callable[[Row], Item]) -> ListPage[Item]: ...

    def page_of(
        self, rows: Listing[Any], item_of: Callable[[Any], Any] | None = None
    ) -> ListPage[Any]:
        """Make the answer with the rows of this page; `item_of` makes each, if they are not the
        answer's own.
        """
        items = tuple(rows.items if item_of is None else map(item_of, rows.items))
        return ListPage(items=items, total=rows.total, page=self.page, limit=self.limit)


class OwnOrganizationsQuery(Query):
    """The organizations of `GET /api/auth/me`, 100 at a time: nearly everybody sees all at once."""

    page: PageNumber = 1


class BoxQuery(Query):
    """What can be asked of a box only. A box that nothing names is not found."""

    box_key: Name | None = None


class BoxNotesQuery(PageQuery, BoxQuery):
    """Notes of boxes. `box_key`: of this one only."""


class ProductQuery(Query):
    """All or some products: those of a repository, or one."""

    repo_key: Name | None = None
    suite: Name | None = None

    @field_validator("suite")
    @classmethod
    def _suite_needs_repository(cls, suite: str | None, info: ValidationInfo) -> str | None:
        # A faulty repository is not in `info`, and has a fault of its own.
        if suite is not None and info.data.get("repo_key", suite) is None:
            raise PydanticCustomError("suite", "Needs `repoKey`: a suite belongs to a repository")
        return suite

    @property
    def product(self) -> ProductKey | None:
        """The product as answers have it; None of all products."""
        return Scope(self.repo_key, self.suite).product


class PeriodQuery(ProductQuery):
    """The last `days` before `as_of` (default: now), of all or of some products. With `from` it is
    what lies between that and `as_of`, both included, and `days` is its length, rounded up.
    """

    as_of: Time | None = None
    start: Time | None = Field(None, alias="from")
    days: Annotated[Days, Field(validate_default=True)] = limits.DAYS_DEFAULT

    @field_validator("start")
    @classmethod
    def _between(cls, start: datetime | None, info: ValidationInfo) -> datetime | None:
        # A faulty `asOf` is not in `info`, and has a fault of its own.
        end = info.data.get("as_of", start)
        if start is None:
            return None
        if end is None:
            raise PydanticCustomError("period", "Needs `asOf`: it is the end of the period")
        if end < start:
            raise PydanticCustomError("period", "Should not be after `asOf`")
        if Period(start, end).days > limits.DAYS_MAX:
            raise PydanticCustomError(
                "period", "Should be at most {most} days before `asOf`", {"most": limits.DAYS_MAX}
            )
        return start

    @field_validator("days")
    @classmethod
    def _from_start(cls, days: int, info: ValidationInfo) -> int:
        start, end = info.data.get("start"), info.data.get("as_of")
        return days if start is None or end is None else Period(start, end).days


class ProductsQuery(PageQuery, ProductQuery):
    """Query of the products. `unassigned`: also the repositories with a merge that was announced
    without a suite, as products whose `suite` is null.
    """

    unassigned: Flag = False


class SuiteConfigsQuery(PageQuery, ProductQuery):
    """Query of the suite configurations."""


class CommitQuery(Query):
    """Rows of a branch or of a commit only. `sha`: how the commit begins."""

    branch: Name | None = None
    sha: ShaStart | None = None

    @property
    def where(self) -> Where:
        """Of which branch and commit."""
        return Where(branch=self.branch, sha=self.sha)


class BranchesQuery(Query):
    """Answers by the runs of some branches only. `branch`: `default`, `others` (all but that), a
    name, or a pattern of names.
    """

    branch: NamePattern | None = None


class BoxHealthQuery(PeriodQuery, BranchesQuery):
    """Query of the boxes over a period."""


class WhereQuery(CommitQuery, BoxQuery):
    """Rows of a box, of a branch or of a commit only."""

    @property
    def where(self) -> Where:
        """Of which box, branch and commit."""
        return Where(self.box_key, self.branch, self.sha)


class BoxesQuery(PageQuery, ProductQuery, WhereQuery):
    """The boxes of an organization: all, or those that ran a product, a branch or a commit.
    `reported`: also those that reports name and nobody created.
    """

    reported: Flag = False


class MetricsQuery(PeriodQuery):
    """Query of the metrics page: `limit` rows of each table."""

    limit: PageLimit = limits.PAGE_LIMIT_DEFAULT

    @property
    def first_page(self) -> PageQuery:
        """The page of each table that is shown."""
        return PageQuery(limit=self.limit)


class TableQuery(PageQuery, PeriodQuery):
    """Query of one table of the metrics page."""


class BoxTableQuery(TableQuery, BoxQuery):
    """Query of a table with a row for each box. `box_key`: of this one only."""


class MergePlanQuery(TableQuery, CommitQuery, BoxQuery):
    """Query of the merge plan: of the merges of a branch or a commit, by runs on `box_key` only."""


class _SortBy:
    """Reads `column` or `-column`; the JSON schema lists all of them."""

    def __init__(self, columns: type[StrEnum]) -> None:
        sorts = [Sort(column, descending) for column in columns for descending in (False, True)]
        self._sorts = {str(sort): sort for sort in sorts}

    def __get_pydantic_core_schema__(
        self, source: object, handler: Callable[[object], CoreSchema]
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(
            self._sorts.__getitem__,
            core_schema.literal_schema(list(self._sorts)),
            serialization=core_schema.to_string_ser_schema(),
        )


Search = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=limits.SEARCH_MAX),
    STORABLE,
]


class SearchQuery(TableQuery, Generic[Column]):
    """Query of a table that can be sorted and searched: rows in which every word occurs."""

    search: Search | None = None
    sort: Sort[Column] | None = None

    @property
    def selection(self) -> Selection[Column]:
        """Which rows, in which order."""
        return Selection(self.search, self.sort, self.offset, self.limit)


class MergesQuery(SearchQuery[MergeColumn], CommitQuery):
    """Query of announced merges."""

    sort: Annotated[Sort[MergeColumn], _SortBy(MergeColumn)] | None = None

    @property
    def selection(self) -> Selection[MergeColumn]:
        """Which rows, in which order."""
        page = (self.search, self.sort, self.offset, self.limit)
        return Selection(*page, where=self.where)


class MergeRunsQuery(MergesQuery, WhereQuery):
    """Query of announced merges with their runs. `box_key`: those with a run on this box."""


class ResolvedQuery(SearchQuery[ResolvedColumn], WhereQuery):
    """Query of a table of resolved failures. `sha`: those that failed on this commit."""

    sort: Annotated[Sort[ResolvedColumn], _SortBy(ResolvedColumn)] | None = None

    @property
    def selection(self) -> Selection[ResolvedColumn]:
        """Which rows, in which order."""
        page = (self.search, self.sort, self.offset, self.limit)
        return Selection(*page, where=self.where)


class OthersQuery(ResolvedQuery):
    """Query of the other resolved failures. `class`: any but a real firmware bug."""

    failure_class: (
        Literal[FailureClass.BENCH_OR_HARNESS, FailureClass.AMBIGUOUS, FailureClass.DISMISSED]
        | None
    ) = Field(None, alias="class")

    @property
    def selection(self) -> OtherSelection:
        """Which rows, in which order."""
        page = (self.search, self.sort, self.offset, self.limit)
        return OtherSelection(*page, self.failure_class, where=self.where)


class FlakyQuery(SearchQuery[FlakyColumn]):
    """Query of "Flakiest tests". `broken`: those that never passed in the period, or others.
    `flaked`: those of which a flake was seen, or others.
    """

    sort: Annotated[Sort[FlakyColumn], _SortBy(FlakyColumn)] | None = None
    broken: Flag | None = None
    flaked: Flag | None = None

    @property
    def selection(self) -> FlakySelection:
        """Which rows, in which order."""
        page = (self.search, self.sort, self.offset, self.limit)
        return FlakySelection(*page, self.broken, self.flaked)


class RankedQuery(FlakyQuery):
    """Query of flaky tests in the order of a rank. A `sort` goes before `rankBy`."""

    rank_by: RankBy = RankBy.FLAKE_RATE


class Detail(StrEnum):
    """How much a row of flaky tests has: the interval of its rate alone, the answer in few words
    too, or all that its runs suggest. Less takes less time.
    """

    RATES = "rates"
    ANSWERS = "answers"
    ALL = "all"


class SuspectsQuery(RankedQuery, BranchesQuery):
    """Query of flaky tests with what their runs suggest."""

    detail: Detail = Detail.ALL


class PlanQuery(PageQuery):
    """Query of a plan: its period, and the page of its changes."""

    days: Days = limits.PLAN_DAYS_DEFAULT
    as_of: Time | None = None


class FailuresQuery(SearchQuery[FailureColumn], WhereQuery):
    """Query of `ci-failures`. `testId`: the whole id of one test. `known`: those that are known by
    a rule of a person, or the others.
    """

    sort: Annotated[Sort[FailureColumn], _SortBy(FailureColumn)] | None = None
    label: Label | None = None
    test_id: TestId | None = None
    known: Flag | None = None

    @property
    def selection(self) -> FailureSelection:
        """Which rows, in which order."""
        page = (self.search, self.sort, self.offset, self.limit)
        return FailureSelection(*page, self.label, self.test_id, where=self.where)
