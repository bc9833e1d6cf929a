# SPDX-License-Identifier: Apache-2.0
"""The examples for CI systems: what they run is run here, as the system would, with its recorded
environment, against a real server.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from hwci.client import Client, calls
from tests.ci.recorded import recorded
from tests.cli.test_job_reports import git
from tests.cli.test_reporting import junit
from tests.server.running import RunningServer, running_in_thread

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "ci"
BENCH = re.compile(r"bench-1|self-hosted")
SYSTEMS = {
    "github": "github-push",
    "gitlab": "gitlab-push",
    "jenkins": "jenkins-multibranch",
    "buildkite": "buildkite-webhook",
    "circleci": "circleci-push",
    "azure": "azure-ci",
}
WAITS = ("needs", "dependsOn", "depends_on", "requires")
COMMITTED = {
    "github": "GITHUB_SHA",
    "gitlab": "CI_COMMIT_SHA",
    "jenkins": "GIT_COMMIT",
    "buildkite": "BUILDKITE_COMMIT",
    "circleci": "CIRCLE_SHA1",
    "azure": "BUILD_SOURCEVERSION",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A real server; no bench has ever spoken to it."""
    with running_in_thread(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The checkout of a job, with `hwci`, `pipx` and `pip` where the job finds them."""
    folder = tmp_path / "checkout"
    (folder / "results").mkdir(parents=True)
    (folder / "results" / "hil.xml").write_text(junit("a", "b", fails="b"))
    (folder / "started").write_text("2026-01-31T09:30:00Z\n")
    (folder / "hello.ok").touch()
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "One")
    tools = tmp_path / "bin"
    tools.mkdir()
    hwci = f'exec "{sys.executable}" -m hwci "$@"'
    pipx = 'shift; if [ "$1" = --spec ]; then shift 2; fi; exec "$@"'
    for name, script in {"hwci": hwci, "pipx": pipx, "pip": "exit 0"}.items():
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(0o755)
    return folder


def read(path: str) -> list[Any]:
    return list(yaml.safe_load_all((EXAMPLES / path).read_text()))


def github(job: str) -> tuple[str, dict[str, str]]:
    """Give the script of the action with what a job of the workflow hands to it."""
    [action], [workflow] = read("github/action.yml"), read("github/workflow.yml")
    [use] = [s for s in workflow["jobs"][job]["steps"] if "actions/hwci" in s.get("uses", "")]
    inputs = {name: one.get("default", "") for name, one in action["inputs"].items()}
    inputs |= {name: value for name, value in use["with"].items() if "${{" not in value}
    [step] = action["runs"]["steps"]
    values = {
        f"${{{{ inputs.{name} }}}}": value
        for name, value in inputs.items()
        if name not in {"server", "api-key"}
    }
    values |= {"${{ inputs.hello }}": "ok", "${{ job.status }}": "failure"}
    environ = {name: values[value] for name, value in step["env"].items() if value in values}
    return step["run"], environ


def gitlab(job: str) -> tuple[str, dict[str, str]]:
    _, jobs = read("gitlab/template.yml")
    lines = {
        "announce": jobs["hwci-announce"]["script"],
        "hil": jobs[".hwci-report"]["after_script"],
    }
    return "\n".join(lines[job]), {"HWCI_JUNIT": "results/*.xml"}


def jenkins(job: str) -> tuple[str, dict[str, str]]:
    text = (EXAMPLES / "jenkins/Jenkinsfile").read_text()
    scripts = re.findall(r"sh '{3}(.*?)'{3}|sh '([^'\n]+)'", text, re.DOTALL)
    command = {"announce": "merge-announce", "hil": "report-run"}[job]
    [script] = [one for pair in scripts for one in pair if command in one]
    return script, {"HWCI_TRIGGER": "merge", "HWCI_CONCLUSION": "FAILURE"}


def buildkite(job: str) -> tuple[str, dict[str, str]]:
    if job == "hil":
        hook = (EXAMPLES / "buildkite/hooks/post-command").read_text()
        return hook, {"BUILDKITE_STEP_KEY": "hil", "BUILDKITE_COMMAND_EXIT_STATUS": "1"}
    [step] = [one for one in read("buildkite/pipeline.yml")[0]["steps"] if one["key"] == job]
    return step["command"], {}


def circleci(job: str) -> tuple[str, dict[str, str]]:
    said = read("circleci/config.yml")[0]["jobs"][job]
    runs = [one["run"] for one in said["steps"] if isinstance(one, dict) and "run" in one]
    scripts = [run["command"] if isinstance(run, dict) else run for run in runs]
    environ = {
        "<< pipeline.trigger_source >>": "webhook",
        "<< pipeline.git.base_revision >>": "",
    }
    given = {name: environ.get(value, value) for name, value in said["environment"].items()}
    [script] = [script for script in scripts if "hwci " in script]
    return script, given | {"HWCI_CONCLUSION": "failed"}


def azure(job: str) -> tuple[str, dict[str, str]]:
    [said] = [one for one in read("azure/azure-pipelines.yml")[0]["jobs"] if one["job"] == job]
    [script] = [one["script"] for one in said["steps"] if "hwci " in one.get("script", "")]
    return script, {"AGENT_JOBSTATUS": "Failed"}


SCRIPTS = {
    "github": github,
    "gitlab": gitlab,
    "jenkins": jenkins,
    "buildkite": buildkite,
    "circleci": circleci,
    "azure": azure,
}


def run(
    system: str, job: str, checkout: Path, server: RunningServer
) -> subprocess.CompletedProcess[str]:
    """Run what the example runs in a job, as its system would."""
    script, given = SCRIPTS[system](job)
    environ = {
        "PATH": f"{checkout.parent / 'bin'}:{os.environ['PATH']}",
        "HOME": str(checkout.parent),
        "PYTHONPATH": str(ROOT),
        **recorded(SYSTEMS[system]),
        COMMITTED[system]: git(checkout, "rev-parse", "HEAD"),
        **given,
        "HWCI_URL": server.url,
        "HWCI_CI_KEY": server.ci_key,
        "HWCI_REPO_KEY": f"{system}/{job}",
        "HWCI_STRICT": "1",
    }
    return subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=checkout,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_merge_is_announced_while_every_bench_is_offline(
    system: str, checkout: Path, server: RunningServer
) -> None:
    done = run(system, "announce", checkout, server)

    assert done.returncode == 0, done.stderr
    with Client(server.url, token=server.token) as client:
        merges = client.send(
            calls.unchecked_merges(server.org_id, days=3650, repo_key=f"{system}/announce")
        )
    assert [merge.sha for merge in merges.items] == [git(checkout, "rev-parse", "HEAD")]


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_run_that_failed_is_reported_from_the_bench(
    system: str, checkout: Path, server: RunningServer
) -> None:
    done = run(system, "hil", checkout, server)

    assert done.returncode == 0, done.stderr
    with Client(server.url, token=server.token) as client:
        [reported] = client.send(calls.list_runs(server.org_id, repo_key=f"{system}/hil")).items
    assert (reported.tests.total, reported.tests.failed) == (2, 1)
    assert (reported.box_key, reported.hello_ok) == ("bench-1", True)
    assert str(reported.conclusion).lower() in {"failure", "failed"}


def jobs(system: str) -> tuple[object, object]:
    """Give what an example says of the job that announces, and of the one on the bench."""
    match system:
        case "github":
            said = read("github/workflow.yml")[0]["jobs"]
            return said["announce"], said["hil"]
        case "gitlab":
            return read("gitlab/template.yml")[1]["hwci-announce"], read("gitlab/pipeline.yml")[0]
        case "jenkins":
            text = (EXAMPLES / "jenkins/Jenkinsfile").read_text()
            _, announce, hil = re.split(r"stage\(", text)
            return announce, hil
        case "buildkite":
            announce, hil = read("buildkite/pipeline.yml")[0]["steps"]
            return announce, hil
        case "circleci":
            said = read("circleci/config.yml")[0]["jobs"]
            return said["announce"], said["hil"]
        case _:
            announce, hil = read("azure/azure-pipelines.yml")[0]["jobs"]
            return announce, hil


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_announcement_stands_in_a_job_that_needs_no_bench(system: str) -> None:
    announce, hil = map(str, jobs(system))

    assert "merge-announce" in announce
    assert not BENCH.search(announce)
    assert BENCH.search(hil)
    assert "merge-announce" not in hil


def test_the_bench_does_not_wait_for_the_announcement_and_the_other_way_round() -> None:
    for system in ("github", "circleci", "azure", "buildkite"):
        announce, hil = jobs(system)
        for job in (announce, hil):
            assert isinstance(job, dict)
            assert [job.get(word) for word in WAITS if job.get(word)] == []


def test_inputs_of_the_action_stand_in_no_script() -> None:
    [action] = read("github/action.yml")

    assert all("${{" not in step["run"] for step in action["runs"]["steps"])
