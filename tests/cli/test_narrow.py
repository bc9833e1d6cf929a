# SPDX-License-Identifier: Apache-2.0
"""Tables where a line is short: no word of them is broken, and no line is longer (contract,
"Command line"). What is read through a pipe has whole lines,
with a tab between two cells.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hwci.client import Client, calls
from hwci.engine.vocabulary import Role
from hwci.wire.reports import RunReport
from tests.cli.conftest import Command, invite_owner
from tests.cli.every_command import COMMANDS
from tests.support.commands import HWCI, environment
from tests.support.running import EMAIL, PASSWORD, RunningServer, running_in_thread
from tests.support.scene import CONFIGURATION, merge, report

COLUMNS = 80
LONG = "bring-up-of-revision-c"
REPO, SUITE = f"acme/firmware-{LONG}", f"sensor-node-{LONG}"
BOX = f"bench-{LONG}-in-the-basement"
TEST = f"tests.hil.{LONG}.test_everything_works[uart1-{'x' * 10}]"
TABLES = {
    "bisect status": f"{TEST} --product {REPO}:{SUITE} --good aaaaaaa --bad bbbbbbb",
    "boxes health": "",
    "boxes list": "",
    "boxes notes": "",
    "boxes show": BOX,
    "env": "",
    "failures list": "",
    "failures show": "ID",
    "incidents list": "",
    "invitations list": "",
    "keys list": "",
    "members invited": "",
    "members list": "",
    "merges list": "",
    "merges unchecked": "",
    "metrics": "",
    "orgs audit-log": "",
    "orgs list": "",
    "products": "",
    "profiles list": "",
    "runs list": "",
    "runs show": "ID",
    "sessions list": "",
    "spool list": "",
    "suite-config list": "",
    "tests list": "",
    "tests show": f"{TEST} --product {REPO}:{SUITE}",
    "trends": "",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server where everything has a long name."""
    with running_in_thread(tmp_path_factory.mktemp("server")) as running:
        with Client(running.url, token=running.token) as person:
            person.send(calls.create_ci_key(running.org_id, f"Key of the team for {LONG}"))
            person.send(calls.create_box(running.org_id, BOX))
            person.send(calls.add_box_note(running.org_id, BOX, f"A new cable for {LONG}"))
            person.send(calls.invite(running.org_id, f"{LONG}@firmware.example.org", Role.MEMBER))
            person.send(calls.create_org(f"Organization of the team for {LONG}"))
        invite_owner(running, f"Organization of another team for {LONG}")
        with Client(running.url, ci_key=running.ci_key) as job:
            job.send(calls.put_suite_config(LONG_CONFIGURATION))
            for number, outcome in enumerate(("pass", "fail")):
                job.send(calls.report_run(long_report(number, outcome)))
            job.send(calls.announce_merge(LONG_MERGE))
        yield running


LONG_MERGE = merge("c" * 40).model_copy(
    update={"repo_key": REPO, "suite": SUITE, "branch": f"feature/{LONG}"}
)
LONG_CONFIGURATION = CONFIGURATION.model_copy(update={"repo_key": REPO, "suite": SUITE})


def long_report(number: int, outcome: str) -> RunReport:
    plain = report(number, "abcdef12"[number] * 40, {TEST: outcome})
    return plain.model_copy(
        update={"repo_key": REPO, "suite": SUITE, "box_key": BOX, "branch": f"feature/{LONG}"}
    )


def test_each_command_that_prints_a_table_is_known_here() -> None:
    with_output = {
        name for name, one in COMMANDS.items() if "output" in {item.name for item in one.params}
    }

    assert with_output <= TABLES.keys()


def pieces(text: str) -> set[str]:
    """Return the words without lines that are drawn; a long name may be broken after a sign. What
    a narrow terminal shows briefly is brief here: times, ids and commits.
    """
    brief = re.sub(r"\b([0-9a-f]{8})[0-9a-f-]{4,}\b", r"\1", text)
    words = re.split(r"[\s()\u2500-\u257f]+|(?<=[/:._-])(?=[A-Za-z])", brief)
    return {word for word in words if not re.fullmatch(r"UTC|[\d:-]{5,10}", word)}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_long_names_fits_eighty_letters_and_breaks_no_word(
    signed_in: Command, in_ci: Command, server: RunningServer, name: str
) -> None:
    if name == "spool list":
        body = long_report(7, "fail").model_dump_json(exclude_unset=True)
        in_ci("report-run", "--body", "-", stdin=body, HWCI_URL="http://127.0.0.1:9")
    if name == "profiles list":
        kept = ("--profile", LONG, "--email", EMAIL, "--password-stdin")
        assert signed_in("login", *kept, stdin=PASSWORD).code == 0
    own = {"HWCI_ORG": str(server.org_id), "HWCI_RUN_ID": "7"}  # else `env` shows the second
    command = name.split()
    if TABLES[name] == "ID":
        listed = signed_in(command[0], "list", "-o", "csv", **own).out
        command.append(listed.splitlines()[1].partition(",")[0])
    else:
        command += TABLES[name].split()

    narrow = signed_in(*command, **own, COLUMNS=str(COLUMNS))
    piped = signed_in(*command, **own, COLUMNS="")

    assert (narrow.code, piped.code) == (0, 0), narrow.err
    shown = narrow.out.splitlines()
    assert [line for line in shown if len(line) > COLUMNS] == []
    assert len(piped.out.splitlines()) > 1, "names of columns, and a row"
    assert name == "env" or not re.search("[\u2500-\u257f]", piped.out)
    assert pieces(narrow.out) - pieces(piped.out) == set()
    left_out = pieces(piped.out) - pieces(narrow.out)
    named = re.search("left out|in all rows", narrow.err)
    assert named or left_out <= pieces(REPO) | {""}


@pytest.mark.parametrize("name", ["failures", "runs"])
@pytest.mark.parametrize("columns", ["40", "60", "80", "120"])
def test_ids_are_short_in_a_terminal_and_name_their_rows(
    signed_in: Command, server: RunningServer, name: str, columns: str
) -> None:
    own = {"HWCI_ORG": str(server.org_id)}
    piped = signed_in(name, "list", **own, COLUMNS="").out.splitlines()[1:]
    ids = [line.partition("\t")[0] for line in piped]
    shown = signed_in(name, "list", **own, COLUMNS=columns).out

    assert ids
    for whole in ids:
        assert whole[:8] in shown.split()
        assert f'"{whole}"' in signed_in(name, "show", whole[:8], "--json", **own).out


@pytest.mark.parametrize("name", ["failures", "runs"])
def test_a_broken_line_keeps_its_indentation(
    signed_in: Command, server: RunningServer, name: str
) -> None:
    own = {"HWCI_ORG": str(server.org_id)}
    listed = signed_in(name, "list", "-o", "csv", **own).out
    shown = signed_in(name, "show", listed.splitlines()[1].partition(",")[0], **own, COLUMNS="40")
    lines = shown.out.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("  "))
    section = lines[first : lines.index("", first)]

    assert [line for line in section if not line.startswith("  ")] == []


def test_what_is_left_out_is_noted_below_the_tables(server: RunningServer, tmp_path: Path) -> None:
    given = {"HWCI_URL": server.url, "HWCI_TOKEN": server.token, "HWCI_ORG": str(server.org_id)}
    shown = subprocess.check_output(
        [*HWCI, "metrics"],
        env=environment(tmp_path) | given | {"COLUMNS": str(COLUMNS)},
        stderr=subprocess.STDOUT,
        text=True,
        cwd=tmp_path,
    )
    noted = shown.index("left out, as the terminal is narrow")

    assert shown.index("Merges checked on hardware") < noted
