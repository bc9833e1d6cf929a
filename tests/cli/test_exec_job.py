# SPDX-License-Identifier: Apache-2.0
"""What `hwci exec` knows of its job before the tests run, and hands on to the report of it."""

import json
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from hwci.ci.detect import find_job
from hwci.ci.reporting.under_test import series_of
from hwci.client.store import BenchStore
from tests.ci.answering import answering as answering_api
from tests.ci.apis import APIS, NEWER, answers_of
from tests.cli.benches import JOB, KEY, PASSES, Bench, bench, reports, shell, taking
from tests.cli.jobs import commit, git
from tests.support.answering import AnsweringServer
from tests.support.commands import with_children
from tests.support.pending import keep

__all__ = ["bench", "taking"]

GITHUB = "GitHub's API"


def in_github(bench: Bench, address: str) -> Mapping[str, str]:
    """Put a bench into a job of GitHub, in a checkout, where the API is at an address."""
    git(bench.folder, "init", "-q")
    sha = commit(bench.folder, "fw/1.c", "Change 1")
    for name in JOB:
        del bench.environ[name]
    api = APIS[GITHUB]
    own = {api.secret: "t0ken", api.variable: address + api.path, "GITHUB_RUN_ATTEMPT": "1"}
    return {**api.environ, **own, "HWCI_BOX": "bench-1", "HWCI_SHA": sha}


def test_a_run_that_the_ci_counts_is_not_taken_for_one_that_a_person_numbers(
    bench: Bench, taking: AnsweringServer
) -> None:
    """Else a run of the CI that failed in its build would have tested what another run did."""
    with answering_api(answers_of(GITHUB, APIS[GITHUB].failed)) as api:
        environ = in_github(bench, api.address)
        lane = series_of(find_job({}, environ, None, None))
        assert lane is not None
        store = BenchStore(Path(bench.environ["XDG_STATE_HOME"]) / "hwci/spool")
        store.sent(keep(store, run_id=91, sha=NEWER, **lane._asdict()))

        code, _, err = bench.run("--junit=r.xml", *shell(f"echo '{PASSES}' > r.xml"), **environ)

    assert code == 0, err
    [one] = reports(taking)
    assert str(one["run_id"]) == environ["GITHUB_RUN_ID"]
    assert one["changes"]["base_sha"] is None
    assert f"{GITHUB} does not show what {APIS[GITHUB].name} on {NEWER[:12]} tested" in err


@pytest.mark.parametrize(
    "command",
    [("exec", "--junit=r.xml", *shell("touch r.xml")), ("report-run", "--hello=ok", "r.xml")],
    ids=["exec", "report-run"],
)
def test_a_store_that_the_disk_damaged_is_named_by_who_sets_it_aside(
    bench: Bench, taking: AnsweringServer, command: tuple[str, ...]
) -> None:
    (bench.folder / "r.xml").write_text(PASSES)
    file = BenchStore(Path(bench.environ["XDG_STATE_HOME"]) / "hwci/spool").file
    file.parent.mkdir(parents=True)
    file.write_bytes(b"no database" * 1_000)
    environ = in_github(bench, "http://127.0.0.1:1")

    code, _, err = with_children(bench.folder, command, {**bench.environ, **environ})

    assert code == 0, err
    assert len(reports(taking)) == 1
    assert f"warning: 1 file is damaged and set aside: {file}.damaged-" in err


def test_a_conclusion_that_breaks_its_rule_is_not_asked_as_the_run_itself_says_it(
    bench: Bench, taking: AnsweringServer
) -> None:
    code, _, err = bench.run(*shell("true"), HWCI_CONCLUSION="c" * 300)

    assert (code, len(reports(taking))) == (0, 1), err


def test_the_flags_of_the_ci_job_are_those_of_report_run(
    bench: Bench, taking: AnsweringServer
) -> None:
    flags = ("--ci-url=https://ci.example/7", "--ci-run=7", "--rerun-of=6")
    code, _, err = bench.run(*flags, *shell("true"))

    assert code == 0, err
    [one] = reports(taking)
    assert (one["ci_url"], one["ci_run"], one["rerun_of"]) == ("https://ci.example/7", 7, 6)


def test_each_box_that_a_file_names_is_looked_at_before_the_tests(bench: Bench) -> None:
    files = ("--junit=ok=r.xml", f"--junit={'b' * 300}=r.xml")
    code, _, err = bench.run("--strict", *files, *shell("touch ran"))

    assert code == 2
    assert "--box: " in err
    assert not (bench.folder / "ran").exists()


def install(bench: Bench, name: str) -> None:
    """Install the machine as a box of the server that it reports to."""
    given = {"url": bench.environ["HWCI_URL"], "box_id": "1", "org_id": "2", "key": KEY}
    path = Path(bench.environ["XDG_CONFIG_HOME"]) / "hwci" / "box.json"
    path.parent.mkdir(parents=True)
    path.touch(mode=0o600)
    path.write_text(json.dumps({**given, "name": name}))


def opened(server: AnsweringServer) -> bool:
    return any(one.target == "/api/box/runs" for one in server.received)


@pytest.mark.parametrize("sent", [("--box=other",), ("--junit=other=r.xml", "--junit=third=r.xml")])
def test_a_run_of_other_boxes_is_not_opened_as_one_of_this_machine(
    bench: Bench, taking: AnsweringServer, sent: tuple[str, ...]
) -> None:
    """The server would take it for one of the box that the key is of, and lose it."""
    install(bench, "bench-9")

    code, _, err = bench.run(*sent, *shell(f"echo '{PASSES}' > r.xml"), HWCI_BOX="")

    boxes = {one["box_key"] for one in reports(taking)}
    assert code == 0
    assert "bench-9" not in boxes
    assert not opened(taking)
    said = f"this machine is box bench-9, and the run is of {', '.join(sorted(boxes))}. "
    assert f"note: There is no live run: {said}" in err


def test_a_machine_that_was_installed_as_a_box_is_that_box_unless_another_is_set(
    bench: Bench, taking: AnsweringServer
) -> None:
    install(bench, "bench-9")
    wait = f"echo '{PASSES}' > r.xml; read go"

    started = bench.start("--box=bench-9", "--junit=r.xml", *shell(wait), stdin=subprocess.PIPE)
    while not opened(taking):
        time.sleep(0.05)
    started.communicate("go\n", timeout=60)
    del bench.environ["HWCI_BOX"]
    assert bench.run(*shell("true"))[0] == 0

    assert {one["box_key"] for one in reports(taking)} == {"bench-9"}
