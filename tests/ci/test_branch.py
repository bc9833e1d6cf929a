# SPDX-License-Identifier: Apache-2.0
"""Which branch a commit counts for that the CI does not name: in real clones of a firmware whose
`main` stands at `base`, with a pull request on top of it. Whatever is checked out, it is `main`
only if it is on the `main` of the CI's repository.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hwci.ci.detect import find_job
from hwci.ci.git.repository import Repository
from hwci.ci.job import Job
from hwci.ci.systems import api_of
from hwci.said import short
from tests.support.clones import git
from tests.support.recorded import recorded

OURS, FORK = "https://git.example/acme/firmware.git", "https://git.example/mallory/firmware.git"
DETACHED = "detached"
"""In place of the name that holds the hash."""


@dataclass(frozen=True)
class Clone:
    """A clone. `start`, `base`: commits of `main`; `pull`: one on top of it."""

    folder: Path
    start: str
    base: str
    pull: str

    def git(self, *words: str) -> str:
        return git(self.folder, *words).strip()

    def refs(self, **refs: str) -> None:
        """Set references: `remotes__origin__main`."""
        for name, sha in refs.items():
            self.git("update-ref", f"refs/{name.replace('__', '/')}", sha)

    def job(self, variables: dict[str, str], **flags: Any) -> Job:
        flags.setdefault("merge_branches", ("main",))
        return find_job(flags, variables, Repository(self.folder), None)

    def on_github(self, event: str = "issue_comment") -> Job:
        """Return the job of an event of GitHub, which names `main`."""
        variables = {"GITHUB_EVENT_NAME": event, "GITHUB_SHA": self.base}
        return self.job({**recorded("github-dispatch"), **variables})

    def branch_of(self, job: Job) -> str:
        """Return the branch of a job."""
        branch = str(job.value("branch"))
        return DETACHED if branch == f"detached-{short(job.value('sha'))}" else branch


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """A clone of our repository that knows no branch of it, and has the pull request out."""

    def commit(message: str) -> str:
        git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", message)
        return git(tmp_path, "rev-parse", "HEAD").strip()

    git(tmp_path, "init", "--quiet", "--initial-branch=work")
    git(tmp_path, "remote", "add", "origin", OURS)
    shas = [commit(message) for message in ("start", "base", "pull")]
    git(tmp_path, "checkout", "--quiet", "--detach")
    git(tmp_path, "branch", "--quiet", "-D", "work")
    return Clone(tmp_path, *shas)


def fetched(clone: Clone, text: str) -> None:
    """Write what git leaves of a fetch."""
    (clone.folder / ".git/FETCH_HEAD").write_text(f"{clone.pull}\t\t{text}\n")


# A fork's main is not ours


@pytest.mark.parametrize("event", ["issue_comment", "workflow_dispatch", "push", "schedule"])
@pytest.mark.parametrize("is_detached", [True, False])
def test_the_main_of_a_fork_counts_for_the_fork(
    clone: Clone, event: str, is_detached: bool
) -> None:
    clone.git("remote", "set-url", "origin", FORK)
    clone.refs(remotes__origin__main=clone.pull)
    if not is_detached:
        clone.git("checkout", "--quiet", "-b", "main")
    job = clone.on_github(event)

    assert (job.value("sha"), clone.branch_of(job)) == (clone.pull, "mallory:main")
    assert job.value("trigger") != "merge"


def test_a_commit_that_is_on_our_main_too_counts_for_ours(clone: Clone) -> None:
    clone.git("remote", "set-url", "origin", FORK)
    clone.refs(remotes__origin__main=clone.start)
    clone.git("checkout", "--quiet", clone.start)

    assert clone.branch_of(clone.on_github("push")) == "main"


def test_a_server_below_a_path_is_no_fork(clone: Clone) -> None:
    clone.git("remote", "set-url", "origin", "https://git.example/scm/acme/firmware.git")
    clone.refs(remotes__origin__main=clone.pull)

    assert clone.branch_of(clone.on_github("push")) == "main"


@pytest.mark.parametrize(
    ("text", "branch"),
    [
        (f"branch 'main' of {OURS}", "main"),
        (f"branch 'main' of {FORK}", "mallory:main"),
        ("branch 'main' of /srv/mirror", DETACHED),
        ("branch 'main' of https://git.example/other/thing", DETACHED),
        (f"branch 'faster-boot' of {OURS}", "faster-boot"),
        (f"'refs/pull/7/head' of {OURS}", "pull/7/head"),
        (f"'refs/changes/34/1234/5' of {OURS}", "changes/34/1234/5"),
        (f"'refs/merge-requests/7/head' of {OURS}", "merge-requests/7/head"),
        (f"tag 'main' of {OURS}", DETACHED),
        (OURS, DETACHED),
    ],
)
def test_what_was_fetched_bears_the_name_that_it_has_there(
    clone: Clone, text: str, branch: str
) -> None:
    fetched(clone, text)
    assert clone.branch_of(clone.on_github()) == branch


@pytest.mark.parametrize(
    ("ref", "branch"),
    [
        ("remotes__pull__7__head", "pull/7/head"),
        ("pull__7__merge", "pull/7/merge"),
        ("changes__34__1234__5", "changes/34/1234/5"),
        ("heads__topic", "topic"),
        ("remotes__fork__main", "fork/main"),
        ("heads__manifest-rev", DETACHED),
        ("tags__main", DETACHED),
        ("pipelines__77", DETACHED),
    ],
)
def test_a_name_that_the_clone_has_for_the_commit_is_its_branch(
    clone: Clone, ref: str, branch: str
) -> None:
    clone.refs(remotes__origin__main=clone.base, **{ref: clone.pull})
    assert clone.branch_of(clone.on_github()) == branch


# main is what the remote has


def test_a_branch_that_is_called_main_here_alone_is_not_main(clone: Clone) -> None:
    clone.refs(remotes__origin__topic=clone.pull)
    clone.git("checkout", "--quiet", "-b", "main")

    assert clone.branch_of(clone.on_github("push")) == "topic"


def test_main_that_moved_on_is_main(clone: Clone) -> None:
    clone.refs(remotes__origin__main=clone.pull)
    job = clone.on_github("push")

    assert (job.value("sha"), job.value("branch")) == (clone.pull, "main")
    assert str(job.value("trigger")) == "merge"


def test_a_clone_without_a_remote_knows_its_own_main(clone: Clone) -> None:
    clone.git("remote", "remove", "origin")
    clone.git("checkout", "--quiet", "-b", "main")

    assert clone.branch_of(clone.on_github("push")) == "main"


def test_what_was_put_on_top_of_a_pull_request_here_is_of_its_branch(clone: Clone) -> None:
    clone.git("commit", "--quiet", "--allow-empty", "-m", "a version")
    own = {"GITHUB_REF_NAME": "faster-boot", "GITHUB_SHA": clone.pull}
    job = clone.job({**recorded("github-dispatch"), **own})

    assert clone.branch_of(job) == "faster-boot"
    job = clone.job({**recorded("github-dispatch"), **own, "GITHUB_REF_NAME": "main"})
    assert clone.branch_of(job) == DETACHED


# The commit that a person names, and CI systems that name none


def test_a_commit_that_a_person_names_is_not_on_the_main_of_the_ci(clone: Clone) -> None:
    clone.refs(remotes__origin__main=clone.base)
    clone.git("checkout", "--quiet", clone.base)
    push = {**recorded("github-push"), "GITHUB_SHA": clone.base}
    job = clone.job(push, sha=clone.pull)

    assert (job.value("sha"), clone.branch_of(job)) == (clone.pull, DETACHED)
    assert (str(job.value("trigger")), job.doubts) == ("manual", ())
    assert clone.job(push, sha=clone.pull, branch="main").value("branch") == "main"
    assert clone.job(push, sha=clone.start).value("branch") == "main"


@pytest.mark.parametrize(
    ("recording", "variables"),
    [
        ("buildkite-ui", {}),
        ("buildkite-webhook", {"BUILDKITE_COMMIT": "HEAD"}),
        ("jenkins-multibranch", {"GIT_COMMIT": "", "BRANCH_NAME": "main"}),
    ],
)
def test_a_ci_that_names_no_commit_names_no_branch_for_another(
    clone: Clone, recording: str, variables: dict[str, str]
) -> None:
    clone.refs(remotes__origin__main=clone.base, remotes__origin__topic=clone.pull)
    environ = {**recorded(recording), **variables}
    job = clone.job(environ)

    assert (job.value("sha"), job.value("branch")) == (clone.pull, "topic")
    assert str(job.value("trigger")) == "manual"
    [doubt] = job.doubts
    assert f"names main, but {short(clone.pull)} is checked out, on topic" in doubt.what
    clone.git("checkout", "--quiet", clone.base)
    job = clone.job(environ)
    assert (job.value("sha"), job.value("branch"), job.doubts) == (clone.base, "main", ())


def test_a_tag_with_a_text_is_its_commit(clone: Clone) -> None:
    clone.git("tag", "--annotate", "v1", "-m", "the first")
    tag = {"GITHUB_SHA": clone.git("rev-parse", "v1"), "GITHUB_REF_NAME": "v1"}
    job = clone.job({**recorded("github-tag"), **tag})

    assert (job.value("sha"), job.value("branch"), job.doubts) == (clone.pull, "v1", ())


def test_a_patch_set_that_a_script_checked_out_is_what_gerrit_names(clone: Clone) -> None:
    clone.refs(remotes__origin__main=clone.base)
    gerrit = {
        "GERRIT_EVENT_TYPE": "patchset-created",
        "GERRIT_REFSPEC": "refs/changes/34/1234/5",
        "GERRIT_BRANCH": "main",
        "GERRIT_PATCHSET_REVISION": clone.pull,
        "GIT_COMMIT": clone.base,
    }
    job = clone.job({**recorded("jenkins-freestyle"), **gerrit})

    assert (job.value("sha"), job.value("branch")) == (clone.pull, "changes/34/1234/5")
    assert job.doubts == ()


def test_a_merge_that_jenkins_made_is_the_pull_request_though_a_library_wins(clone: Clone) -> None:
    tree = clone.git("rev-parse", "HEAD^{tree}")
    words = ("commit-tree", tree, "-p", clone.pull, "-p", clone.start, "-m", "merge")
    merge = git(clone.folder, *words, GIT_COMMITTER_EMAIL="nobody@nowhere").strip()
    clone.git("checkout", "--quiet", merge)
    library = {"GIT_COMMIT": "7" * 40, "GIT_URL": "https://git.example/acme/library.git"}
    for variables in (library, {"GIT_COMMIT": ""}):
        job = clone.job({**recorded("jenkins-change"), **variables})

        assert job.value("sha") == clone.pull
        assert job.value("branch") != "main"


# What the CI knows of its push, and of its runs


def test_a_variable_with_the_place_before_the_push_does_not_reach_over_main(clone: Clone) -> None:
    clone.refs(remotes__origin__main=clone.base)
    push = {"CIRCLE_SHA1": clone.base, "HWCI_BEFORE_SHA": clone.start}
    job = clone.job({**recorded("circleci-push"), **push})

    assert (job.value("sha"), job.before_sha) == (clone.pull, None)
    [ignored] = job.unknown_commits
    assert "HWCI_BEFORE_SHA is of the push of another commit" in ignored
    clone.git("checkout", "--quiet", clone.base)
    job = clone.job({**recorded("circleci-push"), **push})
    assert job.before_sha is not None


def test_the_runs_of_another_repository_are_not_looked_at(clone: Clone) -> None:
    clone.refs(remotes__origin__main=clone.pull)
    tests = {"GITHUB_REPOSITORY": "acme/hil-tests", "GITHUB_SHA": "7" * 40}
    job = clone.job({**recorded("github-push"), **tests})

    assert job.value("repo_key") == "acme/firmware"
    assert api_of(job) is None
    assert api_of(clone.on_github("push")) is not None


def test_a_repository_that_a_person_names_is_not_that_of_the_ci() -> None:
    flags = {"repo_key": "acme/boot"}
    job = find_job(flags, recorded("github-push"), None, None)

    [doubt] = job.doubts
    assert "--repo-key says acme/boot, but" in doubt.what
    assert "is what GITHUB_REPOSITORY names" in doubt.what
