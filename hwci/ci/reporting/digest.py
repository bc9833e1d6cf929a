# SPDX-License-Identifier: Apache-2.0
"""A day or a week of a product in Markdown, for mail and chat: what broke and still fails, what was
fixed, what is flaky, which merges ran on no hardware, which benches fell silent. Every figure is
the server's; this module decides what of it is shown.

Names are text that anyone may have committed: each stands in a span of code, where it is no link,
mention or markup.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from hwci.ci.reporting.summary import visible
from hwci.contract.boxes.benches import BoxHealth
from hwci.contract.failures.incidents import Incident
from hwci.contract.flaky.flaky_tests import FlakyTest
from hwci.contract.runs.merges import Merge
from hwci.contract.shape import ListPage
from hwci.contract.vocabulary import Label
from hwci.said import counted, joined, short

ROWS_MAX = 10
"""Rows of a section; a count says how many there are beyond."""
_BOXES_MAX = 3
_NAME_MAX = 200


@dataclass(frozen=True, slots=True)
class Digest:
    """The answers that a digest is written from. `flaky`: tests of which a flake was seen.
    `before`: the boxes of an earlier period, which ends where the other begins.
    """

    title: str
    start: datetime
    end: datetime
    incidents: Sequence[Incident]
    flaky: ListPage[FlakyTest]
    unchecked: ListPage[Merge]
    boxes: Sequence[BoxHealth]
    before: Sequence[BoxHealth]


def digest_text(digest: Digest) -> str:
    """Write a digest, with a section for each subject."""
    broken = [
        incident
        for incident in digest.incidents
        if incident.label is Label.PENDING and incident.since >= digest.start
    ]
    fixed = [
        incident
        for incident in digest.incidents
        if incident.label is Label.RESOLVED and incident.fix_sha is not None
    ]
    ran = {box.box_key for box in digest.boxes}
    silent = sorted({box.box_key for box in digest.before} - ran)
    lines = [f"# {digest.title}", "", f"{_day(digest.start)} to {_day(digest.end)} (UTC)"]
    for title, rows, total, nothing in (
        ("Newly broken", map(_broken, broken), len(broken), "Nothing broke"),
        ("Fixed", map(_fixed, fixed), len(fixed), "Nothing was fixed"),
        ("Flaky", map(_flaky, digest.flaky.items), digest.flaky.total, "No test was flaky"),
        (
            "Merges that ran on no hardware",
            map(_merge, digest.unchecked.items),
            digest.unchecked.total,
            "Every merge ran",
        ),
        ("Benches without a run", map(code, silent), len(silent), "Every bench ran"),
    ):
        lines += ["", f"## {title}: {total:,}" if total else f"## {nothing}", *_list(rows, total)]
    return "".join(f"{line}\n" for line in lines)


def _list(rows: Iterable[str], total: int) -> Iterable[str]:
    if not total:
        return
    yield ""
    shown = [*rows][:ROWS_MAX]
    yield from (f"- {row}" for row in shown)
    if total > len(shown):
        yield f"- … and {total - len(shown):,} more"


def _broken(incident: Incident) -> str:
    suspects = incident.suspects
    by = "" if suspects is None else f", broken by {_range(suspects.start, suspects.end)}"
    return f"{_tests(incident)} since {_day(incident.since)}{by}"


def _fixed(incident: Incident) -> str:
    return f"{_tests(incident)}, by {code(short(incident.fix_sha or ''))}"


def _tests(incident: Incident) -> str:
    more = incident.tests_total - 1
    beside = f" and {counted(more, 'more test')}" if more else ""
    boxes = incident.boxes[:_BOXES_MAX]
    others = incident.boxes_total - len(boxes)
    on = joined([*map(code, boxes), *([f"{others:,} more"] if others else [])])
    return f"{code(incident.tests[0])}{beside} on {on}, branch {code(incident.branch)}"


def _range(start: str, end: str) -> str:
    first, last = code(short(start)), code(short(end))
    return first if start == end else f"{first} to {last}"


def _flaky(test: FlakyTest) -> str:
    return (
        f"{code(test.test_id)}: {test.failed_attempts:,} of"
        f" {counted(test.attempts, 'attempt')} failed"
    )


def _merge(merge: Merge) -> str:
    return f"{code(short(merge.sha))} to {code(merge.branch)}, merged {_day(merge.merged_at)}"


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"


def code(text: str) -> str:
    """Write a name in a span of code, which nothing in it ends."""
    plain = visible(text if len(text) <= _NAME_MAX else f"{text[: _NAME_MAX - 1]}…")
    longest = max(map(len, re.findall("`+", plain)), default=0)
    fence = "`" * (longest + 1)
    gap = " " if longest or plain != plain.strip() or not plain else ""
    return f"{fence}{gap}{plain}{gap}{fence}"
