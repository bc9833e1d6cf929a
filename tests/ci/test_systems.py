# SPDX-License-Identifier: Apache-2.0
"""What each CI system says of a job: each row is a recorded environment, a field and its value."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hwci.ci.detect import find_job
from hwci.ci.git.repository import Repository
from hwci.ci.job import Job, hashed_run_id
from hwci.ci.systems import SYSTEMS
from hwci.ci.systems.system import slug
from hwci.contract.vocabulary import Trigger
from tests.support.clones import git
from tests.support.recorded import NAMES, recorded

TESTED = "6f1c1e4b2d3a49587766554433221100ffeeddcc"
BEFORE = "1" * 40
HEAD_OF_PULL = "3" * 40
EVENT = "GitHub's event file"
MERGE, NIGHTLY, MANUAL = Trigger.MERGE, Trigger.NIGHTLY, Trigger.MANUAL
BUILD = hashed_run_id("0193a7e2-5e0b-4c43-9d66-6b2fbcf2ad5d")
CIRCLE_JOB = hashed_run_id("aa11bb22-0f1e-4d2c-8b3a-123456789abc")
BRANCH_BUILD = hashed_run_id("boards/firmware/release%2F2.x#57")
JOB_START = datetime(2026, 11, 20, 16, 25, 7, tzinfo=UTC)
PIPELINE_START = datetime(2026, 11, 20, 16, 23, 24, tzinfo=UTC)
AT_1620 = datetime(2026, 11, 20, 16, 20, tzinfo=UTC)

# Recording, field, value, and who told it.
ROWS: list[tuple[str, str, object, str]] = [
    ("github-push", "repo_key", "acme/firmware", "GITHUB_REPOSITORY"),
    ("github-push", "workflow", "hil", "GITHUB_WORKFLOW"),
    ("github-push", "run_id", 19543210987, "GITHUB_RUN_ID"),
    ("github-push", "run_attempt", 2, "GITHUB_RUN_ATTEMPT"),
    ("github-push", "sha", TESTED, "GITHUB_SHA"),
    ("github-push", "branch", "main", "GITHUB_REF_NAME"),
    ("github-push", "trigger", MERGE, "GITHUB_EVENT_NAME"),
    ("github-push", "box_key", "bench-1", "RUNNER_NAME"),
    ("github-push", "merged_at", AT_1620, EVENT),
    ("github-push", "before_sha", BEFORE, EVENT),
    ("github-pull-request", "sha", HEAD_OF_PULL, EVENT),
    ("github-pull-request", "branch", "faster-boot", "GITHUB_HEAD_REF"),
    ("github-pull-request", "trigger", MANUAL, "GITHUB_EVENT_NAME"),
    ("github-merged", "sha", TESTED, EVENT),
    ("github-merged", "branch", "main", EVENT),
    ("github-merged", "trigger", MERGE, EVENT),
    ("github-merged", "merged_at", AT_1620, EVENT),
    ("github-dropped", "sha", HEAD_OF_PULL, EVENT),
    ("github-dropped", "branch", "faster-boot", "GITHUB_HEAD_REF"),
    ("github-dropped", "trigger", MANUAL, "GITHUB_EVENT_NAME"),
    ("github-fork", "sha", HEAD_OF_PULL, EVENT),
    ("github-fork", "branch", "mallory:main", EVENT),
    ("github-fork", "trigger", MANUAL, "GITHUB_EVENT_NAME"),
    ("github-workflow-run", "sha", TESTED, EVENT),
    ("github-workflow-run", "branch", "main", EVENT),
    ("github-workflow-run", "trigger", MERGE, EVENT),
    ("github-workflow-run-failed", "rerun_of", 19543210000, EVENT),
    ("github-workflow-run-of-fork", "branch", "mallory:main", EVENT),
    ("github-workflow-run-of-fork", "trigger", MANUAL, EVENT),
    ("github-merge-group", "branch", "release/2.x", "GITHUB_REF_NAME"),
    ("github-merge-group", "trigger", MERGE, "GITHUB_EVENT_NAME"),
    ("github-merge-group", "before_sha", BEFORE, EVENT),
    ("github-schedule", "trigger", NIGHTLY, "GITHUB_EVENT_NAME"),
    ("github-dispatch", "trigger", MANUAL, "GITHUB_EVENT_NAME"),
    ("github-tag", "branch", "tags/main", "GITHUB_REF_NAME"),
    ("github-tag", "trigger", MANUAL, "GITHUB_REF_TYPE"),
    ("gitlab-push", "repo_key", "acme/boards/firmware", "CI_PROJECT_PATH"),
    ("gitlab-push", "workflow", "hil", "CI_JOB_NAME"),
    ("gitlab-push", "run_id", 50861, "CI_JOB_ID"),
    ("gitlab-push", "run_attempt", 1, "default"),
    ("gitlab-push", "sha", TESTED, "CI_COMMIT_SHA"),
    ("gitlab-push", "branch", "main", "CI_COMMIT_BRANCH"),
    ("gitlab-push", "trigger", MERGE, "CI_PIPELINE_SOURCE"),
    ("gitlab-push", "conclusion", "failed", "CI_JOB_STATUS"),
    ("gitlab-push", "started_at", JOB_START, "CI_JOB_STARTED_AT"),
    ("gitlab-push", "merged_at", AT_1620, "CI_COMMIT_TIMESTAMP"),
    ("gitlab-push", "box_key", "bench-1", "CI_RUNNER_DESCRIPTION"),
    ("gitlab-push", "before_sha", BEFORE, "CI_COMMIT_BEFORE_SHA"),
    ("gitlab-merge-request", "workflow", "boards", "CI_PIPELINE_NAME"),
    ("gitlab-merge-request", "sha", HEAD_OF_PULL, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"),
    ("gitlab-merge-request", "branch", "faster-boot", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"),
    ("gitlab-merge-request", "trigger", MANUAL, "CI_PIPELINE_SOURCE"),
    ("gitlab-fork", "branch", "mallory:main", "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH"),
    ("gitlab-fork", "sha", "2" * 40, "CI_COMMIT_SHA"),
    ("gitlab-schedule", "trigger", NIGHTLY, "CI_PIPELINE_SOURCE"),
    ("gitlab-child", "trigger", MERGE, "CI_COMMIT_BEFORE_SHA"),
    ("gitlab-child", "branch", "main", "CI_COMMIT_BRANCH"),
    ("gitlab-child", "before_sha", BEFORE, "CI_COMMIT_BEFORE_SHA"),
    ("gitlab-child-of-merge-request", "trigger", MANUAL, "CI_PIPELINE_SOURCE"),
    ("gitlab-child-of-merge-request", "sha", HEAD_OF_PULL, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"),
    ("gitlab-child-of-schedule", "trigger", MANUAL, "CI_PIPELINE_SOURCE"),
    ("jenkins-multibranch", "repo_key", "acme/firmware", "GIT_URL"),
    ("jenkins-multibranch", "workflow", "boards/firmware", "JOB_NAME"),
    ("jenkins-multibranch", "run_id", BRANCH_BUILD, "JOB_NAME and BUILD_NUMBER"),
    ("jenkins-multibranch", "ci_run", 57, "BUILD_NUMBER"),
    ("jenkins-multibranch", "run_attempt", 1, "default"),
    ("jenkins-multibranch", "sha", TESTED, "GIT_COMMIT"),
    ("jenkins-multibranch", "branch", "release/2.x", "BRANCH_NAME"),
    ("jenkins-multibranch", "trigger", MANUAL, "default"),
    ("jenkins-multibranch", "box_key", "bench-1", "NODE_NAME"),
    ("jenkins-multibranch", "before_sha", BEFORE, "GIT_PREVIOUS_COMMIT"),
    ("jenkins-change", "workflow", "boards/firmware", "JOB_NAME"),
    ("jenkins-change", "branch", "faster-boot", "CHANGE_BRANCH"),
    ("jenkins-change", "trigger", MANUAL, "CHANGE_ID"),
    ("jenkins-fork", "branch", "mallory:main", "CHANGE_FORK"),
    ("jenkins-freestyle", "workflow", "nightly", "JOB_NAME"),
    ("jenkins-freestyle", "branch", "main", "GIT_BRANCH"),
    ("buildkite-webhook", "repo_key", "acme/firmware", "BUILDKITE_REPO"),
    ("buildkite-webhook", "workflow", "firmware-hil", "BUILDKITE_PIPELINE_SLUG"),
    ("buildkite-webhook", "run_id", BUILD, "BUILDKITE_BUILD_ID and the step"),
    ("buildkite-webhook", "ci_run", 57, "BUILDKITE_BUILD_NUMBER"),
    ("buildkite-webhook", "run_attempt", 2, "BUILDKITE_RETRY_COUNT"),
    ("buildkite-webhook", "sha", TESTED, "BUILDKITE_COMMIT"),
    ("buildkite-webhook", "branch", "main", "BUILDKITE_BRANCH"),
    ("buildkite-webhook", "trigger", MERGE, "BUILDKITE_SOURCE"),
    ("buildkite-webhook", "conclusion", "passed", "BUILDKITE_COMMAND_EXIT_STATUS"),
    ("buildkite-webhook", "box_key", "bench-1", "BUILDKITE_AGENT_NAME"),
    ("buildkite-pull-request", "branch", "mallory:main", "BUILDKITE_BRANCH"),
    ("buildkite-pull-request", "trigger", MANUAL, "BUILDKITE_PULL_REQUEST"),
    ("buildkite-pull-request", "conclusion", "failed", "BUILDKITE_COMMAND_EXIT_STATUS"),
    ("buildkite-schedule", "trigger", NIGHTLY, "BUILDKITE_SOURCE"),
    ("buildkite-ui", "trigger", MANUAL, "BUILDKITE_SOURCE"),
    ("circleci-push", "repo_key", "acme/firmware", "CIRCLE_PROJECT_REPONAME"),
    ("circleci-push", "workflow", "hil", "CIRCLE_JOB"),
    ("circleci-push", "run_id", CIRCLE_JOB, "CIRCLE_WORKFLOW_JOB_ID"),
    ("circleci-push", "ci_run", 812, "CIRCLE_BUILD_NUM"),
    ("circleci-push", "run_attempt", 1, "default"),
    ("circleci-push", "sha", TESTED, "CIRCLE_SHA1"),
    ("circleci-push", "branch", "main", "CIRCLE_BRANCH"),
    ("circleci-push", "trigger", MERGE, "HWCI_TRIGGER"),
    ("circleci-push", "before_sha", BEFORE, "HWCI_BEFORE_SHA"),
    ("circleci-schedule", "trigger", NIGHTLY, "HWCI_TRIGGER"),
    ("circleci-tag", "branch", "v2.0", "CIRCLE_TAG"),
    ("circleci-tag", "trigger", MANUAL, "HWCI_TRIGGER"),
    ("circleci-tag", "repo_key", "acme/firmware", "CIRCLE_REPOSITORY_URL"),
    ("azure-ci", "repo_key", "acme/firmware", "BUILD_REPOSITORY_NAME"),
    ("azure-ci", "workflow", "hil", "BUILD_DEFINITIONNAME"),
    ("azure-ci", "run_id", 90210, "BUILD_BUILDID"),
    ("azure-ci", "run_attempt", 2, "SYSTEM_JOBATTEMPT"),
    ("azure-ci", "sha", TESTED, "BUILD_SOURCEVERSION"),
    ("azure-ci", "branch", "main", "BUILD_SOURCEBRANCH"),
    ("azure-ci", "trigger", MERGE, "BUILD_REASON"),
    ("azure-ci", "conclusion", "SucceededWithIssues", "AGENT_JOBSTATUS"),
    ("azure-ci", "started_at", PIPELINE_START, "SYSTEM_PIPELINESTARTTIME"),
    ("azure-ci", "box_key", "bench-1", "AGENT_NAME"),
    ("azure-batched", "trigger", MERGE, "BUILD_REASON"),
    ("azure-schedule", "trigger", NIGHTLY, "BUILD_REASON"),
    ("azure-pull-request", "sha", HEAD_OF_PULL, "SYSTEM_PULLREQUEST_SOURCECOMMITID"),
    ("azure-pull-request", "branch", "faster-boot", "SYSTEM_PULLREQUEST_SOURCEBRANCH"),
    ("azure-pull-request", "trigger", MANUAL, "BUILD_REASON"),
    ("azure-fork", "branch", "pull/7/merge", "BUILD_SOURCEBRANCH"),
    (
        "github-push",
        "ci_url",
        "https://github.com/acme/firmware/actions/runs/19543210987/attempts/2",
        "GITHUB_SERVER_URL",
    ),
    (
        "gitlab-push",
        "ci_url",
        "https://gitlab.example/acme/boards/firmware/-/jobs/50861",
        "CI_JOB_URL",
    ),
    (
        "jenkins-multibranch",
        "ci_url",
        "https://jenkins.example/job/boards/job/firmware/job/release%252F2.x/57/",
        "BUILD_URL",
    ),
    (
        "buildkite-webhook",
        "ci_url",
        "https://buildkite.com/acme/firmware-hil/builds/57#0193a7e2-63f7-4b9e-8a5c-0d6a7d1f9f10",
        "BUILDKITE_BUILD_URL",
    ),
    ("circleci-push", "ci_url", "https://circleci.com/gh/acme/firmware/812", "CIRCLE_BUILD_URL"),
    (
        "azure-ci",
        "ci_url",
        (
            "https://dev.azure.com/acme/firmware/_build/results?buildId=90210&view=logs"
            "&j=12f1170f-54f2-53f3-20dd-22fc7dff55f9"
        ),
        "SYSTEM_COLLECTIONURI",
    ),
]

# What a recording does not say, because it would not be true.
UNSAID = [
    ("github-tag", "before_sha"),  # a hash of zeros
    ("github-forced", "before_sha"),  # what was dropped is not part of the push
    ("github-schedule", "before_sha"),
    ("github-merged", "before_sha"),  # the base as it was when the pull request was last looked at
    ("github-push", "conclusion"),  # the action hands on `job.status`
    ("github-push", "started_at"),
    ("github-push", "ci_run"),  # the run id is the number that people know
    ("github-push", "rerun_of"),
    ("github-workflow-run", "rerun_of"),  # every box waits for a build that passes
    ("gitlab-merge-request", "before_sha"),
    ("gitlab-merge-request", "conclusion"),  # the job still runs
    ("buildkite-ui", "sha"),  # `HEAD` is not a commit
    ("circleci-schedule", "before_sha"),
    ("circleci-push", "box_key"),
    ("buildkite-ui", "ci_url"),  # no variable has the address of the build
    ("azure-ci", "suite"),  # a macro that nobody filled in
    ("azure-schedule", "box_key"),  # an agent that Azure lends
]


def job(name: str, **variables: str) -> Job:
    return find_job({}, recorded(name) | variables, None, None)


@pytest.mark.parametrize(("name", "field", "value", "by"), ROWS)
def test_a_system_says_a_field(name: str, field: str, value: object, by: str) -> None:
    told = job(name).fields[field]

    assert (told.value, told.source) == (value, by)


@pytest.mark.parametrize(("name", "field"), UNSAID)
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


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("gitlab-push", {"CI_JOB_ID": "1"}, {"CI_JOB_ID": "2"}),
        ("jenkins-multibranch", {"STAGE_NAME": "Smoke"}, {"STAGE_NAME": "Full"}),
        ("buildkite-webhook", {"BUILDKITE_STEP_KEY": "a"}, {"BUILDKITE_STEP_KEY": "b"}),
        ("buildkite-webhook", {"BUILDKITE_LABEL": "a"}, {"BUILDKITE_LABEL": "b"}),
        ("buildkite-webhook", {"BUILDKITE_PARALLEL_JOB": "0"}, {"BUILDKITE_PARALLEL_JOB": "1"}),
        ("circleci-push", {"CIRCLE_WORKFLOW_JOB_ID": "a"}, {"CIRCLE_WORKFLOW_JOB_ID": "b"}),
        ("circleci-push", {"CIRCLE_NODE_INDEX": "0"}, {"CIRCLE_NODE_INDEX": "1"}),
    ],
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
