# SPDX-License-Identifier: Apache-2.0
"""What an answer is about: a period, a product, a test."""

from datetime import datetime
from typing import ClassVar
from uuid import UUID

from hwci.contract.shape import shape


@shape
class PeriodOfDays:
    """The days that an answer covers. Both ends belong to the period."""

    JSON_NAMES: ClassVar = {"start": "from", "end": "to"}

    days: int
    start: datetime
    end: datetime


@shape
class ProductKey:
    """A product, or all products of a repository (`suite` null)."""

    repo_key: str
    suite: str | None


@shape
class Identified:
    """What has an id, which its JSON begins with."""

    id: UUID


@shape
class TestName:
    """A test, and the product it belongs to."""

    __test__ = False  # pytest: not a test class

    repo_key: str
    suite: str
    test_id: str
