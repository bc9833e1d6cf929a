# SPDX-License-Identifier: Apache-2.0
"""The dialects of JUnit XML, in files as the runners write them."""

from pathlib import Path

import pytest

from hwci.ci.results.model import BoxResults, merged
from hwci.ci.results.read import ResultsFileError, read_results
from hwci.ci.results.verdicts import BUILT_IN
from tests.ci.result_files import written

SAMPLES = Path(__file__).parent / "samples"


def results_of(*names: str) -> BoxResults:
    return merged([read_results(SAMPLES / name, BUILT_IN) for name in names])


def rows(results: BoxResults) -> list[tuple[str, str, int]]:
    return [(item.id, item.outcome.value, item.attempts) for item in results.tests]


def verdicts(results: BoxResults) -> dict[str, str]:
    return {item.id: item.verdict.value for item in results.tests if item.outcome == "fail"}


def of_xml(tmp_path: Path, text: str) -> BoxResults:
    return merged([read_results(written(tmp_path, text), BUILT_IN)])


TRIED = {
    # What the last try of each test was; the tests themselves were tried three times.
    "rerunfailures-16.0.1.xml": {"third_try": 1, "never": 1, "setup": 1, "twice_over": 1},
    "rerunfailures-16.6.1.xml": {"third_try": 3, "never": 3, "setup": 3, "twice_over": 3},
    "rerunfailures-16.7.xml": {"third_try": 3, "never": 3, "setup": 3, "twice_over": 3},
    "flaky-3.8.1.xml": {"third_try": 3, "never": 3, "setup": 3, "twice_over": 3},
}


@pytest.mark.parametrize(("name", "attempts"), TRIED.items(), ids=list(TRIED))
def test_pytest_counts_tries_as_far_as_its_plugin_wrote_them(
    name: str, attempts: dict[str, int]
) -> None:
    results = results_of(f"pytest/{name}")
    found = {item.id.removeprefix("test_spi.test_"): item for item in results.tests}

    assert {test: found[test].attempts for test in attempts} == attempts
    assert {test: item.outcome.value for test, item in found.items()} == {
        "good": "pass",
        "third_try": "pass",
        "never": "fail",
        "setup": "fail",
        "teardown": "fail",
        "twice_over": "fail",
    }
    assert results.skipped == 1


def test_pytest_may_write_earlier_tries_inside_the_last_one(tmp_path: Path) -> None:
    results = of_xml(
        tmp_path,
        '<testsuites name="pytest tests"><testsuite name="pytest">'
        '<testcase classname="t" name="a">'
        '<flakyFailure message="OSError: could not open port /dev/ttyUSB0"/>'
        '<flakyError message="failed on setup with &quot;silent&quot;"/></testcase>'
        '<testcase classname="t" name="b"><flakyFailure message="silent"/>'
        '<failure message="silent"/></testcase>'
        "</testsuite></testsuites>",
    )

    assert rows(results) == [("t.a", "pass", 3), ("t.b", "fail", 2)]


def test_a_pytest_suite_of_another_name_is_one_of_pytest(tmp_path: Path) -> None:
    results = of_xml(
        tmp_path,
        '<testsuites name="pytest tests"><testsuite name="hil" tests="1">'
        '<testcase classname="t" name="a"/>'
        '<testcase classname="t" name="a"><failure message="x"/></testcase>'
        "</testsuite></testsuites>",
    )

    assert rows(results) == [("t.a", "fail", 2)]


def test_two_runs_of_pytest_in_one_file_do_not_heal_each_other(tmp_path: Path) -> None:
    case = '<testcase classname="t" name="a"'
    results = of_xml(
        tmp_path,
        f'<testsuites><testsuite name="pytest">{case}/></testsuite>'
        f'<testsuite name="pytest">{case}><failure/></testcase></testsuite></testsuites>',
    )

    assert rows(results) == [("t.a", "fail", 1)]


def test_a_try_that_was_followed_by_a_skip_failed(tmp_path: Path) -> None:
    results = of_xml(
        tmp_path,
        '<testsuite name="pytest" tests="1"><testcase classname="t" name="a"/>'
        '<testcase classname="t" name="a"><skipped/></testcase></testsuite>',
    )

    assert rows(results) == [("t.a", "fail", 1)]


def test_what_failed_first_is_judged_and_no_teardown_explains_it(tmp_path: Path) -> None:
    lost = "OSError: could not open port /dev/ttyUSB0"
    teardown = f'<error message="failed on teardown with &quot;{lost}&quot;"/>'
    results = of_xml(
        tmp_path,
        '<testsuite name="pytest"><testcase classname="t" name="a"><failure message="silent"/>'
        f'</testcase><testcase classname="t" name="a">{teardown}</testcase>'
        f'<testcase classname="t" name="b">{teardown}</testcase>'
        f'<testcase classname="t" name="c"><failure message="silent"/><failure message="{lost}"/>'
        "</testcase></testsuite>",
    )

    assert rows(results) == [("t.a", "fail", 1), ("t.b", "fail", 1), ("t.c", "fail", 1)]
    assert verdicts(results) == {"t.a": "unknown", "t.b": "infra", "t.c": "unknown"}


def test_a_repeat_of_googletest_is_no_try(tmp_path: Path) -> None:
    case = '<testcase classname="Uart" name="Loops" status="run" result="completed"'
    results = of_xml(
        tmp_path,
        f'<testsuites><testsuite name="Uart">{case}/>{case}><failure message="a.cc:4&#10;no"/>'
        '</testcase><testcase classname="Uart" name="DISABLED_Breaks" status="notrun" '
        'result="suppressed"/></testsuite></testsuites>',
    )

    assert rows(results) == [("Uart.Loops", "fail", 1)]
    assert results.skipped == 1


def test_ctest_says_in_its_output_who_failed() -> None:
    results = results_of("ctest_outputs.xml")

    assert [item.id for item in results.tests] == ["boot", "watchdog", "sleepy", "probe", "setup"]
    assert verdicts(results) == {
        "watchdog": "unknown",
        "sleepy": "unknown",
        "probe": "infra",
        "setup": "unknown",
    }
    assert results.skipped == 2
    assert results.missing == {
        "missing": "Unable to find executable: /no/such/exe",
        "needs": "Failed test dependencies: setup",
    }


def test_robot_framework_writes_junit_when_it_is_asked_to() -> None:
    results = results_of("robot.xml")

    assert rows(results) == [("A.Boots", "pass", 1), ("A.Fails", "fail", 1)]
    assert results.skipped == 1
    with pytest.raises(ResultsFileError, match="Let robot write one, with --xunit FILE"):
        results_of("robot_output.xml")


def test_ceedling_names_a_test_within_its_module_only() -> None:
    results = results_of("ceedling.xml")

    assert rows(results) == [
        ("test/test_adc.test_init", "pass", 1),
        ("test/test_adc.test_reads_the_reference", "fail", 1),
        ("test/test_uart.test_init", "pass", 1),
    ]
    assert results.skipped == 1


def test_platformio_fails_a_suite_that_it_could_not_build_or_upload() -> None:
    results = results_of("platformio.xml")

    assert rows(results) == [
        ("nucleo_f429zi:test_adc.test_init", "pass", 1),
        ("nucleo_f429zi:test_adc.test_reads", "fail", 1),
        ("nucleo_f429zi:test_spi", "fail", 1),
    ]
    # It uploads what it builds in the same step: an upload that failed sets no verdict.
    assert set(verdicts(results).values()) == {"unknown"}
    assert results.unbuilt == 1


def test_boards_of_one_file_do_not_try_each_others_tests_again() -> None:
    results = results_of("twister_two_boards.xml")

    assert rows(results) == [
        ("frdm_k64f/mk64f12.kernel.common.mutex.lock", "pass", 1),
        ("frdm_k64f/mk64f12.boot", "pass", 1),
        ("nucleo_f429zi/stm32f429xx.kernel.common.mutex.lock", "fail", 1),
    ]


def test_a_test_that_was_not_built_is_no_item_and_no_success(tmp_path: Path) -> None:
    built = '<testcase classname="a" name="a"/>'
    broken = '<testcase classname="b" name="b"><error message="Build failure"/></testcase>'
    results = of_xml(tmp_path, f'<testsuite name="x">{built}{broken}</testsuite>')

    assert rows(results) == [("a", "pass", 1)]
    assert (results.unbuilt, results.skipped) == (1, 0)
    assert not results.succeeded
    assert of_xml(tmp_path, f'<testsuite name="x">{built}</testsuite>').succeeded


def test_the_type_of_a_failure_is_part_of_its_message(tmp_path: Path) -> None:
    failure = '<failure type="pyocd.core.exceptions.ProbeError" message="lost"/>'
    results = of_xml(
        tmp_path, f'<testsuite name="x"><testcase name="a">{failure}</testcase></testsuite>'
    )

    assert verdicts(results) == {"x.a": "infra"}


def test_text_where_a_message_would_be_is_the_message(tmp_path: Path) -> None:
    failure = "<failure>\n<![CDATA[Error: unable to open ftdi device]]>\n</failure>"
    results = of_xml(
        tmp_path, f'<testsuite name="x"><testcase name="a">{failure}</testcase></testsuite>'
    )

    assert verdicts(results) == {"x.a": "infra"}


def test_a_log_beside_a_message_sets_no_verdict(tmp_path: Path) -> None:
    failure = '<failure message="Timeout">log: Timeout during flashing, tried again: ok</failure>'
    printed = "<system-out>No debug probe detected; tried again: ok</system-out>"
    results = of_xml(
        tmp_path,
        f'<testsuite name="x"><testcase name="a">{failure}{printed}</testcase></testsuite>',
    )

    assert verdicts(results) == {"x.a": "unknown"}


def test_what_the_test_itself_says_is_believed_before_its_message(tmp_path: Path) -> None:
    said = '<properties><property name="hwci.verdict" value="device"/></properties>'
    failure = '<failure message="Timeout during flashing"/>'
    results = of_xml(
        tmp_path, f'<testsuite name="x"><testcase name="a">{said}{failure}</testcase></testsuite>'
    )

    assert verdicts(results) == {"x.a": "device"}


def test_a_soak_whose_last_teardown_failed_was_not_tried_again(tmp_path: Path) -> None:
    """pytest counts the pass and the error of that loop: it counts four, and has three cases."""
    case = '<testcase classname="t" name="a"'
    error = f'{case}><error message="failed on teardown with &quot;x&quot;"/></testcase>'
    results = of_xml(
        tmp_path,
        f'<testsuite name="pytest" tests="4" errors="1">{case}/>{case}/>{error}</testsuite>',
    )

    assert rows(results) == [("t.a", "fail", 1)]
