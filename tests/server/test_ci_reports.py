# SPDX-License-Identifier: Apache-2.0
"""The three CI report endpoints, by the spec's five rules, and how their bodies may come."""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hwci.wire import limits
from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.running import RunningServer, report, running_in_thread

JSON = ("Content-Type", "application/json")
GZIP = ("Content-Encoding", "gzip")


def announcement(**fields: Any) -> dict[str, Any]:
    body = {
        "repo_key": "acme/firmware",
        "suite": "hardware",
        "sha": "a" * 40,
        "branch": "main",
        "merged_at": report()["started_at"],
    }
    return {**body, **fields}


def configuration(**fields: Any) -> dict[str, Any]:
    body = {
        "repo_key": "acme/firmware",
        "suite": "hardware",
        "firmware_paths": ["src/**"],
        "harness_paths": ["ci/**"],
        "merge_trigger": True,
    }
    return {**body, **fields}


BODIES = {
    ("POST", "/api/ci/merge-announce"): announcement,
    ("POST", "/api/ci/run-report"): report,
    ("PUT", "/api/ci/suite-config"): configuration,
}
each = pytest.mark.parametrize(("method", "path"), list(BODIES))


def send(server: RunningServer, path: str, body: dict[str, Any], method: str = "POST") -> Reply:
    return ask(server.url, method, path, ci_key(server.ci_key), json_body=body)


def page(server: RunningServer) -> Any:
    reply = ask(server.url, "GET", f"/api/orgs/{server.org_id}/ci-metrics", bearer(server.token))
    assert reply.status == 200
    return reply.json


@each
def test_a_good_body_is_204_without_a_body(server: RunningServer, method: str, path: str) -> None:
    reply = send(server, path, BODIES[method, path](), method)

    assert (reply.status, reply.body) == (204, b"")


@each
def test_rule_1_a_body_that_breaks_the_field_rules_is_400_with_every_fault(
    server: RunningServer, method: str, path: str
) -> None:
    reply = send(server, path, {"repo_key": "", "suite": 1}, method)

    missing = set(BODIES[method, path]()) - {"repo_key", "suite"}
    assert {tuple(where) for where in reply.issue_paths} == {
        ("body", "repo_key"),
        ("body", "suite"),
        *(("body", name) for name in missing),
    }


def test_rule_1_at_most_a_hundred_faults_are_listed(server: RunningServer) -> None:
    reply = send(server, "/api/ci/run-report", report(tests=[{}] * 500))

    assert len(reply.issue_paths) == limits.ISSUES_MAX
    assert reply.issue_paths[0] == ["body", "tests", 0, "id"]


def test_rule_1_a_refused_body_leaves_nothing(tmp_path: Path) -> None:
    item = {"id": "boot", "outcome": "pass", "attempts": 1, "duration_s": 1}
    with running_in_thread(tmp_path) as server:
        refused = send(server, "/api/ci/run-report", report(tests=[item, item]))

        assert refused.issue_paths == [["body", "tests", 1, "id"]]
        assert page(server)["tiles"]["infraRuns"] == {"infra": 0, "total": 0}


def test_rule_1_the_value_at_fault_is_not_repeated(server: RunningServer) -> None:
    reply = send(server, "/api/ci/run-report", report(branch=["a secret"]))

    assert reply.issue_paths == [["body", "branch"]]
    assert b"secret" not in reply.body


@each
def test_rule_2_a_revoked_key_is_401_at_once(server: RunningServer, method: str, path: str) -> None:
    keys = f"/api/orgs/{server.org_id}/ci-keys"
    made = ask(server.url, "POST", keys, bearer(server.token), json_body={"name": "k"}).json
    body = BODIES[method, path]()

    before = ask(server.url, method, path, ci_key(made["apiKey"]), json_body=body)
    ask(server.url, "DELETE", f"{keys}/{made['id']}", bearer(server.token))
    after = ask(server.url, method, path, ci_key(made["apiKey"]), json_body=body)

    assert (before.status, after.status) == (204, 401)


def test_rule_2_a_key_revoked_while_a_body_is_on_its_way_is_401(server: RunningServer) -> None:
    keys = f"/api/orgs/{server.org_id}/ci-keys"
    made = ask(server.url, "POST", keys, bearer(server.token), json_body={"name": "k"}).json

    def body() -> Iterator[bytes]:
        data = json.dumps(announcement()).encode()
        yield data[:1]
        ask(server.url, "GET", "/readyz")
        ask(server.url, "DELETE", f"{keys}/{made['id']}", bearer(server.token))
        yield data[1:]

    path = "/api/ci/merge-announce"
    assert ask(server.url, "POST", path, ci_key(made["apiKey"]), JSON, data=body()).status == 401


def test_rule_3_the_same_announcement_again_changes_nothing(tmp_path: Path) -> None:
    with running_in_thread(tmp_path) as server:
        first = page_after(server, "/api/ci/merge-announce", announcement())
        second = page_after(server, "/api/ci/merge-announce", announcement(branch="other"))

    assert first == second
    assert [row["branch"] for row in second["uncheckedMerges"]["items"]] == ["main"]


def test_rule_3_the_same_report_again_replaces_the_first(tmp_path: Path) -> None:
    failing = {"id": "boot", "outcome": "fail", "attempts": 2, "duration_s": 1}
    with running_in_thread(tmp_path) as server:
        page_after(server, "/api/ci/run-report", report(tests=[failing]))
        after = page_after(server, "/api/ci/run-report", report(hello_ok=False))

    assert after["tiles"]["infraRuns"] == {"infra": 1, "total": 1}
    assert after["flakiestTests"]["items"] == []


def test_rule_3_a_configuration_replaces_the_previous_one(tmp_path: Path) -> None:
    with running_in_thread(tmp_path) as server:
        send(server, "/api/ci/suite-config", configuration(), "PUT")
        send(server, "/api/ci/suite-config", configuration(firmware_paths=["fw/**"]), "PUT")
        path = f"/api/orgs/{server.org_id}/suite-configs"
        kept = ask(server.url, "GET", path, bearer(server.token)).json

    assert [item["firmwarePaths"] for item in kept["items"]] == [["fw/**"]]


def test_rule_4_a_merge_may_be_announced_for_several_products(tmp_path: Path) -> None:
    with running_in_thread(tmp_path) as server:
        for suite in ("a", "b", None):
            page_after(server, "/api/ci/merge-announce", announcement(suite=suite))
        tile = page(server)["tiles"]["mergesChecked"]

    assert tile == {"checked": 0, "announced": 3}


def test_rule_5_a_run_on_several_boxes_is_several_reports(tmp_path: Path) -> None:
    with running_in_thread(tmp_path) as server:
        for box in ("bench-1", "bench-2"):
            send(server, "/api/ci/run-report", report(box_key=box))
        tile = page(server)["tiles"]["infraRuns"]

    assert tile == {"infra": 0, "total": 2}


@pytest.mark.parametrize("part_of", [None, {"run_id": 4711, "part": 2, "parts": 2}])
def test_a_rerun_of_itself_is_refused_in_one_line(
    server: RunningServer, part_of: dict[str, int] | None
) -> None:
    run_id = 4711 if part_of is None else 99
    body = report(run_id=run_id, rerun_of=4711, part_of=part_of)
    reply = send(server, "/api/ci/run-report", body)

    assert (reply.status, reply.issue_paths) == (400, [["body", "rerun_of"]])
    assert b"Should be another run than `run_id`" in reply.body


def test_a_rerun_of_a_run_that_is_unknown_or_of_another_product_counts_as_any_run(
    tmp_path: Path,
) -> None:
    failing, passing = (
        {"id": "boot", "outcome": outcome, "attempts": 1, "duration_s": 1}
        for outcome in ("fail", "pass")
    )
    runs = [
        report(run_id=1, suite="other", tests=[failing]),
        report(run_id=2, tests=[failing]),
        report(run_id=3, box_key="bench-2", sha="b" * 40, tests=[passing]),
    ]

    def shown(rerun_of: int | None) -> Any:
        told = {} if rerun_of is None else {"rerun_of": rerun_of}
        with running_in_thread(tmp_path / f"after-{rerun_of}") as server:
            for run in (runs[0], *(run | told for run in runs[1:])):
                answer = page_after(server, "/api/ci/run-report", run)
        return answer

    unmarked = shown(None)
    assert unmarked["tiles"]["infraRuns"]["total"] == 3
    assert shown(999_999) == unmarked  # nobody knows this run
    assert shown(1) == unmarked  # the run of the other product


def page_after(server: RunningServer, path: str, body: dict[str, Any]) -> Any:
    assert send(server, path, body).status == 204
    answer = page(server)
    del answer["period"]
    return answer


def test_unknown_fields_are_ignored(server: RunningServer) -> None:
    assert send(server, "/api/ci/run-report", report(novelty=float("1"))).status == 204


@each
@pytest.mark.parametrize("number", ["NaN", "-Infinity"])
def test_what_is_no_json_is_400_in_an_ignored_field_too(
    server: RunningServer, method: str, path: str, number: str
) -> None:
    def reply(later: str) -> Reply:
        data = json.dumps(BODIES[method, path]())[:-1] + f', "later": [{later}]}}'
        key = ci_key(server.ci_key)
        return ask(server.url, method, path, key, JSON, data=data.encode())

    assert reply(number).issue_paths == [["body"]]
    assert reply(f'"{number}"').status == 204


@each
def test_a_body_may_come_compressed(server: RunningServer, method: str, path: str) -> None:
    data = gzip.compress(json.dumps(BODIES[method, path]()).encode())

    assert ask(server.url, method, path, ci_key(server.ci_key), JSON, GZIP, data=data).status == 204


@pytest.mark.parametrize(
    ("name", "encode"), [("identity", bytes), ("x-gzip", gzip.compress), ("GZIP", gzip.compress)]
)
def test_an_encoding_has_other_names_too(
    server: RunningServer, name: str, encode: Callable[[bytes], bytes]
) -> None:
    """RFC 9110, 8.4.1 and 12.5.3: `identity` is none."""
    named = ("Content-Encoding", name)
    data = encode(json.dumps(announcement()).encode())
    path = "/api/ci/merge-announce"

    assert (
        ask(server.url, "POST", path, ci_key(server.ci_key), JSON, named, data=data).status == 204
    )


def test_a_client_that_sends_another_encoding_learns_which_are_accepted(
    server: RunningServer,
) -> None:
    brotli = ("Content-Encoding", "br")
    reported = ask(server.url, "POST", "/api/ci/run-report", ci_key(server.ci_key), JSON, brotli)
    signed_in = ask(server.url, "POST", "/api/auth/login", JSON, GZIP)

    assert reported.error == (415, "Send the body plain or with Content-Encoding: gzip")
    assert signed_in.error == (415, "Send the body without a Content-Encoding")


def send_gzip(server: RunningServer, data: bytes, path: str = "/api/ci/merge-announce") -> Reply:
    return ask(server.url, "POST", path, ci_key(server.ci_key), JSON, GZIP, data=data)


def test_a_compressed_body_whose_head_does_not_say_so_is_415(server: RunningServer) -> None:
    data = gzip.compress(json.dumps(announcement()).encode())
    key = ci_key(server.ci_key)
    sent = ask(server.url, "POST", "/api/ci/merge-announce", key, JSON, data=data)

    assert sent.error == (415, "Send the body with Content-Encoding: gzip, as it is compressed")


def test_a_compressed_body_is_one_whole_gzip_member(server: RunningServer) -> None:
    whole = gzip.compress(json.dumps(announcement()).encode())

    for broken in (whole[:-1], whole + whole, whole + b"\0", b"plain", b"", whole[:-8] + b"\0" * 8):
        assert send_gzip(server, broken).issue_paths == [["body"]]


def test_a_compressed_body_is_not_inflated_past_the_limit(server: RunningServer) -> None:
    bomb = gzip.compress(b" " * (limits.BODY_BYTES + 1))

    assert send_gzip(server, bomb).error[0] == 413


def test_a_compressed_body_is_inflated_only_for_who_has_a_key(server: RunningServer) -> None:
    data = gzip.compress(b"{}")
    reply = ask(server.url, "POST", "/api/ci/run-report", JSON, GZIP, data=data)

    assert reply.error[0] == 401


def test_a_body_in_chunks_is_held_to_the_same_limit(server: RunningServer) -> None:
    path = "/api/ci/merge-announce"
    chunks = (b" " * 1000 for _ in range(limits.BODY_BYTES // 1000 + 2))
    good = [json.dumps(announcement()).encode()]

    assert ask(server.url, "POST", path, ci_key(server.ci_key), JSON, data=chunks).error == (
        413,
        f"The body is larger than {limits.BODY_BYTES} bytes",
    )
    assert ask(server.url, "POST", path, ci_key(server.ci_key), JSON, data=good).status == 204


@pytest.mark.parametrize("way", ["plain", "in chunks", "gzip"])
def test_a_body_of_as_many_bytes_as_the_limit_is_taken(server: RunningServer, way: str) -> None:
    path, data = "/api/ci/merge-announce", json.dumps(announcement()).encode()
    data = data.ljust(limits.BODY_BYTES)
    if way == "gzip":
        reply = send_gzip(server, gzip.compress(data))
    else:
        sent = data if way == "plain" else [data]
        reply = ask(server.url, "POST", path, ci_key(server.ci_key), JSON, data=sent)

    assert reply.status == 204


def test_a_large_report_is_taken_and_its_faults_are_found(server: RunningServer) -> None:
    files = [f"src/module_{number:04}/{'x' * 40}.c" for number in range(2_000)]
    commits = [{"sha": f"{number:040x}", "subject": "s", "files": files} for number in range(30)]
    changes = {"base_sha": None, "commits": commits}
    broken = {"base_sha": None, "commits": [*commits, {"sha": "x"}]}

    assert send(server, "/api/ci/run-report", report(run_id=77, changes=changes)).status == 204
    assert send(server, "/api/ci/run-report", report(changes=broken)).issue_paths[0] == [
        "body",
        "changes",
        "commits",
        30,
        "sha",
    ]


def test_the_use_of_a_key_is_shown(server: RunningServer) -> None:
    send(server, "/api/ci/merge-announce", announcement())
    path = f"/api/orgs/{server.org_id}/ci-keys"
    keys = ask(server.url, "GET", path, bearer(server.token)).json["items"]

    assert {key["name"]: key["lastUsedAt"] is not None for key in keys}["tests"]
