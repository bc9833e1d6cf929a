# SPDX-License-Identifier: Apache-2.0
"""A day or a week of a product, for mail and chat: what broke and still fails, what was fixed, what
is flaky, which merges ran on no hardware, which benches fell silent. Every figure is the server's;
this module decides what of it is shown.

Names are text that anyone may have committed: in Markdown each stands in `<code>`, where it is no
link, mention or markup.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from hwci.ci.reporting.summary import code, plain
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

Name = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Digest:
    """The answers that a digest is written from. `days`: how many; `of`: the product, or what is
    shown instead. `flaky`: tests of which a flake was seen. `before`: the boxes of an earlier
    period, which ends where the other begins.
    """

    days: int
    of: str
    start: datetime
    end: datetime
    incidents: Sequence[Incident]
    flaky: ListPage[FlakyTest]
    unchecked: ListPage[Merge]
    boxes: Sequence[BoxHealth]
    before: Sequence[BoxHealth]


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


def digest_lines(digest: Digest, form: Form) -> list[str]:
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
    name = form.name
    days = f"{_day(digest.start)} to {_day(digest.end)} (UTC)"
    lines = [f"{form.title}{counted(digest.days, 'day')} of {name(digest.of)}", "", days]
    for title, rows, total, nothing in (
        ("Newly broken", [_broken(it, name) for it in broken], len(broken), "Nothing broke"),
        ("Fixed", [_fixed(it, name) for it in fixed], len(fixed), "Nothing was fixed"),
        (
            "Flaky",
            [_flaky(test, name) for test in digest.flaky.items],
            digest.flaky.total,
            "No test was flaky",
        ),
        (
            "Merges that ran on no hardware",
            [_merge(merge, name) for merge in digest.unchecked.items],
            digest.unchecked.total,
            "Every merge ran",
        ),
        ("Benches without a run", [*map(name, silent)], len(silent), "Every bench ran"),
    ):
        lines += ["", f"{form.section}{title}: {total:,}" if total else form.section + nothing]
        lines += [f"{form.row}{row}" for row in _cut(rows, total)]
    return lines


def _cut(rows: Sequence[str], total: int) -> Iterable[str]:
    shown = rows[:ROWS_MAX]
    yield from shown
    if total > len(shown):
        yield f"… and {total - len(shown):,} more"


def _broken(incident: Incident, name: Name) -> str:
    suspects = incident.suspects
    by = "" if suspects is None else f", broken by {_range(suspects.start, suspects.end, name)}"
    return f"{_tests(incident, name)} since {_day(incident.since)}{by}"


def _fixed(incident: Incident, name: Name) -> str:
    return f"{_tests(incident, name)}, by {name(short(incident.fix_sha or ''))}"


def _tests(incident: Incident, name: Name) -> str:
    more = incident.tests_total - 1
    beside = f" and {counted(more, 'more test')}" if more else ""
    boxes = incident.boxes[:_BOXES_MAX]
    others = incident.boxes_total - len(boxes)
    on = joined([*map(name, boxes), *([f"{others:,} more"] if others else [])])
    return f"{name(incident.tests[0])}{beside} on {on}, branch {name(incident.branch)}"


def _range(start: str, end: str, name: Name) -> str:
    first, last = name(short(start)), name(short(end))
    return first if start == end else f"{first} to {last}"


def _flaky(test: FlakyTest, name: Name) -> str:
    failed = f"{test.failed_attempts:,} of {counted(test.attempts, 'attempt')} failed"
    return f"{name(test.test_id)}: {failed}"


def _merge(merge: Merge, name: Name) -> str:
    return f"{name(short(merge.sha))} to {name(merge.branch)}, merged {_day(merge.merged_at)}"


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"
