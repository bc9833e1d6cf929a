# SPDX-License-Identifier: Apache-2.0
"""What a result file says of a test, by whatever word, attribute or count: nothing that says that
something failed ends as a success.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwci.ci.results.model import BoxResults, FileResults, merged
from hwci.ci.results.read import read_results
from hwci.ci.results.verdicts import BUILT_IN
from hwci.ci.results.xml import evidence
from hwci.ci.results.xml.evidence import State
from hwci.ci.results.xml.junit import junit_results
from hwci.contract.vocabulary import Outcome
from tests.ci.result_files import written

SAMPLES = Path(__file__).parent / "samples"

Read = Callable[[str], FileResults]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    return lambda text: read_results(written(tmp_path, text), BUILT_IN)


def sample(name: str) -> FileResults:
    return read_results(SAMPLES / name, BUILT_IN)


def rows(file: FileResults) -> list[tuple[str, str, int]]:
    return [(item.id, item.outcome.value, item.attempts) for item in merged([file]).tests]


def succeeded(file: FileResults) -> bool:
    """Return whether a run of this file alone is a success, if its CI says nothing."""
    return merged([file]).succeeded and not file.faults


def message_of(file: FileResults) -> str:
    return merged([file], without_secrets=str).tests[-1].message or ""


# What fails a test


@pytest.mark.parametrize(
    "inside",
    [
        "<failure/>",
        "<Failure/>",
        "<failed message='m'/>",
        "<fail>m</fail>",
        "<error/>",
        "<ERROR/>",
        "<errored/>",
        "<exception>m</exception>",
        "<failures><failure message='m'/></failures>",
        "<failures><item>m</item></failures>",
        "<failures>2</failures>",
        "<failures count='1'/>",
        "<errors>m</errors>",
        "<details><error>m</error></details>",
        "<j:failure xmlns:j='urn:junit'>m</j:failure>",
        "<failure xmlns='urn:junit'/>",
        "<status>FAILED</status>",
        "<result><outcome>Error</outcome></result>",
        "<result value='fail'/>",
        "<success>false</success>",
        "<properties><property name='result' value='Failed'/></properties>",
        "<skipped/><failure/>",
        "<success/><failure/>",
        "<rerunFailure message='m'/>",
        "<assertion-failure/>",
        "<result status='failed'/>",
        "<steps><step name='s' result='FAIL'/></steps>",
        "<failureMessage>m</failureMessage>",
        "<error_details>m</error_details>",
        "<timeout/>",
        "<timeout>after 30 s</timeout>",
        "<test-result>Failed</test-result>",
        "FAILED",
        "<properties><property name='Test_Result' value='FAIL'/></properties>",
        "<failure>0</failure>",
        "<failure message='0'/>",
        *("<softFailure/>", "<stepFailure>m</stepFailure>", "<checkFailure/>", "<segfault/>"),
        *("<softAssertFailure/>", "<fatalFailure/>", "<nonFatalFailure/>", "<testError/>"),
        *("<assertionError>m</assertionError>", "<AssertionFailedError/>", "<fatalError/>"),
        *("<unhandledException/>", "<fail-message>m</fail-message>", "<soft-failures count='2'/>"),
        *("<failureTrace>m</failureTrace>", "<assert>1 == 2</assert>", "<j:hardFail xmlns:j='j'/>"),
        "<failed-step/>",
    ],
)
def test_an_element_by_any_name_fails_its_test(read: Read, inside: str) -> None:
    file = read(f"<testsuite name='x'><testcase name='a'>{inside}</testcase></testsuite>")

    assert rows(file) == [("x.a", "fail", 1)]
    assert file.faults == ()


@pytest.mark.parametrize(
    "attribute",
    [
        *("status='FAILED'", "status='fail'", "status='Error'", "status='crashed'"),
        *("status='TimedOut'", "status='Timed Out'", "status='not ok'", "status='KO'"),
        *("result='failure'", "result='Failed'", "outcome='error'", "state='aborted'"),
        *("success='false'", "success='0'", "passed='False'", "succeeded='no'"),
        *("failed='true'", "failures='1'", "errors='2'", "failed='1'", "error='no blink'"),
        *("Status='FAILED'", "j:result='failed'", "test-result='Fail'", "test_status='NOK'"),
        *("status='Setup Failed'", "status='failed: no blink'", "status='FAILED_WITH_ERRORS'"),
        *("status='killed'", "status='SEGFAULT'", "status='SEGV'", "status='SIGABRT'"),
        *("status='Segmentation fault (core dumped)'", "status='Exception'", "status='ASSERT'"),
        *("status='hang'", "status='died'", "status='BAD'", "status='rejected'", "result='F'"),
        *("status='fault'", "status='mismatch'", "status='unexpected success'", "status='XPASS'"),
        *(
            "status='Exit code 1'",
            "status='exited with 0x0B'",
            "result='false'",
            "success='Failed'",
        ),
        *("status='Node failure'", "status='Normal failure'", "status='noise error'"),
        *("status='notification failed'", "status='x-ray failed'", "status='nodefailure'"),
        *("status='known good, failed late'", "status='step 0 failed'", "status='did not pass'"),
        *("status='passed, 1 failed'", "status='timed out after 30 s'", "status='watchdog reset'"),
        *("status='no pass'", "pass='false'", "status='fehlgeschlagen'", "result='失败'"),
        *("exit-code='-11'", "rc='139'", "returncode='1'", "failed-assertions='1'"),
    ],
)
def test_an_attribute_by_any_name_fails_its_test(read: Read, attribute: str) -> None:
    case = f"<testcase name='a' {attribute}/>"
    file = read(f"<testsuite name='x' xmlns:j='urn:j'>{case}<testcase name='b'/></testsuite>")

    assert rows(file) == [("x.a", "fail", 1), ("x.b", "pass", 1)]


@pytest.mark.parametrize(
    "case",
    [
        *("status='PASSED'", "status='run'", "status='run' result='completed'", "result='success'"),
        *("success='true'", "failed='false'", "failures='0' errors='0'", "error=''", "failed='0'"),
        *("rc='0'", "exitcode=''", "result='通过'", "failed-assertions='0'", "pass='true'"),
        *("status='No errors'", "status='0 failures'", "result='without-failure'", "timeout='60'"),
        *("passed='0'", "passed='3' failed='0'", "status='odd'", "result=''", "error='None'"),
        *("status='finished without errors'", "status='Completed with 0 errors'"),
        *(
            "status='passed, 0 failed'",
            "status='noErrors'",
            "status='error-free'",
            "status='not failed'",
        ),
        *("status='Exit code 0'", "status='3 assertions passed'", "status='default'"),
    ],
)
def test_what_says_no_failure_passes(read: Read, case: str) -> None:
    file = read(f"<testsuite name='x'><testcase name='a' {case}/></testsuite>")

    assert rows(file) == [("x.a", "pass", 1)]
    assert succeeded(file)


@pytest.mark.parametrize(
    "inside",
    [
        *("<failures/>", "<errors></errors>", "<failures>0</failures>", "<errors count='0'/>"),
        *("<failed>false</failed>", "<crashed>no</crashed>", "<status>ok</status>", "<success/>"),
        *(
            "<timeout>60</timeout>",
            "<errorDetails/>",
            "all tests of the log: FAILED 0, PASSED 7, ...",
        ),
        "<system-out>FAILED: status=failed</system-out>",
        "<flakyFailure message='m'><error>m</error></flakyFailure>",
        "<properties><property name='error' value='corrected'/></properties>",
        "<properties><property name='state' value='failsafe'/></properties>",
        *("<noError/>", "<softFailures/>", "<assertionErrors count='0'/>", "<failureTrace/>"),
        *(
            "<hasErrors>no</hasErrors>",
            "<assertions>5</assertions>",
            "<failOnError>y</failOnError>",
        ),
        *(
            "<assertion result='passed'>1 == 1</assertion>",
            "<expectedException>E</expectedException>",
        ),
        *("<info><bootError>m</bootError></info>", "<error-rate>0.5</error-rate>"),
        *("<step status='error_injected'/>", "<motor><state>stopped</state></motor>"),
        *("error", "unknown", "stopped"),
    ],
)
def test_an_element_that_denies_a_failure_is_none(read: Read, inside: str) -> None:
    file = read(f"<testsuite name='x'><testcase name='a'>{inside}</testcase></testsuite>")

    assert [row[:2] for row in rows(file)] == [("x.a", "pass")]


@pytest.mark.parametrize(
    ("result", "word"),
    [
        ("status='odd'/>", "'x.a', status 'odd'"),
        ("status='odd' result='passed'/>", "'x.a', status 'odd'"),
        ("result='GELUNGEN'/>", "'x.a', result 'GELUNGEN'"),
        ("><state>odd</state></testcase>", "'x.a', state 'odd'"),
        ("><step status='error_injected'/></testcase>", "'x.a', <step> status 'error_injected'"),
        ("><property name='state' value='failsafe'/></testcase>", "'x.a', state 'failsafe'"),
        ("/></testsuite><testsuite name='y' status='odd'>", "'y', status 'odd'"),
    ],
)
def test_a_word_that_is_not_known_is_said_once(read: Read, result: str, word: str) -> None:
    file = read(
        f"<testsuites><testsuite name='x'><testcase name='a' {result}</testsuite></testsuites>"
    )
    many = read(
        "<testsuite name='x'><testcase name='a' status='odd'/><testcase name='b' status='n/a'/>"
        "<testcase name='c' status='run'/><testcase name='d' status='odd'><failure/></testcase>"
        "<testcase name='e'><property name='state' value='idle'/><step status='odd'/></testcase>"
        "</testsuite>"
    )

    assert rows(file) == [("x.a", "pass", 1)]
    [note] = file.notes
    assert note.endswith(
        f": 1 result is given by a word that is not known (first: {word}), which counts as none."
        " Let the tests write one such as passed, failed or skipped"
    )
    [note] = many.notes
    assert ": 2 results are given by a word that is not known (first: 'x.a', status 'odd')" in note


def test_a_test_that_failed_by_an_attribute_has_its_text_as_message(read: Read) -> None:
    text = "<properties/>\nunable to open ftdi device\n<system-out>o</system-out>"
    file = read(f"<testsuite><testcase name='a' status='FAILED'>{text}</testcase></testsuite>")

    assert message_of(file) == "unable to open ftdi device"
    assert merged([file]).tests[0].verdict == "infra"


@pytest.mark.parametrize(
    "message",
    ["message='lost'", "message='lost' failures='1'", "failure='lost'", "error-message='lost'"],
)
def test_a_message_of_the_test_itself_is_that_of_its_failure(read: Read, message: str) -> None:
    case = f"<testcase name='a' result='fail' {message}/>"
    assert message_of(read(f"<testsuite>{case}</testsuite>")) == "lost"


STATES = st.sampled_from(list(State))


@given(st.lists(STATES, min_size=1, max_size=4), st.data())
def test_whoever_says_that_a_test_failed_wins(states: list[State], data: st.DataObject) -> None:
    """Whatever else is said beside it, in whatever order, by attributes, properties or elements."""
    elements = []
    for state in states:
        word = data.draw(st.sampled_from(sorted(evidence.WORDS[state])))
        elements.append(f"<{data.draw(st.sampled_from(sorted(evidence.STATES)))} value='{word}'/>")
    case = f"<testcase name='a'>{''.join(elements)}</testcase>"
    file = junit_results([f"<testsuite name='x'>{case}</testsuite>".encode()], ())

    failed = [attempt.outcome is Outcome.FAIL for attempt in file.attempts]
    assert failed == (
        [True]
        if State.FAILED in states
        else []
        if {State.SKIPPED, State.NOT_RUN} & set(states)
        else [False]
    )
    assert bool(file.missing) == (State.NOT_RUN in states and State.FAILED not in states)


# What a suite says


@pytest.mark.parametrize(
    ("suite", "line"),
    [
        ("failures='1'", "The suite 'x' counts 1 failure and 0 errors, its tests show 0"),
        ("errors='2'", "The suite 'x' counts 0 failures and 2 errors, its tests show 0"),
        ("failed='1'", "The suite 'x' counts 1 failure and 0 errors, its tests show 0"),
        *(
            (
                f"failures='0' {name}='1'",
                "The suite 'x' counts 1 failure and 0 errors, its tests show 0",
            )
            for name in ("failed", "failure-count", "failureCount", "numFailed", "unexpected")
        ),
        (
            "errors='0' timeouts='1'",
            "The suite 'x' counts 0 failures and 1 error, its tests show 0",
        ),
        ("status='failed'", "The suite 'x' failed (status 'failed'), and none of its tests did"),
        ("errors='many'", "The suite 'x' failed (errors 'many'), and none of its tests did"),
        ("success='False'", "The suite 'x' failed (success 'False'), and none of its tests did"),
        (
            "status='Node failure'",
            "The suite 'x' failed (status 'Node failure'), and none of its tests did",
        ),
        ("status='cancelled'", "The suite 'x' did not pass (status 'cancelled')"),
    ],
)
def test_a_suite_that_failed_without_a_failed_test_is_no_success(
    read: Read, suite: str, line: str
) -> None:
    file = read(f"<testsuite name='x' {suite}><testcase name='a'/></testsuite>")

    assert rows(file) == [("x.a", "pass", 1)]
    [fault] = file.faults
    assert fault.endswith(f": {line}. Look at its log: what failed is not among the results")
    assert not succeeded(file)


@pytest.mark.parametrize(
    "suite",
    [
        *("<property name='status' value='FAILED'/>", "<properties><property name='result' "),
        *("<status>failed</status>", "<result>error</result>"),
    ],
)
def test_an_element_of_a_suite_says_that_it_failed(read: Read, suite: str) -> None:
    if suite.endswith(" "):
        suite += "value='fail'/></properties>"
    file = read(f"<testsuite name='x'>{suite}<testcase name='a'/></testsuite>")

    assert "The suite 'x' failed (" in file.faults[0]


def test_a_summary_beside_the_tests_counts_as_their_suite_does(read: Read) -> None:
    file = read("<testsuite name='x'><summary failed='1'/><testcase name='a'/></testsuite>")

    assert "The suite 'x' counts 1 failure and 0 errors, its tests show 0" in file.faults[0]


def test_what_a_suite_counts_is_said_once_and_not_by_those_around_it(read: Read) -> None:
    inner = "<testsuite name='in' failures='2'><testcase name='a'><failure/></testcase></testsuite>"
    outer = f"<testsuite name='out' failures='2'>{inner}</testsuite>"
    file = read(f"<testsuites failures='2'>{outer}</testsuites>")

    [fault] = file.faults
    assert "The suite 'in' counts 2 failures and 0 errors, its tests show 1" in fault


def test_a_file_that_counts_more_than_its_suites_is_no_success(read: Read) -> None:
    file = read(
        "<testsuites name='all' failures='1'><testsuite name='x' failures='0'>"
        "<testcase name='a'/></testsuite></testsuites>"
    )

    assert (
        "The whole file ('all') counts 1 failure and 0 errors, its tests show 0" in file.faults[0]
    )


@pytest.mark.parametrize(
    "text",
    [
        # Catch2 and pytest's parts count failures, GoogleTest tests that failed.
        "<testsuite failures='2'><testcase name='a'><failure/><failure/></testcase></testsuite>",
        "<testsuite failures='1'><testcase name='a'><failure/><failure/></testcase></testsuite>",
        # Boost.Test counts what was aborted twice.
        "<testsuite failures='1' errors='1'><testcase name='a'><error/></testcase></testsuite>",
        # GoogleTest's file leaves out what failed outside its tests.
        "<testsuites failures='0'><testsuite failures='1'><failure/></testsuite></testsuites>",
        "<testsuite failures='1'><testcase name='a'><flakyFailure/></testcase></testsuite>",
        "<testsuite failures='1'><testcase name='a' status='blocked'/></testsuite>",
        "<testsuite><summary failed='1'/><testcase name='a'><failure/></testcase></testsuite>",
        "<testsuite failures='0.0' errors='-1' failed=''><testcase name='a'/></testsuite>",
    ],
)
def test_counts_of_any_kind_that_its_tests_explain_are_no_contradiction(
    read: Read, text: str
) -> None:
    assert read(text).faults == ()


@pytest.mark.parametrize("name", [path.name for path in sorted(SAMPLES.rglob("*.xml"))])
def test_no_file_that_a_tool_wrote_contradicts_itself(name: str) -> None:
    if name in {"broken.xml", "cut_short.xml", "doctype.xml", "empty.xml", "page.xml"} | {
        "robot_output.xml"
    }:
        return
    [path] = SAMPLES.rglob(name)

    file = read_results(path, BUILT_IN)

    assert file.faults == ()
    assert [note for note in file.notes if "said to" in note] == []


def test_a_file_that_contradicts_itself_in_three_ways_has_a_line_for_each(read: Read) -> None:
    file = read(
        "<testsuite name='x' failures='5'>"
        "<testcase name='a' status='passed'><failure/></testcase>"
        "<testcase name='b' status='skipped'><error/></testcase>"
        "<testcase name='c' result='passed' status='failed'/>"
        "<testcase name='d'/></testsuite>"
    )

    assert rows(file) == [
        ("x.a", "fail", 1),
        ("x.b", "fail", 1),
        ("x.c", "fail", 1),
        ("x.d", "pass", 1),
    ]
    [fault] = file.faults
    assert "The suite 'x' counts 5 failures and 0 errors, its tests show 3" in fault
    passed, skipped = file.notes
    assert passed.endswith(
        ": 2 tests are said to have failed and to have passed, too (first: 'x.a', status 'passed'"
        " and <failure>). What failed wins"
    )
    assert skipped.endswith(
        ": 1 test is said to have failed and to be skipped, too (first: 'x.b', status 'skipped'"
        " and <error>). What failed wins"
    )


# What did not run


def test_ctest_fails_what_it_could_not_run_and_so_is_the_run_no_success() -> None:
    file = sample("ctest_not_run.xml")

    assert rows(file) == [("host", "pass", 1), ("setup", "fail", 1)]
    assert file.skipped == 3
    assert file.missing == {
        "adc": "Unable to find executable: /x/adc",
        "needs": "Failed test dependencies: setup",
        "files": "Unable to find required file: /no/such.bin",
        "gone": "Unable to find executable: nosuchtarget",
    }


@pytest.mark.parametrize(
    "case",
    [
        "status='notrun'><skipped message='Unable to find executable: /x/adc'/>",
        "status='notrun'><skipped message='Fixture dependency failed'/>",
        "status='notrun'><skipped message='Insufficient resources'/>",
        "status='notrun'><skipped message='Not Run'/>",
        "status='blocked'>",
        *("status='cancelled'>", "status='stopped by user'>", "result='UNRESOLVED'>"),
        *("status='unknown'>", "><status>Canceled</status>"),
        "status='notrun'><skipped/><system-out>Unable to find executable: /x</system-out>",
        "><skipped message='Required Files Missing'/>",
        "><skipped>Failed test dependencies: setup</skipped>",
    ],
)
def test_a_test_that_could_not_run_did_not_pass(read: Read, case: str) -> None:
    file = read(f"<testsuite><testcase name='a' {case}</testcase><testcase name='b'/></testsuite>")

    assert rows(file) == [("b", "pass", 1)]
    assert (list(file.missing), file.skipped, file.faults) == (["a"], 0, ())
    assert not succeeded(file)


@pytest.mark.parametrize(
    "case",
    [
        "status='notrun'><skipped message='SKIP_RETURN_CODE=77'/>",
        "status='notrun'><skipped message='SKIP_REGULAR_EXPRESSION_MATCHED'/>",
        "status='disabled'>",
        "status='notrun' result='suppressed'>",
        "><skipped message='no camera on this bench'/>",
        "><skip/>",
        "executed='False'>",
        "status='XFAIL'>",
        "result='NotExecuted'>",
        "><skipped type='pytest.xfail' message='known'/>",
        "><skipped message='TEST_CASE tagged with !mayfail'/><failure message='1 == 2'/>",
    ],
)
def test_a_test_that_was_skipped_on_purpose_is_left_out(read: Read, case: str) -> None:
    file = read(f"<testsuite><testcase name='a' {case}</testcase><testcase name='b'/></testsuite>")

    assert (rows(file), file.skipped) == ([("b", "pass", 1)], 1)
    assert succeeded(file)


def test_what_could_not_run_at_first_and_ran_in_a_later_file_is_not_missing(read: Read) -> None:
    first = replace(
        read("<testsuite><testcase name='a' status='blocked'/></testsuite>"), path="first.xml"
    )
    results: BoxResults = merged([first, read("<testsuite><testcase name='a'/></testsuite>")])

    assert (results.missing, results.succeeded) == ({}, True)


# What fails outside any test


@pytest.mark.parametrize(
    ("name", "row", "verdict"),
    [
        ("googletest_environment.xml", ("NonTestSuiteFailure", "fail", 1), "infra"),
        ("googletest_teardown.xml", ("NonTestSuiteFailure", "fail", 1), "unknown"),
        ("googletest_suite_setup.xml", ("Spi", "fail", 1), "infra"),
        ("googletest_suite_teardown.xml", ("Spi", "fail", 1), "unknown"),
    ],
)
def test_a_failure_outside_any_test_is_a_failed_test_named_by_its_suite(
    name: str, row: tuple[str, str, int], verdict: str
) -> None:
    file = sample(name)

    assert rows(file)[-1] == row
    assert merged([file]).tests[-1].verdict == verdict
    assert message_of(file)
    assert file.faults == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("<testsuite name='x'><testcase name='a'/><failure message='m'/></testsuite>", "x"),
        ("<testsuite name='x'><setup status='failed'/><testcase name='a'/></testsuite>", "x"),
        ("<testsuite name='x'><teardown><failure/></teardown></testsuite>", "x"),
        ("<testsuite name='x'><error>m</error><testcase name='a'/></testsuite>", "x"),
        ("<testsuite name='x'><setupFailure>m</setupFailure></testsuite>", "x"),
        ("<testsuite name='x'><testcase name='a'/><failure/><error/></testsuite>", "x"),
        (
            "<testsuite name='x'><testcase name='a'/><testcase><failure/></testcase></testsuite>",
            "x",
        ),
        ("<testsuites name='all'><failure/><testsuite name='x'/></testsuites>", "all"),
        (
            "<testsuites><testsuite><testcase name='a'/><failure/></testsuite></testsuites>",
            "testsuite",
        ),
        ("<testsuite name='x'><testcase name='' classname='' status='failed'/></testsuite>", "x"),
    ],
)
def test_a_failure_beside_the_tests_is_one_failed_test(read: Read, text: str, name: str) -> None:
    file = read(text)

    assert [row for row in rows(file) if row[1] == "fail"] == [(name, "fail", 1)]
    assert file.faults == ()


def test_a_log_beside_the_tests_fails_nothing(read: Read) -> None:
    log = "<system-out><failure>x</failure></system-out><system-err>FAILED</system-err>"
    assert succeeded(read(f"<testsuite name='x'><testcase name='a'/>{log}</testsuite>"))


def test_failures_outside_any_test_count_where_a_file_breaks_off(read: Read) -> None:
    file = read("<testsuite name='x'><failure message='no board'/><testcase name='a'")

    assert rows(file) == [("x", "fail", 1)]
    assert "1 test before that counted; what follows is lost" in file.faults[0]
