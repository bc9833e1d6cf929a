# SPDX-License-Identifier: Apache-2.0
"""The jobs that `hwci init` prints, on a bench that never had hwci and while the server is away."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.printed_jobs import ONE_SYSTEM, printed
from tests.support.comes_and_goes import ServerThatComesAndGoes
from tests.support.held_port import held_port


@pytest.fixture
def away(tmp_path: Path) -> Iterator[ServerThatComesAndGoes]:
    """A server that a test stops and starts."""
    with held_port() as port:
        server = ServerThatComesAndGoes(tmp_path, port)
        yield server
        server.stop()


@pytest.mark.parametrize("file", ONE_SYSTEM)
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
