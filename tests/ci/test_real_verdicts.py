# SPDX-License-Identifier: Apache-2.0
"""Real results of real boards, if they are on this machine: 105 files of Twister's, two of them
with control characters of a serial line, which XML forbids.

Every message of their 14,729 failures is listed here with its count and its verdict.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import pytest

from hwci.ci.results.model import FileResults
from hwci.ci.results.read import read_results
from hwci.ci.results.verdicts import BUILT_IN, Rule, judge, never_built
from hwci.contract.vocabulary import Outcome, Verdict
from hwci.wire import limits
from tests.support.real_results import real_results

INFRA = {
    "Timeout during flashing": 3065,
    'failed on setup with "twister_harness.exceptions.TwisterHarnessException: '
    'Could not flash device 726350165"': 10,
    'failed on setup with "twister_harness.exceptions.TwisterHarnessException: '
    'Could not flash device 000726350165"': 6,
    # Twister writes it when a flash tool fails at once; none of these boards' tools did.
    "Device issue (Flash error?)": 0,
}
DEVICE = {"Testsuite failed": 763}
NEVER_BUILT = {"Build failure": 512}
UNKNOWN = {
    "Unknown Error": 8386,
    "Testsuite mismatch": 937,
    "Unknown": 840,
    "Unknown Instance status": 102,
    "Test failure": 27,
    "RunID mismatch": 15,
    'failed on setup with "Failed: Prompt not found"': 15,
    "ztest skip": 13,
    "patterns did not match (ordered)": 10,
    "patterns did not match (unordered)": 5,
    "Fault detected while running test": 1,
    "AssertionError: expected response not found\nassert False": 1,
    r'AssertionError: Did not find line "uart:\~\$\ " within 20.0 seconds': 16,
    r'AssertionError: Did not find line ".*flash\ page_info\ 0" within 1.0 seconds': 1,
    r'AssertionError: Did not find line ".*help" within 1.0 seconds': 1,
    r'AssertionError: Did not find line ".*sensor\ attr_set\ sensor@1\ gauge_state_of_health\ 3\ 1"'
    " within 1.0 seconds": 1,
    r'AssertionError: Did not find line ".*sensor\ trig\ sensor@0\ on\ data_ready"'
    " within 1.0 seconds": 1,
    r'AssertionError: Did not find line ".*mpu\ mtest\ 2" within 1.0 seconds': 1,
}


@dataclass
class Recorder:
    """A pattern that matches nothing, and records every message that it is tried on."""

    messages: Counter[str] = field(default_factory=Counter)

    def search(self, message: str) -> None:
        self.messages[message] += 1


@dataclass
class Boards:
    messages: Counter[str]
    read: list[FileResults]
    faults: list[str]


@pytest.fixture(scope="module")
def boards() -> Boards:
    found = Boards(Counter(), [], [])
    for path in sorted(path for one in real_results() for path in one.glob("*.xml.gz")):
        recorder = Recorder()
        first = Rule(cast("re.Pattern[str]", recorder), Verdict.UNKNOWN, "only records")
        found.read.append(read_results(path, [first, *BUILT_IN]))
        found.faults += found.read[-1].faults
        found.messages.update(recorder.messages)
    return found


def failed(files: Sequence[FileResults]) -> Counter[Verdict]:
    return Counter(
        attempt.verdict
        for file in files
        for attempt in file.attempts
        if attempt.outcome is Outcome.FAIL
    )


def test_real_files_are_read_whole_and_what_xml_forbids_is_noted(boards: Boards) -> None:
    assert len(boards.read) == 105
    assert max(len(file.attempts) for file in boards.read) > 3 * limits.TESTS_MAX
    assert all(file.started_at is not None and file.duration_s > 0 for file in boards.read)
    assert boards.faults == []
    name = "lpcxpresso54114_lpc54114_m4.xml.gz"
    notes = [note for file in boards.read for note in file.notes if "XML forbids" in note]
    assert [
        line.removeprefix(f"{real_results()[0].parent}/").partition(" that")[0] for line in notes
    ] == [
        f"v4.3.0-6701-g28793caf8272/{name}:50197: It holds 3 characters",
        f"v4.4.0-4655-g275ca3396f32/{name}:881: It holds 1 character",
    ]


def test_every_message_of_real_boards_is_listed_with_its_count(boards: Boards) -> None:
    listed = INFRA | DEVICE | NEVER_BUILT | UNKNOWN

    assert boards.messages == {message: count for message, count in listed.items() if count}


def test_the_verdict_of_each_message_is_the_one_that_it_is_listed_under() -> None:
    assert {judge(message, BUILT_IN) for message in INFRA} == {Verdict.INFRA}
    assert {judge(message, BUILT_IN) for message in DEVICE} == {Verdict.DEVICE}
    assert {judge(message, BUILT_IN) for message in UNKNOWN} == {Verdict.UNKNOWN}
    assert [message for message in INFRA | DEVICE | UNKNOWN if never_built(message)] == []
    assert all(map(never_built, NEVER_BUILT))


def test_the_verdicts_of_real_boards_add_up_to_their_messages(boards: Boards) -> None:
    assert failed(boards.read) == {
        Verdict.INFRA: sum(INFRA.values()),
        Verdict.DEVICE: sum(DEVICE.values()),
        Verdict.UNKNOWN: sum(UNKNOWN.values()),
    }
    assert sum(file.unbuilt for file in boards.read) == sum(NEVER_BUILT.values())
