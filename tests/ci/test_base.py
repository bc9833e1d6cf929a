# SPDX-License-Identifier: Apache-2.0
"""Since when a run counts what changed: who is asked, in which order, and who is believed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hwci.ci.asking import AskError, ask
from hwci.ci.base import find_base, lane_of
from hwci.ci.job import Job, find_job
from hwci.ci.state import State
from hwci.ci.told import Told
from tests.ci.answering import Answering, answering
from tests.ci.recorded import recorded

OLD, NEWER, LATER = ("a" * 40, "b" * 40, "d" * 40)
TOKEN = "t0ken"
BUILD = "0193a7e2-0000-4c43-9d66-6b2fbcf2ad5d"


def github_run(number: int, sha: str, conclusion: str = "success", **more: Any) -> dict[str, Any]:
    theirs = {"head_repository": {"full_name": "acme/firmware"}}
    return {"id": number, "head_sha": sha, "conclusion": conclusion, **theirs, **more}


GITHUB_PATH = "/repos/acme/firmware/actions/workflows/hil.yml/runs"
GITLAB_PATH = "/projects/88/pipelines"
BUILDKITE_PATH = "/v2/organizations/acme/pipelines/firmware-hil/builds"
AZURE_PATH = "/acme/firmware/_apis/build/builds"

# By system: the recorded job, how it is told where the API is, its token, and the answers.
SYSTEMS: Mapping[str, tuple[str, str, str, str, dict[str, object]]] = {
    "GitHub's API": (
        "github-push",
        "GITHUB_API_URL",
        "",
        "GITHUB_TOKEN",
        {
            GITHUB_PATH: {
                "workflow_runs": [
                    github_run(19543210999, LATER),
                    github_run(19543210987, LATER),
                    github_run(19543210950, LATER, "cancelled"),
                    github_run(19543210940, NEWER, "failure"),
                    github_run(19543210930, OLD),
                ]
            }
        },
    ),
    "GitLab's API": (
        "gitlab-push",
        "CI_API_V4_URL",
        "",
        "GITLAB_TOKEN",
        {
            GITLAB_PATH: [
                {"id": 4712, "sha": LATER},
                {"id": 4711, "sha": LATER},
                {"id": 4710, "sha": LATER},
                {"id": 4709, "sha": NEWER},
            ],
            f"{GITLAB_PATH}/4710/jobs": [
                {"id": 50, "name": "lint", "status": "success"},
                {"id": 51, "name": "hil 1/3", "status": "skipped"},
            ],
            f"{GITLAB_PATH}/4709/jobs": [{"id": 41, "name": "hil 1/3", "status": "failed"}],
        },
    ),
    "Azure's API": (
        "azure-ci",
        "SYSTEM_COLLECTIONURI",
        "/acme/",
        "SYSTEM_ACCESSTOKEN",
        {
            AZURE_PATH: {
                "value": [
                    {"id": 90211, "sourceVersion": LATER, "result": "succeeded"},
                    {"id": 90209, "sourceVersion": LATER, "result": "canceled"},
                    {"id": 90208, "sourceVersion": NEWER, "result": "failed"},
                ]
            }
        },
    ),
    "Buildkite's API": (
        "buildkite-webhook",
        "",
        "",
        "BUILDKITE_API_TOKEN",
        {
            BUILDKITE_PATH: [
                {"id": "x", "number": 58, "commit": LATER, "state": "passed"},
                {"id": "y", "number": 56, "commit": "HEAD", "state": "passed"},
                {"id": BUILD, "number": 55, "commit": NEWER, "state": "failed"},
            ]
        },
    ),
}


def asking(server: Answering) -> Any:
    """Buildkite's address is known to all: asked here instead."""
    return lambda address, headers: ask(
        address.replace("https://api.buildkite.com", server.address), headers
    )


def job_of(server: Answering, title: str, *, token: bool = True, **more: str) -> Job:
    name, variable, path, secret, _ = SYSTEMS[title]
    environ = recorded(name) | ({secret: TOKEN} if token else {}) | more
    if variable:
        environ[variable] = server.address + path
    return find_job({}, environ, None, None)


@pytest.mark.parametrize("title", SYSTEMS)
def test_the_api_of_the_ci_names_the_last_run_before_this_one_that_ended(
    title: str, tmp_path: Path
) -> None:
    with answering(SYSTEMS[title][-1]) as server:
        base, notes = find_base(job_of(server, title), State(tmp_path), asking(server))

    assert base == Told(NEWER, title)
    assert notes == ()
    assert all(TOKEN in " ".join(asked.headers.values()) for asked in server.asked)
    queries = " ".join(f"{key}={value}" for key, value in server.asked[0].query.items())
    assert "main" in queries
    assert TOKEN not in queries


@pytest.mark.parametrize("title", SYSTEMS)
def test_without_a_token_nobody_is_asked(title: str, tmp_path: Path) -> None:
    with answering(SYSTEMS[title][-1]) as server:
        job = job_of(server, title, token=False)
        base, _ = find_base(job, State(tmp_path), asking(server))

    assert base == Told(None, "default")
    assert server.asked == []


@pytest.mark.parametrize("title", SYSTEMS)
@pytest.mark.parametrize("answer", [403, 500, 302, b"", b"{", b"[" * 100_000, b"\xff"])
def test_an_api_that_gives_no_answer_is_told_and_passed_over(
    title: str, answer: object, tmp_path: Path
) -> None:
    with answering(dict.fromkeys(SYSTEMS[title][-1], answer)) as server:
        base, notes = find_base(job_of(server, title), State(tmp_path), asking(server))

    assert base.value is None
    assert len(notes) == 1
    assert TOKEN not in notes[0]
    assert [asked.path for asked in server.asked if asked.path == "/elsewhere"] == []


@pytest.mark.parametrize("title", SYSTEMS)
@pytest.mark.parametrize(
    "answer", [None, 7, {}, [], [[]], [{}], {"workflow_runs": {}}, {"value": [None, {"id": "1"}]}]
)
def test_an_answer_of_another_shape_lists_nothing(
    title: str, answer: object, tmp_path: Path
) -> None:
    with answering(dict.fromkeys(SYSTEMS[title][-1], [answer] if answer is None else answer)) as it:
        base, _ = find_base(job_of(it, title), State(tmp_path), asking(it))

    assert base.value is None


def test_an_api_that_is_away_is_told(tmp_path: Path) -> None:
    with answering({}) as server:
        job = job_of(server, "GitHub's API")

    base, (note,) = find_base(job, State(tmp_path), ask)

    assert base.value is None
    assert "no answer" in note
    with pytest.raises(AskError):
        ask("file:///etc/passwd", {})


def test_a_run_that_is_known_to_have_lost_its_bench_is_passed_over(tmp_path: Path) -> None:
    state = State(tmp_path)
    with answering(SYSTEMS["GitHub's API"][-1]) as server:
        job = job_of(server, "GitHub's API")
        lane = lane_of(job)
        assert lane is not None
        state.tested(lane, 19543210940, NEWER, hello_ok=False, changes=None)
        lost, _ = find_base(job, state, ask)
        # And one that was cancelled after it had tested counts.
        state.tested(lane, 19543210950, LATER, hello_ok=True, changes=None)
        cancelled, _ = find_base(job, state, ask)

    assert lost.value == OLD
    assert cancelled.value == LATER


def test_each_attempt_of_a_run_has_the_same_base_by_the_api(tmp_path: Path) -> None:
    """Runs that came after its first attempt are not before it."""
    runs = [github_run(19543211000 + number, LATER, "failure") for number in range(150)]
    path_runs = [*runs, github_run(19543210940, NEWER)]
    pages = {GITHUB_PATH: b""}
    with answering(dict(pages)) as server:
        job = job_of(server, "GitHub's API")

        def paged(address: str, headers: Mapping[str, str]) -> object:
            assert headers["Authorization"] == f"Bearer {TOKEN}"
            page = int(address.rpartition("page=")[2])
            return {"workflow_runs": path_runs[(page - 1) * 100 : page * 100]}

        base, _ = find_base(job, State(tmp_path), paged)

    assert base.value == NEWER


def test_a_branch_of_a_fork_is_not_ours(tmp_path: Path) -> None:
    theirs = {"head_repository": {"full_name": "stranger/firmware"}}
    runs = [github_run(5, LATER) | theirs, github_run(4, NEWER)]
    with answering({GITHUB_PATH: {"workflow_runs": runs}}) as server:
        ours, _ = find_base(job_of(server, "GitHub's API"), State(tmp_path), ask)
        environ = recorded("github-fork") | {
            "GITHUB_TOKEN": TOKEN,
            "GITHUB_API_URL": server.address,
        }
        fork = find_job({}, environ, None, None)
        owner = fork.value("branch").partition(":")[0]
        runs[0]["head_repository"]["full_name"] = f"{owner}/firmware"
        of_fork, _ = find_base(fork, State(tmp_path), ask)

    assert ours.value == NEWER
    assert of_fork.value == LATER
    assert server.asked[1].query["branch"] == "main"


# Who is believed first


def test_a_person_is_believed_first(tmp_path: Path) -> None:
    with answering(SYSTEMS["GitHub's API"][-1]) as server:
        job = job_of(server, "GitHub's API", HWCI_BASE_SHA="C" * 40)
        none = job_of(server, "GitHub's API", HWCI_BASE_SHA="0" * 40)

        assert find_base(job, State(tmp_path), ask)[0] == Told("c" * 40, "HWCI_BASE_SHA")
        assert find_base(none, State(tmp_path), ask)[0].value is None
        assert server.asked == []


def jenkins(tmp_path: Path) -> tuple[Job, State]:
    environ = recorded("jenkins-multibranch")
    return find_job({}, environ, None, None), State(tmp_path)


def test_the_variable_of_the_ci_is_believed_before_this_machine(tmp_path: Path) -> None:
    job, state = jenkins(tmp_path)
    lane = lane_of(job)
    assert lane is not None
    state.tested(lane, 1, OLD, hello_ok=True, changes=None)

    assert find_base(job, state, ask)[0] == Told("1" * 40, "GIT_PREVIOUS_COMMIT")


def test_a_variable_that_names_a_run_that_lost_its_bench_is_not(tmp_path: Path) -> None:
    job, state = jenkins(tmp_path)
    lane = lane_of(job)
    assert lane is not None
    state.tested(lane, 1, OLD, hello_ok=True, changes=None)
    state.tested(lane, 2, "1" * 40, hello_ok=False, changes=None)

    assert find_base(job, state, ask)[0] == Told(OLD, "state file")


def test_a_first_run_has_no_base(tmp_path: Path) -> None:
    environ = recorded("circleci-push")

    assert find_base(find_job({}, environ, None, None), State(tmp_path), ask) == (
        Told(None, "default"),
        (),
    )


def test_what_came_before_an_attempt_that_ran_elsewhere_is_not_guessed(tmp_path: Path) -> None:
    job = find_job({}, recorded("github-push"), None, None)
    state, lane = State(tmp_path), lane_of(job)
    assert lane is not None
    assert job.value("run_attempt") == 2
    state.tested(lane, 1, OLD, hello_ok=True, changes=None)

    assert find_base(job, state, ask)[0].value is None
    state.tested(lane, job.value("run_id"), LATER, hello_ok=True, changes=None)
    assert find_base(job, state, ask)[0] == Told(OLD, "state file")
