# SPDX-License-Identifier: Apache-2.0
"""What a file may say of a test, and which of it wins (semantics, 1.6).

This module is the table of the elements, attributes and words by which tools say that a test
failed, passed, was skipped, or could not run, and of the stems by which names and words that are
not in it say that something failed. A failure wins over all else, whoever says it. A word that is
in no table is unclear, and said. How elements follow each other, it does not know.
"""

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import lru_cache


class State(Enum):
    """What is said of a test. The order is that in which they win."""

    FAILED = "failed"
    NOT_RUN = "not run"
    """It could not run, as what it needs was missing, or not to the end."""
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
        *("timeout", "timedout", "segfault", "segmentationfault", "killed"),
    )
)
LISTS = frozenset(
    ("failures", "errors", "failuremessage", "failuredetails", "errormessage", "errordetails")
)
"""Elements that may hold failures, and none: an empty one says nothing."""
_LISTS = re.compile(r".*(?:s|message|trace|text|info|detail|reason|type|description|count)")
"""Those of no known name: more than one, or what is told of one."""
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
SUCCESSES = frozenset(("success", "successful", "succeeded", "passed", "pass", "ok"))
"""Their value is yes or no; `passed` may be a number of tests as well."""
EXECUTED = frozenset(("executed", "run"))
"""Their value is yes or no."""
FAILURE_COUNTS = (
    *("failures", "failed", "fail", "failure", "failuremessage", "failurecount", "failedcount"),
    *("numfailed", "numfailures", "failedtests", "failedassertions", "unexpected"),
)
ERROR_COUNTS = (
    *("errors", "error", "errored", "errormessage", "errorcount", "numerrors"),
    *("crashed", "crashes", "aborted", "timeouts", "timedout"),
)
"""A number of tests, yes or no, or the message itself."""
COUNTS = frozenset((*FAILURE_COUNTS, *ERROR_COUNTS))
EXIT_CODES = frozenset(("exitcode", "exitstatus", "returncode", "retcode", "rc"))
TELLING = STATES | SUCCESSES | EXECUTED | COUNTS | EXIT_CODES
TRIES = frozenset(("retries", "reruns"))
"""How often a test was tried again: until it passed, or for nothing."""
TRY = frozenset(("retry", "rerun", "attempt", "try", "retrycount", "rerunindex", "attemptnumber"))
"""That a result is a try after others of its name: their number, or yes."""

WORDS: Mapping[State, frozenset[str]] = {
    State.FAILED: frozenset(
        (
            *("fail", "fails", "failed", "failing", "failure", "failures", "f", "e", "false"),
            *("error", "errors", "errored", "erroneous", "exception", "assert", "mismatch"),
            *("ko", "nok", "ng", "notok", "bad", "unsuccessful", "notpassed", "notpass", "broken"),
            *("crash", "crashed", "fatal", "panic", "fault", "segfault", "segmentationfault"),
            *("segv", "sigsegv", "sigabrt", "sigbus", "sigill", "sigfpe", "sigkill", "sigterm"),
            *("abort", "aborted", "killed", "died", "hang", "hung", "timeout", "timedout"),
            *("interrupted", "incomplete", "regression", "rejected", "red", "stuck", "lockup"),
            *("watchdog", "watchdogreset", "hardfault", "fehlgeschlagen", "fehler"),
            *("失败", "失敗", "不合格", "不通过", "실패", "불합격"),
            *("unexpectedsuccess", "unexpectedpass", "xpass", "xpassed"),
        )
    ),
    State.NOT_RUN: frozenset(
        ("blocked", "cancelled", "canceled", "stopped", "unresolved", "unknown")
    ),
    State.SKIPPED: frozenset(
        (
            *("notrun", "disabled", "skipped", "skip", "suppressed", "ignored", "pending"),
            *("filtered", "deselected", "todo", "xfail", "xfailed", "expectedfailure"),
            *("notexecuted", "notstarted", "untested", "inconclusive"),
        )
    ),
    State.PASSED: frozenset(
        (
            *("pass", "passed", "ok", "success", "successful", "succeeded", "true", "green"),
            *("bestanden", "erfolgreich", "通过", "通過", "合格", "成功", "통과", "성공", "합격"),
        )
    ),
}
_NEUTRAL = frozenset(
    (
        *("", "none", "null", "nil", "run", "ran", "executed", "done", "complete", "completed"),
        *("finished", "ended"),
    )
)
"""Words that say nothing of how a test ended."""
BARE = frozenset(
    (
        *("fail", "failed", "failure", "notok", "nok", "ko", "crashed", "aborted", "timedout"),
        *("pass", "passed", "skip", "skipped", "ignored", "disabled", "notrun", "xfail"),
    )
)
"""Words that say how a test ended where they are all of its text. Others are its output."""
_BY_WORD = {word: state for state, words in WORDS.items() for word in words}
_ALONE = frozenset(("f", "e", "ko", "ng", "false", "true"))
"""Words that mean nothing beside others."""
_ORDER = (State.FAILED, State.PASSED, State.NOT_RUN, State.SKIPPED)
"""Which word of several wins: in `passed, 2 skipped` the first."""

_DENIALS = frozenset(("no", "not", "non", "without", "never", "expected", "known"))
_NOT = frozenset(("no", "not", "never"))
_ZEROS = frozenset(("0", "zero"))
_BEFORE_ZERO = frozenset(("with", "and", "passed", "ok"))
_DENIED = r"(?!(?:x|no|non|not|without|zero|0|expected|known)(?:fail|error|exception))"
_FAILED = re.compile(rf"{_DENIED}\w*(?:fail|error|exception)\w*")
"""What else is a word of failure: `softfail`, `testerror`."""
_EXIT = re.compile(
    r"\b(?:exit(?:ed)?(?: with)?(?: ?code| ?status)?|return(?:ed)? ?(?:code|value)) (0x\w+|\d+)\b"
)

_NAMED = re.compile(rf"{_DENIED}\w*(?:fail(?!safe|over)|error|exception|assert(?!(?:ion)?s\b))\w*")
"""Words of the names of elements that are failures, by any other name than those of the tables."""
_NO_NAMES_BEHIND = _DENIALS | {"on", "if", "flaky", "ignore", "ignored", "allow", "allowed", "std"}
_NO_NAMES_BEFORE = frozenset(
    (
        *(
            "on",
            "over",
            "safe",
            "if",
            "fast",
            "free",
            "limit",
            "threshold",
            "tolerance",
            "rate",
            "injection",
        ),
        *("handler", "handling", "output", "log", "stream"),
    )
)
"""What makes the name of a setting or a log of it: `failOnError`, `error-rate`."""
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


def state_of(name: str, value: str, *, exact: bool = False) -> State | None:
    """Return what an attribute, a property or an element with text says of a test. `exact`: only a
    word of the tables says it, as people's own properties and steps have words of their own.
    """
    return _state_of(name, value[:_WORD_MAX], exact)


def is_unclear(name: str, value: str, *, exact: bool = False) -> bool:
    """Return whether it is not known what a value that says nothing was to say: a word is in no
    table, or would say that something failed if it had not to be exact.
    """
    if name not in STATES or state_of(name, value, exact=exact) is not None:
        return False
    return state_of(name, value) is State.FAILED if exact else joined(value) not in _NEUTRAL


@lru_cache(maxsize=1024)
def _state_of(name: str, value: str, exact: bool) -> State | None:
    word = joined(value)
    if name in SUCCESSES:
        if word in _NO or (word == "0" and name != "passed"):
            return State.FAILED
        if word in _YES or count(value) is not None:
            return State.PASSED if word in _YES else None
    if name in STATES or name in SUCCESSES:
        state = _BY_WORD.get(word) if exact or word in _BY_WORD else _state_of_words(value)
        return None if exact and state is State.NOT_RUN else state
    if name in EXECUTED:
        return State.SKIPPED if word in _NO else None
    if name in EXIT_CODES:
        return None if exact or count(value) in {0, None} else State.FAILED
    return State.FAILED if name in COUNTS and is_failure(value) else None


_WORD_MAX = 100


def joined(text: str) -> str:
    """Return a text as the tables have its words."""
    return re.sub(r"[\W_]", "", text).lower()


_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=\d)(?=[A-Z][a-z])")


def _words_of(text: str) -> Sequence[str]:
    return re.findall(r"[^\W_]+", _CAPITAL.sub(" ", text).lower())


def _state_of_words(text: str) -> State | None:
    """Return what several words, or one of no table, say: `Setup Failed`, `with 0 errors`."""
    words = _words_of(text)
    code = _EXIT.search(" ".join(words))
    states = {State.FAILED if code[1].strip("0x") else State.PASSED} if code else set()
    for at, word in enumerate(words):
        state = _BY_WORD.get("".join(words[at : at + 2]))
        if state is None and word not in _ALONE:
            state = _BY_WORD.get(word) or (State.FAILED if _FAILED.fullmatch(word) else None)
        if state is State.FAILED and _is_denied(words, at):
            state = State.PASSED
        elif state is State.PASSED and words[max(0, at - 1)] in _DENIALS:
            state = State.FAILED if words[at - 1] in _NOT else None
        if state is not None:
            states.add(state)
    return next((state for state in _ORDER if state in states), None)


def _is_denied(words: Sequence[str], at: int) -> bool:
    """Return whether the word before denies a failure, or `free` after it. `step 0 failed` has a
    number in its name.
    """
    before, after = (words[at - 1] if at else ""), words[at + 1 : at + 2]
    if after == ["free"]:
        return True
    if before not in _ZEROS:
        return before in _DENIALS
    return words[at].endswith("s") or at == 1 or words[at - 2] in _BEFORE_ZERO


@lru_cache(maxsize=1024)
def names_failure(tag: str) -> bool:
    """Return whether an element of no known name is one of failures, by a word of its name."""
    words = ("", *_words_of(tag.rpartition(":")[2]), "")
    return any(
        _NAMED.fullmatch(word) and before not in _NO_NAMES_BEHIND and after not in _NO_NAMES_BEFORE
        for before, word, after in zip(words[:-2], words[1:-1], words[2:], strict=True)
    )


def may_be_empty(tag: str) -> bool:
    """Return whether an element of failures says nothing if it is empty."""
    if tag in FAILURES or tag in ERRORS:
        return tag in LISTS
    return _NAMED.fullmatch(tag) is not None and _LISTS.fullmatch(tag) is not None


def is_failure(text: str) -> bool:
    """Return whether a text in place of a failure says that there is one: no number, no denial."""
    number = count(text)
    return text.strip().lower() not in _NOTHING if number is None else number > 0


def count(text: str) -> int | None:
    """Return the number in a text such as `1,234`, None if there is none."""
    digits = text.strip().replace(",", "")
    return int(float(digits)) if _NUMBER.fullmatch(digits) else None


_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?", re.ASCII)


def failures_counted(attributes: Mapping[str, str], names: Sequence[str]) -> int:
    """Return how many failures a suite counts, by the attribute that counts most."""
    numbers = (count(attributes[name]) for name in names if name in attributes)
    return max(filter(None, numbers), default=0)


def could_not_run(status: str, reason: str, output: str) -> bool:
    """Return whether what a skipped test needs was missing. Only CTest gives a reason beside the
    status `notrun`.
    """
    if status == "notrun" and reason:
        return not _SKIPPED_ITSELF.match(reason)
    return _MISSING.match(reason or output) is not None
