# SPDX-License-Identifier: Apache-2.0
"""What the tables of the metrics page write of a row that the API gives, as the words that a person
reads.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from tests.web.reading import percent

NO: Any = {"commits": []}
VERDICTS = {"device": "Device", "infra": "Infra", "unknown": "None reported"}
# What stands in the cells, but for blanks and for times, which are told from now.
CELLS = """table => [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => {
    const read = cell.cloneNode(true);
    const later = "time, .copy-status, .heat, .why, .one-line, .history, .sure, .whom";
    read.querySelectorAll(later).forEach(one => one.remove());
    return read.textContent.replace(/\\s/g, "");
}))"""


def merge(row: Any, all_products: bool) -> list[str]:
    """Write an unchecked merge."""
    product = [row["suite"] or "Unassigned"] if all_products else []
    return [row["sha"][:12] + " runs", *product, row["branch"], "", ""]


def bug(row: Any, all_products: bool) -> list[str]:
    """Write a real bug."""
    commits = [f"{one['sha'][:12]} {one['subject']}" for one in row["brokenBy"]["commits"]]
    range_of = [f"one of {len(commits)} firmware commits"] if len(commits) > 1 else []
    fix = row["fix"]["sha"][:12]
    return [*failure(row, all_products), "".join(range_of + commits), fix, *judged(row)]


def bug_cause(cause: Any, all_products: bool) -> list[str]:
    """Write the cause of real bugs."""
    verdicts = each(cause, lambda row: VERDICTS[row["verdict"]])
    return [*known(cause, all_products), *ends(cause), verdicts, *reviewed(cause)]


def other_cause(cause: Any, all_products: bool) -> list[str]:
    """Write the cause of other resolved failures."""
    return [*known(cause, all_products), each(cause, reason), *ends(cause), *reviewed(cause)]


def known(cause: Any, all_products: bool) -> list[str]:
    """Write by what a cause is known."""
    rows = cause["failures"]
    box = f"{rows[0]['boxKey']} · {rows[0]['branch']}"
    test = f"{rows[0]['testId']} {box}"
    if len(rows) > 1:
        boxes = f"{cause['boxesTotal']} boxes · {rows[0]['branch']}"
        on = boxes if cause["boxesTotal"] > 1 else box
        tests = sorted({row["testId"] for row in rows})
        more = f" and {len(tests) - 2} more tests" if len(tests) > 3 else ""
        test = f"{', '.join(tests[:2] if more else tests)}{more} {len(rows)} failures on {on}"
    product = [rows[0]["suite"]] if all_products else []
    return [test, *product, rows[0]["firstFailure"]["sha"][:12]]


def ends(cause: Any) -> list[str]:
    """Write what broke the tests of a cause, and what fixed them."""
    first = cause["failures"][0]
    commits = [
        f"{one['sha'][:12]} {one['subject']}" for one in (first["brokenBy"] or NO)["commits"]
    ]
    range_of = [f"one of {len(commits)} firmware commits"] if len(commits) > 1 else []
    return ["".join(range_of + commits) or "unknown", first["fix"]["sha"][:12]]


def reviewed(cause: Any) -> list[str]:
    """Write who decided, and what unfolds a cause to its review."""
    return [each(cause, lambda row: str(row["status"])), "Review"]


def each(cause: Any, of: Callable[[Any], str]) -> str:
    """Write what the failures of a cause have, each different thing once."""
    return "".join(dict.fromkeys(map(of, cause["failures"])))


def other(row: Any, all_products: bool) -> list[str]:
    """Write another resolved failure."""
    return [*failure(row, all_products), reason(row), *judged(row)]


def reason(row: Any) -> str:
    """Write the class of a failure, and why."""
    classes = {"bench_or_harness": "Bench or harness", "ambiguous": "Ambiguous"}
    return {**classes, "dismissed": "Dismissed"}[row["class"]] + str(row["reasonText"])


def failure(row: Any, all_products: bool) -> list[str]:
    """Write which failure a row is about."""
    last = f"{counted(row['failingCommits'], 'commit')}, to {row['lastFailingSha'][:12]}"
    commits = last if row["failingCommits"] > 1 else ""
    product = [row["suite"]] if all_products else []
    test = f"{row['testId']} {row['boxKey']} · {row['branch']}"
    return [test, *product, row["firstFailure"]["sha"][:12] + commits]


def judged(row: Any) -> list[str]:
    """Write the verdict, who said so, and what the demo's owner may do about it."""
    actions = {
        "Confirm as firmware bug": row["class"] != "real_fw_bug",
        "Dismiss": row["class"] in {"ambiguous", "real_fw_bug"},
        "Reset": row["review"] is not None,
    }
    offered = "".join(name for name, fits in actions.items() if fits)
    return [VERDICTS[row["verdict"]], row["status"], offered]


def flaky(row: Any, all_products: bool) -> list[str]:
    """Write a flaky test."""
    product = [row["suite"]] if all_products else []
    never_both = row["flakyFailures"] == 0 == row["retryPasses"]
    broken = " no flake seen" if never_both else ""
    if row["failedAttempts"] == row["attempts"]:
        broken = " broken"
    counts = ("boxes", "runReports", "attempts", "failedAttempts", "retryPasses")
    figures = [f"{row[name]:,}" for name in counts]
    rate = percent(Decimal(str(row["flakeRate"])))
    return [row["testId"] + broken, *product, *figures, rate, ""]


def on_box(box: Any, runs: int) -> list[str]:
    """Write what a test did on a box in so many runs, as its row in "Flakiest tests" unfolded."""
    figures = [runs, box["attempts"], box["failedAttempts"], box["retried"]]
    rate = percent(Decimal(100 * box["failedAttempts"]) / box["attempts"])
    return [box["boxKey"], *(f"{one:,}" for one in figures), rate, ""]


WRITTEN = {"merges": merge, "bugs": bug, "other": other, "flaky": flaky}
CAUSES = {"bugs": bug_cause, "other": other_cause}


def bare(cells: list[str]) -> list[str]:
    """Leave out blanks."""
    return ["".join(cell.split()) for cell in cells]


def counted(value: int, word: str) -> str:
    """Write a number of things."""
    return f"{value:,} {word}{'' if value == 1 else 's'}"
