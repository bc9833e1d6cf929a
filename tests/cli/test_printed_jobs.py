# SPDX-License-Identifier: Apache-2.0
"""The jobs that `hwci init` prints, run as their CI systems run them: what is announced and reported
while the server is there, and that the tests run, with their own exit code, while it is away.
"""

from contextlib import chdir
from pathlib import Path

import pytest

from hwci.client import Client, calls
from tests.cli.conftest import Command
from tests.cli.jobs import repository
from tests.cli.printed_jobs import SYSTEMS, PrintedBench
from tests.support.running import (
    RunningServer,
)


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
