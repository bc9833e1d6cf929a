# SPDX-License-Identifier: Apache-2.0
"""Reports that did not reach the server: they are kept, listed, and sent with the next one."""

import json
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from hwci.client import Client, calls
from hwci.client.delivery.sending import Dispatch, Patience
from hwci.client.delivery.unsent import Outcome, Unsent, not_sent
from hwci.client.errors import ConnectionFailedError
from hwci.client.store import BenchStore, PendingReport, StoreError
from hwci.wire.reports import MergeAnnouncement
from tests.cli.conftest import Command
from tests.cli.kept import ANNOUNCED, body, listed
from tests.support.answering import Answer, answering, unused_url
from tests.support.running import RunningServer

WRONG_KEY = "svc_" + "0" * 64


NOT_DONE = {"report-run": "reported", "merge-announce": "announced"}


def announcement() -> MergeAnnouncement:
    return MergeAnnouncement.model_validate_json(ANNOUNCED)


def reported(server: RunningServer) -> set[int]:
    with Client(server.url, token=server.token) as client:
        return {run.run_id for run in client.items(calls.list_runs(server.org_id))}


def test_a_report_that_does_not_reach_the_server_is_kept_and_the_error_says_where(
    in_ci: Command, tmp_path: Path
) -> None:
    code, _, err = in_ci("report-run", "--body", "-", stdin=body(1), HWCI_URL=unused_url())

    assert code == 0
    warning, _, fix = err.splitlines()
    assert warning == "warning: The run was not reported"
    assert (
        f"Pending reports are kept in {tmp_path}/state/hwci/spool; the next report sends them"
        in fix
    )
    assert listed(in_ci) == [("waiting", "bench-1", 1)]


def test_the_next_report_takes_along_what_waits(in_ci: Command, server: RunningServer) -> None:
    with answering(Answer(503)) as away:
        in_ci("report-run", "--body", "-", stdin=body(11), HWCI_URL=away.url)
        change("UPDATE reports SET address = ?", server.url)

    code, _, err = in_ci("report-run", "--body", "-", "--strict", stdin=body(12))

    assert code == 0
    assert "Sent 1 report that waited.\n" in err
    assert listed(in_ci) == []
    assert {11, 12} <= reported(server)


def test_a_report_says_how_many_of_those_that_waited_still_do_and_why(in_ci: Command) -> None:
    busy = Answer(429, headers={"Retry-After": "60"})
    with answering(Answer(503), Answer(503), Answer(503), Answer(204), busy) as server:
        for run_id in (1, 2, 3):
            in_ci("report-run", "--body", "-", stdin=body(run_id), HWCI_URL=server.url)

        done = in_ci("report-run", "--body", "-", "--strict", stdin=body(4), HWCI_URL=server.url)

    assert done.code == 0
    assert "note: 3 reports still wait (429 Too Many Requests: " in done.err
    assert "). To send them: hwci spool flush\n" in done.err


def test_a_report_says_how_many_its_deadline_left_waiting(
    in_ci: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(Answer(503), Answer(503), Answer(503), Answer(204)) as server:
        for run_id in (1, 2, 3):
            in_ci("report-run", "--body", "-", stdin=body(run_id), HWCI_URL=server.url)
        hours = count(0, 3600)  # each look at the clock is an hour after the last
        clock = SimpleNamespace(monotonic=lambda: next(hours), sleep=time.sleep)
        monkeypatch.setattr("hwci.client.delivery.sending.time", clock)

        slow = {"HWCI_URL": server.url, "HWCI_DEADLINE": "10800"}
        done = in_ci("report-run", "--body", "-", "--strict", stdin=body(4), **slow)

    assert done.code == 0
    assert (
        "Sent 1 report that waited.\n"
        "note: 2 reports still wait (the deadline has passed). To send them: hwci spool flush\n"
    ) in done.err


def test_a_report_that_is_left_says_how_many_others_wait(in_ci: Command) -> None:
    with answering(Answer(503)) as server:
        for run_id in (1, 2, 3):
            done = in_ci("report-run", "--body", "-", stdin=body(run_id), HWCI_URL=server.url)

    assert "/state/hwci/spool, with 2 others; the next report sends them, too, and so " in done.err


def store_file() -> Path:
    return Path(os.environ["XDG_STATE_HOME"]) / "hwci/spool/bench.sqlite3"


def change(statement: str, *values: object) -> None:
    """Change the store from outside, as no hwci does."""
    with closing(sqlite3.connect(store_file())) as db, db:
        db.execute(statement, values)


def test_a_flush_sends_all_that_waits(in_ci: Command) -> None:
    with answering(Answer(503), Answer(503), Answer(204)) as server:
        for run_id in (1, 2):
            in_ci("report-run", "--body", "-", stdin=body(run_id), HWCI_URL=server.url)
        assert len(listed(in_ci)) == 2

        code, out, err = in_ci("spool", "flush", HWCI_URL=server.url)

        assert (code, out) == (0, "")
        assert err == (f"Sending 2 reports to {server.url}.\nSent 2 reports to {server.url}.\n")
        run_ids = [json.loads(received.body)["run_id"] for received in server.received]
    assert run_ids == [1, 2, 1, 2]
    assert listed(in_ci) == []
    assert in_ci("spool", "list").err == "Nothing waits, and nothing was refused.\n"


def test_a_damaged_file_that_a_report_would_add_to_is_named(in_ci: Command) -> None:
    with answering(Answer(204)) as server:
        in_ci("report-run", "--body", "-", stdin=body(1), HWCI_URL=unused_url())
        store_file().write_bytes(b"no database" * 1000)
        _, _, err = in_ci("report-run", "--body", "-", stdin=body(2), HWCI_URL=server.url)

    [aside] = store_file().parent.glob("*.damaged-*[0-9]")
    assert f"warning: 1 file is damaged and set aside: {aside} (" in err
    assert "Check the disk; " in err
    assert "that waited" not in err


def test_a_damaged_report_is_never_shown_as_sent(in_ci: Command) -> None:
    away = {"HWCI_URL": unused_url()}
    in_ci("report-run", "--body", "-", stdin=body(1), **away)
    change("UPDATE reports SET body = x'00'")

    code, _, err = in_ci("spool", "flush", **away)

    assert code == 1
    assert f"Sent 0 reports to {away['HWCI_URL']}.\n" in err
    assert "cause: 1 file is damaged and set aside: report " in err


@pytest.mark.parametrize(("status", "code"), [(400, 1), (503, 1), (401, 4)])
def test_a_flush_that_leaves_something_fails(in_ci: Command, status: int, code: int) -> None:
    with answering(Answer(503), Answer(status)) as server:
        in_ci("report-run", "--body", "-", stdin=body(1), HWCI_URL=server.url)
        done = in_ci("spool", "flush", HWCI_URL=server.url)

    assert done.code == code
    assert "error: Not all that waits was sent\n" in done.err
    assert str(status) in done.err


def test_a_flush_without_a_server_says_so(in_ci: Command) -> None:
    url = unused_url()
    in_ci("report-run", "--body", "-", stdin=body(1), HWCI_URL=url)

    assert in_ci("spool", "flush", HWCI_URL=url).code == 5


def test_a_refused_report_is_set_aside_and_the_list_says_why(in_ci: Command) -> None:
    refusal = b'{"statusCode": 404, "error": "Not Found", "message": "No"}'
    with answering(Answer(404, refusal), Answer(204)) as server:
        code, _, err = in_ci("report-run", "--body", "-", stdin=body(1), HWCI_URL=server.url)
        assert code == 0
        assert "Refused reports are set aside in " in err
        assert "--org" not in err
        again = in_ci("spool", "flush", HWCI_URL=server.url)

        assert again.code == 0
        assert len(server.received) == 1
        assert "1 report refused and set aside: see hwci spool list; " in again.err
        assert listed(in_ci) == [("refused", "bench-1", 1)]
        assert "404 Not Found" in in_ci("spool", "list").out

        assert in_ci("spool", "flush", "--refused", HWCI_URL=server.url).code == 0
        assert len(server.received) == 2
    assert listed(in_ci) == []


def test_a_report_waits_for_its_own_key_unless_it_was_replaced(in_ci: Command) -> None:
    with answering(Answer(401), Answer(204)) as server:
        there = {"HWCI_URL": server.url}
        in_ci("report-run", "--body", "-", stdin=body(1), **there, HWCI_CI_KEY=WRONG_KEY)

        code, _, err = in_ci("spool", "flush", **there)
        assert code == 1
        assert err.count("1 report waits for another key") == 1
        assert "fix: If that one was wrong or was replaced: hwci spool flush --any-key" in err
        assert listed(in_ci) == [("waiting", "bench-1", 1)]

        assert in_ci("spool", "flush", "--any-key", **there).code == 0
        assert server.received[-1].headers["x-api-key"] != WRONG_KEY
    assert listed(in_ci) == []


def test_a_report_for_another_key_is_always_shown_with_how_to_send_it(in_ci: Command) -> None:
    """The refusal of the key, the next report with a better one, the list, the doctor."""
    command = "hwci spool flush --any-key"
    with answering(Answer(401), Answer(204)) as server:
        there = {"HWCI_URL": server.url}
        refused = in_ci("report-run", "--body", "-", stdin=body(1), **there, HWCI_CI_KEY=WRONG_KEY)
        assert f"once the key is right, `{command}` sends them" in refused.err
        assert command in in_ci("report-run", "--body", "-", stdin=body(2), **there).err
        [waiting] = json.loads(in_ci("spool", "list", "--json", **there).out)
        assert waiting["reason"].startswith(f"meant for another key ({command}); 401 ")
        assert command in in_ci("doctor", **there).out


def test_runs_of_one_box_are_distinguished(in_ci: Command) -> None:
    for run_id, attempt in ((7, 1), (7, 2), (8, 1)):
        sent = body(run_id, run_attempt=attempt)
        in_ci("report-run", "--body", "-", stdin=sent, HWCI_URL=unused_url())
    in_ci("merge-announce", "--body", "-", stdin=ANNOUNCED, HWCI_URL=unused_url())

    rows = json.loads(in_ci("spool", "list", "--json").out)
    names = ("kind", "runId", "runAttempt", "sha")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("run", 7, 1, "a" * 40),
        ("run", 7, 2, "a" * 40),
        ("run", 8, 1, "a" * 40),
        ("merge", None, None, "a" * 40),
    ]
    assert "7 #2" in in_ci("spool", "list").out


@pytest.mark.parametrize("command", ["report-run", "merge-announce", "spool flush"])
def test_what_has_to_wait_says_every_few_seconds_how_far_it_is_and_how_long_it_tries(
    in_ci: Command, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr("hwci.client.delivery.sending.NOTICE_AFTER_S", 0.02)
    with answering(Answer(204), Answer(silent=True)) as server:
        there = {"HWCI_URL": server.url}
        in_ci("report-run", "--body", "-", stdin=body(1), HWCI_URL=unused_url())
        in_ci("spool", "flush", "--any-server", **there)
        in_ci("report-run", "--body", "-", stdin=body(2), HWCI_URL=unused_url())
        slow = {**there, "HWCI_DEADLINE": "0.5"}
        if command == "spool flush":
            done = in_ci("spool", "flush", "--any-server", **slow)
        else:
            text = body(3) if command == "report-run" else ANNOUNCED
            done = in_ci(command, "--body", "-", stdin=text, **slow)

    waits = [line for line in done.err.splitlines() if line.startswith("0 of 1 sent. ")]
    assert len(waits) > 1
    assert f"No answer from {server.url} yet. Trying for " in waits[0]


def test_by_default_a_report_that_outlives_its_job_is_left_after_ten_seconds_without_hwci(
    in_ci: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = list[Patience]()

    class Noting(Dispatch):
        def __init__(self, client: Client, store: BenchStore | None, patience: Patience) -> None:
            seen.append(patience)
            super().__init__(client, store, Patience(0))

    monkeypatch.setattr("hwci.client.delivery.sending.Dispatch", Noting)
    monkeypatch.setattr("hwci.client.store.lifetime.CONTAINER_FILES", ())  # these may run in one
    monkeypatch.delenv("HWCI_DEADLINE")
    own = {"HWCI_URL": unused_url()}
    for more in ({}, {"RUNNER_ENVIRONMENT": "github-hosted"}, {"HWCI_DEADLINE": "7"}):
        there: dict[str, str] = {**own, **more}
        in_ci("report-run", "--body", "-", stdin=body(1), **there)
        in_ci("merge-announce", "--body", "-", stdin=ANNOUNCED, **there)
        in_ci("spool", "flush", **there)

    bench, fresh, chosen = Patience(120, unheard_s=10), Patience(120, unheard_s=45), Patience(7)
    assert seen == [bench] * 3 + [fresh] * 3 + [chosen] * 3


def test_without_a_key_nothing_is_kept(in_ci: Command) -> None:
    code, _, err = in_ci("report-run", "--body", "-", stdin=body(1), HWCI_CI_KEY="")

    assert code == 0
    assert err.startswith("warning: The run was not reported\n")
    assert listed(in_ci) == []
    assert in_ci("spool", "flush", HWCI_CI_KEY="").code == 4


def test_a_spool_that_cannot_be_written_is_a_warning_and_the_report_goes_out(
    in_ci: Command, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    code, _, err = in_ci(
        "report-run", "--body", "-", "--strict", stdin=body(21), HWCI_SPOOL_DIR="file/spool"
    )

    assert code == 0
    warning, _, _ = err.partition("\n")
    assert warning.startswith(
        "warning: bench-1 is not kept on the disk before it is sent: file/spool cannot be written: "
        "Not a directory. Set HWCI_SPOOL_DIR "
    )
    assert "Reported 1 test " in err


@pytest.mark.parametrize("command", ["report-run", "merge-announce"])
def test_the_error_of_a_report_that_is_neither_sent_nor_kept_says_that_it_is_lost(
    in_ci: Command, tmp_path: Path, command: str
) -> None:
    (tmp_path / "file").write_text("")
    text = body(21) if command == "report-run" else ANNOUNCED
    away = {"HWCI_SPOOL_DIR": "file/spool", "HWCI_URL": unused_url()}

    code, _, err = in_ci(command, "--body", "-", stdin=text, **away)
    strictly = in_ci(command, "--body", "-", "--strict", stdin=text, **away)

    name = "bench-1" if command == "report-run" else "a" * 40
    what, cause, fix = err.splitlines()[1:]
    assert what.endswith(f" was not {NOT_DONE[command]}, and nothing is kept of {name}")
    assert cause.startswith(f"cause: No answer from {away['HWCI_URL']}: ")
    assert cause.endswith("; and on the disk: file/spool cannot be written: Not a directory")
    assert "Set HWCI_SPOOL_DIR to a folder that this user may write" in fix
    assert "Then report again: what is not kept is lost." in fix
    assert (code, strictly.code) == (0, 5)


def test_lost_reports_are_named_beside_pending_ones(tmp_path: Path) -> None:
    full = StoreError("spool is full", "Send pending reports")
    [kept] = BenchStore(tmp_path).keep([PendingReport.of(announcement())], unused_url(), WRONG_KEY)
    lost = PendingReport("one", call=kept.call, unkept=full)
    fault = ConnectionFailedError(unused_url(), "Connection refused", sent=False)

    message = not_sent("Not sent", Outcome([], [], [Unsent(lost, fault)], [kept]), 2)

    assert message.what == "Not sent: 0 of 2 were sent, and nothing is kept of one"
    assert message.cause == "1 report not taken, 1 not tried; and on the disk: spool is full"
    assert f"Pending reports are kept in {tmp_path}; " in message.fix
    assert message.fix.endswith("Send pending reports. Then report again: what is not kept is lost")


def test_the_error_of_a_report_that_has_no_key_and_cannot_be_kept_says_that_it_is_lost(
    in_ci: Command, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    keyless = {"HWCI_SPOOL_DIR": "file/spool", "HWCI_CI_KEY": "", "HWCI_CI_KEY_FILE": "none"}

    code, _, err = in_ci("report-run", "--body", "-", stdin=body(21), **keyless)

    assert code == 0
    assert "The run was not reported, and nothing is kept of bench-1\n" in err
    assert "`hwci spool flush" not in err


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        (Path.touch, "Not a directory"),
        (lambda path: path.symlink_to("nowhere"), "No such file or directory"),
        (lambda path: path.symlink_to(path.name), "Too many levels of symbolic links"),
    ],
    ids=["a file", "a link to nowhere", "a link to itself"],
)
def test_a_spool_that_cannot_be_read_is_an_error_of_three_lines_and_reports_go_out(
    in_ci: Command, tmp_path: Path, harm: Callable[[Path], None], why: str
) -> None:
    harm(tmp_path / "spool")
    there = {"HWCI_SPOOL_DIR": "spool"}

    for command in ("list", "flush"):
        code, out, err = in_ci("spool", command, **there)
        assert (code, out) == (1, "")
        assert err.splitlines() == [
            "error: The pending reports on this machine cannot be read",
            f"cause: spool cannot be read: {why}",
            "fix: Set HWCI_SPOOL_DIR to the folder of the reports, or let this user read it",
        ]
    assert "warn  spool: spool cannot be " in in_ci("doctor", **there).out
    assert in_ci("report-run", "--body", "-", "--strict", stdin=body(23), **there).code == 0


@pytest.mark.parametrize(
    ("content", "why"),
    [(None, "No such file or directory"), (b"\xff", "it is not text")],
)
def test_a_key_that_cannot_be_read_hides_nothing_that_waits(
    in_ci: Command, tmp_path: Path, content: bytes | None, why: str
) -> None:
    in_ci("report-run", "--body", "-", stdin=body(1), HWCI_URL=unused_url())
    if content is not None:
        (tmp_path / "key").write_bytes(content)
    keyless = {"HWCI_CI_KEY": "", "HWCI_CI_KEY_FILE": "key"}

    code, out, err = in_ci("spool", "list", "--json", **keyless)
    assert (code, len(json.loads(out))) == (0, 1)
    assert err == f"note: Reports for another key are not shown: key: {why}.\n"

    code, out, err = in_ci("spool", "flush", **keyless)
    assert (code, out) == (4, "")
    what, cause, fix = err.splitlines()
    assert what == "error: Not all that waits was sent"
    assert cause == f"cause: The file that HWCI_CI_KEY_FILE names cannot be read: key: {why}"
    assert fix == "fix: Correct HWCI_CI_KEY_FILE, or unset it"

    checked = in_ci("doctor", **keyless)
    assert checked.code == 1
    assert (
        f"fail  key: The file that HWCI_CI_KEY_FILE names cannot be read: key: {why}" in checked.out
    )


def test_a_proxy_that_cannot_be_used_keeps_the_report(in_ci: Command) -> None:
    code, _, err = in_ci(
        "report-run",
        *("--body", "-"),
        stdin=body(1),
        HWCI_URL="https://hwci.example.org",
        HTTPS_PROXY="socks5://proxy.example.org",
    )

    assert code == 0
    assert "HTTPS_PROXY" in err
    assert listed(in_ci) == [("waiting", "bench-1", 0)]


def test_a_merge_announcement_is_kept_too(in_ci: Command) -> None:
    in_ci("merge-announce", "--body", "-", stdin=ANNOUNCED, HWCI_URL=unused_url())

    assert [state for state, _, _ in listed(in_ci)] == ["waiting"]


def test_a_configuration_is_not_kept(in_ci: Command, tmp_path: Path) -> None:
    config = {"repo_key": "r", "suite": "s", "firmware_paths": ["a/**"], "harness_paths": []}
    (tmp_path / "c.json").write_text(json.dumps({**config, "merge_trigger": False}))
    in_ci("suite-config", "apply", "c.json", HWCI_URL=unused_url())

    assert listed(in_ci) == []


def test_a_report_for_a_wrong_address_goes_out_with_any_server(in_ci: Command) -> None:
    """The warning, the flush, the list and the doctor show how."""
    command = "hwci spool flush --any-server"
    with answering(Answer(204)) as server:
        there = {"HWCI_URL": server.url}
        lost = in_ci("report-run", "--body", "-", stdin=body(1), HWCI_URL=unused_url())
        assert "so does `hwci spool flush`, with --any-server if the address was wrong" in lost.err

        flushed = in_ci("spool", "flush", **there)
        assert (flushed.code, server.received) == (0, [])
        assert "1 report waits for another server. " in flushed.err
        assert command in flushed.err
        [waiting] = json.loads(in_ci("spool", "list", "--json", **there).out)
        assert waiting["reason"].startswith(f"meant for another server ({command}); No answer ")
        assert command in in_ci("doctor", **there).out
        before = len(server.received)

        assert in_ci("spool", "flush", "--any-server", **there).code == 0
        [sent] = server.received[before:]
    assert json.loads(sent.body)["run_id"] == 1
    assert listed(in_ci) == []


def test_reports_for_another_server_and_key_need_both_flags(in_ci: Command) -> None:
    with answering(Answer(204)) as server:
        there = {"HWCI_URL": server.url}
        wrong = {"HWCI_URL": unused_url(), "HWCI_CI_KEY": WRONG_KEY}
        in_ci("report-run", "--body", "-", stdin=body(1), **wrong)

        in_ci("spool", "flush", "--any-server", **there)
        assert server.received == []
        in_ci("spool", "flush", "--any-server", "--any-key", **there)
        assert len(server.received) == 1
    assert listed(in_ci) == []


@pytest.mark.parametrize("command", ["report-run", "merge-announce", "spool flush"])
def test_an_answer_that_comes_byte_by_byte_holds_nothing_beyond_the_deadline(
    in_ci: Command, command: str
) -> None:
    with answering(Answer(200, drip="head")) as server:
        slow = {"HWCI_URL": server.url, "HWCI_DEADLINE": "1"}
        if command == "spool flush":
            in_ci("report-run", "--body", "-", stdin=body(1), **slow)
            done = in_ci("spool", "flush", **slow)
        else:
            text = body(1) if command == "report-run" else ANNOUNCED
            done = in_ci(command, "--body", "-", stdin=text, **slow)

        assert not server.dripped_out.is_set()
    assert done.code == (5 if command == "spool flush" else 0)
    assert "--deadline gives it longer. Pending reports are kept in " in done.err
    assert len(listed(in_ci)) == 1


@pytest.mark.parametrize(("deadline_s", "silence_s"), [(5, 5), (120, 30), (0, 30)])
def test_a_try_takes_no_longer_than_all_tries_may(deadline_s: float, silence_s: float) -> None:
    assert Patience(deadline_s).silence_s == silence_s
