# SPDX-License-Identifier: Apache-2.0
"""Three organizations on one server, each with people, keys, a box, runs and failures: the tenants
that must not see each other. In `OFF`, CI Metrics is off.
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from hwci.server.app import SetCiMetrics
from tests.server.crooked import Crooked
from tests.support.asking import Header, ask, bearer, ci_key
from tests.support.databases import ON_POSTGRESQL, query
from tests.support.joining import join
from tests.support.running import PASSWORD, RunningServer, report

COLUMNS = (
    "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
    if ON_POSTGRESQL
    else "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c"
    " WHERE t.type = 'table'"
)
OURS, THEIRS, OFF = "ours", "theirs", "off"
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
CONFIGURATION = {
    "repo_key": "acme/firmware",
    "suite": "hardware",
    "firmware_paths": ["src/**"],
    "harness_paths": ["hil/**"],
    "merge_trigger": True,
}
HEAD = {
    name: value
    for name, value in report(run_id=77).items()
    if name not in {"box_key", "tests", "ended_at", "conclusion", "hello_ok"}
}
EVENTS = {"events": [{"type": "test", "id": "boot"}]}
WEBHOOK = {"address": "http://127.0.0.1:9/hook", "events": ["box.silent"]}
"""It is sent nothing: no box was heard of in the days that count."""
TRUST = {"system": "github", "repository": "acme/firmware"}
ANNOUNCEMENT = {
    "repo_key": "acme/firmware",
    "sha": "f" * 40,
    "branch": "main",
    "merged_at": "2026-03-01T00:00:00Z",
}


@dataclass(frozen=True)
class Tenant:
    """An organization: who acts in it, and an id of each thing that it holds, by what it is."""

    name: str
    org_id: str
    owner: str
    admin: str
    member: str
    ended: str
    ci_key: str
    revoked_key: str
    job_key: str
    reader_key: str
    revoked_reader_key: str
    box_key: str
    spare: str
    ids: dict[str, str]

    @property
    def path(self) -> str:
        return f"/api/orgs/{self.org_id}"


def tell(url: str, method: str, path: str, *by: Header, body: Any = None) -> Any:
    """Ask for something that is to be done, and return the answer."""
    reply = ask(url, method, path, *by, json_body=body)
    assert reply.status < 300, (method, path, reply.body)
    return reply.json if reply.body else None


def register(url: str, name: str, **fields: str) -> Any:
    """Register `name@example.net` and return the answer."""
    body = {"email": f"{name}@example.net", "password": PASSWORD, **fields}
    return tell(url, "POST", "/api/auth/register", body=body)


def found(server: RunningServer, name: str, issuer: Crooked | None = None) -> Tenant:
    """Found an organization and fill it. With an issuer that the server allows for GitHub, a job of
    it has signed in.
    """
    url = server.url
    made = register(url, f"owner-{name}", organization=name)
    org_id, owner = made["organization"]["id"], made["accessToken"]
    path, by_owner = f"/api/orgs/{org_id}", bearer(owner)
    people = {role: register(url, f"{role}-{name}") for role in ("admin", "member", "spare")}
    for role, person in people.items():
        join(url, org_id, owner, person["accessToken"], "admin" if role == "admin" else "member")
    keys = [
        tell(url, "POST", f"{path}/ci-keys", by_owner, body={"name": one})
        for one in ("used", "revoked", "spare")
    ]
    tell(url, "DELETE", f"{path}/ci-keys/{keys[1]['id']}", by_owner)
    readers = [
        tell(url, "POST", f"{path}/reader-keys", by_owner, body={"name": one})
        for one in ("used", "revoked", "spare")
    ]
    tell(url, "DELETE", f"{path}/reader-keys/{readers[1]['id']}", by_owner)
    box = tell(url, "POST", f"{path}/boxes", by_owner, body={"name": "bench-1"})
    spare = tell(url, "POST", f"{path}/boxes", by_owner, body={"name": "bench-2"})
    said = {"boxKey": "bench-1", "text": f"new cable of {name}"}
    note = tell(url, "POST", f"{path}/box-notes", by_owner, body=said)
    rule = tell(url, "POST", f"{path}/known-failures", by_owner, body=known_failure(name))
    token = {"installToken": box["installToken"]}
    box_key = tell(url, "POST", "/api/boxes/install", body=token)["apiKey"]
    live = tell(url, "POST", "/api/box/runs", ci_key(box_key), body=HEAD)
    tell(url, "POST", f"/api/box/runs/{live['id']}/events", ci_key(box_key), body=EVENTS)
    invited = {"email": f"invited-{name}@example.net", "role": "member"}
    tell(url, "POST", f"{path}/invites", by_owner, body=invited)
    (invite,) = tell(url, "GET", f"{path}/invites", by_owner)["items"]
    left = tell(url, "POST", "/api/auth/login", body=sign_in_of(f"owner-{name}"))
    tell(url, "POST", "/api/auth/logout", body={"refreshToken": left["refreshToken"]})
    server.operate(SetCiMetrics(org_id=UUID(org_id), enabled=True))
    ids = _reported(url, path, by_owner, keys[0]["apiKey"])
    hooks = _told(url, path, by_owner, ids["harness"])
    if name == OFF:
        server.operate(SetCiMetrics(org_id=UUID(org_id), enabled=False))
    return Tenant(
        name=name,
        org_id=org_id,
        owner=owner,
        admin=people["admin"]["accessToken"],
        member=people["member"]["accessToken"],
        ended=left["accessToken"],
        ci_key=keys[0]["apiKey"],
        revoked_key=keys[1]["apiKey"],
        job_key=_signed_in(server, org_id, owner, issuer) if issuer else "",
        reader_key=readers[0]["apiKey"],
        revoked_reader_key=readers[1]["apiKey"],
        box_key=box_key,
        spare=people["spare"]["accessToken"],
        ids={
            "key": keys[2]["id"],
            "reader key": readers[2]["id"],
            "person": people["spare"]["user"]["id"],
            "box": box["id"],
            "spare box": spare["id"],
            "box note": note["id"],
            "rule": rule["id"],
            "live run": live["id"],
            "invite": invite["id"],
            "spare trust": tell(url, "POST", f"{path}/ci-trusts", by_owner, body=TRUST)["id"],
            **ids,
            **hooks,
        },
    )


def _signed_in(server: RunningServer, org_id: str, owner: str, issuer: Crooked) -> str:
    """Sign a job in, and return its key."""
    trust = {**TRUST, "issuer": issuer.url}
    tell(server.url, "POST", f"/api/orgs/{org_id}/ci-trusts", bearer(owner), body=trust)
    now = int(time.time())
    claims = {"iss": issuer.url, "aud": server.url, "jti": org_id, "iat": now, "exp": now + 300}
    ids = {"repository_id": "74", "repository_owner_id": "65"}
    token = issuer.signed({**claims, **ids, "repository": TRUST["repository"]})
    body = {"orgId": org_id, "token": token}
    return str(tell(server.url, "POST", "/api/ci/job-key", body=body)["apiKey"])


def known_failure(ticket: str) -> dict[str, str]:
    until = datetime.now(UTC) + timedelta(days=3)  # noqa: TID251 - the server's clock, too
    return {"ticket": ticket, "testId": "boot*", "until": until.isoformat()}


def sign_in_of(name: str) -> dict[str, str]:
    return {"email": f"{name}@example.net", "password": PASSWORD}


def _reported(url: str, path: str, by_owner: Header, key: str) -> dict[str, str]:
    """Report a history: two failures that a driver broke, one of which is dismissed, and one of the
    harness. Return the ids of each, and of a run.
    """
    for configuration in ({**CONFIGURATION, "merge_trigger": False}, CONFIGURATION):
        tell(url, "PUT", "/api/ci/suite-config", ci_key(key), body=configuration)
    tell(url, "POST", "/api/ci/merge-announce", ci_key(key), body=ANNOUNCEMENT)
    for hour, failing in enumerate(((), ("i2c", "adc", "spi"), ("spi",), ())):
        tell(url, "POST", "/api/ci/run-report", ci_key(key), body=_run(hour, failing))
    query = f"asOf={(START + timedelta(days=1)).isoformat().replace('+00:00', 'Z')}&days=30"
    failures = tell(url, "GET", f"{path}/ci-failures?{query}&limit=100", by_owner)["items"]
    ids = {one["testId"]: one["id"] for one in failures if one["sha"] == sha_of(1)}
    tell(url, "POST", f"{path}/ci-failures/{ids['adc']}/dismiss", by_owner)
    (run,) = [
        one["id"]
        for one in tell(url, "GET", f"{path}/runs?limit=100", by_owner)["items"]
        if one["runId"] == 1
    ]
    return {"real": ids["i2c"], "reviewed": ids["adc"], "harness": ids["spi"], "run": run}


def _told(url: str, path: str, by_owner: Header, failure: str) -> dict[str, str]:
    """Make two webhooks, of which one is sent that a failure was confirmed; from then on it is
    sent nothing, so that nothing changes by itself. Return their ids.
    """
    wanted = {**WEBHOOK, "events": ["failure.real_bug"]}
    hooks = [
        tell(url, "POST", f"{path}/webhooks", by_owner, body=body) for body in (wanted, WEBHOOK)
    ]
    for deed in ("confirm", "reset"):
        tell(url, "POST", f"{path}/ci-failures/{failure}/{deed}", by_owner)
    first, spare = (hook["id"] for hook in hooks)
    tell(url, "PATCH", f"{path}/webhooks/{first}", by_owner, body={"enabled": False})
    return {"webhook": first, "spare webhook": spare}


def tell_of_an_incident(server: RunningServer, tenant: Tenant) -> None:
    """Let the webhook be told of an incident that stays open, once the server looks for any."""
    hook, by_owner = f"{tenant.path}/webhooks/{tenant.ids['webhook']}", bearer(tenant.owner)
    org_id = UUID(tenant.org_id)
    server.operate(SetCiMetrics(org_id=org_id, enabled=True))
    wanted = {"events": ["incident.opened"], "enabled": True}
    tell(server.url, "PATCH", hook, by_owner, body=wanted)
    test = {"id": "boot", "outcome": "fail", "attempts": 1, "duration_s": 1, "verdict": "device"}
    at = (datetime.now(UTC) + timedelta(seconds=1)).isoformat()  # noqa: TID251 - the server's, too
    failing = report(run_id=99, suite="nightly", tests=[test], started_at=at, ended_at=at)
    tell(server.url, "POST", "/api/ci/run-report", ci_key(tenant.ci_key), body=failing)
    while not query(server.location, "SELECT 1 FROM ongoing WHERE org_id = ?", (org_id.bytes,)):
        time.sleep(0.1)
    tell(server.url, "PATCH", hook, by_owner, body={"enabled": False})
    server.operate(SetCiMetrics(org_id=org_id, enabled=tenant.name != OFF))


def _run(hour: int, failing: tuple[str, ...]) -> dict[str, Any]:
    tests = [
        {
            "id": test,
            "outcome": "fail" if test in failing else "pass",
            "attempts": 1,
            "duration_s": 1.0,
            "verdict": "device",
        }
        for test in ("i2c", "adc", "spi")
    ]
    changed = "hil/spi.py" if hour == 3 else "src/i2c.c"
    commit = {"sha": sha_of(hour), "subject": "Change", "files": [changed]}
    return report(
        run_id=hour,
        sha=sha_of(hour),
        started_at=(START + timedelta(hours=hour)).isoformat(),
        ended_at=(START + timedelta(hours=hour, minutes=5)).isoformat(),
        tests=tests,
        changes={"base_sha": sha_of(hour - 1) if hour else None, "commits": [commit]},
    )


def sha_of(hour: int) -> str:
    """Return the commit of a run."""
    return f"{hour:x}" * 40


def kept(server: RunningServer, tenant: Tenant) -> dict[str, list[Any]]:
    """Return every row of the database that is of an organization, by table. The last use of a
    key, what its pages decided, the bytes that were sent and since when days count are left out:
    sweeps write them later.
    `underived` has rows only while a database is opened.
    """
    org = UUID(tenant.org_id).bytes
    columns: dict[str, list[str]] = {}
    for table, column in query(server.location, COLUMNS):
        columns.setdefault(table, []).append(column)
    rows = {}
    for table, names in columns.items():
        owner = "id" if table == "organization" else "org_id"
        if owner in names and table not in {"keeping", "underived", "usage", "walk_commit"}:
            asked = f"SELECT {', '.join(names)} FROM {table} WHERE {owner} = ?"
            found = query(server.location, asked, (org,))
            rows[table] = [dict(zip(names, row, strict=True)) for row in sorted(found, key=repr)]
    for key in (*rows["reader_key"], *rows["ci_key"]):
        del key["last_used_at"]
    for episode in rows["episode"]:
        del episode["decision"], episode["decided_by"]
    return rows


def where_it_stands(server: RunningServer, word: str) -> set[str]:
    """Return the tables of which a row has a word, in any case."""
    tables: dict[str, list[str]] = {}
    for table, column in query(server.location, COLUMNS):
        tables.setdefault(table, []).append(column)
    return {
        table
        for table, names in tables.items()
        for row in query(server.location, f'SELECT {", ".join(names)} FROM "{table}"')
        if word.encode() in b"".join(_bytes(value) for value in row).lower()
    }


def _bytes(value: object) -> bytes:
    return bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()
