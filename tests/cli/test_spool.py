# SPDX-License-Identifier: Apache-2.0
import json
from pathlib import Path

import pytest

from hwci.client import Client, calls
from tests.cli.conftest import Command
from tests.cli.scene import report
from tests.client.answering import Answer, answering, unused_url
from tests.server.running import RunningServer

WRONG_KEY = "svc_" + "0" * 64


def body(run_id: int, **fields: object) -> str:
    plain = report(1, "a" * 40, {"boot": "pass"}).model_dump(mode="json", exclude_unset=True)
    return json.dumps({**plain, "run_id": run_id, **fields})


def listed(cli: Command) -> list[tuple[str, str, int]]:
    code, out, _ = cli("spool", "list", "--json")
    assert code == 0
    return [(item["state"], item["name"], item["tries"]) for item in json.loads(out)]


def reported(server: RunningServer) -> set[int]:
    with Client(server.url, token=server.token) as client:
        return {run.run_id for run in client.items(calls.list_runs(server.org_id))}


def test_what_does_not_reach_the_server_is_kept_and_said_to_be(
    in_ci: Command, tmp_path: Path
) -> None:
    code, _, err = in_ci("report-run", "--body", "-", stdin=body(1), HWCI_URL=unused_url())

    assert code == 0
    warning, _, fix = err.splitlines()
    assert warning == "warning: The run was not reported"
    assert f"What waits is kept in {tmp_path}/state/hwci/spool; the next report sends it" in fix
    assert listed(in_ci) == [("waiting", "bench-1", 1)]


def test_the_next_report_takes_along_what_waits(in_ci: Command, server: RunningServer) -> None:
    with answering(Answer(503)) as away:
        in_ci("report-run", "--body", "-", stdin=body(11), HWCI_URL=away.url)
        [file] = _files(in_ci)
        file.write_bytes(file.read_bytes().replace(away.url.encode(), server.url.encode()))

    code, _, err = in_ci("report-run", "--body", "-", "--strict", stdin=body(12))

    assert code == 0
    assert "Sent 1 report that waited.\n" in err
    assert listed(in_ci) == []
    assert {11, 12} <= reported(server)


def _files(cli: Command) -> list[Path]:
    return [Path(item["file"]) for item in json.loads(cli("spool", "list", "--json").out)]


def test_a_flush_sends_all_that_waits(in_ci: Command) -> None:
    with answering(Answer(503), Answer(503), Answer(204)) as server:
        for run_id in (1, 2):
            in_ci("report-run", "--body", "-", stdin=body(run_id), HWCI_URL=server.url)
        assert len(listed(in_ci)) == 2

        code, out, err = in_ci("spool", "flush", HWCI_URL=server.url)

        assert (code, out) == (0, "")
        assert err == f"Sent 2 reports to {server.url}.\n"
        run_ids = [json.loads(received.body)["run_id"] for received in server.received]
    assert run_ids == [1, 2, 1, 2]
    assert listed(in_ci) == []
    assert in_ci("spool", "list").err == "Nothing waits, and nothing was refused.\n"


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
    with answering(Answer(403)) as server:
        code, _, err = in_ci("report-run", "--body", "-", stdin=body(1), HWCI_URL=server.url)
        assert code == 0
        assert "What was refused is set aside in " in err
        again = in_ci("spool", "flush", HWCI_URL=server.url)

        assert again.code == 0
        assert len(server.received) == 1
    assert listed(in_ci) == [("refused", "bench-1", 1)]
    assert "403 Forbidden" in in_ci("spool", "list").out


def test_a_report_waits_for_its_own_key_unless_it_was_replaced(in_ci: Command) -> None:
    with answering(Answer(401), Answer(204)) as server:
        there = {"HWCI_URL": server.url}
        in_ci("report-run", "--body", "-", stdin=body(1), **there, HWCI_CI_KEY=WRONG_KEY)

        _, _, err = in_ci("spool", "flush", **there)
        assert "1 report for another server or key: see hwci spool list\n" in err
        assert listed(in_ci) == [("waiting", "bench-1", 1)]

        assert in_ci("spool", "flush", "--any-key", **there).code == 0
        assert server.received[-1].headers["x-api-key"] != WRONG_KEY
    assert listed(in_ci) == []


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
    assert err.startswith("warning: bench-1 is sent without being kept on the disk before\n")
    assert "fix: Set HWCI_SPOOL_DIR " in err
    assert "Reported 1 test " in err


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
    merge = {"repo_key": "r", "sha": "a" * 40, "branch": "b", "merged_at": "2026-01-01T00:00:00Z"}
    in_ci("merge-announce", "--body", "-", stdin=json.dumps(merge), HWCI_URL=unused_url())

    assert [state for state, _, _ in listed(in_ci)] == ["waiting"]


def test_a_configuration_is_not_kept(in_ci: Command, tmp_path: Path) -> None:
    config = {"repo_key": "r", "suite": "s", "firmware_paths": ["a/**"], "harness_paths": []}
    (tmp_path / "c.json").write_text(json.dumps({**config, "merge_trigger": False}))
    in_ci("suite-config", "apply", "c.json", HWCI_URL=unused_url())

    assert listed(in_ci) == []
