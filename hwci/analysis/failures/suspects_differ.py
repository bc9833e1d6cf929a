# SPDX-License-Identifier: Apache-2.0
"""Why an incident suspects other commits than "Broken by" of one of its failures, in one sentence.

"Broken by" is the specification's: of one box, by what one run listed. An incident looks at all its
boxes, and back to the last pass. Which commits these are is decided in `one_cause.py`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from hwci.analysis.failures.one_cause import Caused
from hwci.contract.runs.commits import Commit
from hwci.engine.facts import FailureKey
from hwci.said import short

Suspects = Sequence[Commit] | None


class OfFailure(NamedTuple):
    """A failure of an incident: on which commit and box it began, what "Broken by" names, and its
    cause.
    """

    key: FailureKey
    broken_by: Suspects
    caused: Caused


def suspects_differ(suspects: Suspects, times: int, failures: Sequence[OfFailure]) -> str | None:
    """Return in words why they differ from those of the first of these failures that has others;
    None: none has. `times`: so often the incident began.
    """
    different = [failure for failure in failures if _shas(failure.broken_by) != _shas(suspects)]
    if different and times > 1:
        return f"It began {times:,} times, so none of these commits explains it"
    return _why(different[0]) if different else None


def _shas(suspects: Suspects) -> Sequence[str] | None:
    return None if suspects is None else [suspect.sha for suspect in suspects]


def _why(failure: OfFailure) -> str:
    (lane, sha), began = failure.key, failure.caused.began
    first, passed = began.first, began.passed
    failed, box = short(sha), lane.box_key
    if sha != first.sha:
        before = f"{first.lane.box_key} failed on {short(first.sha)} before that"
        return f"{box} alone failed first on {failed}; {before}"
    if passed is None:
        return f"No box is known to have passed it before {failed}"
    last, there = short(passed.sha), passed.lane.box_key
    if began.commits is None:
        return f"No runs list all commits since {there} passed at {last}, up to {failed}"
    own = failure.caused.passed
    if own != passed.sha:
        alone = "never passed before" if own is None else f"last passed at {short(own)}"
        return f"{box} alone {alone}; {there} passed at {last} since then"
    listed = f"The run on {failed} lists only what came since the run before it"
    return f"{listed}; {there} last passed earlier, at {last}"
