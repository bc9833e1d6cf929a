# SPDX-License-Identifier: Apache-2.0
"""A day or a week of a product, for mail and chat. What it tells is the server's; this module
decides how that is written, as text or as Markdown.

Names are text that anyone may have committed: in Markdown each stands in `<code>`, where it is no
link, mention or markup.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hwci.ci.reporting.summary import code, plain
from hwci.contract.periods.digest import Digest, DigestPart
from hwci.contract.vocabulary import NameKind
from hwci.said import counted, short

Name = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Form:
    """How a digest is written: what stands before its title, the title of a section and a row, and
    how a name is written.
    """

    title: str
    section: str
    row: str
    name: Name


TEXT = Form("", "", "  ", plain)
MARKDOWN = Form("# ", "## ", "- ", code)


def digest_lines(digest: Digest, of: str, form: Form) -> Iterator[str]:
    """Write a digest, with a section for each subject. `of`: the product, or what is shown
    instead.
    """
    period = digest.period
    yield f"{form.title}{counted(period.days, 'day')} of {form.name(of)}"
    yield from ("", f"{period.start:%Y-%m-%d} to {period.end:%Y-%m-%d} (UTC)")
    for section in digest.sections:
        yield from ("", f"{form.section}{section.says}")
        for row in section.rows:
            yield form.row + "".join(_written(part, form.name) for part in row.parts)
        if section.total > len(section.rows):
            yield f"{form.row}… and {section.total - len(section.rows):,} more"


def _written(part: DigestPart, name: Name) -> str:
    if part.kind is None:
        return part.text
    return name(short(part.text) if part.kind is NameKind.COMMIT else part.text)
