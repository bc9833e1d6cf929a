# SPDX-License-Identifier: Apache-2.0
"""Whether a box may take a job, by what its runs say: each check is a row of one table. Figures and
comparisons are those of `one_box.py`. A check that has too little to go by is neither met nor not:
a new box, or one that was just mended, has to run before anything is known of it.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import NamedTuple

from hwci.contract.boxes.benches import BoxHealth, OneBox
from hwci.contract.boxes.fit import CheckOfBox, FitCheck, Fitness
from hwci.contract.vocabulary import NotCompared
from hwci.said import counted, day, lasted, tenths

_PERCENT = 100


class Bounds(NamedTuple):
    """What a box has to keep to. `clean_within`: how old its last clean run may be; `losses`: of
    its runs, in how many of a hundred it may lose its board; `silent_after`: how old its last
    heartbeat may be; `may_be_worse`: it may fail more than the others.
    """

    clean_within: timedelta
    losses: float
    silent_after: timedelta
    may_be_worse: bool


class Case(NamedTuple):
    """A box that ran something in the period, and what it has to keep to. `answer`: all of it."""

    answer: OneBox
    box: BoxHealth
    bounds: Bounds


class Judged(NamedTuple):
    """What a check found. `met` None: there is too little to tell."""

    met: bool | None
    says: str


def fitness(answer: OneBox, bounds: Bounds, *, strict: bool) -> Fitness:
    """Decide whether a box may take a job. `strict`: only if each check tells so."""
    checks = tuple(_checks(answer, bounds))
    bad = {False, None} if strict else {False}
    return Fitness(
        period=answer.period,
        box_key=answer.box_key,
        fit=not any(check.met in bad for check in checks),
        strict=strict,
        checks=checks,
    )


def _checks(answer: OneBox, bounds: Bounds) -> Iterator[CheckOfBox]:
    for name, check in CHECKS.items():
        if answer.box is None:
            days = counted(answer.period.days, "day")
            judged = Judged(None, f"It ran nothing in the last {days}")
        elif answer.box.idle and answer.box.note is not None and name is not FitCheck.SILENT:
            judged = Judged(None, f"It ran nothing since the note of {day(answer.box.note.at)}")
        else:
            judged = check(Case(answer, answer.box, bounds))
        yield CheckOfBox(check=name, met=judged.met, says=judged.says)


def _clean(case: Case) -> Judged:
    at = case.answer.last_clean_run_at
    if at is None:
        return Judged(
            False, f"No run of the last {counted(case.answer.period.days, 'day')} was clean"
        )
    age = case.answer.period.end - at
    return _by_age(f"Its last clean run began {lasted(age)} ago", age, case.bounds.clean_within)


def _losses(case: Case) -> Judged:
    lost = case.box.lost_board
    if lost is None:
        return Judged(None, "None of its runs reached the hardware")
    says = f"It lost its board in {lost.part:,} of {counted(lost.total, 'run')}"
    if _PERCENT * lost.part > case.bounds.losses * lost.total:
        share = tenths(_PERCENT * lost.part / lost.total)
        return Judged(False, f"{says}, {share} %: more than {case.bounds.losses:g} %")
    if lost.low is None:
        return Judged(None, f"{says}: too few to tell")
    return Judged(True, says)


def _worse(case: Case) -> Judged:
    says = f"Against the others: {case.box.says}"
    if case.bounds.may_be_worse or case.box.missing is NotCompared.NO_FAILURE:
        return Judged(True, says)
    if case.box.comparison is None:
        return Judged(None, says)
    return Judged(not case.box.comparison.named, says)


def _silent(case: Case) -> Judged:
    if case.box.last_seen_at is None:
        return Judged(None, "It sends no heartbeat")
    age = case.answer.period.end - case.box.last_seen_at
    ago = lasted(age) if age >= timedelta(minutes=1) else "less than 1 min"
    return _by_age(f"Its last heartbeat came {ago} ago", age, case.bounds.silent_after)


def _by_age(says: str, age: timedelta, most: timedelta) -> Judged:
    if age <= most:
        return Judged(True, says)
    return Judged(False, f"{says}: more than {lasted(most)}")


CHECKS: Mapping[FitCheck, Callable[[Case], Judged]] = {
    FitCheck.CLEAN: _clean,
    FitCheck.LOSSES: _losses,
    FitCheck.WORSE: _worse,
    FitCheck.SILENT: _silent,
}
