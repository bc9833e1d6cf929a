# SPDX-License-Identifier: Apache-2.0
"""What is checked out is what was tested: each row is an event of a CI system and what its job has
checked out, in a real clone. The guide has the same table.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from hwci.ci.detect import find_job
from hwci.ci.git.repository import Repository
from hwci.ci.job import Job
from hwci.ci.project import find_project
from hwci.said import short
from tests.support.clones import git
from tests.support.recorded import recorded

GUIDE = Path(__file__).parents[2] / "docs/how-to/report-from-ci.md"
TESTED, HEAD_OF_PULL, MADE_UP = "6f1c1e4b2d3a49587766554433221100ffeeddcc", "3" * 40, "2" * 40
MAIN, PULL, BOTH = "`main`", "the pull request", "both, merged by the CI"
OLDER, QUEUE = "an older commit of `main`", "the merge of the queue"
TRAIN = {
    "CI_MERGE_REQUEST_EVENT_TYPE": "merge_train",
    "CI_COMMIT_REF_NAME": "refs/merge-requests/7/train",
}
QUEUED_ELSEWHERE = f"gh-readonly-queue/main/pr-7-{'1' * 40}"
PATCH_SET = {
    "GERRIT_EVENT_TYPE": "patchset-created",
    "GERRIT_REFSPEC": "refs/changes/34/1234/5",
    "GERRIT_BRANCH": "main",
}


@dataclass(frozen=True)
class Case:
    """An event of a system, what it names and what is checked out; and what is right. `names`: the
    commit in place of that of the recorded environment.
    """

    system: str
    event: str
    recording: str
    names: str
    out: str
    commit: str
    branch: str
    trigger: str
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def named(self) -> tuple[str, ...]:
        """What the CI says it tests: of a pull request its head, or what it merged to test that."""
        of_pull = self.recording.endswith(("-pull-request", "-change"))
        return (PULL, BOTH) if of_pull and self.variables != TRAIN else (self.names,)

    @property
    def label(self) -> str:
        """Its name among the tests."""
        return f"{self.system}: {self.event}: {self.out}"

    @property
    def row(self) -> str:
        """Its line of the guide."""
        words = (self.system, self.event, self.out, self.commit, self.branch, self.trigger)
        return f"| {' | '.join(words)} |"


def on(event: str) -> dict[str, str]:
    return {"GITHUB_EVENT_NAME": event}


CASES = (
    Case("GitHub", "push", "github-push", MAIN, MAIN, MAIN, "main", "merge"),
    Case("GitHub", "push", "github-push", MAIN, OLDER, OLDER, "main", "merge"),
    Case("GitHub", "push", "github-push", MAIN, PULL, PULL, "faster-boot", "manual"),
    Case(
        "GitHub", "`pull_request`", "github-pull-request", BOTH, BOTH, PULL, "faster-boot", "manual"
    ),
    Case(
        "GitHub", "`pull_request`", "github-pull-request", BOTH, PULL, PULL, "faster-boot", "manual"
    ),
    Case("GitHub", "`pull_request`", "github-pull-request", BOTH, MAIN, MAIN, "main", "manual"),
    Case("GitHub", "`pull_request`, merged", "github-merged", MAIN, MAIN, MAIN, "main", "merge"),
    Case(
        *("GitHub", "`pull_request_target`", "github-pull-request", MAIN, MAIN, MAIN),
        *("main", "manual", on("pull_request_target")),
    ),
    Case(
        *("GitHub", "`pull_request_target`", "github-pull-request", MAIN, PULL, PULL),
        *("faster-boot", "manual", on("pull_request_target")),
    ),
    Case(
        *("GitHub", "`issue_comment`", "github-dispatch", MAIN, PULL, PULL),
        *("faster-boot", "manual", on("issue_comment")),
    ),
    Case(
        *("GitHub", "`workflow_dispatch`", "github-dispatch", MAIN, PULL, PULL),
        *("faster-boot", "manual"),
    ),
    Case(
        *("GitHub", "`repository_dispatch`", "github-dispatch", MAIN, PULL, PULL),
        *("faster-boot", "manual", on("repository_dispatch")),
    ),
    Case("GitHub", "`schedule`", "github-schedule", MAIN, MAIN, MAIN, "main", "nightly"),
    Case("GitHub", "`schedule`", "github-schedule", MAIN, PULL, PULL, "faster-boot", "nightly"),
    Case(
        "GitHub", "`merge_group`", "github-merge-group", QUEUE, QUEUE, QUEUE, "release/2.x", "merge"
    ),
    Case("GitHub", "push of a tag `main`", "github-tag", MAIN, MAIN, MAIN, "tags/main", "manual"),
    Case("GitLab", "push", "gitlab-push", MAIN, MAIN, MAIN, "main", "merge"),
    Case("GitLab", "push", "gitlab-push", MAIN, PULL, PULL, "faster-boot", "manual"),
    Case(
        *("GitLab", "merge request, merged result", "gitlab-merge-request", BOTH, BOTH, PULL),
        *("faster-boot", "manual"),
    ),
    Case("GitLab", "merge train", "gitlab-merge-request", BOTH, BOTH, BOTH, "main", "merge", TRAIN),
    Case(
        *("GitLab", "merge request", "gitlab-merge-request", PULL, PULL, PULL),
        *("faster-boot", "manual", {"CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": ""}),
    ),
    Case("GitLab", "child pipeline", "gitlab-child", MAIN, PULL, PULL, "faster-boot", "manual"),
    Case("GitLab", "schedule", "gitlab-schedule", MAIN, PULL, PULL, "faster-boot", "nightly"),
    Case("Azure", "push", "azure-ci", MAIN, MAIN, MAIN, "main", "merge"),
    Case("Azure", "push", "azure-ci", MAIN, PULL, PULL, "faster-boot", "manual"),
    Case("Azure", "schedule", "azure-schedule", MAIN, PULL, PULL, "faster-boot", "nightly"),
    Case("Azure", "pull request", "azure-pull-request", BOTH, BOTH, PULL, "faster-boot", "manual"),
    Case(
        *("Azure", "GitHub's merge queue", "azure-ci", QUEUE, QUEUE, QUEUE, "main", "merge"),
        {"BUILD_SOURCEBRANCH": f"refs/heads/{QUEUED_ELSEWHERE}"},
    ),
    Case("Buildkite", "push", "buildkite-webhook", MAIN, MAIN, MAIN, "main", "merge"),
    Case("Buildkite", "push", "buildkite-webhook", MAIN, PULL, PULL, "faster-boot", "manual"),
    Case("Buildkite", "schedule", "buildkite-schedule", MAIN, PULL, PULL, "faster-boot", "nightly"),
    Case(
        *("Buildkite", "pull request of a fork", "buildkite-pull-request", PULL, PULL, PULL),
        *("mallory:main", "manual"),
    ),
    Case(
        *("Buildkite", "pull request from a branch `main`", "buildkite-pull-request", PULL, PULL),
        *(PULL, "pulls/main", "manual", {"BUILDKITE_BRANCH": "main"}),
    ),
    Case(
        *("Buildkite", "GitHub's merge queue", "buildkite-webhook", QUEUE, QUEUE, QUEUE),
        *("main", "merge", {"BUILDKITE_BRANCH": QUEUED_ELSEWHERE}),
    ),
    Case(
        *("Buildkite", "tag `main`", "buildkite-webhook", MAIN, MAIN, MAIN, "tags/main", "manual"),
        {"BUILDKITE_TAG": "main"},
    ),
    Case("CircleCI", "push", "circleci-push", MAIN, MAIN, MAIN, "main", "merge"),
    Case(
        *("CircleCI", "pull request of a fork", "circleci-push", PULL, PULL, PULL),
        *("pulls/main", "manual", {"CIRCLE_PR_NUMBER": "7"}),
    ),
    Case("CircleCI", "push", "circleci-push", MAIN, PULL, PULL, "faster-boot", "manual"),
    Case("CircleCI", "schedule", "circleci-schedule", MAIN, PULL, PULL, "faster-boot", "nightly"),
    Case(
        *("CircleCI", "tag `main`", "circleci-tag", MAIN, MAIN, MAIN, "tags/main", "manual"),
        {"CIRCLE_TAG": "main"},
    ),
    Case(
        *("CircleCI", "GitHub's merge queue", "circleci-push", QUEUE, QUEUE, QUEUE),
        *("main", "merge", {"CIRCLE_BRANCH": QUEUED_ELSEWHERE}),
    ),
    Case("Jenkins", "build of a branch", "jenkins-freestyle", MAIN, MAIN, MAIN, "main", "manual"),
    Case(
        "Jenkins",
        "build of a branch",
        "jenkins-freestyle",
        MAIN,
        PULL,
        PULL,
        "faster-boot",
        "manual",
    ),
    Case(
        *("Jenkins", "GitHub's merge queue", "jenkins-multibranch", QUEUE, QUEUE, QUEUE),
        *("main", "merge", {"BRANCH_NAME": QUEUED_ELSEWHERE}),
    ),
    Case("Jenkins", "pull request", "jenkins-change", PULL, PULL, PULL, "faster-boot", "manual"),
    Case(
        *(
            "Jenkins",
            "merge request of GitLab's plugin, from `main`",
            "jenkins-freestyle",
            PULL,
            PULL,
        ),
        *(PULL, "pulls/main", "manual"),
        {"gitlabMergeRequestIid": "7", "gitlabSourceBranch": "main"},
    ),
    Case(
        *("Jenkins", "Gerrit's push to another branch", "jenkins-freestyle", PULL, PULL, PULL),
        *("faster-boot", "manual"),
        {"GERRIT_EVENT_TYPE": "ref-updated", "GERRIT_REFNAME": "refs/heads/faster-boot"},
    ),
    Case(
        *("Jenkins", "Gerrit's tag `main`", "jenkins-freestyle", MAIN, MAIN, MAIN),
        *("tags/main", "manual"),
        {"GERRIT_EVENT_TYPE": "ref-updated", "GERRIT_REFNAME": "refs/tags/main"},
    ),
    Case(
        *("Jenkins", "Gerrit's patch set", "jenkins-freestyle", PULL, PULL, PULL),
        *("changes/34/1234/5", "manual", PATCH_SET),
    ),
    Case(
        *("Jenkins", "Gerrit's change, merged", "jenkins-freestyle", MAIN, MAIN, MAIN),
        *("main", "merge", PATCH_SET | {"GERRIT_EVENT_TYPE": "change-merged"}),
    ),
)


@dataclass(frozen=True)
class Clone:
    """A clone of the firmware, and its commits by the words of the table."""

    folder: Path
    commits: dict[str, str]

    def job(self, case: Case) -> Job:
        """Return the job of an event. The hashes of its recording are those of this clone."""
        git(self.folder, "checkout", "--quiet", "--detach", self.commits[case.out])
        instead = {
            TESTED: self.commits[case.names],
            MADE_UP: self.commits[case.names],
            HEAD_OF_PULL: self.commits[PULL],
        }
        environ = recorded(case.recording) | case.variables
        event = Path(environ["GITHUB_EVENT_PATH"]) if "GITHUB_EVENT_PATH" in environ else None
        for old, new in instead.items():
            environ = {name: value.replace(old, new) for name, value in environ.items()}
        if event is not None:
            text = event.read_text()
            for old, new in instead.items():
                text = text.replace(old, new)
            environ["GITHUB_EVENT_PATH"] = str(self.folder / "event.json")
            (self.folder / "event.json").write_text(text)
        repo_key = find_job({}, environ, None, None).value("repo_key")
        address = f"https://git.example/{repo_key}.git"
        git(self.folder, "remote", "set-url", "origin", address)
        flags = {"merge_branches": ("main", "release/2.x")}
        return find_job(flags, environ, Repository(self.folder), find_project(self.folder))


def commit(folder: Path, message: str) -> str:
    git(folder, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD").strip()


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """A clone whose branches are those of its remote; merges of the CI are on none."""
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    git(tmp_path, "remote", "add", "origin", "https://git.example/acme/firmware.git")
    older = commit(tmp_path, "the start")
    git(tmp_path, "checkout", "--quiet", "-b", "faster-boot")
    pull = commit(tmp_path, "boot faster")
    git(tmp_path, "checkout", "--quiet", "main")
    tip = commit(tmp_path, "main goes on")
    tree = git(tmp_path, "rev-parse", "HEAD^{tree}").strip()
    made = [
        git(tmp_path, "commit-tree", tree, "-p", tip, "-p", pull, "-m", name).strip()
        for name in ("by the CI", "by the queue")
    ]
    git(tmp_path, "checkout", "--quiet", "--detach")
    for name in ("main", "faster-boot"):
        git(tmp_path, "update-ref", f"refs/remotes/origin/{name}", name)
        git(tmp_path, "branch", "--quiet", "-D", name)
    commits = {MAIN: tip, OLDER: older, PULL: pull, BOTH: made[0], QUEUE: made[1]}
    return Clone(tmp_path, commits)


@pytest.mark.parametrize("case", CASES, ids=[case.label for case in CASES])
def test_the_commit_that_is_checked_out_is_reported(clone: Clone, case: Case) -> None:
    job = clone.job(case)

    assert job.value("sha") == clone.commits[case.commit]
    assert (job.value("branch"), str(job.value("trigger"))) == (case.branch, case.trigger)


@pytest.mark.parametrize("case", CASES, ids=[case.label for case in CASES])
def test_another_commit_than_the_ci_names_is_told_and_has_nothing_of_its_push(
    clone: Clone, case: Case
) -> None:
    job = clone.job(case)

    if case.out in case.named:
        assert job.doubts == ()
        return
    [doubt] = job.doubts
    assert short(clone.commits[case.out]) in doubt.what
    assert any(short(clone.commits[name]) in doubt.what for name in case.named)
    assert (job.before_sha, job.previous_sha, job.pushed_shas, job.queued) == (
        None,
        None,
        (),
        False,
    )


def test_a_merge_train_and_a_queue_are_only_tried(clone: Clone) -> None:
    for case in CASES:
        if case.event in {"merge train", "`merge_group`", "GitHub's merge queue"}:
            assert clone.job(case).queued, case


def test_the_guide_has_each_case() -> None:
    guide = GUIDE.read_text()
    missing = [case.row for case in CASES if case.row not in guide]
    assert missing == [], "\n".join(missing)


def test_the_library_of_a_jenkins_job_is_not_the_firmware(clone: Clone) -> None:
    git(clone.folder, "checkout", "--quiet", "--detach", clone.commits[MAIN])
    library = {
        "GIT_URL": "https://git.example/acme/jenkins-library.git",
        "GIT_COMMIT": "7" * 40,
        "GIT_BRANCH": "master",
    }
    environ = recorded("jenkins-freestyle") | library
    job = find_job({}, environ, Repository(clone.folder), None)

    assert job.value("repo_key") == "acme/firmware"
    assert (job.value("sha"), job.value("branch")) == (clone.commits[MAIN], "main")
    [doubt] = job.doubts
    assert "acme/firmware" in doubt.what


def test_a_commit_that_is_on_no_branch_counts_for_none(clone: Clone) -> None:
    git(clone.folder, "checkout", "--quiet", "--detach", clone.commits[BOTH])
    environ = recorded("github-push") | {"GITHUB_SHA": clone.commits[MAIN]}
    job = find_job({}, environ, Repository(clone.folder), None)

    assert (job.value("branch"), str(job.value("trigger"))) == (
        f"detached-{short(clone.commits[BOTH])}",
        "manual",
    )


def test_what_is_merged_into_main_here_alone_is_not_on_main(clone: Clone) -> None:
    git(clone.folder, "checkout", "--quiet", "-B", "main", clone.commits[BOTH])
    environ = recorded("github-push") | {"GITHUB_SHA": clone.commits[MAIN]}
    job = find_job({}, environ, Repository(clone.folder), None)

    assert (job.value("sha"), job.value("branch")) == (
        clone.commits[BOTH],
        f"detached-{short(clone.commits[BOTH])}",
    )
    git(clone.folder, "update-ref", "refs/remotes/origin/main", clone.commits[BOTH])
    job = find_job({}, environ, Repository(clone.folder), None)
    assert (job.value("sha"), job.value("branch")) == (clone.commits[BOTH], "main")


def test_a_commit_that_a_person_names_needs_no_checkout(clone: Clone) -> None:
    git(clone.folder, "checkout", "--quiet", "--detach", clone.commits[PULL])
    environ = recorded("github-push") | {"GITHUB_SHA": clone.commits[MAIN]}
    job = find_job({"sha": clone.commits[MAIN]}, environ, Repository(clone.folder), None)

    assert (job.value("sha"), job.doubts) == (clone.commits[MAIN], ())


def test_without_a_commit_that_of_the_ci_counts_and_it_is_told(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    job = find_job({}, recorded("github-push"), Repository(tmp_path), None)

    assert job.value("sha") == TESTED
    [doubt] = job.doubts
    assert doubt.what == "no commit is checked out here, so that of GITHUB_SHA counts"


def a_repository_of_tests(clone: Clone, project: str) -> Path:
    """Make a repository of tests beside the firmware, with a project file."""
    tests = clone.folder / "tests"
    tests.mkdir()
    git(tests, "init", "--quiet", "--initial-branch=main")
    git(tests, "remote", "add", "origin", "https://git.example/acme/hil-tests.git")
    (tests / "hwci.toml").write_text(project)
    commit(tests, "tests")
    return tests


def test_the_project_file_names_the_folder_of_the_firmware(clone: Clone) -> None:
    tests = a_repository_of_tests(clone, '[firmware]\ncheckout = ".."\n')
    git(clone.folder, "checkout", "--quiet", "--detach", clone.commits[PULL])
    head = git(tests, "rev-parse", "HEAD").strip()
    environ = recorded("github-push") | {"GITHUB_SHA": head, "GITHUB_REPOSITORY": "acme/hil-tests"}
    project = find_project(tests)
    assert project is not None
    assert project.firmware is not None
    job = find_job({}, environ, Repository(project.firmware), project)

    assert (job.value("repo_key"), job.value("sha")) == ("acme/firmware", clone.commits[PULL])
    assert (job.value("branch"), str(job.value("trigger"))) == ("faster-boot", "manual")
    assert job.doubts == ()


def test_commit_and_changes_of_tests_alone_are_told(clone: Clone) -> None:
    tests = a_repository_of_tests(clone, 'repo_key = "acme/firmware"\n')
    head = git(tests, "rev-parse", "HEAD").strip()
    environ = recorded("github-push") | {"GITHUB_SHA": head}
    job = find_job({}, environ, Repository(tests), find_project(tests))

    [doubt] = job.doubts
    assert "acme/hil-tests is checked out: commit and changes are those of acme" in doubt.what
    assert '[firmware] checkout = "../fw"' in doubt.fix


def test_a_run_that_follows_another_is_of_its_firmware(clone: Clone) -> None:
    case = Case(*("GitHub", "", "github-workflow-run", PULL, MAIN, PULL, "main", "merge"))
    variables = {"GITHUB_SHA": clone.commits[MAIN]}
    job = clone.job(replace(case, variables=variables))

    assert (job.value("sha"), job.doubts) == (clone.commits[PULL], ())


QUEUE_BY_NAME = "gh-readonly-queue/main/pr-1-ab"


@pytest.mark.parametrize(
    ("recording", "variables"),
    [
        ("github-tag", {"GITHUB_REF_NAME": QUEUE_BY_NAME}),
        ("github-pull-request", {"GITHUB_HEAD_REF": QUEUE_BY_NAME}),
        ("github-dispatch", {"GITHUB_REF_NAME": QUEUE_BY_NAME}),
        ("gitlab-merge-request", {"CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": QUEUE_BY_NAME}),
        ("buildkite-pull-request", {"BUILDKITE_BRANCH": QUEUE_BY_NAME}),
        ("jenkins-change", {"CHANGE_BRANCH": QUEUE_BY_NAME}),
        ("azure-ci", {"BUILD_SOURCEBRANCH": f"refs/tags/{QUEUE_BY_NAME}"}),
    ],
)
def test_what_is_only_named_like_a_queue_is_none(recording: str, variables: dict[str, str]) -> None:
    job = find_job({}, recorded(recording) | variables, None, None)

    assert (job.value("branch"), str(job.value("trigger"))) == (QUEUE_BY_NAME, "manual")
    assert not job.queued
