# SPDX-License-Identifier: Apache-2.0
"""Run records over HTTP, as members read them (contract, "Runs and streams")."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

import pytest

from tests.support.asking import ask, bearer
from tests.support.benches import Benches
from tests.support.running import PASSWORD, Hands, running_in_thread

NO_RUN = (404, "Run not found")
NO_ORGANIZATION = (404, "Organization not found")
OTHER = {
    "repo_key": "acme/bootloader",
    "suite": "smoke",
    "branch": "dev/über",
    "box_key": "bench-2",
    "sha": "d" * 40,
}


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Benches]:
    """A server with two runs of different products, one running and one reported."""
    folder: Path = tmp_path_factory.mktemp("runs")
    hands = Hands()
    with running_in_thread(folder, clock=hands) as server:
        benches = Benches(server, hands)
        key = benches.installed("bench-1")
        benches.opened(key, run_id=11)
        benches.report(run_id=12, **OTHER)
        yield benches


def item(name: str, outcome: str = "pass", attempts: int = 1, **fields: Any) -> dict[str, Any]:
    return {"id": name, "outcome": outcome, "attempts": attempts, "duration_s": 0.5, **fields}


class TestShow:
    def test_a_report_is_shown_whole(self, benches: Benches) -> None:
        at = "2026-01-31T09:30:00.000001Z"
        benches.report(
            run_id=21,
            run_attempt=2,
            workflow="nightly",
            trigger="nightly",
            started_at="2026-01-31T10:30:00.000001+01:00",
            ended_at="2026-01-31T09:45:00Z",
            conclusion="failure",
            hello_ok=False,
            ci_run=421,
            ci_url="https://ci.example/21",
            covers_shas=["B" * 40],
            tests=[
                item("boot", log_url="https://ci.example/21/boot.log"),
                item("flash", "fail", 3, verdict="device", message="CRC 0x1f\nat 0x10"),
                item("spi", attempts=2, board="0483:A1"),
            ],
            changes={
                "base_sha": "c" * 40,
                "commits": [
                    {"sha": "b" * 40, "subject": "Über", "committed_at": at, "files": ["fw/a.c"]}
                ],
            },
        )
        [found] = [run for run in benches.listed("&branch=main") if run["runId"] == 21]
        expected = {
            "id": found["id"],
            "repoKey": "acme/firmware",
            "suite": "nightly",
            "workflow": "nightly",
            "runId": 21,
            "runAttempt": 2,
            "boxKey": "bench-1",
            "trigger": "nightly",
            "branch": "main",
            "sha": "a" * 40,
            "status": "reported",
            "startedAt": at,
            "endedAt": "2026-01-31T09:45:00Z",
            "conclusion": "failure",
            "helloOk": False,
            "ending": "never-reached",
            "tests": {"total": 3, "passed": 2, "failed": 1, "retried": 2},
            "ciRun": 421,
            "ciUrl": "https://ci.example/21",
            "result": None,
        }
        assert found == expected
        shown = benches.show(found["id"])
        assert shown.pop("items") == [
            _shown("boot", "pass", 1, "unknown", logUrl="https://ci.example/21/boot.log"),
            _shown("flash", "fail", 3, "device", "CRC 0x1f\nat 0x10"),
            _shown("spi", "pass", 2, "unknown", board="0483:A1"),
        ]
        assert shown.pop("coversShas") == ["b" * 40]
        assert shown.pop("changes") == {
            "baseSha": "c" * 40,
            "commits": [
                {
                    "sha": "b" * 40,
                    "subject": "Über",
                    "committedAt": at,
                    "files": ["fw/a.c"],
                    "filesTruncated": False,
                }
            ],
            "truncated": False,
        }
        assert shown.pop("rerunOf") is None
        assert shown.pop("knownFailures") == 0
        assert shown == expected

    def test_a_rerun_names_the_run_that_it_repeats_on_its_box_before_others(
        self, benches: Benches
    ) -> None:
        def record(run_id: int, box: str = "spare-1", attempt: int = 1, **fields: Any) -> str:
            fields |= {"run_id": run_id, "box_key": box, "run_attempt": attempt}
            benches.report(branch="rerun", **fields)
            return next(
                str(run["id"])
                for run in benches.listed("&branch=rerun")
                if (run["runId"], run["boxKey"], run["runAttempt"]) == (run_id, box, attempt)
            )

        def rerun_of(run_id: int, of: int | None, **fields: Any) -> Any:
            return benches.show(record(run_id, rerun_of=of, **fields))["rerunOf"]

        first, second = record(900), record(900, attempt=2)
        elsewhere = record(900, "spare-2")
        record(901, suite="other")

        assert first != second
        assert rerun_of(910, 900) == {"runId": 900, "runRecordId": second}
        assert rerun_of(911, 900, box="spare-2") == {"runId": 900, "runRecordId": elsewhere}
        assert rerun_of(912, 900, box="spare-3") == {"runId": 900, "runRecordId": second}
        assert rerun_of(913, 901) == {"runId": 901, "runRecordId": None}
        assert rerun_of(914, 999) == {"runId": 999, "runRecordId": None}
        assert rerun_of(915, None) is None
        # A job of a matrix has an id of its own; CI names the run by the number that it shows.
        of_job = record(88_001, ci_run=902)
        assert rerun_of(916, 902) == {"runId": 902, "runRecordId": of_job}

    def test_the_id_stays_when_the_report_is_replaced(self, benches: Benches) -> None:
        benches.report(run_id=22)
        [before] = [run for run in benches.listed() if run["runId"] == 22]
        benches.report(run_id=22, suite="replaced", tests=[])
        [after] = [run for run in benches.listed() if run["runId"] == 22]

        assert after["id"] == before["id"]
        assert (after["suite"], after["tests"]["total"]) == ("replaced", 0)

    def test_a_report_in_parts_is_one_run_as_ci_knows_it(self, benches: Benches) -> None:
        for number in (2, 1):
            benches.report(
                run_id=23 if number == 1 else 9023,
                part_of={"run_id": 23, "part": number, "parts": 2},
                tests=[item(f"of part {number}", "fail")],
            )
        [found] = [run for run in benches.listed() if run["runId"] in {23, 9023}]
        shown = benches.show(found["id"])
        assert found["tests"] == {"total": 2, "passed": 0, "failed": 2, "retried": 0}
        assert [one["id"] for one in shown["items"]] == ["of part 1", "of part 2"]

    @pytest.mark.parametrize("run", [str(UUID(int=7)), "no-uuid", "0", "%00"])
    def test_an_unknown_id_and_no_id_are_404(self, benches: Benches, run: str) -> None:
        assert benches.member("GET", f"runs/{run}").error == NO_RUN


def _shown(
    name: str, outcome: str, attempts: int, verdict: str, message: str | None = None, **more: str
) -> dict[str, Any]:
    told = {"id": name, "outcome": outcome, "attempts": attempts, "durationS": 0.5}
    added = {"board": None, "logUrl": None, "known": None, **more}
    return {**told, "verdict": verdict, "message": message, **added}


class TestList:
    @pytest.mark.parametrize(
        ("query", "value"),
        [
            ("repoKey", OTHER["repo_key"]),
            ("suite", OTHER["suite"]),
            ("branch", OTHER["branch"]),
            ("boxKey", OTHER["box_key"]),
            ("sha", OTHER["sha"].upper()),
        ],
    )
    def test_a_filter_leaves_what_fits(self, benches: Benches, query: str, value: str) -> None:
        found = benches.listed(f"&{query}={quote(value, safe='')}")
        assert [run["runId"] for run in found] == [12]

    def test_a_branch_or_commit_of_no_run_leaves_none(self, benches: Benches) -> None:
        for query in ("branch", "sha"):
            assert benches.listed(f"&{query}={'e' * 9}") == []

    def test_a_status_leaves_the_runs_that_have_it(self, benches: Benches) -> None:
        assert [run["runId"] for run in benches.listed("&status=running")] == [11]
        assert {run["status"] for run in benches.listed("&status=reported")} == {"reported"}
        assert benches.listed("&status=lost") == []

    def test_an_ending_leaves_the_reports_that_ended_so(self, benches: Benches) -> None:
        passed: dict[str, Any] = {"tests": [item("boot")], "conclusion": "SUCCESS"}
        failed: dict[str, Any] = {"tests": [item("boot", "fail")], "conclusion": "success"}
        ends = {
            81: passed,
            82: failed,
            83: {**passed, "conclusion": "cancelled"},
            84: {**failed, "hello_ok": False},
        }
        for number, of in ends.items():
            benches.report(run_id=number, branch="ends", **of)

        for ending, numbers in {"passed": {81}, "failed": {82, 83}, "never-reached": {84}}.items():
            found = benches.listed(f"&branch=ends&ending={ending}")
            assert {run["runId"]: run["ending"] for run in found} == dict.fromkeys(numbers, ending)
        assert benches.listed("&branch=ends&ending=failed&status=running") == []
        [running] = benches.listed("&status=running")
        assert running["ending"] is None
        wrong = benches.member("GET", "runs?ending=lost")
        assert (wrong.status, wrong.json["issues"][0]["path"]) == (400, ["query", "ending"])

    def test_a_commit_is_found_by_its_beginning_from_four_digits_on(self, benches: Benches) -> None:
        benches.report(run_id=41, sha="0123abcdef")
        benches.report(run_id=42, sha="0123abcdee")

        assert _run_ids(benches, "&sha=0123") == {41, 42}
        assert _run_ids(benches, "&sha=0123ABCDEF") == {41}
        assert _run_ids(benches, "&sha=0123abcdef0") == set()

    def test_a_flag_leaves_the_reports_that_reached_their_hardware_or_did_not(
        self, benches: Benches
    ) -> None:
        benches.report(run_id=51, branch="flag", hello_ok=True)
        benches.report(run_id=52, branch="flag", hello_ok=False)
        benches.opened(benches.installed("bench-flag"), run_id=53, branch="flag")

        assert _run_ids(benches, "&branch=flag&helloOk=true") == {51}
        assert _run_ids(benches, "&branch=flag&helloOk=false") == {52}
        assert _run_ids(benches, "&branch=flag&helloOk=false&status=running") == set()
        benches.report(run_id=53, branch="flag", box_key="bench-flag", hello_ok=False)

    def test_a_period_leaves_the_runs_that_began_in_it_both_ends_included(
        self, benches: Benches
    ) -> None:
        times = [f"2026-01-20T10:00:00.00000{micro}Z" for micro in (1, 2, 3)]
        for number, at in enumerate(times, 61):
            benches.report(run_id=number, branch="time", started_at=at, ended_at=at)

        first, middle, last = times
        local = quote("2026-01-20T11:00:00.000002+01:00")
        assert _run_ids(benches, f"&branch=time&from={middle}&to={last}") == {62, 63}
        assert _run_ids(benches, f"&branch=time&from={local}&to={local}") == {62}
        assert _run_ids(benches, f"&branch=time&to={first}") == {61}
        assert _run_ids(benches, f"&branch=time&from={last}") == {63}

    def test_a_filter_by_test_keeps_the_reports_that_have_it_and_its_result(
        self, benches: Benches
    ) -> None:
        boot = "&branch=test&testId=" + quote("boot/é&b")
        told = {71: item("boot/é&b"), 72: item("boot/é&b", attempts=2), 73: item("boot")}
        for number, test in told.items():
            benches.report(run_id=number, branch="test", tests=[test])

        assert _run_ids(benches, boot) == {71, 72}
        given = {run["runId"]: run["result"] for run in benches.listed(boot)}
        passed = {"outcome": "pass", "verdict": "unknown"}
        assert given == {71: {**passed, "attempts": 1}, 72: {**passed, "attempts": 2}}
        assert all(run["result"] is None for run in benches.listed("&branch=test"))
        assert _run_ids(benches, f"{boot}&retryPass=true") == {72}
        assert _run_ids(benches, f"{boot}&retryPass=false&failedAttempt=false") == {71}

    def test_filters_narrow_each_other(self, benches: Benches) -> None:
        assert benches.listed("&status=running&boxKey=bench-2") == []

    def test_the_latest_start_comes_first_and_pages_make_up_the_list(
        self, benches: Benches
    ) -> None:
        for hour in (1, 3, 2):
            at = f"2026-02-01T0{hour}:00:00Z"
            benches.report(run_id=30 + hour, branch="paged", started_at=at, ended_at=at)

        pages = [
            benches.member("GET", f"runs?branch=paged&limit=1&page={page}").json
            for page in (1, 2, 3, 4)
        ]
        assert [run["runId"] for page in pages for run in page["items"]] == [33, 32, 31]
        assert [(page["total"], page["page"], page["limit"]) for page in pages] == [
            (3, page, 1) for page in (1, 2, 3, 4)
        ]

    @pytest.mark.parametrize(
        ("query", "where"),
        [
            ("limit=101", "limit"),
            ("page=0", "page"),
            ("status=ended", "status"),
            ("sha=xyz", "sha"),
            ("sha=abc", "sha"),
            (f"sha={'a' * 65}", "sha"),
            ("helloOk=yes", "helloOk"),
            ("helloOk=", "helloOk"),
            ("testId=", "testId"),
            ("retryPass=true", "retryPass"),
            ("failedAttempt=false", "failedAttempt"),
            ("from=2026-01-20", "from"),
            ("to=now", "to"),
            ("from=2026-01-20T10:00:00.000001Z&to=2026-01-20T10:00:00Z", "to"),
            ("from=2026-01-20T10:00:00Z&from=2026-01-20T10:00:00Z", "from"),
            ("repoKey=", "repoKey"),
            ("status=lost&status=lost", "status"),
        ],
    )
    def test_a_faulty_query_is_400(self, benches: Benches, query: str, where: str) -> None:
        assert benches.member("GET", f"runs?{query}").issue_paths == [["query", where]]


def _run_ids(benches: Benches, query: str) -> set[int]:
    return {run["runId"] for run in benches.listed(query)}


class TestWho:
    def test_every_member_reads_and_nobody_else(self, benches: Benches) -> None:
        run = benches.listed()[0]["id"]
        server = benches.server
        for path in ("runs", f"runs/{run}"):
            address = f"/api/orgs/{server.org_id}/{path}"
            assert ask(server.url, "GET", address, bearer(server.member_token)).status == 200
            assert ask(server.url, "GET", address).error[0] == 401
            assert ask(server.url, "GET", address, ("X-API-Key", server.ci_key)).error[0] == 401

    def test_another_organization_sees_neither_the_run_nor_the_organization(
        self, benches: Benches
    ) -> None:
        server, run = benches.server, benches.listed()[0]["id"]
        person = {"email": "mallory@example.org", "password": PASSWORD, "organization": "Other"}
        made = ask(server.url, "POST", "/api/auth/register", json_body=person).json
        token, own = bearer(made["accessToken"]), made["organization"]["id"]

        for path in ("runs", f"runs/{run}"):
            reply = ask(server.url, "GET", f"/api/orgs/{server.org_id}/{path}", token)
            assert reply.error == NO_ORGANIZATION
        assert ask(server.url, "GET", f"/api/orgs/{own}/runs/{run}", token).error == NO_RUN
        assert ask(server.url, "GET", f"/api/orgs/{own}/runs", token).json["items"] == []
