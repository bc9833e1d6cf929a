# SPDX-License-Identifier: Apache-2.0
"""Every example runs, and prints what its page shows."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from hwci.client import Client, calls
from hwci.server.app import serving
from hwci.server.settings import Settings
from tests.support.running import RunningServer, in_thread, running_in_thread

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PYTHON = sys.executable


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    """A real server with an empty database."""
    with running_in_thread(tmp_path) as server:
        yield server


def shown(example: str, kind: str = "text") -> str:
    """Return the output that the page of an example shows."""
    page = (EXAMPLES / example / "README.md").read_text()
    blocks = re.findall(rf"^```{kind}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 1
    return str(blocks[0])


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command from the root of the repository, as the pages say."""
    return subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def said_first(url: str) -> str:
    """Return what an example that reports says before it does."""
    return f"Reporting to {url}, into the organization of HWCI_CI_KEY.\n"


def test_a_first_look_needs_nothing() -> None:
    files = ("bench-1=hil.xml", "bench-1=hil-rerun.xml", "bench-2=gateway.json")

    done = subprocess.run(
        [PYTHON, "-m", "hwci", "report", *files],
        cwd=EXAMPLES / "first-look",
        env={"PYTHONPATH": str(ROOT), "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )

    assert done.stderr == "note: Left out: 1 skipped test. Only tests that ran count.\n"
    assert done.stdout == shown("first-look")
    assert done.returncode == 0
    assert f"hwci report {' '.join(files)}\n" in shown("first-look", "sh")


def test_curl_alone_makes_the_three_ci_calls(server: RunningServer, tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    answer = tmp_path / "answer.json"

    done = run(
        *("sh", "examples/curl/report.sh"),
        HWCI_URL=server.url,
        HWCI_CI_KEY=server.ci_key,
        HWCI_ANSWER=str(answer),
    )

    assert done.stderr == said_first(server.url)
    assert done.stdout == shown("curl")
    assert done.returncode == 0
    assert json.loads(answer.read_text()) == json.loads(shown("curl", "json"))


def test_curl_fails_the_build_when_it_is_refused(server: RunningServer) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")

    done = run("sh", "examples/curl/report.sh", HWCI_URL=server.url, HWCI_CI_KEY="svc_wrong")

    assert done.returncode == 1
    assert done.stdout == "PUT  /api/ci/suite-config    401\n"


def reader_key(server: RunningServer) -> str:
    with Client(server.url, token=server.token) as owner:
        return owner.send(calls.create_reader_key(server.org_id, "soak-station")).api_key


def test_the_page_for_embedders_is_a_script_that_runs(
    server: RunningServer, tmp_path: Path
) -> None:
    folder = EXAMPLES / "embed-the-client"
    keys = {"HWCI_CI_KEY": server.ci_key, "HWCI_READER_KEY": reader_key(server)}
    station = {"HWCI_URL": server.url, "HWCI_ORG": str(server.org_id)}
    run(PYTHON, str(folder / "soak_station.py"), **station, **keys)
    page = (ROOT / "docs/how-to/embed-the-client.md").read_text()
    script = (folder / "tour.py").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)

    person = {"HWCI_EMAIL": server.email, "HWCI_PASSWORD": server.password}
    person["HWCI_SESSION_FILE"] = str(tmp_path / "session.json")
    done = run(PYTHON, str(folder / "tour.py"), **station, **person)

    assert done.stderr == ""
    (shown_in_page,) = re.findall(r"^```text\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert done.stdout == shown_in_page
    assert len(blocks) >= 5
    assert [block for block in blocks if block not in script] == []


def test_what_the_page_for_embedders_shows_can_be_pasted_in_its_order(
    server: RunningServer,
) -> None:
    page = (ROOT / "docs/how-to/embed-the-client.md").read_text()
    pasted: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        exec(block, pasted)

    with Client(server.url, token=server.token) as client:
        [own] = client.orgs.list()
        for wanted in (own.name, str(own.id)):
            assert pasted["organization"](client, wanted) == server.org_id
        with pytest.raises(LookupError, match=own.name):
            pasted["organization"](client, "Other")
        assert pasted["newest"](client) == (0, [])
        assert pasted["pending"](client) == []
        assert pasted["misspelled"](client) == ""  # nothing is reported yet


def test_the_tour_names_the_variables_that_are_missing(server: RunningServer) -> None:
    done = run(PYTHON, "examples/embed-the-client/tour.py", HWCI_URL=server.url, HWCI_ORG="Acme")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Set HWCI_EMAIL, HWCI_PASSWORD, HWCI_SESSION_FILE\n"


def test_the_soak_station_names_the_variables_that_are_missing() -> None:
    done = run(PYTHON, "examples/embed-the-client/soak_station.py", HWCI_URL="http://127.0.0.1:1")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Set HWCI_CI_KEY, HWCI_READER_KEY\n"


def test_a_script_embeds_the_client(server: RunningServer) -> None:
    script = "examples/embed-the-client/soak_station.py"
    environment = {
        "HWCI_URL": server.url,
        "HWCI_CI_KEY": server.ci_key,
        "HWCI_READER_KEY": reader_key(server),
        "HWCI_ORG": str(server.org_id),
    }

    first, again = (run(PYTHON, script, **environment) for _ in range(2))

    assert first.stderr == said_first(server.url)
    assert first.stdout == shown("embed-the-client")
    assert again.stdout == first.stdout
    assert (first.returncode, again.returncode) == (0, 0)


def test_a_folder_is_replayed_offline() -> None:
    folder = "examples/replay-a-folder/history"

    done = run(
        *(PYTHON, "examples/replay-a-folder/replay.py", folder),
        *("--as-of", "2026-03-07T00:00:00Z"),
    )

    assert done.stderr == ""
    assert done.stdout == shown("replay-a-folder")


def test_a_replay_names_the_file_and_the_fault_of_a_broken_body(tmp_path: Path) -> None:
    (tmp_path / "07.report.json").write_text('{"run_id": "1"}')

    done = run(
        *(PYTHON, "examples/replay-a-folder/replay.py", str(tmp_path)),
        *("--as-of", "2026-03-07T00:00:00Z"),
    )

    assert done.returncode == 1
    assert done.stdout == ""
    assert "07.report.json: body.run_id: Input should be a valid integer" in done.stderr


def test_a_firmware_history_shows_who_broke_and_who_fixed() -> None:
    done = run(PYTHON, "examples/firmware-history/whose_fault.py")

    assert done.stderr == ""
    assert done.stdout == shown("firmware-history")


def test_every_example_has_a_page_and_stands_in_the_index() -> None:
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir()}
    index = (EXAMPLES / "README.md").read_text()

    assert folders == {
        "bench",
        "ci",
        "cluster",
        "curl",
        "embed-the-client",
        "firmware-history",
        "first-look",
        "grafana",
        "replay-a-folder",
        "self-hosting",
    }
    assert all((EXAMPLES / folder / "README.md").is_file() for folder in folders)
    assert all(f"({folder}/README.md)" in index for folder in folders)


def test_a_cluster_that_was_stopped_while_it_made_its_user_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(EXAMPLES / "cluster")
    start = import_module("start")
    plain, asked = start.admin, []

    def stopped_behind_the_user(arguments: list[str], *given: Any) -> None:
        asked.append(arguments[0])
        if arguments[0] != "create-user":
            raise KeyboardInterrupt
        plain(arguments, *given)

    settings = {**os.environ, "HWCI_DATABASE": str(tmp_path / "hwci.db")}
    monkeypatch.setattr(start, "admin", stopped_behind_the_user)
    with pytest.raises(KeyboardInterrupt):
        start.make_owner(tmp_path, settings)
    assert asked == ["create-user", "ci-metrics"]
    assert not (tmp_path / "password").exists()

    monkeypatch.setattr(start, "admin", plain)
    start.make_owner(tmp_path, settings)
    kept = Settings(database=settings["HWCI_DATABASE"], port=0)
    with in_thread(serving(kept)) as server, Client(server.url) as client:
        client.send(calls.login(start.EMAIL, (tmp_path / "password").read_text()))
