# SPDX-License-Identifier: Apache-2.0
"""Hashes, files and runs are links where a terminal shows them, and plain text in a pipe."""

import re
from pathlib import Path

import pytest

from hwci.cli.terminal.links import linked
from hwci.client import Client, calls
from hwci.said import short
from hwci.wire.reports import Links
from tests.cli.terminals import at_terminal
from tests.support.running import RunningServer
from tests.support.scene import CONFIGURATION, UNSEEN, A, B, C, D, E, play, report

SITE = "https://git.example/acme/firmware"
LINKS = {
    "commit": f"{SITE}/commit/{{sha}}",
    "file": f"{SITE}/blob/{{sha}}/{{path}}",
}
JOB = "https://ci.example/jobs/900"


@pytest.fixture(scope="module")
def linked_server(server: RunningServer) -> RunningServer:
    """The server after the reports of `scene.py`, its configuration with links, and one more run
    with the page of its job.
    """
    play(server)
    with Client(server.url, ci_key=server.ci_key) as job:
        job.send(calls.put_suite_config(CONFIGURATION.model_copy(update={"links": Links(**LINKS)})))
        job.send(calls.report_run(report(900, C).model_copy(update={"ci_url": JOB})))
    return server


def shown(server: RunningServer, folder: Path, *arguments: str, term: str = "xterm") -> str:
    """Return what a command writes to a terminal of 160 columns."""
    env = {"HWCI_URL": server.url, "HWCI_TOKEN": server.token, "TERM": term, "COLUMNS": "160"}
    return at_terminal(folder, *arguments, typed={}, env=env)


def links_in(text: str) -> dict[str, str]:
    return {word: to for to, word in re.findall("\x1b]8;;([^\x1b]+)\x1b\\\\([^\x1b]*)", text)}


def commits(*shas: str) -> dict[str, str]:
    return {short(sha): f"{SITE}/commit/{sha}" for sha in shas}


def test_a_list_of_runs_leads_to_commits_and_jobs(
    linked_server: RunningServer, tmp_path: Path
) -> None:
    found = links_in(shown(linked_server, tmp_path, "runs", "list"))

    brief = {short(sha): f"{SITE}/commit/{sha}" for sha in (A, B, C, D, E)}
    assert found == {**brief, "900 (1)": JOB}


def test_the_evidence_of_a_failure_leads_to_commits_and_files(
    linked_server: RunningServer, tmp_path: Path
) -> None:
    with Client(linked_server.url, token=linked_server.token) as person:
        listed = person.send(calls.list_failures(linked_server.org_id, test_id="spi")).items
    found = links_in(shown(linked_server, tmp_path, "failures", "show", str(listed[0].id)))

    assert found.items() >= commits(A, B, D).items()
    files = {word: to for word, to in found.items() if "/blob/" in to}
    assert files
    assert all(to.startswith(SITE) and to.endswith(f"/{path}") for path, to in files.items())


def test_the_tables_of_the_metrics_lead_to_commits(
    linked_server: RunningServer, tmp_path: Path
) -> None:
    ever = ("metrics", "--days", "3650")
    _, *tables = re.split(r"\x1b\[1m(.+) \(\d+[^)]*\)\x1b", shown(linked_server, tmp_path, *ever))
    found = {title: links_in(table) for title, table in zip(tables[::2], tables[1::2], strict=True)}

    assert {title: links for title, links in found.items() if links} == {
        "Merges not checked on hardware": commits(UNSEEN),
        "Real FW bugs caught": commits(B, C),
        "Resolved by a bench or harness change, ambiguous or dismissed": {
            digits[:8]: address
            for digits, address in commits(B, D).items()  # it needs two lines
        },
        "Still failing (pending)": commits(E),
    }
    alone = shown(linked_server, tmp_path, *ever, "--table", "real-bugs")
    assert links_in(alone) == commits(B, C)


def test_a_terminal_without_links_and_other_forms_get_plain_text(
    linked_server: RunningServer, tmp_path: Path
) -> None:
    plain = shown(linked_server, tmp_path, "runs", "list", term="dumb")
    table = shown(linked_server, tmp_path, "runs", "list", "--output", "csv")

    assert "sensor-fw" in plain
    assert B in table
    assert "\x1b]8" not in plain + table


def test_only_whole_words_are_links() -> None:
    words = {"src/a.c": "https://x.example/1", "a1b2c3d": "https://x.example/2"}

    assert links_in(linked("see src/a.c, a1b2c3d.", words)) == words
    assert links_in(linked("a1b2c3d..a1b2c3d (see src/a.c)", words)) == words
    assert linked("lib/src/a.c src/a.c/b xa1b2c3d a1b2c3d4", words) == (
        "lib/src/a.c src/a.c/b xa1b2c3d a1b2c3d4"
    )


def test_runs_and_files_of_unusual_names_are_links() -> None:
    names = ["77 (1)", "run 77 attempt 1", ".ci/run", "my app/[a] b+c.c", "fw/naïve.c", "odd-"]
    words = {name: f"https://x.example/{at}" for at, name in enumerate(names)}

    assert links_in(linked(", ".join(names), words)) == words


def test_a_long_table_is_searched_once_for_all_its_words() -> None:
    """Trying each word at each place takes most of a minute here."""
    words = {f"{number:012x}": "https://x.example" for number in range(100_000)}

    assert linked(" ".join(words), words).count("\x1b]8;;https") == 100_000
