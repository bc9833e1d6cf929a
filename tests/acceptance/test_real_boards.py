# SPDX-License-Identifier: Apache-2.0
"""Real results of six real boards, reported by the real command to a real server, then read back.
`make test` reports the first version, the last and those with characters that XML forbids, `make
soak` all.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import hwci
from tests.support.real_results import real_results, report_version
from tests.support.running import RunningServer, running_in_thread
from tests.support.soak import rounds

NOTED = {
    "v4.3.0-6701-g28793caf8272/lpcxpresso54114_lpc54114_m4.xml.gz:50197:",
    "v4.4.0-4655-g275ca3396f32/lpcxpresso54114_lpc54114_m4.xml.gz:881:",
}
"""Where the first control character stands of those that XML forbids."""
FIRST = rounds(1, 1_000)
"""How many of the oldest versions are reported beside those and the newest."""
AS_OF = "2026-11-20T00:00:00Z"


def variables(server: RunningServer) -> dict[str, str]:
    """What the command finds in the environment of a CI step or a developer."""
    return {"HWCI_URL": server.url, "HWCI_CI_KEY": server.ci_key, "HWCI_TOKEN": server.token}


def run(server: RunningServer, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command apart from any repository."""
    return hwci(Path("/"), *arguments, **variables(server), COLUMNS="140")


@pytest.fixture(scope="module")
def boards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningServer, list[str]]]:
    """A server that has every report, and the notes about the files."""
    versions = reported()
    with running_in_thread(tmp_path_factory.mktemp("boards")) as server:
        said: list[str] = []
        for number, folder in enumerate(versions, start=1):
            said += report_version(number, folder, **variables(server))
        yield server, said


def reported() -> list[Path]:
    """Return the versions that are reported, the oldest first."""
    versions = real_results()
    some = {versions[-1].name, *(name.partition("/")[0] for name in NOTED)}
    return [one for number, one in enumerate(versions) if number < FIRST or one.name in some]


def read(server: RunningServer, *arguments: str) -> Any:
    answer = run(server, *arguments, "--json")
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def test_every_file_is_stored_and_two_are_named_for_what_xml_forbids(
    boards: tuple[RunningServer, list[str]],
) -> None:
    server, lines = boards
    said = [line for line in lines if "days after it began" not in line]  # they grow old

    assert {name for name in NOTED if any(name in line for line in said)} == NOTED
    assert len(said) == len(NOTED)
    page = read(server, "metrics", "--days", "400", "--as-of", AS_OF)
    files = sum(1 for folder in reported() for _ in folder.glob("*.gz"))
    assert page["tiles"]["infraRuns"] == {"infra": 0, "total": files}


def test_the_page_shows_what_is_flaky_and_what_is_pending(
    boards: tuple[RunningServer, list[str]],
) -> None:
    server, _ = boards
    shown = run(server, "metrics", "--days", "400", "--as-of", AS_OF)
    period = ("--days", "400", "--as-of", AS_OF)
    pending = read(server, "failures", "list", "--label", "pending", *period)
    resolved = read(server, "failures", "list", "--label", "resolved", *period)
    flaky = read(server, "metrics", "--table", "flakiest-tests", *period)

    assert shown.returncode == 0, shown.stderr
    assert "Flakiest tests" in shown.stdout
    assert "Merges checked on hardware" in shown.stdout
    # The results carry no retry and no commit ran twice: nothing can be a flake.
    assert {row["flakyFailures"] for row in flaky} == {0}
    assert pending["total"] > 0 < resolved["total"]
    assert len({row["boxKey"] for row in pending["items"]}) > 1
