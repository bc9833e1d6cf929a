# SPDX-License-Identifier: Apache-2.0
"""What is asked of the answers, beside what was measured: the table at the top of the page."""

from collections.abc import Sequence

from tests.simulation.calibration.page import Line, table

_EXACT = (
    Line(
        "Counterfactuals: of 500 random failures each edit that is named, sent, gives the class"
        " that was said, and none is missed",
        "a test, 500 failures in `make soak`",
        True,
        "tests/server/test_what_if_sent.py",
    ),
    Line(
        "Unchecked merges: one cause each, on 300 cases",
        "a test",
        True,
        "tests/analysis/test_unchecked.py",
    ),
    Line(
        "The plan for unchecked merges equals brute force on 300 cases",
        "a test",
        True,
        "tests/analysis/test_merge_plan.py",
    ),
    Line(
        "The specification's answers are the same to the byte with and without these",
        "a test, and a contract on imports",
        True,
        "tests/server/test_analysis_apart.py",
    ),
    Line(
        "Each figure for six boards of Zephyr within a second",
        "of the processor, by `python -m benchmarks boards` at load 14 to 23: of 90 days 0.6 s at"
        " most; of 400 days, with 14,217 failures, 0.95 s for all of the page at once, 0.7 s for"
        " any other",
        True,
        "docs/benchmarks.md",
    ),
    Line("Words that a firmware engineer understands at once", "by readers", None, ""),
)
"""What is no estimate: tests show it, or people."""
_HEAD = """\
## Asked and measured

What was asked of the answers, and whether the figures of this page meet it. What is no estimate is
shown by a test.
"""
_MET = {True: "met", False: "**not met**", None: "-"}


def asked(measured: Sequence[Line]) -> str:
    """Return the section that has each line."""
    rows = [
        [line.asked, _shown(line), line.measured, _MET[line.met]] for line in (*measured, *_EXACT)
    ]
    return "\n".join([_HEAD, table(["asked", "section", "measured", "met"], rows)])


def _shown(line: Line) -> str:
    """Return a link to the section, or to the file."""
    if "/" in line.shown:
        return f"[{line.shown.rsplit('/', 1)[1]}](../{line.shown})"
    anchor = "".join(one for one in line.shown.lower() if one.isalnum() or one in " -")
    return f"[{line.shown}](#{anchor.replace(' ', '-')})" if line.shown else "-"
