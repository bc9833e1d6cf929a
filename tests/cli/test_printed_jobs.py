# SPDX-License-Identifier: Apache-2.0
"""The jobs that `hwci init` prints, run as their CI systems run them: what is announced and
reported while the server is there, and that the tests run, with their own exit code, while it is
away.
"""

import re
from pathlib import Path

import pytest
import yaml

from hwci.ci.new_job import JOBS, job_text
from hwci.client import Client, calls
from hwci.contract.ci_systems import CiSystem
from tests.cli.conftest import Command
from tests.cli.printed_jobs import ONE_SYSTEM, SOME_SYSTEMS, printed
from tests.support.running import (
    RunningServer,
)


@pytest.mark.parametrize("file", SOME_SYSTEMS)
def test_the_printed_job_announces_a_merge_and_reports_a_run(
    cli: Command, server: RunningServer, tmp_path: Path, file: str
) -> None:
    bench = printed(cli, tmp_path, file, server.url, server.ci_key)

    assert list(bench.jobs) == ["announce", "hil"]
    for job, code in (("announce", 0), ("hil", 1)):  # a test fails
        ended, out = bench.run(job)
        assert ended == code, out
    repo_key = bench.environ["HWCI_REPO_KEY"]
    with Client(server.url, token=server.token) as client:
        merges = calls.checked_merges(server.org_id, days=3650, repo_key=repo_key)
        [merge] = client.send(merges).items
        [run] = client.send(calls.list_runs(server.org_id, repo_key=repo_key)).items
    assert (merge.sha, merge.suite) == (bench.sha, "sensor-fw")
    assert (run.box_key, run.tests.total, run.tests.failed) == ("bench-1", 2, 1)


@pytest.mark.parametrize("file", SOME_SYSTEMS)
def test_a_job_with_a_damaged_hwci_and_no_server_tests(
    cli: Command, tmp_path: Path, file: str
) -> None:
    """As where the Python of the environment was replaced."""
    bench = printed(cli, tmp_path, file, "http://127.0.0.1:9", "svc_" + "1" * 64)
    bench.hwci.parent.mkdir(parents=True)
    bench.hwci.write_text("#!/no/such/python\n")
    bench.hwci.chmod(0o755)
    code, out = bench.run("hil")

    assert (code, "1 failed, 1 passed" in out, "hwci is not here" in out) == (1, True, True), out


@pytest.mark.parametrize("file", ONE_SYSTEM)
def test_a_job_with_half_of_its_variables_ends_as_its_tests(
    cli: Command, server: RunningServer, tmp_path: Path, file: str
) -> None:
    bench = printed(cli, tmp_path, file, server.url, server.ci_key)
    half = {
        name: value
        for number, (name, value) in enumerate(sorted(bench.environ.items()))
        if number % 2
        or name in {"PATH", "HOME", "HWCI_WHEEL"}
        or name.startswith(("PIP_", "PYTEST_"))
    }
    bench.environ = half
    code, out = bench.run("hil")

    assert (code, "1 failed, 1 passed" in out) == (1, True), out
    assert "Traceback" not in out


NO_MATTER = {
    CiSystem.GITHUB: ("continue-on-error", True),
    CiSystem.GITLAB: ("allow_failure", True),
    CiSystem.BUILDKITE: ("soft_fail", True),
    CiSystem.AZURE: ("continueOnError", True),
}


@pytest.mark.parametrize("ci", CiSystem)
def test_an_announcement_without_a_server_is_no_matter_of_the_build(ci: CiSystem) -> None:
    text = job_text(JOBS[ci], [], "", "")
    if ci in NO_MATTER:
        file = yaml.safe_load(text)
        jobs = file.get("jobs") or file.get("steps") or file
        job = jobs["announce"] if isinstance(jobs, dict) else jobs[0]
        assert job[NO_MATTER[ci][0]] is NO_MATTER[ci][1]
    elif ci is CiSystem.JENKINS:
        assert re.search(r"try \{\s+timeout\(time: 10, unit: 'MINUTES'\) \{.*\s+node\(", text)
    else:
        assert '|| \n echo "The merge is not announced."' in re.sub(r"\|\|\s+", "|| \n ", text)


def test_no_stage_of_jenkins_waits_for_a_node_without_a_limit() -> None:
    text = JOBS[CiSystem.JENKINS].text
    limits = [match.start() for match in re.finditer(r"timeout\(time: \d+", text)]
    waits = [match.start() for match in re.finditer(r"node\('|agent \{ label", text)]

    assert len(limits) == len(waits) == 2
    assert all(limit < wait for limit, wait in zip(limits, waits, strict=True))
