# SPDX-License-Identifier: Apache-2.0
"""Boxes over HTTP: created, installed once per token, seen, listed (contract, "Boxes")."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.running import Hands, RunningServer, report, running_in_thread

NO_TOKEN = (
    401,
    "The install token was used, has expired or is unknown; ask an owner or admin for a new one",
)
NO_KEY = (401, "X-API-Key is not a box key that works; install the box again")
DAY = 24 * 60 * 60


@dataclass(frozen=True)
class Bench:
    """A server whose clock can be moved, as its people and its boxes ask it."""

    server: RunningServer
    hands: Hands

    def create(self, name: str, token: str | None = None) -> Reply:
        return self.ask_for("POST", "boxes", token, {"name": name})

    def renew(self, box_id: str, token: str | None = None) -> Reply:
        return self.ask_for("POST", f"boxes/{box_id}/install-token", token)

    def rename(self, box_id: str, name: str, token: str | None = None) -> Reply:
        return self.ask_for("PATCH", f"boxes/{box_id}", token, {"name": name})

    def remove(self, box_id: str, token: str | None = None) -> Reply:
        return self.ask_for("DELETE", f"boxes/{box_id}", token)

    def box(self, name: str) -> Any:
        items = self.ask_for("GET", "boxes?limit=100").json["items"]
        return next(item for item in items if item["name"] == name)

    def log(self, name: str) -> list[Any]:
        """Return the audit entries about a box, newest first."""
        items = self.ask_for("GET", "audit-log?limit=100").json["items"]
        return [item for item in items if item["details"].get("name") == name]

    def install(self, token: str) -> Reply:
        body = {"installToken": token}
        return ask(self.server.url, "POST", "/api/boxes/install", json_body=body)

    def beat(self, key: str) -> Reply:
        return ask(self.server.url, "POST", "/api/box/heartbeat", ci_key(key))

    def installed(self, name: str) -> Any:
        """Create and install a box; return what the install returned."""
        return self.install(self.create(name).json["installToken"]).json

    def ask_for(self, method: str, path: str, token: str | None = None, body: Any = None) -> Reply:
        address = f"/api/orgs/{self.server.org_id}/{path}"
        sent = bearer(token or self.server.token)
        return ask(self.server.url, method, address, sent, json_body=body)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder: Path = tmp_path_factory.mktemp("boxes")
    hands = Hands()
    with running_in_thread(folder, clock=hands) as server:
        yield Bench(server, hands)


def test_a_box_is_created_by_owners_and_admins_and_listed_to_all(bench: Bench) -> None:
    made = bench.create("created", bench.server.admin_token)

    assert made.status == 201
    assert set(made.json) == {"id", "name", "installToken", "expiresAt"}
    assert bench.create("not mine", bench.server.member_token).error[0] == 403
    assert bench.renew(made.json["id"], bench.server.member_token).error[0] == 403
    listed = ask(
        bench.server.url,
        "GET",
        f"/api/orgs/{bench.server.org_id}/boxes",
        bearer(bench.server.member_token),
    ).json
    assert {
        "id": made.json["id"],
        "name": "created",
        "status": "new",
        "lastSeenAt": None,
        "lastReportAt": None,
        "createdAt": bench.hands.now.isoformat().replace("+00:00", "Z"),
    } in listed["items"]
    assert made.json["installToken"] not in json.dumps(listed)


def test_a_taken_name_is_a_conflict_that_names_the_field(bench: Bench) -> None:
    assert bench.create("twice").status == 201

    assert bench.create("twice").error == (409, "A record with this name already exists")


@pytest.mark.parametrize("name", ["", "x" * 256, 7, None])
def test_a_name_has_1_to_255_characters(bench: Bench, name: Any) -> None:
    assert bench.create(name).issue_paths == [["body", "name"]]


def test_an_install_gives_the_key_once_and_the_box_is_online(bench: Bench) -> None:
    made = bench.create("installed").json
    result = bench.install(made["installToken"])

    assert result.status == 201
    assert re.fullmatch(r"svc_[0-9a-f]{64}", result.json["apiKey"])
    assert result.json == {
        "boxId": made["id"],
        "name": "installed",
        "orgId": str(bench.server.org_id),
        "apiKey": result.json["apiKey"],
    }
    assert bench.box("installed")["status"] == "online"
    assert bench.install(made["installToken"]).error == NO_TOKEN
    assert (bench.beat(result.json["apiKey"]).status, bench.beat(result.json["apiKey"]).body) == (
        204,
        b"",
    )


@pytest.mark.parametrize("token", ["", "unknown", "svc_" + "0" * 64, "x" * 255])
def test_an_unknown_token_installs_nothing(bench: Bench, token: str) -> None:
    refused = bench.install(token)

    assert refused.error == NO_TOKEN
    assert "www-authenticate" in refused.headers


def test_a_token_works_for_24_hours(tmp_path: Path) -> None:
    hands = Hands()
    with running_in_thread(tmp_path, clock=hands) as server:
        own = Bench(server, hands)
        tokens = [own.create(name).json["installToken"] for name in ("in time", "late")]
        hands.move(seconds=DAY - 1)
        assert own.install(tokens[0]).status == 201
        hands.move(seconds=1)
        assert own.install(tokens[1]).error == NO_TOKEN


def test_a_new_install_ends_the_earlier_key_and_a_new_token_does_not(bench: Bench) -> None:
    first = bench.installed("again")
    renewed = bench.renew(first["boxId"])
    assert renewed.status == 201
    assert (renewed.json["id"], renewed.json["name"]) == (first["boxId"], "again")
    assert bench.beat(first["apiKey"]).status == 204

    second = bench.install(renewed.json["installToken"]).json
    assert bench.beat(first["apiKey"]).error == NO_KEY
    assert bench.beat(second["apiKey"]).status == 204
    assert second["boxId"] == first["boxId"]


def test_a_newer_token_takes_the_place_of_an_unused_one(bench: Bench) -> None:
    made = bench.create("renewed").json
    renewed = bench.renew(made["id"]).json

    assert bench.install(made["installToken"]).error == NO_TOKEN
    assert bench.install(renewed["installToken"]).status == 201


def test_one_of_many_installs_with_one_token_wins(bench: Bench) -> None:
    token = bench.create("contested").json["installToken"]
    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(bench.install, [token] * 8))

    won = [reply for reply in replies if reply.status == 201]
    assert len(won) == 1
    assert all(reply.error == NO_TOKEN for reply in replies if reply is not won[0])
    assert bench.beat(won[0].json["apiKey"]).status == 204


@pytest.mark.parametrize("box_id", ["nonsense", "00000000-0000-4000-8000-000000000000"])
def test_a_box_that_is_not_there_gets_no_token(bench: Bench, box_id: str) -> None:
    assert bench.renew(box_id).error == (404, "Box not found")


def test_a_box_is_online_for_three_minutes_after_it_was_seen(tmp_path: Path) -> None:
    hands = Hands()
    with running_in_thread(tmp_path, clock=hands) as server:
        own = Bench(server, hands)
        key = own.installed("beating")["apiKey"]
        for seconds, status in ((180, "online"), (1, "offline")):
            hands.move(seconds=seconds)
            assert own.box("beating")["status"] == status
        own.beat(key)
        box = own.box("beating")
        assert (box["status"], box["lastSeenAt"]) == (
            "online",
            hands.now.isoformat().replace("+00:00", "Z"),
        )


def test_a_box_shows_its_latest_report_by_name(bench: Bench) -> None:
    bench.create("reporting")
    url, key = bench.server.url, ci_key(bench.server.ci_key)
    for number, started_at in enumerate(("2026-03-02T12:00:00Z", "2026-03-01T12:00:00Z"), 1):
        body = report(box_key="reporting", run_id=number, started_at=started_at)
        assert ask(url, "POST", "/api/ci/run-report", key, json_body=body).status == 204

    box = bench.box("reporting")
    assert box["lastReportAt"] == "2026-03-02T12:00:00Z"
    assert (box["status"], box["lastSeenAt"]) == ("new", None)


def test_what_was_done_to_a_box_is_in_the_audit_log_without_a_secret(bench: Bench) -> None:
    made = bench.create("audited", bench.server.admin_token).json
    renewed = bench.renew(made["id"]).json
    result = bench.install(renewed["installToken"]).json
    entries = bench.log("audited")

    assert [entry["action"] for entry in entries] == [
        "box.installed",
        "box.install_token",
        "box.created",
    ]
    assert {entry["target"] for entry in entries} == {made["id"]}
    actors = [entry["actor"]["name"] for entry in entries]
    assert actors == ["audited", "Olga Owner", "admin@example.org"]
    assert entries[0]["actor"]["id"] == made["id"]
    for secret in (made["installToken"], renewed["installToken"], result["apiKey"]):
        assert secret not in json.dumps(entries)


def test_a_renamed_box_keeps_its_key_and_takes_the_reports_of_its_new_name(bench: Bench) -> None:
    made = bench.installed("slip")
    key, admin = ci_key(bench.server.ci_key), bench.server.admin_token
    body = report(box_key="mended", run_id=77, started_at="2026-03-02T12:00:00Z")
    assert ask(bench.server.url, "POST", "/api/ci/run-report", key, json_body=body).status == 204

    assert bench.rename(made["boxId"], "mended", bench.server.member_token).error[0] == 403
    assert bench.rename(made["boxId"], "mended", admin).status == 204
    box = bench.box("mended")
    assert (box["id"], box["lastReportAt"]) == (made["boxId"], "2026-03-02T12:00:00Z")
    assert bench.beat(made["apiKey"]).status == 204
    entry = bench.log("mended")[0]
    assert (entry["action"], entry["details"]) == (
        "box.renamed",
        {"name": "mended", "nameBefore": "slip"},
    )
    assert bench.create("slip").status == 201
    assert bench.rename(made["boxId"], "slip").error[0] == 409
    assert bench.rename(made["boxId"], "").issue_paths == [["body", "name"]]


def test_a_removed_box_s_key_stops_at_once_and_its_runs_stay(bench: Bench) -> None:
    made = bench.installed("leaving")
    token = bench.renew(made["boxId"]).json["installToken"]
    head = {**report(run_id=78), "box_key": None}
    for name in ("box_key", "tests", "ended_at", "conclusion", "hello_ok"):
        head.pop(name, None)
    opened = ask(
        bench.server.url, "POST", "/api/box/runs", ci_key(made["apiKey"]), json_body=head
    ).json

    assert bench.remove(made["boxId"], bench.server.member_token).error[0] == 403
    assert bench.remove(made["boxId"], bench.server.admin_token).status == 204
    assert bench.beat(made["apiKey"]).error == NO_KEY
    assert bench.install(token).error == NO_TOKEN
    assert bench.remove(made["boxId"]).error == (404, "Box not found")
    assert bench.log("leaving")[0]["action"] == "box.removed"
    run = f"/api/orgs/{bench.server.org_id}/runs/{opened['id']}"
    kept = ask(bench.server.url, "GET", run, bearer(bench.server.token)).json
    assert (kept["boxKey"], kept["status"]) == ("leaving", "running")
    bench.hands.move(minutes=10)
    gone = ask(bench.server.url, "GET", run, bearer(bench.server.token)).json
    assert (gone["boxKey"], gone["status"]) == ("leaving", "lost")
    assert bench.create("leaving").status == 201


def test_boxes_that_only_reported_are_listed_last_where_asked_for(tmp_path: Path) -> None:
    with running_in_thread(tmp_path) as server:
        own = Bench(server, Hands())
        own.create("created")
        for number, name in enumerate(("created", "older", "newer")):
            body = report(
                box_key=name, run_id=90 + number, started_at=f"2026-03-0{number + 1}T12:00:00Z"
            )
            key = ci_key(server.ci_key)
            assert ask(server.url, "POST", "/api/ci/run-report", key, json_body=body).status == 204

        path = f"{server.url}/api/orgs/{server.org_id}/boxes"
        pages = [
            ask(server.url, "GET", f"{path.removeprefix(server.url)}?{query}", bearer(server.token))
            for query in ("limit=100", "reported=true", "reported=true&limit=2&page=2")
        ]
    names = [[one["name"] for one in page.json["items"]] for page in pages]
    assert names == [["created"], ["created", "newer", "older"], ["older"]]
    assert [page.json["total"] for page in pages] == [1, 3, 3]
    assert pages[2].json["items"][0] == {
        "id": None,
        "name": "older",
        "status": "reported",
        "lastSeenAt": None,
        "lastReportAt": "2026-03-02T12:00:00Z",
        "createdAt": None,
    }


def test_a_note_is_kept_listed_and_removed_by_owners_and_admins(bench: Bench) -> None:
    made, server = bench.installed("noted"), bench.server
    said = {"boxKey": "noted", "text": "new cable", "at": "2026-03-02T10:00:00Z"}
    assert bench.ask_for("POST", "box-notes", server.member_token, said).error[0] == 403
    kept = bench.ask_for("POST", "box-notes", server.admin_token, said)
    assert kept.status == 201
    later = bench.ask_for("POST", "box-notes", None, {"boxKey": "noted", "text": "new board"})
    assert later.json["at"] == bench.hands.now.isoformat().replace("+00:00", "Z")

    again = bench.ask_for("POST", "box-notes", None, said)
    assert again.error == (409, "A record with this text already exists")
    bench.remove(made["boxId"])  # what was done stays
    listed = bench.ask_for("GET", "box-notes", server.member_token).json["items"]
    assert [one["text"] for one in listed] == ["new board", "new cable"]
    assert kept.json in listed
    assert kept.json["by"]["name"]
    entries = bench.log("noted")
    noted = [one for one in entries if one["action"] == "box.note_added"]
    assert {one["details"]["note"] for one in noted} == {"new board", "new cable"}

    path = f"box-notes/{kept.json['id']}"
    assert bench.ask_for("DELETE", path, server.member_token).error[0] == 403
    assert bench.ask_for("DELETE", path, server.admin_token).status == 204
    assert bench.ask_for("DELETE", path).error == (404, "Note not found")
    assert bench.log("noted")[0]["action"] == "box.note_removed"


def test_a_note_of_a_box_that_nothing_names_is_refused_with_the_nearest(bench: Bench) -> None:
    bench.create("cabinet-4")

    said = {"boxKey": "cabinet-5", "text": "new cable"}
    status, message = bench.ask_for("POST", "box-notes", None, said).error
    assert status == 404
    assert "cabinet-4" in message
    assert bench.ask_for("GET", "box-notes?boxKey=cabinet-5").error[0] == 404
    for field in ({"text": ""}, {"text": "x" * 1001}, {"at": "yesterday"}):
        refused = bench.ask_for("POST", "box-notes", None, {**said, **field})
        assert refused.issue_paths == [["body", next(iter(field))]]
