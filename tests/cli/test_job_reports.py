# SPDX-License-Identifier: Apache-2.0
"""Reports and announcements of jobs: fields without a flag come from CI, git and settings."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hwci import __version__
from tests.cli.conftest import Answer, Command
from tests.cli.jobs import NOWHERE, bodies, body, checkout, commit, git, junit, three_commits
from tests.support.recorded import NAMES, recorded

__all__ = ["checkout", "three_commits"]  # fixtures


# report-run


def test_a_repository_of_azure_has_one_name_unless_another_is_chosen(
    in_ci: Command, checkout: Path
) -> None:
    git(checkout, "remote", "set-url", "origin", "git@ssh.dev.azure.com:v3/acme/boards/firmware")
    toml = '[[product]]\nsuite = "s"\nfirmware_paths = ["fw/**"]\nharness_paths = []\n'
    run = ("report-run", "--box", "b", "--junit", "one.xml", "-n")
    commands = (
        run,
        ("merge-announce", "--sha", "HEAD", "-n"),
        ("suite-config", "apply", "hwci.toml", "-n"),
    )
    (checkout / "hwci.toml").write_text(toml)
    for command in commands:
        assert body(in_ci(*command))["repo_key"] == "acme/boards/firmware"

    (checkout / "hwci.toml").write_text(f'repo_key = "v3/acme/boards/firmware"\n{toml}')
    for command in commands:
        assert body(in_ci(*command))["repo_key"] == "v3/acme/boards/firmware"


@pytest.mark.parametrize("name", NAMES)
def test_one_line_reports_a_job_of_each_system(in_ci: Command, checkout: Path, name: str) -> None:
    environ = {"HWCI_BOX": "bench-1", "HWCI_URL": NOWHERE} | recorded(name)

    report = body(in_ci("report-run", "--junit", "one.xml", "--dry-run", **environ))

    assert report["repo_key"].endswith("firmware")
    assert report["box_key"] == "bench-1"
    assert len(report["sha"]) == 40
    assert checkout.exists()


def test_a_desk_reports_with_no_flag_but_its_box(in_ci: Command, checkout: Path) -> None:
    head = git(checkout, "rev-parse", "HEAD")

    answer = in_ci("report-run", "--box", "desk", "--junit", "one.xml", "-n", HWCI_URL=NOWHERE)

    report = body(answer)
    assert (report["repo_key"], report["workflow"]) == ("acme/firmware", "local")
    assert (report["branch"], report["sha"], report["trigger"]) == ("main", head, "manual")
    # The start of the tests, so that the same results reported again replace these.
    assert (report["started_at"], report["run_id"]) == ("2026-01-31T09:30:00Z", 1769851800)
    assert "hunter2" not in answer.out + answer.err


def test_a_push_says_what_it_covers_and_what_it_changed(in_ci: Command, checkout: Path) -> None:
    first, *rest = git(checkout, "rev-list", "--reverse", "HEAD").split()
    environ = recorded("gitlab-push") | {
        "CI_COMMIT_SHA": rest[-1],
        "CI_COMMIT_BEFORE_SHA": first,
        "HWCI_URL": NOWHERE,
    }

    report = body(in_ci("report-run", "--base-sha", first, "--junit", "one.xml", "-n", **environ))

    assert report["covers_shas"] == rest
    assert report["changes"]["base_sha"] == first
    assert [item["subject"] for item in report["changes"]["commits"]] == ["Change 1", "Change 2"]


def test_the_next_run_counts_from_the_last_one_that_tested(in_ci: Command, checkout: Path) -> None:
    head = git(checkout, "rev-parse", "HEAD")
    run = ("report-run", "--box", "desk", "--workflow", "hil", "--junit", "one.xml")

    assert in_ci(*run, "--run-id", "1", "--strict").code == 0
    commit(checkout, "fw/3.c", "Change 3")
    lost = ("--hello", "failed", "--run-id", "2", "--strict")
    assert in_ci(*run, *lost).code == 0
    newest = commit(checkout, "fw/4.c", "Change 4")
    report = body(in_ci(*run, "--run-id", "3", "-n"))

    assert report["changes"]["base_sha"] == head
    assert [item["subject"] for item in report["changes"]["commits"]] == ["Change 3", "Change 4"]
    assert report["changes"]["commits"][-1]["sha"] == newest


def test_nothing_is_remembered_of_what_was_not_taken(in_ci: Command, checkout: Path) -> None:
    run = ("report-run", "--box", "desk", "--workflow", "hil", "--junit", "one.xml")

    in_ci(*run, "--run-id", "1", "--dry-run")
    commit(checkout, "fw/3.c", "Change 3")

    assert body(in_ci(*run, "--run-id", "2", "-n"))["changes"]["base_sha"] is None


@pytest.mark.parametrize("strict", [(), ("--strict",)])
def test_a_report_kept_for_later_is_remembered(
    in_ci: Command, checkout: Path, strict: tuple[str, ...]
) -> None:
    run = ("report-run", "--box", "desk", "--workflow", "hil", "--junit", "one.xml")
    head = git(checkout, "rev-parse", "HEAD")

    in_ci(*run, "--run-id", "1", *strict, HWCI_URL=NOWHERE)
    commit(checkout, "fw/3.c", "Change 3")

    assert body(in_ci(*run, "--run-id", "2", "-n"))["changes"]["base_sha"] == head


def test_each_box_of_a_run_has_the_same_changes(in_ci: Command, checkout: Path) -> None:
    assert checkout.exists()
    files = ("--junit", "b1=one.xml", "--junit", "b2=one.xml")

    one, two = bodies(in_ci("report-run", *files, "-n", HWCI_URL=NOWHERE))

    assert (one["box_key"], two["box_key"]) == ("b1", "b2")
    assert one["changes"] == two["changes"]
    assert one["run_id"] == two["run_id"]


def test_two_jobs_of_one_number_on_one_box_are_warned_that_one_replaces_the_other(
    in_ci: Command, checkout: Path
) -> None:
    (checkout / "two.xml").write_text(junit("c"))
    run = ("report-run", "--box", "b", "--run-id", "77", "--strict", "--junit")

    first, again, other = (in_ci(*run, name) for name in ("one.xml", "one.xml", "two.xml"))

    assert (first.code, again.code, other.code) == (0, 0, 0)
    assert "replaces" not in first.err + again.err
    assert "warning: The report of b replaces one of other tests: same run 77" in other.err
    assert "set HWCI_RUN_ID to a number of its own for each" in other.err
    assert "`HWCI_RUN_ID: ${{ github.run_id }}${{ strategy.job-index }}`" in other.err
    assert "replaces one of product local" in in_ci(*run, "two.xml", "--suite", "s").err
    later = in_ci(*run, "two.xml", "--suite", "s", "--started-at", "2026-01-31T10:30:00Z")
    assert "warning: The report of b replaces one that started at 20" in later.err


JOBS = [
    ("github-push", "GITHUB_JOB", "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"),
    ("azure-ci", "SYSTEM_JOBIDENTIFIER", "BUILD_BUILDID", "SYSTEM_JOBATTEMPT"),
]


@pytest.mark.parametrize(("name", "job", "build", "attempt"), JOBS)
def test_jobs_of_a_build_on_one_box_have_run_ids_of_their_own(
    in_ci: Command, checkout: Path, name: str, job: str, build: str, attempt: str
) -> None:
    environ = recorded(name) | {"HWCI_SHA": git(checkout, "rev-parse", "HEAD")}
    run = ("report-run", "--junit", "one.xml", "--no-changes")

    def sent(**changed: str) -> None:
        assert in_ci(*run, "--strict", **environ | changed).code == 0

    def ids(**changed: str) -> tuple[int, int | None]:
        report = body(in_ci(*run, "--dry-run", **environ | changed))
        return report["run_id"], report.get("ci_run")

    number = int(environ[build])
    soak, first, third = {job: "Bench.soak.long"}, {attempt: "1"}, {attempt: "3"}
    assert ids(**soak) == (number, None), "a dry run takes no number"
    sent(**first)
    sent(**first, **soak)

    assert ids(**first) == ids(**third) == (number, None)
    own, shown = ids(**first, **soak)
    assert own != number == shown
    assert ids(**third, **soak) == (own, number)
    assert str(own) in in_ci("env", **environ | soak).out
    assert len({own, number, ids(**{job: "Bench.soak.short"})[0]}) == 3
    assert ids(**soak, HWCI_BOX="bench-2") == (number, None)
    assert ids(**soak, **{build: "7"}) == (7, None)


def test_jobs_of_a_build_are_kept_apart_on_each_box_that_their_files_name(
    in_ci: Command, checkout: Path
) -> None:
    environ = recorded("github-push") | {"HWCI_SHA": git(checkout, "rev-parse", "HEAD")}
    number = int(environ["GITHUB_RUN_ID"])

    def sent(job: str, *boxes: str, own: str = "") -> list[tuple[str, int]]:
        files = (word for box in boxes for word in ("--junit", f"{box}=one.xml"))
        command = ("report-run", "--no-changes", *files)
        of_job = environ | {"GITHUB_JOB": job, "HWCI_BOX": own}
        assert in_ci(*command, "--strict", **of_job).code == 0
        dry = bodies(in_ci(*command, "--dry-run", **of_job))
        return [(report["box_key"], report["run_id"]) for report in dry]

    assert sent("smoke", "b1") == [("b1", number)]
    [(_, other)] = sent("soak", "b1")
    assert other != number, "or the second report would replace the first"
    assert sent("hil", "b2", own="b1") == [("b2", number)], "of the box that is reported"
    (_, one), (_, two) = sent("both", "b3", "b2")
    assert one == two, "a run has one id on all its boxes"
    assert one not in {number, other}
    assert sent("both", "b3", "b2") == [("b3", one), ("b2", one)]


def test_a_run_id_that_a_person_sets_has_that_of_the_ci_beside_it(
    in_ci: Command, checkout: Path
) -> None:
    assert checkout.exists()
    environ = recorded("github-push") | {"HWCI_RUN_ID": "195432109871"}

    report = body(in_ci("report-run", "--junit", "one.xml", "--no-changes", "-n", **environ))

    assert (report["run_id"], report["ci_run"]) == (195432109871, 19543210987)


def test_changes_are_left_out_when_nobody_wants_them(in_ci: Command, checkout: Path) -> None:
    assert checkout.exists()

    report = body(in_ci("report-run", "--box", "b", "--junit", "one.xml", "--no-changes", "-n"))

    assert "changes" not in report


@pytest.mark.parametrize(("command", "reached"), [("true", True), ("exit 3", False)])
def test_a_command_says_whether_the_box_was_reached(
    in_ci: Command, checkout: Path, command: str, reached: bool
) -> None:
    assert checkout.exists()
    run = ("report-run", "--box", "b", "--junit", "one.xml", "-n")

    answer = in_ci(*run, "--hello-cmd", command)

    assert body(answer)["hello_ok"] is reached
    assert body(in_ci(*run, "--hello-cmd", command, "--hello", "ok"))["hello_ok"] is True


def test_a_setting_that_cannot_be_understood_is_wrong_usage(in_ci: Command, checkout: Path) -> None:
    assert checkout.exists()
    code, out, err = in_ci("report-run", "--junit", "one.xml", HWCI_TRIGGER="cron")

    assert (code, out) == (2, "")
    assert "HWCI_TRIGGER is 'cron': it should be merge, nightly or manual" in err
    assert "hwci env shows what is known" in err


@pytest.mark.usefixtures("checkout")
def test_a_field_that_breaks_its_rule_is_named_with_its_source(in_ci: Command) -> None:
    run = ("report-run", "--junit", "one.xml", "-n")
    environ = recorded("github-push") | {"HWCI_BOX": "b", "HWCI_URL": NOWHERE}
    long = "b" * 256

    by_system = in_ci(*run, **environ | {"GITHUB_WORKFLOW": long})
    by_flag = in_ci(*run, "--workflow", long, **environ)
    of_file = in_ci(*run[:2], f"{long}=one.xml", "-n", **environ)

    assert {by_system.code, by_flag.code, of_file.code} == {2}
    assert "GITHUB_WORKFLOW (or set --workflow): " in by_system.err
    assert "--workflow: " in by_flag.err
    assert "GITHUB_WORKFLOW" not in by_flag.err
    assert "--box: " in of_file.err
    assert "HWCI_BOX" not in of_file.err


@pytest.mark.usefixtures("checkout")
def test_a_job_says_which_run_made_ci_start_it(in_ci: Command) -> None:
    run = ("report-run", "--box", "b", "--junit", "one.xml", "-n")
    follows = recorded("github-workflow-run-failed")

    assert "rerun_of" not in body(in_ci(*run, **recorded("github-push")))
    assert body(in_ci(*run, **follows))["rerun_of"] == 19543210000
    assert body(in_ci(*run, HWCI_RERUN_OF="6", **follows))["rerun_of"] == 6
    assert body(in_ci(*run, "--rerun-of", "5", HWCI_RERUN_OF="6"))["rerun_of"] == 5


@pytest.mark.usefixtures("checkout")
def test_a_rerun_of_itself_is_wrong_usage_in_one_line(in_ci: Command) -> None:
    own = recorded("github-push")["GITHUB_RUN_ID"]
    run = ("report-run", "--box", "b", "--junit", "one.xml", "-n")

    done = in_ci(*run, "--rerun-of", own, **recorded("github-push"))

    assert done.code == 2
    assert "cause: --rerun-of: Should be another run than `run_id`\n" in done.err


def test_a_report_from_ci_imports_no_server_no_aiohttp_and_none_of_the_other_calls(
    checkout: Path,
) -> None:
    script = (
        "import sys; from hwci.cli.main import app\n"
        "try: app(sys.argv[1:])\n"
        "finally: print([name for name in sys.modules"
        " if name.partition('.')[0] in ('aiohttp', 'asyncio')"
        " or name in ('hwci.server', 'hwci.client.calls', 'hwci.wire.queries', 'hwci.bench.run',"
        " 'hwci.engine.history')],"
        " file=sys.stderr)"
    )
    command = ("report-run", "--box", "b", "--junit", "one.xml")
    environ = {"PATH": os.environ["PATH"], "HOME": str(checkout), "HWCI_URL": NOWHERE}
    for given in ((*command, "--dry-run"), command, ("merge-announce",), ("env",)):
        done = subprocess.run(
            [sys.executable, "-c", script, *given],
            cwd=checkout,
            env=environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr.splitlines()[-1] == "[]"


def test_a_pattern_stands_for_the_files_that_match_it(in_ci: Command, checkout: Path) -> None:
    (checkout / "deep" / "er").mkdir(parents=True)
    (checkout / "deep" / "er" / "two.xml").write_text(junit("c"))

    report = body(in_ci("report-run", "--box", "b", "--junit", "**/*.xml", "-n"))

    assert [test["id"] for test in report["tests"]] == ["t.c", "t.a", "t.b"]
    assert body(in_ci("report-run", "--junit", "b1=*.xml", "-n"))["box_key"] == "b1"


@pytest.mark.parametrize(
    ("flags", "environ"),
    [
        (("--hello", "failed"), {}),
        ((), {"HWCI_HELLO": "failed"}),
        (("--hello-cmd", "exit 1"), {}),
        (("--hello", "failed", "--junit", "no/*.xml"), {}),
    ],
)
def test_a_box_that_was_not_reached_needs_no_start(
    in_ci: Command, checkout: Path, flags: tuple[str, ...], environ: dict[str, str]
) -> None:
    assert checkout.exists()
    before = datetime.now(UTC)  # noqa: TID251 - what is reported is of now

    answer = in_ci("report-run", "--box", "b", *flags, "-n", **environ)

    report = body(answer)
    started = datetime.fromisoformat(report["started_at"])
    assert before <= started <= datetime.now(UTC)  # noqa: TID251 - real
    assert report["ended_at"] == report["started_at"]
    assert (report["hello_ok"], report["tests"]) == (False, [])
    assert report["run_id"] == int(started.timestamp())
    assert "note: The start of the run on b is not known: " in answer.err
    assert "--started-at (HWCI_STARTED_AT)" in answer.err


def test_a_box_that_ran_nothing_starts_with_the_others(in_ci: Command, checkout: Path) -> None:
    assert checkout.exists()
    files = ("--junit", "b1=one.xml", "--junit", "b2=no/*.xml")

    one, two = bodies(in_ci("report-run", *files, "-n"))

    assert (len(one["tests"]), two["tests"]) == (2, [])
    assert one["started_at"] == two["started_at"] == "2026-01-31T09:30:00Z"


def test_a_box_that_ran_nothing_started_before_the_given_end(
    in_ci: Command, checkout: Path
) -> None:
    assert checkout.exists()
    end = "2026-01-31T09:30:00Z"
    run = ("report-run", "--box", "b", "--hello", "failed", "-n")

    report = body(in_ci(*run, "--ended-at", end))

    assert (report["started_at"], report["ended_at"]) == (end, end)
    gitlab = body(in_ci(*run, **recorded("gitlab-push")))
    assert gitlab["started_at"] == recorded("gitlab-push")["CI_JOB_STARTED_AT"]


def test_a_key_that_the_ci_could_not_fill_in_is_no_key(in_ci: Command, checkout: Path) -> None:
    assert checkout.exists()

    answer = in_ci("merge-announce", HWCI_CI_KEY="$(HWCI_CI_KEY)")

    assert answer.code == 0
    assert "HWCI_CI_KEY" in answer.err
    assert "401" not in answer.err


# A dry run where something is missing


def draft(answer: Answer) -> dict[str, Any]:
    assert answer.code == 2, answer.err
    [line] = answer.out.splitlines()
    read: dict[str, Any] = json.loads(line)
    return read


def test_a_dry_run_without_any_setting_shows_what_is_known_and_names_the_rest(
    cli: Command, checkout: Path
) -> None:
    answer = cli("report-run", "--dry-run")

    known = draft(answer)
    head = git(checkout, "rev-parse", "HEAD")
    assert (known["repo_key"], known["branch"], known["sha"]) == ("acme/firmware", "main", head)
    assert [item["sha"] for item in known["changes"]["commits"]] == [head]
    assert not {"box_key", "tests", "started_at", "hello_ok", "conclusion"} & known.keys()
    assert "cause: missing: box_key, tests; what is known is printed above\n" in answer.err
    assert "box_key: --box (or HWCI_BOX), or --junit BOX=FILE\n" in answer.err
    assert "tests: --junit FILE, which also has started_at" in answer.err


def test_a_dry_run_without_a_box_shows_the_results(cli: Command, checkout: Path) -> None:
    assert checkout.exists()
    run = ("report-run", "--junit", "one.xml", "-n")

    whole, part = body(cli(*run, "--box", "b")), draft(cli(*run))

    assert part == {name: value for name, value in whole.items() if name != "box_key"}
    assert draft(cli("report-run", "-n", "--hello", "failed"))["tests"] == []


def test_a_dry_run_outside_any_repository_shows_what_is_known(cli: Command, tmp_path: Path) -> None:
    assert not list(tmp_path.iterdir())

    answer = cli("report-run", "-n", "--box", "b")

    assert draft(answer).keys() == {"workflow", "run_id", "run_attempt", "trigger", "box_key"}
    assert "missing: repo_key, branch, sha, tests; what" in answer.err


# merge-announce


def test_a_push_to_the_default_branch_is_announced_with_no_flag(
    in_ci: Command, checkout: Path
) -> None:
    head = git(checkout, "rev-parse", "HEAD")

    environ = recorded("github-push") | {"GITHUB_SHA": head}
    announced = body(in_ci("merge-announce", "-n", **environ))

    assert announced == {
        "repo_key": "acme/firmware",
        "sha": head,
        "branch": "main",
        "merged_at": "2026-11-20T16:20:00Z",
        "ci_url": "https://github.com/acme/firmware/actions/runs/19543210987/attempts/2",
    }


def test_a_commit_that_was_not_pushed_is_not_announced(in_ci: Command, checkout: Path) -> None:
    head = git(checkout, "rev-parse", "HEAD")
    git(checkout, "checkout", "--quiet", "HEAD~1")

    code, out, err = in_ci("merge-announce", "-n", **recorded("github-push") | {"GITHUB_SHA": head})

    assert (code, out) == (0, "")
    assert "Nothing is announced: another commit is checked out than was merged" in err
    assert (
        body(in_ci("merge-announce", "-n", "--sha", head, **recorded("github-push")))["sha"] == head
    )


def test_the_time_of_a_merge_is_that_of_its_commit(in_ci: Command, checkout: Path) -> None:
    head = git(checkout, "rev-parse", "HEAD")
    environ = recorded("buildkite-webhook") | {"BUILDKITE_COMMIT": head}

    assert body(in_ci("merge-announce", "-n", **environ))["merged_at"] == "2026-01-31T08:00:00Z"


@pytest.mark.parametrize(
    "name",
    [
        "github-pull-request",
        "github-schedule",
        "github-tag",
        "gitlab-merge-request",
        "jenkins-change",
        "azure-pull-request",
    ],
)
def test_a_job_of_no_merge_announces_nothing_and_says_so(
    in_ci: Command, checkout: Path, name: str
) -> None:
    assert checkout.exists()
    code, out, err = in_ci("merge-announce", HWCI_URL=NOWHERE, **recorded(name))

    assert (code, out) == (0, "")
    assert err.startswith("Nothing is announced: this job is not of a merge: its trigger is ")
    assert "If it is, set HWCI_TRIGGER=merge" in err


def test_a_merge_that_a_queue_only_tries_is_not_announced(in_ci: Command) -> None:
    code, out, err = in_ci("merge-announce", HWCI_URL=NOWHERE, **recorded("github-merge-group"))

    assert (code, out) == (0, "")
    assert err == "Nothing is announced: a merge queue is only testing this merge.\n"


def test_a_person_who_names_the_commit_says_that_it_is_a_merge(
    in_ci: Command, checkout: Path
) -> None:
    head = git(checkout, "rev-parse", "HEAD")

    answer = in_ci("merge-announce", "-n", "--sha", head, **recorded("github-schedule"))

    # The event's time is of another commit.
    assert body(answer)["merged_at"] == "2026-01-31T08:00:00Z"


def test_a_job_that_does_not_say_what_started_it_announces(in_ci: Command, checkout: Path) -> None:
    environ = recorded("jenkins-freestyle") | {"GIT_COMMIT": git(checkout, "rev-parse", "HEAD")}

    assert body(in_ci("merge-announce", "-n", **environ))["branch"] == "main"


PRODUCTS = """
repo_key = "acme/boards/firmware"

[[product]]
suite = "sensor-fw"
firmware_paths = ["fw/**"]
harness_paths = ["hil/**"]
trigger_paths = ["fw/**", "!fw/notes/**"]
box = "bench-s"

[[product]]
suite = "gateway-fw"
firmware_paths = ["gw/**"]
harness_paths = ["hil/**"]
trigger_paths = ["gw/**"]

[[product]]
suite = "all"
firmware_paths = ["**"]
harness_paths = []

[[product]]
suite = "by-night"
firmware_paths = ["**"]
harness_paths = []
merge_trigger = false
"""


@pytest.fixture
def products(checkout: Path) -> Path:
    """The checkout with a project file of four products, not committed."""
    (checkout / "hwci.toml").write_text(PRODUCTS)
    return checkout


@pytest.mark.parametrize(
    ("path", "suites"),
    [
        ("fw/new.c", ["sensor-fw", "all"]),
        ("fw/notes/new.md", ["all"]),
        ("gw/new.c", ["gateway-fw", "all"]),
    ],
)
def test_each_product_that_a_merge_starts_is_announced(
    in_ci: Command, products: Path, path: str, suites: list[str]
) -> None:
    sha = commit(products, path, "New")

    announced = bodies(in_ci("merge-announce", "-n", "--before-sha", "HEAD~1"))

    assert [item["suite"] for item in announced] == suites
    assert {(item["repo_key"], item["sha"]) for item in announced} == {
        ("acme/boards/firmware", sha)
    }


def test_all_commits_of_the_push_count_as_the_merge(in_ci: Command, products: Path) -> None:
    before = git(products, "rev-parse", "HEAD")
    commit(products, "gw/new.c", "New")
    sha = commit(products, "docs/new.md", "Tell of it")
    environ = recorded("gitlab-push") | {"CI_COMMIT_SHA": sha, "CI_COMMIT_BEFORE_SHA": before}

    announced = bodies(in_ci("merge-announce", "-n", **environ))

    assert [item["suite"] for item in announced] == ["gateway-fw", "all"]


def test_a_merge_whose_files_cannot_be_known_starts_every_product(
    in_ci: Command, products: Path
) -> None:
    assert products.exists()

    answer = in_ci("merge-announce", "-n", "--sha", "f" * 40, HWCI_MERGED_AT="2026-01-31T09:30:00Z")

    assert [item["suite"] for item in bodies(answer)] == ["sensor-fw", "gateway-fw", "all"]
    assert (
        "note: The files of the merge are not known, so each product is announced: " in answer.err
    )


def pushed_by(name: str, sha: str, event: dict[str, Any], folder: Path) -> dict[str, str]:
    """Return the environment of a recorded push of another commit, and change its event."""
    environ = recorded(name)
    variables = ("GITHUB_SHA", "BUILDKITE_COMMIT", "BUILD_SOURCEVERSION", "GIT_COMMIT")
    environ |= {name: sha for name in variables if name in environ}
    environ.pop("GIT_PREVIOUS_COMMIT", None)
    if "GITHUB_EVENT_PATH" in environ:
        result = json.loads(Path(environ["GITHUB_EVENT_PATH"]).read_bytes())
        (folder / "event.json").write_text(json.dumps(result | {"after": sha} | event))
        environ["GITHUB_EVENT_PATH"] = str(folder / "event.json")
    return environ


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("buildkite-webhook", "it is unknown what was pushed"),
        ("azure-ci", "it is unknown what was pushed"),
        ("azure-batched", "several pushes are built at once"),
        ("jenkins-freestyle", "it is unknown what was pushed"),
    ],
)
def test_no_product_is_lost_where_the_ci_gives_only_the_last_commit(
    in_ci: Command, products: Path, name: str, why: str
) -> None:
    commit(products, "gw/new.c", "New")
    sha = commit(products, "docs/new.md", "Tell of it")

    answer = in_ci("merge-announce", "-n", **pushed_by(name, sha, {}, products))

    assert [item["suite"] for item in bodies(answer)] == ["sensor-fw", "gateway-fw", "all"]
    assert f"{why}. Say where the branch stood before: --before-sha" in answer.err


@pytest.mark.parametrize("event", [{"before": "0" * 40}, {"forced": True}])
@pytest.mark.parametrize("shallow", [False, True])
def test_the_commits_that_an_event_lists_count_as_the_merge(
    in_ci: Command, products: Path, tmp_path: Path, event: dict[str, Any], shallow: bool
) -> None:
    shas = [commit(products, path, "New") for path in ("fw/old.c", "gw/new.c", "docs/new.md")]
    if shallow:
        git(products, "init", "-q", "--bare", "origin.git")
        origin = (products / "origin.git").as_uri()
        git(products, "push", "-q", origin, "main")
        git(products, "remote", "set-url", "origin", origin)
        (products / ".git" / "shallow").write_text(f"{shas[-1]}\n")
    event = event | {"commits": [{"id": sha} for sha in shas[1:]]}

    answer = in_ci("merge-announce", "-n", **pushed_by("github-push", shas[-1], event, tmp_path))

    assert [item["suite"] for item in bodies(answer)] == ["gateway-fw", "all"]
    assert answer.err == ""


def test_a_list_of_commits_that_may_end_early_is_no_list(
    in_ci: Command, products: Path, tmp_path: Path
) -> None:
    shas = [commit(products, f"docs/{number}.md", "New") for number in range(20)]
    event = {"before": "0" * 40, "commits": [{"id": sha} for sha in shas]}

    answer = in_ci("merge-announce", "-n", **pushed_by("github-push", shas[-1], event, tmp_path))

    assert [item["suite"] for item in bodies(answer)] == ["sensor-fw", "gateway-fw", "all"]


@pytest.mark.parametrize(
    ("name", "suites"),
    [
        ("azure-ci", ["gateway-fw", "all"]),
        ("azure-batched", ["sensor-fw", "gateway-fw", "all"]),  # the last of several merges
    ],
)
def test_a_merge_commit_shows_by_itself_what_was_merged(
    in_ci: Command, products: Path, name: str, suites: list[str]
) -> None:
    git(products, "checkout", "-q", "-b", "side")
    commit(products, "gw/new.c", "New")
    git(products, "checkout", "-q", "main")
    commit(products, "fw/new.c", "Not of this merge")
    git(products, "merge", "-q", "--no-ff", "-m", "Merge", "side")
    sha = git(products, "rev-parse", "HEAD")

    answer = in_ci("merge-announce", "-n", **pushed_by(name, sha, {}, products))

    assert [item["suite"] for item in bodies(answer)] == suites
    only_the_last = (
        "note: The commits of the push are not known: only the files that its last one, a merge,"
    )
    assert (only_the_last in answer.err) == (name == "azure-ci")
    result = in_ci("merge-announce", "-n", "--before-sha=HEAD~1", "--sha", sha)
    assert only_the_last not in result.err


def test_without_a_commit_each_way_to_set_it_is_named(in_ci: Command, tmp_path: Path) -> None:
    assert tmp_path.exists()

    code, out, err = in_ci("merge-announce", "--repo-key", "r", "-n")

    assert (code, out) == (2, "")
    assert "error: The announcement lacks fields that only you can set\n" in err
    assert "cause: missing: sha, branch, merged_at\n" in err
    assert "       sha: --sha (or HWCI_SHA)\n" in err
    assert "       merged_at: --merged-at (or HWCI_MERGED_AT)\n" in err


def test_a_product_that_is_named_is_announced_alone(in_ci: Command, products: Path) -> None:
    assert products.exists()

    assert body(in_ci("merge-announce", "-n", "--suite", "x"))["suite"] == "x"
    assert body(in_ci("merge-announce", "-n", HWCI_SUITE="y"))["suite"] == "y"


def test_a_merge_that_starts_nothing_is_noted(in_ci: Command, products: Path) -> None:
    only_by_night = f'repo_key = "r/firmware"\n[[product]]{PRODUCTS.rpartition("[[product]]")[2]}'
    (products / "hwci.toml").write_text(only_by_night)

    code, out, err = in_ci("merge-announce", HWCI_URL=NOWHERE)

    assert (code, out) == (0, "")
    assert err == "Nothing is announced: the merge starts no product of hwci.toml.\n"


def test_announcements_of_several_products_are_all_sent(in_ci: Command, products: Path) -> None:
    sha = commit(products, "fw/new.c", "New")

    code, _, err = in_ci("merge-announce", "--strict")

    assert code == 0
    assert f"Announced {sha} of acme/boards/firmware for sensor-fw at " in err
    assert f"Announced {sha} of acme/boards/firmware for all at " in err


def test_the_product_that_is_named_says_its_box(in_ci: Command, products: Path) -> None:
    assert products.exists()
    run = ("report-run", "--junit", "one.xml", "-n")

    report = body(in_ci(*run, "--suite", "sensor-fw"))

    assert (report["repo_key"], report["suite"]) == ("acme/boards/firmware", "sensor-fw")
    assert report["box_key"] == "bench-s"
    assert in_ci(*run).code == 2  # of four products, nothing says which box


def test_a_run_of_no_product_of_the_project_is_reported_with_a_warning(
    in_ci: Command, products: Path
) -> None:
    assert products.exists()
    run = ("report-run", "--box", "b", "--junit", "one.xml", "-n")

    unsaid, mistyped = in_ci(*run, "--workflow", "hil"), in_ci(*run, HWCI_SUITE="sensr-fw")

    assert "suite" not in body(unsaid)
    assert (
        "warning: hwci.toml has 4 products (all, by-night, gateway-fw, sensor-fw), and none is "
        "named for this run: it counts as one of product hil, the workflow. Name it: --suite "
        "(HWCI_SUITE).\n"
    ) in unsaid.err
    assert body(mistyped)["suite"] == "sensr-fw"
    assert "warning: HWCI_SUITE says product sensr-fw, which hwci.toml does not" in mistyped.err
    assert "warning" not in in_ci(*run, "--suite", "sensor-fw").err
    assert "warning" not in in_ci(*run, "--workflow", "all").err
    announced = in_ci("merge-announce", "-n", "--suite", "sensr-fw")
    assert "warning: --suite says product sensr-fw, which" in announced.err


def test_the_only_product_of_the_project_is_that_of_a_run(in_ci: Command, products: Path) -> None:
    one = f'repo_key = "r/firmware"\n[[product]]{PRODUCTS.split("[[product]]")[1]}'
    (products / "hwci.toml").write_text(one)

    answer = in_ci("report-run", "--junit", "one.xml", "-n")

    assert body(answer)["suite"] == "sensor-fw"
    assert "warning" not in answer.err


def test_a_verdict_rule_of_the_project_is_believed(in_ci: Command, products: Path) -> None:
    rule = '[[verdict]]\nmessage = "relay .* stuck"\nverdict = "infra"\n'
    (products / "hwci.toml").write_text(PRODUCTS + rule)
    failed = junit("a", fails="a").replace("<failure/>", '<failure message="relay 3 stuck"/>')
    (products / "stuck.xml").write_text(failed)

    report = body(in_ci("report-run", "--box", "b", "--junit", "stuck.xml", "-n"))

    assert report["tests"][0]["verdict"] == "infra"


UNKNOWN = {
    "box =": ("boxx = 1", "product 1: boxx (did you mean box?)"),
    "verdict =": ("colour = 1", "verdict 1: colour (known: message, verdict)"),
    "repo_key =": ("mesages = true", "mesages (did you mean messages?)"),
}
"""Keys that are not known, by the key before which they are written, and what is said of each."""


def of_newer(path: Path, *before: str) -> str:
    """Return the line about these keys, which names those of the top last."""
    count = "1 unknown key" if len(before) == 1 else f"{len(before)} unknown keys"
    return (
        f"{path}: {count}: {', '.join(UNKNOWN[key][1] for key in before)}. Correct what is "
        f"misspelt; if a newer hwci than {__version__} knows the rest, update hwci"
    )


READERS = [
    ("report-run", "--box", "b", "--junit", "one.xml", "-n"),
    ("merge-announce", "-n"),
    ("exec", "--box", "b", "--junit", "two.xml", "--", "cp", "one.xml", "two.xml"),
    ("env",),
]
"""What reads a project file for a report."""


def lines(err: str) -> list[str]:
    return sorted(line.rstrip(".") for line in err.splitlines())


def project_file(*before: str) -> str:
    text = PRODUCTS + '[[verdict]]\nmessage = "stuck"\nverdict = "infra"\n'
    for key in before:
        text = text.replace(key, f"{UNKNOWN[key][0]}\n{key}", 1)
    return text


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
def test_unknown_keys_of_the_project_file_are_left_out_with_one_warning(
    in_ci: Command, products: Path, command: tuple[str, ...]
) -> None:
    path = products / "hwci.toml"
    path.write_text(project_file())
    without = in_ci(*command, HWCI_RUN_ID="7")

    for keys in (("verdict =",), tuple(UNKNOWN)):
        path.write_text(project_file(*keys))
        code, out, err = in_ci(
            *command, HWCI_RUN_ID="7", HWCI_SPOOL_DIR=str(path.parent / "".join(keys))
        )

        warned = f"warning: Left out: {of_newer(path, *keys)}"
        assert (code, out) == (0, without.out)
        assert lines(err) == sorted([warned, *lines(without.err)]), "it is said once"


def test_unknown_keys_of_the_project_file_stand_in_the_summary(
    in_ci: Command, products: Path
) -> None:
    (products / "hwci.toml").write_text("[[vardict]]\n" + PRODUCTS)
    page = products / "page.md"
    environ = recorded("github-push") | {"GITHUB_STEP_SUMMARY": str(page)}

    assert in_ci("report-run", "--box", "b", "--junit", "one.xml", **environ).code == 0

    assert "vardict &#40;did you mean verdict" in page.read_text()


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
def test_a_fault_of_the_project_file_is_wrong_usage_and_named_beside_unknown_keys(
    in_ci: Command, products: Path, command: tuple[str, ...]
) -> None:
    text = project_file(*UNKNOWN).replace("merge_trigger = false", 'merge_trigger = "no"')
    path = products / "hwci.toml"
    path.write_text(text)
    strict = ("--strict",) if command[0] == "exec" else ()  # else it stops no test

    code, _, err = in_ci(command[0], *strict, *command[1:])

    assert code == (0 if command == ("env",) else 2)
    assert "product 4: merge_trigger: Input should be a valid boolean" in err
    assert err.count(of_newer(path, *UNKNOWN)) == 1
    assert not (products / "two.xml").exists()
