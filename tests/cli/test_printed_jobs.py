# SPDX-License-Identifier: Apache-2.0
"""The jobs that `hwci init` prints, run as their CI systems run them: what is announced and
reported while the server is there, and that the tests run, with their own exit code, while it is
away.
"""

import re
import subprocess
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
import yaml

from hwci.ci.new_job import JOBS, job_text
from hwci.client import Client, calls
from hwci.engine.vocabulary import CiSystem
from tests.cli.conftest import Command
from tests.cli.jobs import repository
from tests.cli.printed_jobs import SYSTEMS, PrintedBench
from tests.support.comes_and_goes import ServerThatComesAndGoes
from tests.support.held_port import held_port
from tests.support.running import (
    RunningServer,
)


@pytest.fixture
def away(tmp_path: Path) -> Iterator[ServerThatComesAndGoes]:
    """A server that a test stops and starts."""
    with held_port() as port:
        server = ServerThatComesAndGoes(tmp_path, port)
        yield server
        server.stop()


def printed(cli: Command, folder: Path, file: str, url: str, key: str) -> PrintedBench:
    """Return a bench that has what `hwci init` prints in a repository with this file."""
    checkout = folder / "checkout"
    repository(checkout, "hil/test_a.py", file)
    with chdir(checkout):
        done = cli("init", "--suite", "sensor-fw", HWCI_URL=url)
    assert done.code == 0, done.err
    return PrintedBench(folder, SYSTEMS[file], done.out, HWCI_CI_KEY=key)


@pytest.mark.parametrize("file", SYSTEMS)
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


@pytest.mark.parametrize("file", SYSTEMS)
def test_a_job_ends_as_its_tests_and_is_reported_later_while_the_server_is_away(
    cli: Command, away: ServerThatComesAndGoes, tmp_path: Path, file: str
) -> None:
    """From between its steps on, all the time, from within the tests on, and up to there."""
    bench = printed(cli, tmp_path, file, away.url, away.ci_key)
    outs = [bench.run("hil", between=away.stop, HWCI_RUN_ID="1")]
    outs.append(bench.run("hil", HWCI_RUN_ID="2"))
    away.start()
    outs.append(bench.run("hil", in_tests=away.stop, HWCI_RUN_ID="3"))
    away.start()
    repo_key = bench.environ["HWCI_REPO_KEY"]
    before = away.runs(repo_key)
    away.stop()
    outs.append(bench.run("hil", in_tests=away.start, HWCI_RUN_ID="4"))

    assert [(code, "1 failed, 1 passed" in out) for code, out in outs] == [(1, True)] * 4, outs
    assert all("hwci is not installed anew" in outs[at][1] for at in (1, 3))
    assert "hwci is not here" not in "".join(out for _, out in outs)
    assert before == []
    assert away.runs(repo_key) == [(number, bench.sha, 2, 1) for number in (1, 2, 3, 4)]


@pytest.mark.parametrize("file", SYSTEMS)
def test_a_new_bench_tests_while_the_server_is_away_and_says_how_to_report_that(
    cli: Command, away: ServerThatComesAndGoes, tmp_path: Path, file: str
) -> None:
    bench = printed(cli, tmp_path, file, away.url, away.ci_key)
    away.stop()
    code, out = bench.run("hil")
    away.start()

    assert (code, "1 failed, 1 passed" in out) == (1, True), out
    assert not bench.hwci.exists()
    [line] = [line for line in out.splitlines() if line.startswith("hwci report-run")]
    assert f"--sha {bench.sha} --box NAME" in line
    # Somebody follows it: what the job would install is installed, and the line is pasted.
    install = bench.jobs["announce"][0].partition(" && ../.hwci/bin/hwci")[0]
    pasted = f"{install}\nPATH=../.hwci/bin:$PATH\n{line.replace('NAME', 'bench-1')}"
    done = subprocess.run(
        ["sh", "-ec", pasted],
        cwd=bench.checkout,
        env=bench.environ,
        check=False,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    [run] = away.runs(bench.environ["HWCI_REPO_KEY"])
    assert run[1:] == (bench.sha, 2, 1)


@pytest.mark.parametrize("file", SYSTEMS)
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


@pytest.mark.parametrize("file", SYSTEMS)
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
