# SPDX-License-Identifier: Apache-2.0
"""`hwci gate`: the verdict on a release as an exit code, from reports to its lines."""

from collections.abc import Iterator

import pytest

from hwci.client import Client, calls
from tests.cli.conftest import Command
from tests.support.running import RunningServer, running_in_thread
from tests.support.scene import PRODUCT, UNSEEN, E, play, report


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """The server after the reports of `scene.py`, and a run that reaches the hardware again: of its
    merges `UNSEEN` is not checked.
    """
    with running_in_thread(tmp_path_factory.mktemp("server")) as running:
        play(running)
        with Client(running.url, ci_key=running.ci_key) as client:
            client.send(calls.report_run(report(8, E, {"i2c": "pass"})))
        yield running


def test_a_merge_that_no_run_checked_speaks_against_the_release_with_the_run_that_would_check_it(
    signed_in: Command,
) -> None:
    code, out, err = signed_in("gate", "--days", "7")
    planned = signed_in("merges", "plan", "--sha", UNSEEN[:8]).out.splitlines()

    assert (code, err) == (3, "")
    assert f"#   {UNSEEN[:12]} of {PRODUCT}: Not checked on hardware: No run on it" in out
    (command,) = (line for line in out.splitlines() if not line.startswith("#"))
    assert command in planned
