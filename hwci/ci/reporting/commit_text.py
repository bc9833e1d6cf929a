# SPDX-License-Identifier: Apache-2.0
"""What a pull request says of its commit: what caused each failure, what decided, and what would
tell more, as one comment that also stands on the page of the job. The cause is the server's to say.

A comment is HTML in lines without a gap, which Markdown leaves as it is. Names, messages and the
sentences of an answer are text that anyone may have committed: a word that is no plain one stands
in `<code>`, where forges look for no mention, number or address, and every special sign is a
reference.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import quote, urlencode
from uuid import UUID

from hwci.ci.forges.forge import DESCRIPTION_MAX, State, Status
from hwci.ci.reporting.summary import code, visible
from hwci.contract.runs.one_commit import WHOSE, FailureOfCommit, OneCommit, PassOfCommit
from hwci.contract.vocabulary import Whose
from hwci.said import counted, joined, percent, short
from hwci.wire.links import is_address

BYTES_MAX = 65_000
"""GitHub takes 65,536 characters."""
ROWS_MAX = 50
PASSES_MAX = 10
PASSES_BYTES = 10_000
NAMES_MAX = 8
"""Boxes that are named in one place."""
SENTENCE_MAX = 600
"""Characters of a sentence of an answer."""

_WORD = re.compile(r"([(]?)(\S*?)([).,;:…]*)")
_PLAIN = re.compile(r"[A-Za-z]+(?:['-][A-Za-z]+)*|[0-9]+(?:[.,][0-9]+)*|[%-]|")
"""What of a sentence no forge takes for a name, a number of an issue, or an address."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The commit that a comment is about. `suite` None: of all products. `url`: of the server."""

    url: str
    org_id: UUID
    repo_key: str
    suite: str | None
    sha: str

    @property
    def marker(self) -> str:
        """How the first line of a comment of this product begins, by which it is found again;
        people do not see it.
        """
        product = ":".join(filter(None, (self.repo_key, self.suite)))
        return f"<!-- hwci: {quote(product, '', errors='replace')} "

    @property
    def first_line(self) -> str:
        """The first line of a comment."""
        return f"{self.marker}{quote(self.sha, '', errors='replace')} -->"

    @property
    def runs(self) -> str:
        """The page of the commit's runs."""
        scope = {"repoKey": self.repo_key, "suite": self.suite, "sha": self.sha}
        return self._page("runs", **scope)

    def failure(self, failure_id: UUID) -> str:
        """Return the page of a failure."""
        return self._page(f"failures/{failure_id}")

    def test(self, test: PassOfCommit) -> str:
        """Return the page of a test."""
        return self._page("test", repoKey=test.repo_key, suite=test.suite, testId=test.test_id)

    def _page(self, path: str, **query: str | None) -> str:
        words = urlencode(
            {name: value for name, value in query.items() if value is not None}, errors="replace"
        )
        return f"{self.url}/orgs/{self.org_id}/{path}{'?' if words else ''}{words}"


# The headline, and the status


def headline(answer: OneCommit | None) -> str:
    """Return whose the failures of a commit are, in one line of plain text."""
    if answer is None:
        return "no run of this commit is known"
    if not answer.checked:
        never = "no run of this commit reached the hardware"
        return ", ".join([never, *_shares(answer)])
    return ", ".join(_shares(answer)) or "no failure"


def _shares(answer: OneCommit) -> list[str]:
    counts = {count.whose: count.failures for count in answer.counts if count.failures}
    known = [whose for whose in Whose if whose in counts]
    return [_share(answer, whose, counts[whose]) for whose in (*known, *(counts.keys() - {*Whose}))]


def _share(answer: OneCommit, whose: Whose, failures: int) -> str:
    if whose is Whose.THIS_CHANGE:
        return f"{counted(failures, 'failure')} of this change"
    if whose is Whose.TOO_FEW:
        return f"not enough data on {failures:,}"
    if whose is Whose.BASE:
        return f"{failures:,} also on {visible(answer.base_branch or 'the base branch')}"
    if whose is Whose.BENCH:
        return f"{_blamed(answer, failures)} to blame for {failures:,}"
    return f"{failures:,} {visible(whose)}"


def _blamed(answer: OneCommit, failures: int) -> str:
    """Return the one bench that is to blame, if all failures of benches are shown and are of it."""
    blamed = [failure for failure in answer.failures if failure.whose is Whose.BENCH]
    boxes = {box for failure in blamed for box in failure.failed_on}
    return f"{visible(*boxes)} is" if len(boxes) == 1 and len(blamed) == failures else "benches are"


def status_of(answer: OneCommit | None, subject: Subject) -> Status:
    """Return the status of a commit: a failure only where one is sure to be of this change, pending
    while nothing ran on hardware.
    """
    state = State.PENDING
    if answer is not None and answer.checked:
        mine = any(count.whose is Whose.THIS_CHANGE and count.failures for count in answer.counts)
        state = State.FAILURE if mine else State.SUCCESS
    line = headline(answer)
    if len(line) > DESCRIPTION_MAX:
        line = f"{line[: DESCRIPTION_MAX - 1]}…"
    name = "/".join(filter(None, ("hwci", subject.suite)))
    return Status(name, state, line, subject.runs)


# The comment


def text_of(answer: OneCommit | None, subject: Subject, unknown: str = "") -> str:
    """Write the comment, with its marker; at most `BYTES_MAX` of it. `unknown`: why there is no
    answer.
    """
    before = [
        subject.first_line,
        f"<h3>Hardware tests: {prose(headline(answer))}</h3>",
        f"<p>{' '.join(_about(answer, subject, unknown))}</p>",
    ]
    if answer is None:
        return _lines(before)
    after = [*_passes(answer, subject), *_waiting(answer)]
    room = BYTES_MAX - _size(before) - _size(after)
    return _lines([*before, *_table(answer, subject, room), *after])


def _about(answer: OneCommit | None, subject: Subject, unknown: str) -> Iterable[str]:
    product = "" if subject.suite is None else f", {code(subject.suite)}"
    where = f"{code(short(subject.sha))} of {code(subject.repo_key)}{product}"
    if answer is None:
        yield f"{where}. {prose(unknown)}"
        return
    ran = dict.fromkeys(run.box_key for run in answer.runs if run.hello_ok and run.tests)
    lost = dict.fromkeys(run.box_key for run in answer.runs if not run.hello_ok)
    runs = f'<a href="{escape(subject.runs)}">{counted(len(answer.runs), "run")}</a>'
    yield f"{where}: {runs}{f' on {names([*ran])}' if ran else ''}."
    if lost:
        yield f"The hardware was not reached on {names([*lost])}."
    if answer.base_branch is not None:
        yield f"Compared with {code(answer.base_branch)}."


_HEADER = "<tr><th>Whose</th><th>Failed test</th><th>Boxes</th><th>What decided</th></tr>"
_MORE_BYTES = 2_000
"""For the line that counts what is left out."""


def _table(answer: OneCommit, subject: Subject, room: int) -> list[str]:
    """Return the failures as far as they fit, and how many there are beyond."""
    if not answer.failures:
        return []
    order = [*Whose]
    failures = sorted(
        answer.failures,
        key=lambda failure: order.index(failure.whose) if failure.whose in order else len(order),
    )
    suites = {failure.suite for failure in failures}
    rows = [_row(failure, subject, of_suites=len(suites) > 1) for failure in failures[:ROWS_MAX]]
    head, foot = ["<table>", _HEADER], ["</table>"]
    fit = _fitting(rows, room - _size(head) - _size(foot) - _MORE_BYTES)
    total = max(sum(count.failures for count in answer.counts), len(failures))
    return [*head, *fit, *foot, *_more(total - len(fit), "failure", subject)]


def _row(failure: FailureOfCommit, subject: Subject, *, of_suites: bool) -> str:
    chance = "" if failure.chance is None else f", {percent(failure.chance)}"
    whose = f"{prose(WHOSE.get(failure.whose, failure.whose))}{chance}"
    suite = f"{code(failure.suite)}: " if of_suites else ""
    address = escape(subject.failure(failure.failure_id))
    test = f'{suite}<a href="{address}">{code(failure.test_id)}</a>'
    if failure.log_url is not None and is_address(failure.log_url):
        test += f' (<a href="{escape(failure.log_url)}">log</a>)'
    boxes = f"failed on {names(failure.failed_on)}"
    if failure.passed_on:
        boxes += f"; passed on {names(failure.passed_on)}"
    known = "" if failure.known is None else prose(failure.known.says)
    why = [known, prose(failure.says), prose(failure.evidence)]
    if failure.to_settle is not None:
        why.append(f"To settle it: {prose(failure.to_settle)}")
    cells = (whose, test, boxes, "<br>".join(filter(None, why)))
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _passes(answer: OneCommit, subject: Subject) -> list[str]:
    """Return the known bugs that are gone."""
    rows = [
        f'<li><a href="{escape(subject.test(row))}">{code(row.test_id)}</a>'
        f" on {names(row.boxes)}: {prose(row.says)}</li>"
        for row in answer.passes[:PASSES_MAX]
    ]
    fit = _fitting(rows, PASSES_BYTES)
    if not answer.passes:
        return []
    fails = f"Fails on {code(answer.base_branch or 'the base branch')} and passes here"
    title = f"<p>{fails}: {counted(len(answer.passes), 'test')}</p>"
    return [title, "<ul>", *fit, "</ul>", *_more(len(answer.passes) - len(fit), "test", subject)]


def _waiting(answer: OneCommit) -> list[str]:
    if not answer.unchecked:
        return []
    return [f"<p>Merges that still wait for hardware: {answer.unchecked:,}.</p>"]


def _more(number: int, noun: str, subject: Subject) -> list[str]:
    if number < 1:
        return []
    link = f'<a href="{escape(subject.runs)}">{counted(number, f"more {noun}")}</a>'
    return [f"<p>… {link}</p>"]


def _fitting(rows: Sequence[str], room: int) -> list[str]:
    """Return the first rows that fit into so many bytes."""
    fit: list[str] = []
    for row in rows:
        room -= _size([row])
        if room < 0:
            break
        fit.append(row)
    return fit


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _size(lines: Sequence[str]) -> int:
    return len(_lines(lines).encode())


# Text that anyone may have written


def names(of: Sequence[str]) -> str:
    """Write some names, the first of many."""
    more = [f"{len(of) - NAMES_MAX:,} more"] if len(of) > NAMES_MAX else []
    names = [*map(code, of[:NAMES_MAX]), *more]
    return joined(names) if names else "none"


def prose(text: str) -> str:
    """Write a sentence. A word that a forge might take for more is written as a name."""
    start = text if len(text) <= SENTENCE_MAX else f"{text[: SENTENCE_MAX - 1]}…"
    return " ".join(map(_word, start.split()))


def _word(word: str) -> str:
    parts = _WORD.fullmatch(word)
    if parts is None or not _PLAIN.fullmatch(parts[2]):
        return code(word) if parts is None else f"{parts[1]}{code(parts[2])}{parts[3]}"
    return word
