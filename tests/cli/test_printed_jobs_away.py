# SPDX-License-Identifier: Apache-2.0
"""The jobs that `hwci init` prints, while the server goes and comes back: the exit code of the
tests stays, and the reports arrive later.
"""

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
