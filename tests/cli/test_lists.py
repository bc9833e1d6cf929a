# SPDX-License-Identifier: Apache-2.0
"""Every list takes those of --box, --branch, --sha and --product that its rows can answer, and
--json; what fits no row says so (ADR 0015).
"""

import csv
import io
import json
import os

import pytest

from hwci.cli.terminal.lists import LISTS, NARROWING
from hwci.cli.terminal.tables import TableName
from hwci.cli.terminal.usage import MEANT
from hwci.client import Client, calls
from tests.cli.conftest import Command
from tests.cli.every_command import COMMANDS, ROOT, imported
from tests.support.running import RunningServer
from tests.support.scene import BOX, CONFIGURATION, PRODUCT, A, B, C, E, merge, report

pytestmark = pytest.mark.usefixtures("busy_server")

ARGUMENTS = {
    "tests show": ("i2c",),
    "bisect status": ("i2c",),
    "boxes show": (BOX,),
    "commits show": (B,),
}
OF_THE_OPERATOR = ("admin ",)
NARROWED = [name for name in LISTS if "box" in LISTS[name] and name != "bisect status"]
PLURALS = [name for name in ROOT.commands if name.endswith("s") and name != "boxes"]
BY_COMMIT = [name for name in NARROWED if "sha" in LISTS[name]]


def words(name: str) -> tuple[str, ...]:
    """Return the words of a list with its arguments."""
    return (*name.split(), *ARGUMENTS.get(name, ()))


def flags(name: str) -> set[str]:
    """Return the flags that narrow a command, as it has them."""
    names = (flag for item in COMMANDS[name].params for flag in item.opts)
    return {name.removeprefix("--") for name in names if name.startswith("--")}


def test_every_command_that_lists_stands_in_the_table() -> None:
    lists = {
        name
        for name, command in COMMANDS.items()
        if not name.startswith(OF_THE_OPERATOR)
        and (name.endswith(" list") or "output" in {item.name for item in command.params})
    }
    named = {name.partition(" --table")[0] for name in LISTS}

    assert lists <= named <= COMMANDS.keys()


@pytest.mark.parametrize("name", [name for name in LISTS if not name.startswith("metrics")])
def test_a_list_has_the_flags_of_the_table_and_json(name: str) -> None:
    assert flags(name) & {*NARROWING, "json"} == {*LISTS[name].split(), "json"}


def test_a_table_of_the_page_has_the_flags_of_the_table() -> None:
    of_tables = [name.flags.split() for name in TableName]

    assert flags("metrics") & {*NARROWING} == {flag for of_one in of_tables for flag in of_one}


@pytest.mark.parametrize("name", TableName)
@pytest.mark.parametrize("flag", ["box", "branch", "sha"])
def test_a_table_refuses_what_its_rows_cannot_answer(
    signed_in: Command, name: TableName, flag: str
) -> None:
    given = ("--table", name, f"--{flag}", {"box": BOX, "branch": "main", "sha": B}[flag])
    code, _, err = signed_in("metrics", *given)

    if flag in name.flags.split():
        assert code == 0
    else:
        assert (code, f"is not narrowed by --{flag}" in err) == (2, True)
    assert signed_in("metrics", *given[2:]).code == 2


@pytest.mark.parametrize("name", NARROWED)
def test_a_box_that_nothing_names_is_said_in_one_line(signed_in: Command, name: str) -> None:
    line = "No box is called nobox: hwci boxes list shows them (known: bench-1)\n"
    code, out, err = signed_in(*words(name), "--box", "nobox")

    assert (code, err) == (0, line)
    assert out == "" or name == "merges plan"
    as_json = signed_in(*words(name), "--box", "nobox", "--json")
    assert (as_json.code, as_json.err) == (0, line)
    json.loads(as_json.out)


@pytest.mark.parametrize("name", BY_COMMIT)
def test_a_branch_or_a_commit_that_nothing_has_is_said_and_what_is_none_refused(
    signed_in: Command, name: str
) -> None:
    branch = signed_in(*words(name), "--branch", "nope")
    sha = signed_in(*words(name), "--sha", "0123456")
    none = signed_in(*words(name), "--sha", "zzz")

    there = "hwci runs list shows those that there are"
    assert (branch.code, branch.err) == (0, f"No run is of branch nope: {there} (known: main)\n")
    begins = "No run is of a commit that begins with 0123456"
    assert (sha.code, sha.err) == (0, f"{begins}: {there}\n")
    assert (none.code, none.out) == (2, "")
    assert "--sha: Should be the first 4 to 64 hexadecimal digits of a commit" in none.err


def test_a_branch_with_a_slip_is_answered_with_the_nearest(signed_in: Command) -> None:
    answer = signed_in("merges", "unchecked", "--branch", "mian")

    assert (answer.code, answer.err.endswith(" (did you mean main?)\n")) == (0, True)


def test_flags_that_leave_nothing_together_are_named(signed_in: Command) -> None:
    code, out, err = signed_in("failures", "list", "--branch", "main", "--sha", A)

    assert (code, out) == (0, "")
    assert err == (
        f"No failure fits --branch main, --sha {A}: leave a flag out, or look further back with"
        " --days\n"
    )
    of_product = signed_in("tests", "list", "--branch", "nope", "--product", PRODUCT).err
    assert of_product.startswith(f"No run of {PRODUCT} is of branch nope: ")


def test_a_product_that_nothing_names_is_an_error_also_beside_a_box(signed_in: Command) -> None:
    code, out, err = signed_in("runs", "list", "--product", "acme/x:y", "--box", "nobox")

    assert (code, out) == (1, "")
    assert "acme/x" in err


def test_lists_are_narrowed_by_the_server(signed_in: Command) -> None:
    def rows(*command: str) -> list[dict[str, object]]:
        return list(json.loads(signed_in(*command, "--json").out))

    all_tests = {row["testId"] for row in rows("tests", "list")}
    of_a = {row["testId"] for row in rows("tests", "list", "--sha", A)}
    boxes = {row["name"] for row in rows("boxes", "list", "--branch", "main")}
    bugs = rows("metrics", "--table", "real-bugs", "--sha", B, "--box", BOX)

    assert of_a == {"i2c", "spi"} < all_tests
    assert boxes == {BOX}
    assert [row["testId"] for row in bugs] == ["i2c"]
    assert rows("metrics", "--table", "real-bugs", "--sha", C) == []
    assert {row["sha"] for row in rows("merges", "list", "--sha", B, "--all")} == {B}


def test_a_table_is_cut_to_its_limit_in_every_form(signed_in: Command) -> None:
    flaky = ("metrics", "--table", "flakiest-tests", "--limit", "1")
    for form, lines in (("csv", 2), ("md", 3)):
        answer = signed_in(*flaky, "-o", form)
        assert len(answer.out.splitlines()) == lines
        assert answer.err.endswith("more: leave --limit out\n")
    assert len(json.loads(signed_in(*flaky, "--json").out)) == 1
    assert len(json.loads(signed_in(*flaky[:3], "--json").out)) > 1


def test_a_spreadsheet_of_incidents_has_the_tests_boxes_and_verdicts(signed_in: Command) -> None:
    out = signed_in("incidents", "list", "--sha", E, "-o", "csv").out
    (row,) = csv.DictReader(io.StringIO(out))

    assert (row["tests"], row["boxes"], row["verdicts"]) == ("adc", BOX, "device")


def test_a_spreadsheet_of_configurations_has_their_patterns(
    signed_in: Command, server: RunningServer
) -> None:
    patterns = {"firmware_paths": ["src,gen/**", "drivers/**"], "repo_key": "acme/other"}
    body = CONFIGURATION.model_copy(update={**patterns, "suite": "hil"})
    with Client(server.url, ci_key=server.ci_key) as ci:
        ci.send(calls.put_suite_config(body))
    out = signed_in("suite-config", "list", "-o", "csv", "--product", "acme/other:hil").out
    (row,) = csv.DictReader(io.StringIO(out))

    assert row["firmwarePaths"] == "src,gen/**; drivers/**"
    assert (row["harnessPaths"], row["triggerPaths"]) == ("hil/**", "")


def test_a_repository_that_only_a_merge_names_is_a_product_to_see(
    signed_in: Command, server: RunningServer
) -> None:
    unassigned = merge(A).model_copy(update={"repo_key": "acme/newer", "suite": None})
    named = merge(A).model_copy(update={"repo_key": "acme/new"})
    with Client(server.url, ci_key=server.ci_key) as ci:
        for body in (unassigned, named):
            ci.send(calls.announce_merge(body))
    rows = json.loads(signed_in("products", "--json").out)

    assert {("acme/newer", None), ("acme/new", "sensor-fw")} <= {
        (row["repoKey"], row["suite"]) for row in rows
    }
    assert "acme/newer (Unassigned)" in signed_in("products").out


def test_each_list_names_the_box_of_a_second_run_of_a_merge(
    signed_in: Command, server: RunningServer
) -> None:
    with Client(server.url, ci_key=server.ci_key) as ci:
        second = report(40, B, {"i2c": "fail"}).model_copy(update={"box_key": "rig-2"})
        ci.send(calls.report_run(second))
    (row,) = json.loads(signed_in("merges", "list", "--box", "rig-2", "--all", "--json").out)

    assert (row["sha"], row["boxes"]) == (B, [BOX, "rig-2"])


def test_the_unchecked_merges_of_a_box_are_the_same_in_both_commands(
    signed_in: Command, server: RunningServer
) -> None:
    lost = report(41, "9" * 40, {}).model_copy(update={"box_key": "rig-3", "hello_ok": False})
    with Client(server.url, ci_key=server.ci_key) as ci:
        ci.send(calls.announce_merge(merge("9" * 40)))
        ci.send(calls.report_run(lost))
    of_box = ("--box", "rig-3", "--json")
    (of_table,) = json.loads(signed_in("metrics", "--table", "unchecked-merges", *of_box).out)
    (of_list,) = json.loads(signed_in("merges", "unchecked", "--all", *of_box).out)
    every = json.loads(signed_in("metrics", "--table", "unchecked-merges", "--json").out)

    assert of_table["sha"] == of_list["sha"] == "9" * 40
    assert of_table in every
    assert len(every) > 1


def test_ids_of_organizations_are_as_long_as_those_of_other_lists(
    signed_in: Command, server: RunningServer
) -> None:
    whole = str(server.org_id)
    shown = signed_in("orgs", "list", COLUMNS="80").out
    (row,) = csv.DictReader(io.StringIO(signed_in("orgs", "list", "-o", "csv").out))

    assert whole[:8] in shown
    assert whole not in shown
    assert row["id"] == json.loads(signed_in("orgs", "list", "--json").out)[0]["id"] == whole
    assert whole in signed_in("orgs", "show", whole[:8]).out
    assert signed_in("products", "--org", whole[:8]).code == 0


def test_a_job_in_a_pipe_is_plain_lines_with_tabs(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    out = cli("env", COLUMNS=None).out
    lines = out.splitlines()

    assert "COLUMNS" not in os.environ
    assert lines[0] == "Field\tValue\tSource"
    assert all(line.count("\t") == 2 for line in lines)


@pytest.mark.parametrize(
    ("arguments", "fix"),
    [
        (("flaky",), "hwci metrics --table flakiest-tests"),
        (("box", "list"), "hwci boxes list"),
        (("boxes", "heartbeat"), "hwci box heartbeat"),
        (("run", "list"), "hwci runs list"),
        (("run", "nonsense"), "hwci runs"),
        (("failure", "list"), "hwci failures list"),
        (("incident",), "hwci incidents"),
        (("test",), "hwci tests"),
        (("metric",), "hwci metrics"),
        (("suite-configs", "list"), "hwci suite-config list"),
        *(((name[:-1],), f"hwci {name}") for name in PLURALS),
    ],
)
def test_a_word_that_is_no_command_leads_to_the_one_that_is_meant(
    cli: Command, arguments: tuple[str, ...], fix: str
) -> None:
    code, out, err = cli(*arguments)

    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == f"fix: Use {fix}"


def test_the_word_list_alone_says_which_there_are(cli: Command) -> None:
    code, _, err = cli("list")

    assert code == 2
    for name in LISTS:
        if name.endswith(" list"):
            assert name.removesuffix(" list") in err


@pytest.mark.parametrize("name", ["failures list", "products", "trends"])
def test_a_flag_of_a_form_leads_to_the_form(cli: Command, name: str) -> None:
    code, _, err = cli(*name.split(), "--csv")

    assert (code, "did you mean -o csv?" in err) == (2, True)


@pytest.mark.parametrize("meant", [text for text in MEANT.values() if text.startswith("hwci ")])
def test_what_is_meant_is_there(meant: str) -> None:
    command = ROOT
    for word in meant.split(" --", maxsplit=1)[0].split(" NAME", maxsplit=1)[0].split()[1:]:
        command = imported(command.commands[word])
    assert command
