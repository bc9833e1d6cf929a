# SPDX-License-Identifier: Apache-2.0
"""The commands that the program prints as the next step work as they stand."""

import re
import shlex
from pathlib import Path

from tests.cli.conftest import Answer, Command
from tests.cli.test_init import repository
from tests.support.running import RunningServer, new_organization

NEXT = re.compile(r"(?:[Nn]ext: |^  )(hwci .+)$", re.MULTILINE)
USER = ["admin", "create-user", "--email", "a@example.org", "--organization", "Acme & Co"]


def pasted(cli: Command, printed: Answer, **env: str) -> list[Answer]:
    """Run what was printed."""
    commands = [shlex.split(line)[1:] for line in NEXT.findall(printed.err)]
    assert commands, printed.err
    return [cli(*command, **env) for command in commands]


def test_after_a_user_is_created_ci_metrics_is_enabled_in_the_same_database(
    cli: Command, tmp_path: Path
) -> None:
    database = str(tmp_path / "of us" / "hwci.db")
    (tmp_path / "of us").mkdir()
    user = [*USER, "--password-stdin", "--database", database, "--create"]
    done = cli(*user, stdin="correct horse battery\n")

    assert [one.code for one in pasted(cli, done)] == [0]


def test_ci_metrics_is_enabled_by_the_name_of_an_organization(cli: Command, tmp_path: Path) -> None:
    database = tmp_path / "hwci.db"
    new_organization(database, ci_metrics=False)
    switch = ["admin", "ci-metrics", "enable"]

    assert cli(*switch, "Acme Firmware", "--database", str(database)).code == 0
    unknown = cli(*switch, "Acme", "--database", str(database))
    assert (unknown.code, "No organizations are named 'Acme'" in unknown.err) == (1, True)
    new_organization(database, "b@example.org", ci_metrics=False)
    twice = cli(*switch, "Acme Firmware", "--database", str(database))
    assert (twice.code, "2 organizations are named 'Acme Firmware'" in twice.err) == (1, True)


def test_a_new_project_file_is_checked_next(cli: Command, tmp_path: Path) -> None:
    repository(tmp_path, "src/a.c", "tests/test_a.py")

    assert [one.code for one in pasted(cli, cli("init"))] == [0]


def test_a_403_because_ci_metrics_is_off_names_the_command(
    cli: Command, server: RunningServer
) -> None:
    made = cli("orgs", "create", "Off", HWCI_URL=server.url, HWCI_TOKEN=server.token)
    off = cli("metrics", "--org", made.out.strip(), HWCI_URL=server.url, HWCI_TOKEN=server.token)

    assert off.code == 4
    assert "hwci admin ci-metrics enable" in off.err


def test_a_port_that_is_taken_names_another(
    cli: Command, server: RunningServer, tmp_path: Path
) -> None:
    port = int(server.url.rpartition(":")[2])
    done = cli("serve", "--port", str(port), "--database", str(tmp_path / "hwci.db"))

    assert done.code == 1
    assert f"--port {port + 1}" in done.err
