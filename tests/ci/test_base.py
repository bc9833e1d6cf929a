# SPDX-License-Identifier: Apache-2.0
"""Since when a run counts what changed: who is asked, in which order, and who is believed."""

from collections.abc import Mapping

import pytest

from hwci.ci.detect import find_job
from hwci.ci.job import Sourced, job_run_id, product_run_id
from hwci.ci.reporting.base import find_base
from hwci.ci.systems.api import ApiError, get_json
from hwci.client.store import PastRuns
from tests.ci.answering import answering
from tests.ci.apis import APIS, LATER, NEWER, OLD, TOKEN, answers_of, asking, job_of, knowing
from tests.support.recorded import recorded


@pytest.mark.parametrize("title", APIS)
def test_the_api_of_the_ci_names_the_last_run_before_this_one_that_succeeded(title: str) -> None:
    with answering(answers_of(title)) as server:
        base, notes = find_base(job_of(server, title), PastRuns(), asking(server))

    assert base == Sourced(NEWER, title)
    assert notes == ()
    assert all(TOKEN in " ".join(asked.headers.values()) for asked in server.asked)
    queries = " ".join(f"{key}={value}" for key, value in server.asked[0].query.items())
    assert "main" in queries
    assert TOKEN not in queries


def find_after(
    title: str,
    ended: str,
    remembered: Mapping[int, tuple[str, bool]],
    **more: str,
) -> tuple[Sourced[str | None], tuple[str, ...]]:
    """Find the base where the newer run ended in a way, and a bench remembers runs."""
    with answering(answers_of(title, ended)) as server:
        job = job_of(server, title, token=True, **FIRST_ATTEMPT, **more)
        runs = ((run_id, *run) for run_id, run in remembered.items())
        return find_base(job, knowing(job, *runs), asking(server))


FIRST_ATTEMPT = {
    "GITHUB_RUN_ATTEMPT": "1",
    "BUILDKITE_RETRY_COUNT": "0",
    "SYSTEM_JOBATTEMPT": "1",
}


@pytest.mark.parametrize("title", APIS)
def test_a_run_that_failed_and_that_this_bench_never_saw_is_no_base(title: str) -> None:
    """Its build may have failed: the bug that it brought is still under test."""
    api = APIS[title]

    base, (note,) = find_after(title, api.failed, {api.old: (OLD, True)})

    assert base == Sourced(OLD, "the run before, kept on this bench")
    assert f"{title} does not show what {api.name} on {NEWER[:12]} tested" in note
    assert f"changes count from {OLD[:12]} (the run before, kept on this bench)" in note


@pytest.mark.parametrize("title", APIS)
def test_a_run_that_failed_on_this_bench_is_the_base(title: str) -> None:
    api = APIS[title]
    remembered = {api.old: (OLD, True), api.newer: (NEWER, True)}

    assert find_after(title, api.failed, remembered) == (Sourced(NEWER, title), ())


@pytest.mark.parametrize("title", APIS)
def test_what_another_product_tested_on_this_bench_says_nothing_of_this_one(title: str) -> None:
    api = APIS[title]
    with answering(answers_of(title, api.failed)) as server:
        gateway, sensor = (
            job_of(server, title, token=True, **FIRST_ATTEMPT, HWCI_SUITE=suite)
            for suite in ("gateway", "sensor")
        )
        result = {
            job.value("suite"): find_base(job, past, asking(server))[0].value
            for job, past in (
                (gateway, knowing(gateway, (api.newer, NEWER, True))),
                (sensor, knowing(sensor)),
            )
        }

    assert result == {"gateway": NEWER, "sensor": None}


@pytest.mark.parametrize("title", APIS)
def test_a_run_is_remembered_by_the_number_of_its_product(title: str) -> None:
    """Where a repository has several, their runs in one build are apart."""
    api = APIS[title]
    of_it = product_run_id(api.newer, "sensor")
    remembered = {of_it: (NEWER, True)}

    found = find_after(title, api.failed, remembered, HWCI_SUITE="sensor")
    other = find_after(title, api.failed, remembered, HWCI_SUITE="gateway")

    assert found == (Sourced(NEWER, title), ())
    assert other[0].value is None


@pytest.mark.parametrize("title", ["GitHub's API", "Azure's API"])
def test_a_run_is_remembered_by_the_number_of_this_job(title: str) -> None:
    """Where another job of that build had come to this box before."""
    api = APIS[title]
    name = find_job({}, api.environ, None, None).name
    assert name is not None

    found = find_after(title, api.failed, {job_run_id(api.newer, name): (NEWER, True)})

    assert found == (Sourced(NEWER, title), ())


@pytest.mark.parametrize("title", APIS)
def test_a_run_that_lost_this_bench_is_passed_over(title: str) -> None:
    api = APIS[title]

    for ended in (api.passed, api.failed):
        remembered = {api.newer: (NEWER, False)}
        assert find_after(title, ended, remembered) == (Sourced(OLD, title), ())


@pytest.mark.parametrize("title", APIS)
def test_where_a_person_numbers_the_runs_this_bench_knows_them_by_their_commits(title: str) -> None:
    """Two jobs of a build that test on one box have a number each, which the CI does not know."""
    failed, own = APIS[title].failed, {"HWCI_RUN_ID": "1954321098799"}

    tested = find_after(title, failed, {91: (NEWER, True)}, **own)
    lost = find_after(title, failed, {91: (NEWER, False)}, **own)
    unknown = find_after(title, failed, {91: ("e" * 40, True)}, **own)
    not_numbered = find_after(title, failed, {91: (NEWER, True)})

    assert tested == (Sourced(NEWER, title), ())
    assert lost == (Sourced(OLD, title), ())
    assert unknown[0].value is None
    assert not_numbered[0].value is None


@pytest.mark.parametrize("title", APIS)
def test_a_doubt_says_what_to_do(title: str) -> None:
    """Nor does a bench that missed a run which did test, as others test here, too."""
    nothing: dict[int, tuple[str, bool]] = {}
    for remembered in (nothing, {1: (LATER, True)}):
        base, (note,) = find_after(title, APIS[title].failed, remembered)

        assert base == Sourced(None, "default")
        assert f"{APIS[title].name} on {NEWER[:12]}" in note
        assert "HWCI_STATE_DIR" in note
        assert "--base-sha" in note


@pytest.mark.parametrize("title", APIS)
def test_without_a_token_no_api_is_asked_and_the_missing_base_is_noted(title: str) -> None:
    with answering(answers_of(title)) as server:
        job = job_of(server, title, token=False, **FIRST_ATTEMPT)
        base, (note,) = find_base(job, PastRuns(), asking(server))
        known = find_base(job, knowing(job, (1, OLD, True)), asking(server))

    assert base == Sourced(None, "default")
    assert note.startswith(f"{title} was not asked which run tested before this one: that needs ")
    assert APIS[title].secret in note
    assert known == (Sourced(OLD, "the run before, kept on this bench"), ())
    assert server.asked == []


@pytest.mark.parametrize("title", APIS)
@pytest.mark.parametrize("answer", [403, 500, 302, b"", b"{", b"[" * 100_000, b"\xff"])
def test_an_api_that_gives_no_answer_is_noted_and_passed_over(title: str, answer: object) -> None:
    with answering(dict.fromkeys(APIS[title].answers, answer)) as server:
        base, notes = find_base(job_of(server, title), PastRuns(), asking(server))

    assert base.value is None
    assert len(notes) == 1
    assert TOKEN not in notes[0]
    assert [asked.path for asked in server.asked if asked.path == "/elsewhere"] == []


def test_an_api_that_is_away_is_noted() -> None:
    with answering({}) as server:
        job = job_of(server, "GitHub's API")

    base, (note,) = find_base(job, PastRuns(), get_json)

    assert base.value is None
    assert "no answer" in note
    with pytest.raises(ApiError):
        get_json("file:///etc/passwd", {})


def test_a_run_that_was_cancelled_after_it_had_tested_counts() -> None:
    with answering(answers_of("GitHub's API")) as server:
        job = job_of(server, "GitHub's API")
        cancelled, _ = find_base(job, knowing(job, (19543210950, LATER, True)), get_json)

    assert cancelled.value == LATER


# Who is believed first


def test_a_person_is_believed_first() -> None:
    with answering(answers_of("GitHub's API")) as server:
        job = job_of(server, "GitHub's API", HWCI_BASE_SHA="C" * 40)
        none = job_of(server, "GitHub's API", HWCI_BASE_SHA="0" * 40)

        assert find_base(job, PastRuns(), get_json)[0] == Sourced("c" * 40, "HWCI_BASE_SHA")
        assert find_base(none, PastRuns(), get_json)[0].value is None
        assert server.asked == []


PREVIOUS = "1" * 40


def jenkins(
    succeeded: str, remembered: Mapping[str, bool]
) -> tuple[Sourced[str | None], tuple[str, ...]]:
    """Find the base where builds before this one ended, and a bench remembers some."""
    environ = recorded("jenkins-multibranch")
    assert environ["GIT_PREVIOUS_COMMIT"] == PREVIOUS
    environ["GIT_PREVIOUS_SUCCESSFUL_COMMIT"] = succeeded
    job = find_job({}, environ, None, None)
    runs = ((run_id, *run) for run_id, run in enumerate(remembered.items()))
    return find_base(job, knowing(job, *runs), get_json)


BY_JENKINS = Sourced(PREVIOUS, "GIT_PREVIOUS_COMMIT")


def test_the_variable_of_the_ci_is_believed_where_that_build_succeeded() -> None:
    assert jenkins(PREVIOUS, {OLD: True}) == (BY_JENKINS, ())


def test_the_variable_of_the_ci_is_believed_where_this_bench_tested_its_commit() -> None:
    remembered = {PREVIOUS: True, LATER: True}

    assert jenkins(OLD, remembered) == (BY_JENKINS, ())


def test_a_variable_that_names_a_build_that_this_bench_never_saw_is_not() -> None:
    remembered = {OLD: True, NEWER: True}  # the newer failed on this bench
    base, (note,) = jenkins(OLD, remembered)

    assert base == Sourced(NEWER, "the run before, kept on this bench")
    assert f"GIT_PREVIOUS_COMMIT does not show what the run on {PREVIOUS[:12]} tested" in note


@pytest.mark.parametrize("succeeded", [OLD, ""])
def test_a_variable_in_doubt_is_no_base_where_this_bench_knows_no_better(succeeded: str) -> None:
    base, (note,) = jenkins(succeeded, {NEWER: True} if succeeded else {})

    assert base == Sourced(None, "default")
    assert "--base-sha" in note


def test_a_variable_that_names_a_run_that_lost_its_bench_is_not() -> None:
    remembered = {OLD: True, PREVIOUS: False}

    assert jenkins(OLD, remembered) == (Sourced(OLD, "the run before, kept on this bench"), ())


def test_a_first_run_has_no_base() -> None:
    environ = recorded("circleci-push")

    assert find_base(find_job({}, environ, None, None), PastRuns(), get_json) == (
        Sourced(None, "default"),
        (),
    )


def test_what_came_before_an_attempt_that_ran_elsewhere_is_not_guessed() -> None:
    job = find_job({}, recorded("github-push"), None, None)
    assert job.value("run_attempt") == 2
    earlier, own = (1, OLD, True), (job.value("run_id"), LATER, True)

    assert find_base(job, knowing(job, earlier), get_json)[0].value is None
    found, _ = find_base(job, knowing(job, earlier, own), get_json)
    assert found == Sourced(OLD, "the run before, kept on this bench")
