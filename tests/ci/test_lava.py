# SPDX-License-Identifier: Apache-2.0
"""LAVA's own export of a job: the attribute says `failed`, and the reason is the job's log beside
it. The sample is built after LAVA's source.
"""

from pathlib import Path

import pytest

from hwci.ci.results.model import FileResults
from hwci.ci.results.read import read_results
from hwci.ci.results.verdicts import BUILT_IN
from hwci.contract.vocabulary import Outcome, Verdict

SAMPLE = Path(__file__).parent / "samples" / "lava.xml"


def verdicts(read: FileResults) -> dict[str, Verdict]:
    return {
        attempt.test_id.rpartition(".")[2]: attempt.verdict
        for attempt in read.attempts
        if attempt.outcome is Outcome.FAIL
    }


def test_the_log_beside_failed_says_whom_a_failure_blames() -> None:
    assert verdicts(read_results(SAMPLE, BUILT_IN)) == {
        "power-on": Verdict.INFRA,
        "auto-login-action": Verdict.UNKNOWN,
        "job": Verdict.INFRA,
        "i2c": Verdict.UNKNOWN,
        "gpio": Verdict.UNKNOWN,
    }


@pytest.mark.parametrize("message", ["failed", "Failed", "FAIL", "error", " failure ", ""])
@pytest.mark.parametrize("tag", ["failure", "error"])
def test_a_message_that_names_no_cause_leaves_the_word_to_the_text(
    tmp_path: Path, tag: str, message: str
) -> None:
    read = read_results(
        written(tmp_path, f'<{tag} message="{message}">No J-Link device found</{tag}>'), BUILT_IN
    )

    assert verdicts(read) == {"a": Verdict.INFRA}
    assert [attempt.message for attempt in read.attempts] == ["No J-Link device found"]


def test_an_error_whose_type_is_lavas_blames_the_bench(tmp_path: Path) -> None:
    text = '<error type="Infrastructure" message="failed">the power hub is away</error>'

    assert verdicts(read_results(written(tmp_path, text), BUILT_IN)) == {"a": Verdict.INFRA}


def test_a_message_that_names_no_cause_stays_where_there_is_no_text(tmp_path: Path) -> None:
    read = read_results(written(tmp_path, '<failure type="fail" message="failed"/>'), BUILT_IN)

    assert [attempt.message for attempt in read.attempts] == ["failed"]


def test_a_log_beside_a_message_is_not_searched(tmp_path: Path) -> None:
    text = '<failure message="expected 1, was 2">No J-Link device found</failure>'
    read = read_results(written(tmp_path, text), BUILT_IN)

    assert verdicts(read) == {"a": Verdict.UNKNOWN}
    assert [attempt.message for attempt in read.attempts] == ["expected 1, was 2"]


def written(folder: Path, inside: str) -> Path:
    file = folder / "one.xml"
    case = f'<testcase classname="t" name="a">{inside}</testcase>'
    file.write_text(f'<testsuite name="s">{case}</testsuite>')
    return file
