# SPDX-License-Identifier: Apache-2.0
"""What would give failures another class, in lines: edits of one failure, and what CI left out of
all. The sentences are the server's.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from hwci.cli.terminal import render
from hwci.contract.failures.explanations import NOTHING_LEFT_OUT
from hwci.contract.page.words import OTHERS_OF_A_KIND
from hwci.contract.vocabulary import CLASSES, FailureClass
from hwci.said import counted, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.text import Text

    from hwci.contract.failures.explanations import Explanation, Gaps, WhatIf
    from hwci.contract.failures.failures import Failure

PASTED = "    "
"""What a line for a file begins with: no terminal breaks it."""


class Explained(NamedTuple):
    """What would change a class; None if it is unknown. `of_git`: pairs of commits
    whose changes were read from a clone.
    """

    answer: Explanation | None = None
    of_git: Sequence[tuple[str, str]] = ()


def section(explained: Explained) -> Iterator[Text]:
    """Return the title and the lines; nothing where nothing would change the class."""
    explanation = explained.answer
    if explanation is not None and explanation.edits:
        yield render.paragraph("What would change the class", "bold")
        yield render.indented(list(_lines(explanation)))


def _lines(explanation: Explanation) -> Iterator[str]:
    ordered = sorted(explanation.edits, key=_place)
    for is_pattern, edits in groupby(ordered, _is_pattern):
        if is_pattern:
            yield "Only if the configured paths are wrong or missing:"
        for _, alike in groupby(edits, lambda edit: (edit.failure_class, edit.kind)):
            yield from _first_of(list(alike))
    if not explanation.complete:
        yield "… there may be more: not everything was tried"


def notes(explained: Explained, failure: Failure) -> Iterator[str]:
    """Yield what was read from git for the edits, or how to have it read."""
    if explained.answer is None:
        return
    if assumed(explained.answer):
        yield (
            "What a run did not send is assumed above: in a clone of"
            f" {failure.repo_key} with its commits, this command reads it from git."
        )
    changing = {(edit.base, edit.sha) for edit in explained.answer.edits}
    for base, sha in explained.of_git:
        if (base, sha) not in changing:
            yield f"What git has from {short(base)} to {short(sha)} would not change the class."


def assumed(explanation: Explanation) -> list[tuple[str, str]]:
    """Return the commits between which it is assumed what changed."""
    edits = (edit for edit in explanation.edits if edit.assumed is not None)
    ends = (
        (edit.base, edit.sha) for edit in edits if edit.base is not None and edit.sha is not None
    )
    return list(dict.fromkeys(ends))


def _is_pattern(edit: WhatIf) -> bool:
    """Whether it edits the configuration, which is rarely wrong: such edits come last."""
    return edit.pattern is not None


def _place(edit: WhatIf) -> tuple[bool, int, bool]:
    """Put what is known before what is assumed."""
    of_class = list(FailureClass).index(edit.failure_class)
    return _is_pattern(edit), of_class, edit.assumed is not None


def _first_of(alike: list[WhatIf]) -> Iterator[str]:
    """Show the first of several of one kind: the others are as good."""
    first, more = alike[0], len(alike) - 1
    yield f"{CLASSES[first.failure_class].would_be} {first.condition}"
    yield f"   {first.to_do}"
    if more:
        yield f"   ({counted(more, 'other change')} {OTHERS_OF_A_KIND})"


def gaps(answer: Gaps) -> Iterator[str]:
    """Return the lines about a period."""
    if not answer.ambiguous:
        yield "No failure of the period is ambiguous."
        return
    if answer.looked_at < answer.ambiguous:
        yield f"{answer.ambiguous} ambiguous failures, of which the newest {answer.looked_at}:"
    else:
        yield f"{counted(answer.ambiguous, 'ambiguous failure')}:"
    for gap in answer.gaps:
        yield ""
        decided = _decided(gap.at_least, gap.at_most)
        yield f"{gap.text}: {counted(gap.failures, 'failure')}; this alone would decide {decided}"
        yield f"  {gap.to_do}"
        for text in gap.ci_lines:
            yield f"  {text.where}:"
            yield from (f"{PASTED}{line}" for line in text.lines.splitlines())
    if answer.together is not None and len(answer.gaps) > 1:
        failures, *ends = (
            answer.together.failures,
            answer.together.at_least,
            answer.together.at_most,
        )
        yield ""
        yield f"All together: {counted(failures, 'failure')}; this would decide {_decided(*ends)}"
    if not answer.gaps:
        yield f"{NOTHING_LEFT_OUT}."
    elif answer.together is not None and answer.together.failures < answer.looked_at:
        others = answer.looked_at - answer.together.failures
        yield ""
        to_do = f"{_others(others)} hwci failures confirm or dismiss."
        yield f"{to_do} Why: hwci failures show FAILURE"


def _others(others: int) -> str:
    lack = "1 other lacks" if others == 1 else f"{others:,} others lack"
    return f"{lack} nothing that CI could send. A person decides:"


def _decided(at_least: int, at_most: int) -> str:
    if not at_most:
        return "none"
    return f"{at_most}" if at_least == at_most else f"{at_least} to {at_most}"
