# SPDX-License-Identifier: Apache-2.0
"""`hwci doctor`: each thing that may be wrong with a bench is named with its fix."""

import json
import sqlite3
from pathlib import Path

import pytest

from hwci.client import Client, calls
from hwci.version import build_version
from tests.ci.answering import answering as api_answering
from tests.ci.apis import history
from tests.cli.conftest import Command
from tests.support.answering import Answer, answering, unused_url
from tests.support.clones import git
from tests.support.recorded import recorded
from tests.support.running import RunningServer
from tests.support.scene import REPORTS

EPOCH = "Thu, 01 Jan 1970 00:10:00 GMT"
REFUSAL = b'{"statusCode": 400, "error": "Bad Request", "message": "no"}'
JOB = {
    "HWCI_REPO_KEY": "acme/firmware",
    "HWCI_WORKFLOW": "hil",
    "HWCI_RUN_ID": "1",
    "HWCI_BRANCH": "main",
    "HWCI_SHA": "a" * 40,
    "HWCI_BOX": "bench-1",
    "HWCI_MERGED_AT": "2026-01-01T00:00:00Z",
}


def examined(cli: Command, **env: str) -> tuple[int, dict[str, tuple[str, str, str]]]:
    code, out, _ = cli("doctor", "--json", **env)
    return code, {one["check"]: (one["state"], one["what"], one["fix"]) for one in json.loads(out)}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clone of two commits, in the folder of the commands."""
    origin = tmp_path / "origin"
    origin.mkdir()
    git(origin, "init", "-b", "main")
    for _ in range(2):
        git(origin, "commit", "--allow-empty", "-m", "c")
    git(tmp_path, "clone", origin.as_uri(), "clone")
    return tmp_path / "clone"


@pytest.mark.parametrize(
    ("version", "database", "state"),
    [
        ((3, 51, 2), "hwci.db", "warn"),
        ((3, 51, 2), "missing.db", "ok"),
        ((3, 51, 3), "hwci.db", "ok"),
        ((4, 0, 0), "hwci.db", "ok"),
    ],
)
def test_an_sqlite_that_may_damage_a_database_is_named_where_one_is(
    in_ci: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    version: tuple[int, ...],
    database: str,
    state: str,
) -> None:
    (tmp_path / "hwci.db").touch()
    monkeypatch.setattr(sqlite3, "sqlite_version_info", version)
    _, found = examined(in_ci, **JOB, HWCI_DATABASE=str(tmp_path / database))

    assert found["sqlite"][0] == state
    assert ("WAL-reset" in found["sqlite"][1]) is (version < (3, 51, 3))


def test_a_bench_that_is_well_set_up_is_ok_in_all(
    in_ci: Command, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(checkout)
    code, found = examined(in_ci, **JOB)

    assert code == 0
    assert {check: state for check, (state, _, _) in found.items()} == dict.fromkeys(
        (
            "server",
            "proxy",
            "key",
            "clock",
            "git",
            "ci",
            "product",
            "earlier run",
            "spool",
            "box key",
            "sqlite",
        ),
        "ok",
    )
    assert in_ci("doctor", **JOB).out.startswith("ok    server: http://")


def test_the_versions_of_both_sides_are_shown(in_ci: Command) -> None:
    assert examined(in_ci)[1]["server"][1].endswith(
        f" answers, hwci {build_version()}; here is {build_version()}"
    )
    with answering(Answer(200, b'{"status": "ok"}'), Answer(400, REFUSAL)) as server:
        _, found = examined(in_ci, HWCI_URL=server.url)
    assert found["server"][0] == "ok"
    assert "its version is not known" in found["server"][1]


def test_asking_for_the_key_stores_nothing(in_ci: Command, server: RunningServer) -> None:
    def runs() -> int:
        with Client(server.url, token=server.token) as client:
            return client.send(calls.list_runs(server.org_id)).total

    before = runs()
    examined(in_ci)
    assert runs() == before


def test_a_server_that_is_away_fails_and_is_named(in_ci: Command) -> None:
    url = unused_url()
    code, found = examined(in_ci, HWCI_URL=url)

    assert code == 1
    state, what, fix = found["server"]
    assert state == "fail"
    assert url in what
    assert "HWCI_URL" in fix


@pytest.mark.parametrize("key", ["", "svc_" + "0" * 64])
def test_a_key_that_is_missing_or_wrong_fails(in_ci: Command, key: str) -> None:
    code, found = examined(in_ci, HWCI_CI_KEY=key)

    assert code == 1
    assert found["key"][0] == "fail"
    assert "HWCI_CI_KEY" in found["key"][2]


def test_a_missing_key_is_named_beside_a_server_that_is_away(in_ci: Command) -> None:
    _, found = examined(in_ci, HWCI_URL=unused_url(), HWCI_CI_KEY="")

    assert (found["server"][0], found["key"][:2]) == ("fail", ("fail", "HWCI_CI_KEY is not set"))
    assert "key" not in examined(in_ci, HWCI_URL=unused_url())[1]


def test_a_clock_far_from_the_servers_is_a_warning(in_ci: Command) -> None:
    well = Answer(200, b'{"status": "ok"}', {"Date": EPOCH})
    with answering(well, Answer(400, REFUSAL, {"Date": EPOCH})) as server:
        code, found = examined(in_ci, HWCI_URL=server.url)

    assert code == 0
    state, what, fix = found["clock"]
    assert state == "warn"
    assert "the server 1970-01-01 00:10 UTC" in what
    assert "timedatectl" in fix


def test_reporting_warns_of_a_wrong_clock_too(in_ci: Command) -> None:
    body = REPORTS[0].model_dump_json(exclude_unset=True)
    with answering(Answer(204, headers={"Date": EPOCH})) as server:
        code, _, err = in_ci("report-run", "--body", "-", stdin=body, HWCI_URL=server.url)

    assert code == 0
    assert err.startswith("warning: The clock of this machine is wrong\n")
    assert "Reported 2 tests" in err


PRESENT = "Mon, 02 Mar 2026 12:00:00 GMT"
AFTER, LATER = "2026-03-02T12:05:00Z", "2026-03-02T12:05:01Z"


@pytest.mark.parametrize(
    ("started_at", "ended_at", "said"),
    [
        ("2026-03-02T12:00:00Z", AFTER, None),
        ("2015-01-01T00:00:00Z", AFTER, None),
        ("2014-12-31T23:59:59Z", AFTER, "started_at is 2014-12-31 23:59 UTC, as of a clock that"),
        (AFTER, LATER, "ended_at is 2026-03-02 12:05 UTC, and it is 2026-03-02 12:00 UTC by the"),
        ("2031-01-01T00:00:00Z", AFTER, "started_at is 2031-01-01 00:00 UTC, and it is"),
        (AFTER, "2026-03-02T12:00:00Z", "it ended before it started"),
    ],
)
def test_times_that_can_hardly_be_are_reported_with_a_warning(
    in_ci: Command, started_at: str, ended_at: str, said: str | None
) -> None:
    body = REPORTS[0].model_dump(mode="json", exclude_unset=True)
    body |= {"started_at": started_at, "ended_at": ended_at}
    run = ("report-run", "--body", "-")
    with answering(Answer(204, headers={"Date": PRESENT})) as server:
        code, _, err = in_ci(*run, stdin=json.dumps(body), HWCI_URL=server.url)

    assert code == 0
    assert "Reported 2 tests" in err
    warned = [line for line in err.splitlines() if line.startswith("warning: The times of")]
    assert len(warned) == (said is not None)
    assert said is None or said in warned[0]
    assert said is None or "--started-at" in warned[0]


def test_where_no_server_answers_times_are_held_against_this_machines(in_ci: Command) -> None:
    body = REPORTS[0].model_dump(mode="json", exclude_unset=True)
    body["ended_at"] = "2131-01-01T00:00:00Z"
    run = ("report-run", "--body", "-")

    for more in (("--dry-run",), ("--url", unused_url())):
        _, _, err = in_ci(*run, *more, stdin=json.dumps(body))
        assert "UTC by the clock of this machine" in err


def test_a_merge_of_a_time_to_come_is_announced_with_a_warning(in_ci: Command) -> None:
    when = ("--merged-at", "2131-01-01T00:00:00Z")
    code, _, err = in_ci("merge-announce", "--sha", "a" * 40, *when, "-n", **JOB)

    assert code == 0
    assert "warning: The time of the merge is doubtful: merged_at is 2131-01-01 00:00" in err


def test_a_shallow_clone_is_a_warning(
    in_ci: Command, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = checkout.with_name("origin").as_uri()
    git(checkout.parent, "clone", "--depth", "1", origin, "shallow")
    monkeypatch.chdir(checkout.with_name("shallow"))

    state, what, fix = examined(in_ci)[1]["git"]
    assert state == "warn"
    assert "shallow" in what
    assert "fetch-depth: 0" in fix


def test_missing_fields_are_named_with_flag_and_variable(in_ci: Command) -> None:
    state, what, fix = examined(in_ci, CI="true")[1]["ci"]

    assert state == "warn"
    assert "box_key" in what
    assert "--box (or HWCI_BOX)" in fix


def test_a_desk_lacks_nothing_and_shows_what_a_report_from_it_needs(in_ci: Command) -> None:
    state, what, fix = examined(in_ci, CI="")[1]["ci"]

    assert (state, fix) == ("ok", "")
    assert what.startswith("no CI system that is known: a report from here needs ")
    assert "--box (or HWCI_BOX)" in what


def in_github(**more: str) -> dict[str, str]:
    return (
        recorded("github-push")
        | {"GITHUB_TOKEN": "t", "HWCI_SHA": "HEAD", "HWCI_BEFORE_SHA": "HEAD~1"}
        | more
    )


def test_the_run_before_this_one_is_looked_for_as_a_report_would(
    in_ci: Command, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(checkout)
    with api_answering(history("GitHub's API", ("c" * 40, "success"))) as api:
        there = in_github(GITHUB_API_URL=api.address)
        known = examined(in_ci, **there)[1]["earlier run"]
        api.answers.clear()
        first = examined(in_ci, **there, HWCI_BASE_SHA="HEAD~1")[1]["earlier run"]
        away = examined(in_ci, **there)[1]["earlier run"]

    assert known == ("ok", f"changes count from {'c' * 12}, from GitHub's API", "")
    assert first[0] == "ok"
    assert first[1].endswith(", from HWCI_BASE_SHA")
    assert away[0] == "warn"
    assert away[1].endswith(" answers 404. So it is not known since when changes are under test")
    assert away[2] == "Keep the folder HWCI_STATE_DIR from job to job, or set --base-sha"


def test_a_token_that_a_report_would_ask_with_is_missed(
    in_ci: Command, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(checkout)
    code, found = examined(in_ci, **in_github(GITHUB_TOKEN=""))
    pushed = recorded("buildkite-webhook") | {"HWCI_SHA": "HEAD"}
    built = examined(in_ci, **pushed)[1]

    assert code == 0
    state, what, fix = found["earlier run"]
    assert state == "warn"
    assert what.startswith(
        "GitHub's API was not asked which run tested before this one: that needs"
    )
    assert fix.startswith("Set GITHUB_TOKEN, or keep the folder HWCI_STATE_DIR from job to job, or")
    assert "push" not in found
    assert built["earlier run"][2].startswith("Set BUILDKITE_API_TOKEN, or keep ")
    assert built["push"][0] == "warn"
    assert built["push"][1].endswith(
        "Buildkite's API was not asked where the branch stood before it"
    )
    assert built["push"][2] == "Set BUILDKITE_API_TOKEN, or set --before-sha or --covers-shas"
    assert "push" not in examined(in_ci, **pushed, HWCI_COVERS_SHAS="HEAD")[1]


@pytest.mark.parametrize("without", ["a box", "a checkout", "a CI"])
def test_a_job_that_asks_no_api_misses_no_token(
    in_ci: Command, checkout: Path, monkeypatch: pytest.MonkeyPatch, without: str
) -> None:
    if without != "a checkout":
        monkeypatch.chdir(checkout)
    there = in_github(GITHUB_TOKEN="", RUNNER_ENVIRONMENT="github-hosted")
    there |= {} if without == "a box" else {"HWCI_BOX": "bench-1"}
    found = examined(in_ci, **(JOB | {"HWCI_SHA": "HEAD"} if without == "a CI" else there))[1]

    none = ("ok", "none that tested is known yet", "")
    assert found.get("earlier run") == (none if without == "a CI" else None)
    assert "push" not in found


def test_a_setting_that_cannot_be_understood_fails(in_ci: Command) -> None:
    code, found = examined(in_ci, HWCI_RUN_ID="many")

    assert code == 1
    assert "HWCI_RUN_ID is 'many'" in found["ci"][1]


def test_a_run_of_no_product_of_the_project_is_a_warning(in_ci: Command, tmp_path: Path) -> None:
    product = '[[product]]\nsuite = "{}"\nfirmware_paths = ["**"]\nharness_paths = []\n'
    (tmp_path / "hwci.toml").write_text(product.format("one") + product.format("two"))

    state, what, fix = examined(in_ci)[1]["product"]
    assert state == "warn"
    assert "2 products (one, two)" in what
    assert "--suite (HWCI_SUITE)" in fix
    result = examined(in_ci, HWCI_SUITE="two")[1]["product"]
    assert result[:2] == ("ok", "two, from HWCI_SUITE")


def test_a_proxy_is_named_without_its_password_and_an_impossible_one_fails(in_ci: Command) -> None:
    with answering(Answer(204)) as proxy:
        address = proxy.url.replace("://", "://me:secret@")
        there = {"HWCI_URL": "http://hwci.example.org", "HTTP_PROXY": "", "no_proxy": ""}
        _, found = examined(in_ci, **there, http_proxy=address)
        assert found["proxy"][:2] == ("ok", proxy.url)
        assert "secret" not in json.dumps(found)

    code, found = examined(in_ci, **there, http_proxy="socks5://p.example.org")
    assert code == 1
    assert "http_proxy" in found["server"][1].lower()


def test_pending_reports_are_a_warning(in_ci: Command) -> None:
    body = REPORTS[0].model_dump_json(exclude_unset=True)
    in_ci("report-run", "--body", "-", stdin=body, HWCI_URL=unused_url())

    state, what, fix = examined(in_ci)[1]["spool"]
    assert state == "warn"
    assert what.startswith("1 report waiting, in ")
    assert "hwci spool flush" in fix


def test_a_spool_without_a_place_is_a_warning(in_ci: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    state, what, fix = examined(in_ci, HWCI_SPOOL_DIR=str(tmp_path / "file" / "spool"))[1]["spool"]
    assert state == "warn"
    assert "cannot be written" in what
    assert "HWCI_SPOOL_DIR" in fix


def test_a_box_key_that_others_can_read_fails(in_ci: Command, tmp_path: Path) -> None:
    names = ("url", "box_id", "name", "org_id", "key")
    (tmp_path / "box.json").write_text(json.dumps(dict.fromkeys(names, "b")))
    (tmp_path / "box.json").chmod(0o644)
    code, found = examined(in_ci, HWCI_BOX_FILE="box.json")
    assert code == 1
    assert "0644" in found["box key"][1]

    (tmp_path / "box.json").chmod(0o600)
    assert examined(in_ci, HWCI_BOX_FILE="box.json")[1]["box key"][0] == "ok"
