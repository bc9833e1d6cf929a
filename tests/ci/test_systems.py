# SPDX-License-Identifier: Apache-2.0
"""What each CI system says of a job, by its cases (`tests/ci/systems`), and what single ones do."""

import json
import os
from pathlib import Path

import pytest

from hwci.ci.detect import find_job
from hwci.ci.git.repository import Repository
from hwci.ci.job import Job
from hwci.ci.systems import SYSTEMS
from hwci.ci.systems.system import System, slug
from hwci.contract.ci_systems import CiSystem
from tests.ci.systems import CASES
from tests.ci.systems.cases import BEFORE, MANUAL, MERGE, TESTED
from tests.support.clones import git
from tests.support.recorded import NAMES, recorded

ALL = CASES.values()


def job(name: str, **variables: str) -> Job:
    return find_job({}, recorded(name) | variables, None, None)


@pytest.mark.parametrize(
    ("name", "field", "value", "by"), [row for cases in ALL for row in cases.fields]
)
def test_a_system_says_a_field(name: str, field: str, value: object, by: str) -> None:
    result = job(name).fields[field]

    assert (result.value, result.source) == (value, by)


@pytest.mark.parametrize(("name", "field"), [row for cases in ALL for row in cases.unsaid])
def test_a_system_does_not_say_what_is_not_so(name: str, field: str) -> None:
    assert field not in job(name).fields


@pytest.mark.parametrize("name", NAMES)
def test_a_job_is_known_by_its_system_and_nothing_in_it_is_odd(name: str) -> None:
    found = job(name)

    assert found.system == name.partition("-")[0]
    assert found.bad_settings == ()


def test_a_name_with_a_blank_is_written_into_the_address_of_the_job() -> None:
    url = job("azure-ci", SYSTEM_TEAMPROJECT="Board Lab").value("ci_url")

    assert url.startswith("https://dev.azure.com/acme/Board%20Lab/_build/results?buildId=90210&")


NO_PAGE = {
    "a script": "javascript:alert(1)",
    "9 kB": f"https://ci.example/{'x' * 9_000}",
    "a blank": "https://ci.example/a b",
    "a command for a terminal": "https://ci.example/\x1b[2J",
    "a line break": "https://ci.example/\n::error::",
    "a password": "https://ada:hunter2@ci.example/7",
    "no host": "https:///7",
    "no scheme": "ci.example/7",
    "other letters": "https://ci.example/größe",
}


@pytest.mark.parametrize("url", NO_PAGE.values(), ids=NO_PAGE)
def test_a_wrong_page_of_a_job_is_left_out_and_named_in_one_line(url: str) -> None:
    said = find_job({"ci_url": url}, recorded("gitlab-push"), None, None)
    of_ci = job("gitlab-push", CI_JOB_URL=url)

    assert "ci_url" not in said.fields
    (line,) = said.unreadable
    assert line.startswith("--ci-url is ")
    assert len(line) < 250
    assert line.isprintable()
    assert of_ci.unreadable[0].startswith("CI_JOB_URL is ")
    assert of_ci.bad_settings == ()


def test_every_system_is_recorded() -> None:
    assert {name.partition("-")[0] for name in NAMES} == {system.name for system in SYSTEMS}


def test_each_system_has_the_name_of_its_module() -> None:
    assert [system.name for system in SYSTEMS] == list(CiSystem)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_the_guide_has_a_word_for_what_a_system_says_and_for_nothing_else(system: System) -> None:
    fields = ("run_id", "rerun_of", "box_key", "ci_url", "conclusion")

    assert [field in system.guide for field in fields] == [
        field in system.readers for field in fields
    ]


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [row for cases in ALL for row in cases.two_runs],
)
def test_two_jobs_of_one_build_are_two_runs(
    name: str, one: dict[str, str], other: dict[str, str]
) -> None:
    """On the same box, the second would else replace the report of the first."""
    assert job(name, **one).value("run_id") != job(name, **other).value("run_id")


def test_a_job_of_buildkite_that_is_retried_is_the_same_run() -> None:
    step = {"BUILDKITE_STEP_KEY": "hil", "BUILDKITE_LABEL": ":chip: hil"}
    first = job("buildkite-webhook", **step, BUILDKITE_RETRY_COUNT="0", BUILDKITE_JOB_ID="1")
    again = job("buildkite-webhook", **step, BUILDKITE_RETRY_COUNT="1", BUILDKITE_JOB_ID="2")

    assert first.value("run_id") == again.value("run_id")
    assert [first.value("run_attempt"), again.value("run_attempt")] == [1, 2]


@pytest.mark.parametrize("value", ["", "false", "0"])
def test_a_variable_that_says_no_is_no_system(value: str) -> None:
    assert find_job({}, {"GITHUB_ACTIONS": value}, None, None).system is None


def test_jenkins_of_the_machine_does_not_hide_the_system_of_the_job() -> None:
    assert job("buildkite-webhook", JENKINS_URL="https://jenkins.example/").system == "buildkite"


def test_what_the_ci_itself_takes_for_the_run_before_is_handed_on() -> None:
    previous = job("jenkins-multibranch").previous_sha

    assert previous is not None
    assert (previous.value, previous.source) == (BEFORE, "GIT_PREVIOUS_COMMIT")
    assert job("gitlab-push").previous_sha is None  # not each push had a run


def test_the_commits_of_a_push_are_handed_on_as_the_event_lists_them() -> None:
    assert job("github-push").pushed_shas == ("5" * 40, TESTED)
    assert job("gitlab-push").pushed_shas == ()


def test_the_newest_commits_are_kept_if_a_report_cannot_cover_all(tmp_path: Path) -> None:
    shas = [f"{number:040x}" for number in range(1, 1_501)]
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"commits": [{"id": sha} for sha in shas]}))

    assert job("github-push", GITHUB_EVENT_PATH=str(event)).pushed_shas == tuple(shas[-1_000:])


def test_a_merge_that_a_queue_only_tries_is_known_as_such() -> None:
    assert job("github-merge-group").queued
    assert not job("github-push").queued


def test_a_push_is_a_merge_on_the_branches_that_are_merged_into_only() -> None:
    push = {"CI_COMMIT_BRANCH": "release/2.x", "CI_COMMIT_REF_NAME": "release/2.x"}

    assert job("gitlab-push", **push).value("trigger") is MANUAL
    told = {**push, "HWCI_MERGE_BRANCHES": "main, release/*"}
    assert job("gitlab-push", **told).value("trigger") is MERGE
    assert job("github-push", GITHUB_REF_NAME="wip").value("trigger") is MANUAL
    assert job("azure-ci", BUILD_SOURCEBRANCH="refs/heads/wip").value("trigger") is MANUAL


def test_gitlab_counts_by_pipeline_only_when_someone_says_the_attempt() -> None:
    found = job("gitlab-push", HWCI_RUN_ATTEMPT="2")

    assert (found.value("run_id"), found.value("run_attempt")) == (4711, 2)


def test_a_child_of_a_push_to_another_branch_is_no_merge() -> None:
    assert job("gitlab-child", CI_COMMIT_BRANCH="wip").value("trigger") is MANUAL


def test_a_pull_request_that_was_merged_into_another_branch_is_no_merge() -> None:
    found = job("github-merged", HWCI_MERGE_BRANCHES="release/*")
    assert (found.value("branch"), found.value("trigger")) == ("main", MANUAL)


def test_jenkins_reports_the_head_of_a_pull_request_that_it_builds_merged(tmp_path: Path) -> None:
    def made(*words: str) -> str:
        git(tmp_path, *words)
        return git(tmp_path, "rev-parse", "HEAD").strip()

    def commit(message: str) -> str:
        return made("commit", "--quiet", "--allow-empty", "-m", message)

    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit("the start")
    git(tmp_path, "checkout", "--quiet", "-b", "faster-boot")
    head = commit("boot faster")
    git(tmp_path, "checkout", "--quiet", "main")
    target = commit("the target goes on")
    git(tmp_path, "checkout", "--quiet", "--detach", head)
    own = made("merge", "--quiet", "--no-ff", "main", "-m", "people merge, too")
    git(tmp_path, "checkout", "--quiet", "--detach", head)
    words = ("commit-tree", f"{own}^{{tree}}", "-p", head, "-p", target, "-m", "Merge")
    merged = git(tmp_path, *words, GIT_COMMITTER_EMAIL="nobody@nowhere").strip()

    for built, tested in ((merged, head), (own, own), (head, head)):
        git(tmp_path, "checkout", "--quiet", "--detach", built)
        said = {"GIT_COMMIT": built, "GIT_PREVIOUS_COMMIT": built}
        found = find_job({}, recorded("jenkins-change") | said, Repository(tmp_path), None)
        assert found.value("sha") == tested
        assert found.previous_sha is not None
        assert found.previous_sha.value == tested
        assert found.before_sha == found.previous_sha


def test_builds_of_the_same_number_in_two_jobs_are_two_runs() -> None:
    one, other = (
        job("jenkins-freestyle", JOB_NAME=name).value("run_id") for name in ("smoke", "nightly")
    )

    assert one != other
    assert 0 <= one < 2**53


def test_a_board_of_github_is_no_bench() -> None:
    assert "box_key" not in job("github-push", RUNNER_ENVIRONMENT="github-hosted").fields


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "it is not JSON"),
        ("[]", "it is not a JSON object"),
        ("{", "it is not JSON"),
        ("\udcff", "it is not JSON"),
        ('{"before": 1, "commits": {}}', None),
        (None, "No such file or directory"),
        ("a pipe", "it is not a file but a pipe or a device"),
    ],
)
def test_an_event_file_that_cannot_be_read_sets_no_field_and_is_noted(
    tmp_path: Path, content: str | None, why: str | None
) -> None:
    event = tmp_path / "event.json"
    if content == "a pipe":
        os.mkfifo(event)
    elif content is not None:
        event.write_text(content, errors="surrogateescape")

    found = job("github-push", GITHUB_EVENT_PATH=str(event))

    assert (found.value("sha"), found.value("branch")) == (TESTED, "main")
    assert found.before_sha is None
    told = f"The event of this run cannot be read (GITHUB_EVENT_PATH): {event}: {why}"
    assert found.unreadable == ((told,) if why else ())
    assert job("github-push", GITHUB_EVENT_PATH="").unreadable == ()


def test_the_event_of_a_pull_request_of_a_deleted_fork_keeps_its_owner(tmp_path: Path) -> None:
    event = json.loads(Path(recorded("github-fork")["GITHUB_EVENT_PATH"]).read_text())
    event["pull_request"]["head"]["repo"] = None
    (tmp_path / "event.json").write_text(json.dumps(event))

    found = job("github-fork", GITHUB_EVENT_PATH=str(tmp_path / "event.json"))

    assert found.value("branch") == "mallory:main"


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("git@github.com:acme/firmware.git", "acme/firmware"),
        ("https://github.com/acme/firmware", "acme/firmware"),
        ("https://user:hunter2@git.example/acme/firmware.git/", "acme/firmware"),
        ("https://git.example/acme/firmware.git?token=hunter2#x", "acme/firmware"),
        ("ssh://git@git.example:7999/acme/firmware.git", "acme/firmware"),
        ("git.example:boards/acme/firmware.git", "boards/acme/firmware"),
        ("https://dev.azure.com/acme/boards/_git/firm%20ware", "acme/boards/firm ware"),
        ("https://acme@dev.azure.com/acme/boards/_git/firmware", "acme/boards/firmware"),
        ("https://dev.azure.com/acme/_git/boards", "acme/boards/boards"),
        ("git@ssh.dev.azure.com:v3/acme/boards/firmware", "acme/boards/firmware"),
        ("ssh://git@ssh.dev.azure.com:22/v3/acme/boards/firm%20ware", "acme/boards/firm ware"),
        ("acme@vs-ssh.visualstudio.com:v3/acme/boards/firmware", "acme/boards/firmware"),
        ("https://acme.visualstudio.com/boards/_git/firmware", "acme/boards/firmware"),
        ("https://acme.visualstudio.com/DefaultCollection/boards/_git/x", "acme/boards/x"),
        ("https://acme.visualstudio.com/_git/boards", "acme/boards/boards"),
        ("https://tfs.example/v3/acme/_git/boards", "v3/acme/boards"),
        ("/srv/git/firmware.git", "firmware"),
        ("file:///srv/git/firmware.git", "firmware"),
        ("../firmware", "firmware"),
        ("C:/git/firmware.git", "firmware"),
        ("", None),
        ("https://git.example", None),
        ("https://[bad", None),
    ],
)
def test_a_repository_is_named_by_its_address_without_what_is_secret(
    address: str, name: str | None
) -> None:
    assert slug(address) == name
