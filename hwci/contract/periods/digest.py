# SPDX-License-Identifier: Apache-2.0
"""A period in a few lines, for mail, chat and the dashboard, which write the same words."""

from hwci.contract.scope import PeriodOfDays, ProductKey
from hwci.contract.shape import Open, shape
from hwci.contract.vocabulary import DigestSubject, NameKind


@shape
class DigestPart:
    """A part of a row. `kind`: of what it is the name, a commit by its whole hash; null for the
    words between names.
    """

    text: str
    kind: Open[NameKind] | None = None


@shape
class DigestRow:
    """A row, to be written without spaces between its parts. `repo_key` and `suite`: of the product
    that its names belong to; null of a bench, `suite` null also of an unassigned merge.
    """

    repo_key: str | None
    suite: str | None
    parts: tuple[DigestPart, ...]


@shape
class DigestSection:
    """What the period has of one subject. `says`: the title with the `total`, or that there is
    nothing. `rows`: the first 10 of them.
    """

    subject: Open[DigestSubject]
    says: str
    total: int
    rows: tuple[DigestRow, ...]


@shape
class Digest:
    """A period in a few lines: a section for each subject, in their order."""

    period: PeriodOfDays
    product: ProductKey | None
    sections: tuple[DigestSection, ...]
