# SPDX-License-Identifier: Apache-2.0
"""How good it is to say that a race is fixed."""

from collections.abc import Callable, Sequence

from hwci.analysis.certainty import clean_runs_needed
from hwci.analysis.flaky.suspects import RUNS_NEEDED, fixed, flaky_runs
from hwci.contract.flaky.suspects import Fixed
from tests.simulation.calibration.cases import CASES, RATES, Case, cases, sized
from tests.simulation.calibration.change_points import change_points, rises
from tests.simulation.calibration.page import Line, Part, reliability, share, table
from tests.simulation.fleet import Kind

LOOKS = 10
WRONG_MAX = 0.05
TITLE = "Fixed?"
SIZES = ((20, 5), (200, 2), (200, 5), (200, 40), (2000, 5))
"""Runs and boxes."""


def part() -> Part:
    """Return the section about fixes."""
    rows, chances, wrong = [], list[tuple[float, bool]](), list[bool]()
    for runs, boxes in SIZES:
        for rate in RATES if boxes == 5 and runs > 20 else RATES[-1:]:
            found = list(cases(sized(runs, boxes), Kind.RACE, rate, CASES[runs]))
            figures = []
            for claims in (is_fixed, passed_often, fell):
                claimed = claims_of(found, claims)
                figures += [f"{len(claimed)} of {len(found)}", share(claimed)]
                wrong += claimed if claims is is_fixed else []
            rows.append([f"{runs:,}", f"{boxes}", f"{rate:.0%}", *figures])
            chances += [one for case in found for one in _said(case)]
    head = ["runs", "boxes", "rate", "ours: claimed", "wrong", "clean runs alone: claimed", "wrong"]
    text = [_FIXED, table([*head, "LUCI: claimed", "wrong"], rows), _CHANCES, reliability(chances)]
    met = bool(wrong) and sum(wrong) <= WRONG_MAX * len(wrong)
    asked = "Of fixes claimed at 95 %, at most 5 % fail again"
    return Part("\n".join(text), [Line(asked, share(wrong), met, TITLE)])


_FIXED = f"""\
## {TITLE}

Races as above, looked at ten times at equal distances over their history. A race is claimed to be
fixed the first time that we say so (ours: 95 %, by the rates and by the clean runs), that it passed
as often in a row since it failed last as a test of its rate does once in twenty times (clean runs
alone), or that the newest change point is one to fewer failures (LUCI). How many were claimed, and
how many of the claims were wrong: the race was still there. At most 5 % may be.
"""
_CHANCES = """\
### Chances of fixes

The chance that it is fixed, of all these looks, against how often it was.
"""


def claims_of(found: Sequence[Case], claims: Callable[[Case], bool]) -> list[bool]:
    """Return of each first claim whether it is wrong."""
    first = (next(filter(claims, _looks(case)), None) for case in found)
    return [_acts(case) for case in first if case is not None]


def _looks(case: Case) -> list[Case]:
    """Return a case as it was each time that it could be judged."""
    looks = (case.after(len(case.counted.at) * look // LOOKS) for look in range(1, LOOKS + 1))
    return [one for one in looks if one.is_judged and len(one.places) > 1]


def _acts(case: Case) -> bool:
    """Whether the cause still acts after these runs."""
    newest = max(case.places) + case.too_old
    return case.cause.until is None or newest < case.cause.until


def _said(case: Case) -> list[tuple[float, bool]]:
    looks = [one for one in _looks(case) if len(one.counted.at) >= RUNS_NEEDED]
    return [(_fixed(one).chance, not _acts(one)) for one in looks]


def _fixed(case: Case) -> Fixed:
    found = case.onset()
    return fixed(flaky_runs(case.counted, found), found)


def is_fixed(case: Case) -> bool:
    """Whether we say that it is."""
    return len(case.counted.at) >= RUNS_NEEDED and _fixed(case).needed == 0


def passed_often(case: Case) -> bool:
    """Whether it passed so often since as a test of its rate does once in twenty times."""
    failing = case.counted.failed.nonzero()[0].tolist()
    while_flaky = failing[-1] - failing[0]  # from its first failure to its last
    needed = clean_runs_needed(len(failing) - 1, while_flaky - len(failing) + 1)
    return needed is not None and len(case.counted.at) - 1 - failing[-1] >= needed


def fell(case: Case) -> bool:
    """Whether LUCI's newest change point is one to fewer failures."""
    steps = case.steps
    cuts = change_points(steps)
    return bool(cuts) and not rises(steps, cuts)
