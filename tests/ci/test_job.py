# SPDX-License-Identifier: Apache-2.0
"""Who is believed about a job: flag, `HWCI_*`, `hwci.toml`, the CI system, git, default."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hwci.ci.detect import find_job, product_notice
from hwci.ci.fields import FIELDS
from hwci.ci.git.repository import Repository
from hwci.ci.job import Job
from hwci.ci.project import Product, Project
from hwci.contract.vocabulary import Trigger
from hwci.wire.reports import MergeAnnouncement, RunReport
from tests.support.recorded import recorded

HEAD = "a" * 40
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


@dataclass
class Desk(Repository):
    """A checkout that knows everything, or what it is told to forget."""

    on: str | None = "topic"
    default: str | None = "trunk"
    url: str | None = "git@git.example:acme/firmware.git"
    tip: str = HEAD

    def head(self) -> str | None:
        return self.tip

    def resolved(self, revision: str) -> str | None:
        return HEAD if revision in {"trunk", HEAD[:7]} else None

    def branch(self) -> str | None:
        return self.on

    def default_branch(self) -> str | None:
        return self.default

    def remote_url(self) -> str | None:
        return self.url

    def commit(self, sha: str) -> str | None:
        return self.resolved(sha)


def said(job: Job) -> dict[str, tuple[object, str]]:
    return {name: (result.value, result.source) for name, result in job.fields.items()}


def test_a_flag_is_believed_before_all_others() -> None:
    job = find_job({"sha": "b" * 40}, recorded("github-push") | {"HWCI_SHA": HEAD}, Desk(), None)

    assert said(job)["sha"] == ("b" * 40, "--sha")


def test_a_variable_of_ours_is_believed_before_the_system() -> None:
    job = find_job({"sha": None}, recorded("github-push") | {"HWCI_SHA": HEAD}, Desk(), None)

    assert said(job)["sha"] == (HEAD, "HWCI_SHA")


def test_the_project_file_is_believed_before_the_system_and_after_people() -> None:
    product = Product(suite="s", firmware_paths=[], harness_paths=[], box="bench-s")
    project = Project(Path("hwci.toml"), repo_key="acme/boards", products=(product,))
    environ = recorded("github-push")

    fields = said(find_job({}, environ, None, project))
    assert fields["repo_key"] == ("acme/boards", "hwci.toml")
    assert fields["suite"] == ("s", "hwci.toml")
    assert fields["box_key"] == ("bench-s", "hwci.toml")
    fields = said(find_job({"suite": "t"}, environ | {"HWCI_REPO_KEY": "x"}, None, project))
    assert fields["repo_key"] == ("x", "HWCI_REPO_KEY")
    assert fields["suite"] == ("t", "--suite")
    assert fields["box_key"] == ("bench-1", "RUNNER_NAME")  # the file's box is another product's


def test_several_products_are_not_guessed_from() -> None:
    products = tuple(
        Product(repo_key="r", suite=suite, firmware_paths=[], harness_paths=[], box=suite)
        for suite in ("s", "t")
    )
    project = Project(Path("hwci.toml"), products=products)

    fields = find_job({}, {}, None, project).fields
    assert not {"suite", "box_key"} & set(fields)
    assert fields["repo_key"].value == "r"  # on which they agree
    assert said(find_job({}, {"HWCI_SUITE": "t"}, None, project))["box_key"] == ("t", "hwci.toml")


def test_tables_of_one_name_are_of_one_product() -> None:
    products = tuple(
        Product(suite="s", box=box, firmware_paths=[], harness_paths=[]) for box in ("b1", "b2")
    )
    project = Project(Path("hwci.toml"), products=products)

    fields = said(job := find_job({}, {}, None, project))
    assert fields["suite"] == ("s", "hwci.toml")
    assert "box_key" not in fields
    assert product_notice(job, project) is None


@pytest.mark.parametrize(
    ("name", "number", "by"),
    [
        ("github-push", 19543210987, "GITHUB_RUN_ID"),
        ("gitlab-push", 50861, "CI_JOB_ID"),
        ("jenkins-multibranch", 57, "BUILD_NUMBER"),
    ],
)
def test_a_product_with_a_run_id_of_its_own_keeps_the_number_of_the_ci(
    name: str, number: int, by: str
) -> None:
    products = tuple(Product(suite=it, firmware_paths=[], harness_paths=[]) for it in "ab")
    job = find_job({"suite": "a"}, recorded(name), None, Project(Path("p"), products=products))
    assert said(job)["ci_run"] == (number, by)


@pytest.mark.parametrize("name", ["github-push", "azure-ci", "gitlab-push", "jenkins-multibranch"])
def test_products_of_one_build_are_runs_of_their_own(name: str) -> None:
    """On one box the second report would else replace the first."""

    def run_id(suite: str | None, *suites: str, **more: str) -> tuple[object, str]:
        products = tuple(Product(suite=it, firmware_paths=[], harness_paths=[]) for it in suites)
        project = Project(Path("hwci.toml"), products=products)
        return said(find_job({"suite": suite}, recorded(name) | more, None, project))["run_id"]

    plain = said(find_job({}, recorded(name), None, None))["run_id"]
    attempts = {"GITHUB_RUN_ATTEMPT": "7", "SYSTEM_JOBATTEMPT": "7"}

    gateway, sensor = (run_id(it, "gateway", "sensor") for it in ("gateway", "sensor"))
    assert len({plain[0], gateway[0], sensor[0]}) == 3
    assert gateway[1] == sensor[1] == f"{plain[1]} and the product"
    assert run_id("sensor", "gateway", "sensor", **attempts) == sensor  # also in a new attempt
    assert run_id("sensor", "sensor") == run_id(None, "gateway", "sensor") == plain
    result = run_id("sensor", "gateway", "sensor", HWCI_RUN_ID="8")
    assert result == (8, "HWCI_RUN_ID")


def test_the_system_is_believed_before_git() -> None:
    environ = recorded("github-push")
    desk = Desk(tip=environ["GITHUB_SHA"])
    assert said(find_job({}, environ, desk, None))["branch"] == ("main", "GITHUB_REF_NAME")


def test_git_fills_in_what_the_system_leaves_out() -> None:
    assert said(find_job({}, recorded("buildkite-ui"), Desk(), None))["sha"] == (HEAD, "git")


def test_a_desk_has_its_fields_from_git_and_defaults() -> None:
    job = find_job({}, {}, Desk(), None).with_run_id(NOON)

    assert job.system is None
    assert said(job) == {
        "repo_key": ("acme/firmware", "git"),
        "workflow": ("local", "default"),
        "run_id": (int(NOON.timestamp()), "the seconds since 1970, as no CI numbers the run"),
        "run_attempt": (1, "default"),
        "trigger": (Trigger.MANUAL, "default"),
        "branch": ("topic", "git"),
        "sha": (HEAD, "git"),
    }


def test_a_detached_head_has_no_branch() -> None:
    assert "branch" not in find_job({}, {}, Desk(on=None), None).fields


def test_without_a_checkout_and_a_system_little_is_known() -> None:
    assert set(find_job({}, {}, None, None).fields) == {"workflow", "run_attempt", "trigger"}


def test_the_same_run_of_a_desk_has_the_same_id() -> None:
    job = find_job({}, {}, None, None).with_run_id(NOON + timedelta(hours=1))

    assert job.with_run_id(NOON).value("run_id") == int(NOON.timestamp())
    assert job.with_run_id(datetime(1969, 1, 1, tzinfo=UTC)).value("run_id") == 0
    assert find_job({"run_id": 7}, {}, None, None).with_run_id(NOON).value("run_id") == 7


def test_a_run_that_its_system_forgot_to_count_is_not_counted_by_the_clock() -> None:
    environ = {name: text for name, text in recorded("github-push").items() if "RUN_ID" not in name}

    assert "run_id" not in find_job({}, environ, None, None).with_run_id(NOON).fields


def test_the_default_branch_of_the_clone_is_where_merges_land() -> None:
    environ = recorded("azure-ci") | {"BUILD_SOURCEBRANCH": "refs/heads/trunk"}

    tip = environ["BUILD_SOURCEVERSION"]
    assert find_job({}, environ, Desk(tip=tip), None).value("trigger") is Trigger.MERGE
    desk = Desk(default=None, tip=tip)
    assert find_job({}, environ, desk, None).value("trigger") is Trigger.MANUAL
    flags = {"merge_branches": ("tr*",)}
    assert find_job(flags, environ, None, None).value("trigger") is Trigger.MERGE


@pytest.mark.parametrize(
    ("variable", "text", "why"),
    [
        ("HWCI_RUN_ID", "#57", "it should be a whole number from 0 to 9223372036854775807"),
        ("HWCI_RUN_ID", "9223372036854775808", "it should be a whole number from 0"),
        ("HWCI_RUN_ATTEMPT", "0", "it should be a whole number from 1"),
        ("HWCI_TRIGGER", "cron", "it should be merge, nightly or manual"),
        ("HWCI_HELLO", "yes", "it should be ok or failed"),
        ("HWCI_STARTED_AT", "noon", "Should be an ISO 8601 date-time with an offset"),
    ],
)
def test_what_cannot_be_understood_is_named_and_not_guessed(
    variable: str, text: str, why: str
) -> None:
    job = find_job({}, {variable: text}, None, None)

    [fault] = job.bad_settings
    assert fault.startswith(f"{variable} is {text!r}: {why}")
    assert text not in [result.value for result in job.fields.values()]


def test_a_flag_beside_it_mends_a_variable_that_cannot_be_understood() -> None:
    job = find_job({"run_id": 1}, {"HWCI_RUN_ID": "#57"}, None, None)

    assert (job.value("run_id"), job.bad_settings) == (1, ())


def test_a_name_or_a_short_hash_of_a_commit_becomes_the_full_hash() -> None:
    flags = {"sha": "trunk", "covers_shas": ("B" * 40, HEAD[:7])}
    environ = recorded("github-push") | {"HWCI_BASE_SHA": "aaaaaaa", "HWCI_BEFORE_SHA": "0" * 40}

    job = find_job(flags, environ, Desk(), None)

    assert said(job)["sha"] == (HEAD, "--sha")
    assert said(job)["covers_shas"] == (("b" * 40, HEAD), "--covers-shas")
    assert said(job)["base_sha"] == (HEAD, "HWCI_BASE_SHA")
    assert (job.before_sha, job.bad_settings) == (None, ())


@pytest.mark.parametrize("name", ["sha", "base_sha", "before_sha"])
def test_what_is_no_commit_here_is_named_and_not_guessed(name: str) -> None:
    flag = f"--{name.replace('_', '-')}"

    here, nowhere = (find_job({name: "abc"}, {}, at, None) for at in (Desk(), None))
    # A report holds without what was only said of earlier commits.
    hint = name != "sha"
    [said_here], [said_nowhere] = (
        job.unknown_commits if hint else job.bad_settings for job in (here, nowhere)
    )
    assert [bool(job.bad_settings) for job in (here, nowhere)] == [not hint, not hint]
    why = "that is not a full hash, and git knows no such commit"
    assert said_here.startswith(f"{flag} is 'abc': {why}")
    assert said_nowhere.startswith(
        f"{flag} is 'abc': that is not a hash, and there is no repository"
    )
    [fault] = find_job({"covers_shas": (HEAD, "x", "y")}, {}, Desk(), None).bad_settings
    assert fault.startswith("--covers-shas is 'x', 'y': ")


def test_where_there_is_no_git_a_short_hash_is_believed() -> None:
    assert said(find_job({"sha": "ABCDEF0"}, {}, None, None))["sha"] == ("abcdef0", "--sha")


def test_a_build_that_was_started_with_a_short_hash_has_the_full_one() -> None:
    environ = recorded("buildkite-ui") | {"BUILDKITE_COMMIT": HEAD[:7]}

    assert said(find_job({}, environ, Desk(), None))["sha"] == (HEAD, "BUILDKITE_COMMIT")


def test_a_hash_of_zeros_is_no_place_where_a_branch_stood() -> None:
    assert find_job({}, {"HWCI_BEFORE_SHA": "0" * 40}, None, None).before_sha is None


def test_every_field_that_is_sent_can_be_set_by_a_variable() -> None:
    sent = set(RunReport.model_fields) | set(MergeAnnouncement.model_fields)

    assert sent - {field.name for field in FIELDS} == {"tests", "changes", "part_of"}


def test_the_environment_is_not_shown() -> None:
    job = find_job({}, {"GITHUB_TOKEN": "ghp_hunter2"}, None, None)

    assert "hunter2" not in repr(job)
