# SPDX-License-Identifier: Apache-2.0
"""What a file may say of a test, and which of it wins (semantics, 1.6).

This module is the closed table: the elements, attributes and words by which tools say that a test
failed, passed, was skipped, or could not run. A failure wins over all else, whoever says it. How
elements follow each other, it does not know.
"""

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import lru_cache


class State(Enum):
    """What is said of a test. The order is that in which they win."""

    FAILED = "failed"
    NOT_RUN = "not run"
    """It could not run: what it needs was missing."""
    SKIPPED = "skipped"
    PASSED = "passed"


# Elements of a test. Names are compared in small letters, without namespace, `-` and `_`.

FAILURES = frozenset(
    (
        *("failure", "failures", "failed", "fail", "testfailure", "testfailed", "failuremessage"),
        *("assertionfailure", "assertionfailed", "unexpectedfailure", "failuredetails", "broken"),
    )
)
ERRORS = frozenset(
    (
        *("error", "errors", "errored", "exception", "fatal", "panic", "unexpectederror"),
        *("errormessage", "errordetails", "unexpectedexception", "crash", "crashed", "aborted"),
        *("timeout", "timedout"),
    )
)
LISTS = frozenset(
    ("failures", "errors", "failuremessage", "failuredetails", "errormessage", "errordetails")
)
"""Elements that may hold failures, and none: an empty one says nothing."""
LIMITS = frozenset(("timeout",))
"""Elements in which a number is a limit."""
CERTAIN = frozenset(("failure", "error"))
"""Elements that are failures whatever they hold; others may hold a number or `false`."""
RERUN = frozenset(("rerunfailure", "rerunerror"))
"""Attempts of a test that never passed."""
RETRIED = RERUN | {"flakyfailure", "flakyerror"}
"""Earlier attempts of Surefire's, nextest's and pytest's, inside the test that was tried again."""
SKIPS = frozenset(("skipped", "skip", "ignored", "disabled", "pending", "notrun"))
OUTPUT = frozenset(("systemout", "systemerr"))

# Attributes, elements with text, and properties of a test or a suite

STATES = frozenset(
    (
        *("status", "result", "outcome", "state", "verdict", "conclusion"),
        *("testresult", "teststatus", "testoutcome", "teststate", "resultstatus"),
    )
)
"""Their value is a word of `WORDS`."""
SUCCESSES = frozenset(("success", "successful", "succeeded", "passed", "ok"))
"""Their value is yes or no; `passed` may be a number of tests as well."""
EXECUTED = frozenset(("executed", "run"))
"""Their value is yes or no."""
FAILURE_COUNTS = ("failures", "failed", "fail", "failure", "failuremessage")
ERROR_COUNTS = ("errors", "error", "errored", "crashed", "aborted", "errormessage")
"""A number of tests, yes or no, or the message itself."""
COUNTS = frozenset((*FAILURE_COUNTS, *ERROR_COUNTS))
TELLING = STATES | SUCCESSES | EXECUTED | COUNTS
TRIES = frozenset(("retries", "reruns"))
"""How often a test was tried again: until it passed, or for nothing."""
TRY = frozenset(("retry", "rerun", "attempt", "try", "retrycount", "rerunindex", "attemptnumber"))
"""That a result is a try after others of its name: their number, or yes."""

WORDS: Mapping[State, frozenset[str]] = {
    State.FAILED: frozenset(
        (
            *("ko", "nok", "ng", "notok", "unsuccessful", "notpassed", "broken", "crash"),
            *("crashed", "fatal", "panic", "timeout", "timedout", "abort", "aborted"),
            *("interrupted", "incomplete", "regression", "erroneous"),
        )
    ),
    State.NOT_RUN: frozenset(("blocked",)),
    State.SKIPPED: frozenset(
        (
            *("notrun", "disabled", "skipped", "skip", "suppressed", "ignored", "pending"),
            *("filtered", "deselected", "todo", "xfail", "xfailed", "expectedfailure"),
            *("notexecuted", "notstarted", "untested", "inconclusive"),
        )
    ),
    State.PASSED: frozenset(("pass", "passed", "ok", "success", "successful", "succeeded")),
}
"""Words of other meanings (`run`, `completed`) say nothing."""
_FAILED = re.compile(r"(?!x|expected|known|no|without|zero|0)\w*(?:fail|error)\w*")
"""What else is a word of failure: `failed`, `ERROR`, `SOFT_FAIL`, `setup failed`."""
_BY_WORD = {word: state for state, words in WORDS.items() for word in words}
_YES = frozenset(("true", "yes"))
_NO = frozenset(("false", "no"))
_NOTHING = frozenset(("", "none", "null", "nil", *_NO))

MAY_FAIL = "TEST_CASE tagged with !mayfail"
"""How Catch2 begins to skip a test whose failures, which it writes too, are none."""
_SKIPPED_ITSELF = re.compile(r"SKIP_RETURN_CODE=|SKIP_REGULAR_EXPRESSION_MATCHED|Disabled")
"""What CTest writes of a test that skipped itself or was disabled. It counts each other test that
it did not run as failed.
"""
_MISSING = re.compile(
    r"Unable to find (?:executable|required file)|Required Files Missing|Missing Configuration"
    r"|Fixture dependency failed|Failed test dependencies|Insufficient resources",
    re.IGNORECASE,
)
"""CTest's words in files that were made of its results."""


@lru_cache(maxsize=1024)
def local(tag: str) -> str:
    """Return a name as the tables have it."""
    return tag.rpartition(":")[2].lower().replace("-", "").replace("_", "")


def said(name: str, value: str) -> State | None:
    """Return what an attribute, a property or an element with text says of a test."""
    return _said(name, value[:_WORD_MAX])


@lru_cache(maxsize=1024)
def _said(name: str, value: str) -> State | None:
    word = re.sub(r"[\W_]", "", value).lower()
    if name in STATES:
        return _BY_WORD.get(word) or (State.FAILED if _FAILED.fullmatch(word) else None)
    if name in SUCCESSES:
        if word in _NO or (word == "0" and name != "passed"):
            return State.FAILED
        return State.PASSED if word in _YES else None
    if name in EXECUTED:
        return State.SKIPPED if word in _NO else None
    return State.FAILED if name in COUNTS and is_failure(value) else None


_WORD_MAX = 100


def is_failure(text: str) -> bool:
    """Return whether a text in place of a failure says that there is one: no number, no denial."""
    number = count(text)
    return text.strip().lower() not in _NOTHING if number is None else number > 0


def count(text: str) -> int | None:
    """Return the number in a text such as `1,234`, None if there is none."""
    digits = text.strip().replace(",", "")
    return int(float(digits)) if _NUMBER.fullmatch(digits) else None


_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?", re.ASCII)


def counted(attributes: Mapping[str, str], names: Sequence[str]) -> int:
    """Return how many failures a suite counts, by the first of its attributes that does."""
    numbers = (count(attributes[name]) for name in names if name in attributes)
    return next((number for number in numbers if number is not None), 0)


def could_not_run(status: str, reason: str, output: str) -> bool:
    """Return whether what a skipped test needs was missing. Only CTest gives a reason beside the
    status `notrun`.
    """
    if status == "notrun" and reason:
        return not _SKIPPED_ITSELF.match(reason)
    return _MISSING.match(reason or output) is not None
