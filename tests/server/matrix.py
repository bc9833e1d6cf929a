# SPDX-License-Identifier: Apache-2.0
"""Every route there is with whom it is for, what it answers when it is granted, and a body that
would be granted: written by hand from the contract, so that it is not an echo of the code.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import count
from typing import Any

from tests.server.tenants import (
    ANNOUNCEMENT,
    CONFIGURATION,
    EVENTS,
    HEAD,
    TRUST,
    WEBHOOK,
    Tenant,
    known_failure,
    sign_in_of,
    tell,
)
from tests.support.asking import bearer
from tests.support.joining import join
from tests.support.running import PASSWORD, RunningServer, report

NUMBERS = count()


class By(Enum):
    """Whom a route is for."""

    ANYONE = "anyone"
    USER = "user"
    MEMBER = "member"
    READER = "member or reader key"
    ADMIN = "admin"
    OWNER = "owner"
    FOLLOWER = "member or reader key, by the header or the first frame"
    READER_KEY = "reader key"
    CI = "CI key"
    BOX = "box key"


@dataclass(frozen=True)
class World:
    """A server, its tenants, and an account that belongs to none of them."""

    server: RunningServer
    tenants: Mapping[str, Tenant]
    stranger: str


Body = Callable[[World], Any]


Undo = Callable[[World, Tenant], None]
"""What puts back what a granted request changed."""


def review(action: str, thing: str) -> Undo:
    def again(world: World, tenant: Tenant) -> None:
        path = f"{tenant.path}/ci-failures/{tenant.ids[thing]}/{action}"
        tell(world.server.url, "POST", path, bearer(tenant.owner))

    return again


def undeleted(world: World, tenant: Tenant) -> None:
    tell(world.server.url, "POST", f"{tenant.path}/undelete", bearer(tenant.owner))


def spare_again(world: World, tenant: Tenant) -> None:
    join(world.server.url, tenant.org_id, tenant.owner, tenant.spare)


def invited_again(world: World, tenant: Tenant) -> None:
    url, path, owner = world.server.url, f"{tenant.path}/invites", bearer(tenant.owner)
    email = f"invited-{tenant.name}@example.net"
    tell(url, "POST", path, owner, body={"email": email, "role": "member"})
    listed = tell(url, "GET", f"{path}?limit=100", owner)["items"]
    tenant.ids["invite"] = next(one["id"] for one in listed if one["email"] == email)


def box_again(world: World, tenant: Tenant) -> None:
    url, path, owner = world.server.url, f"{tenant.path}/boxes", bearer(tenant.owner)
    tenant.ids["spare box"] = tell(url, "POST", path, owner, body=name(world))["id"]


def box_note(_: World) -> Any:
    return {"boxKey": "bench-1", "text": f"new cable {next(NUMBERS)}"}


def note_again(world: World, tenant: Tenant) -> None:
    url, path, owner = world.server.url, f"{tenant.path}/box-notes", bearer(tenant.owner)
    tenant.ids["box note"] = tell(url, "POST", path, owner, body=box_note(world))["id"]


def rule(_: World) -> Any:
    return known_failure(f"FW-{next(NUMBERS)}")


def rule_again(world: World, tenant: Tenant) -> None:
    url, path, owner = world.server.url, f"{tenant.path}/known-failures", bearer(tenant.owner)
    tenant.ids["rule"] = tell(url, "POST", path, owner, body=rule(world))["id"]


def webhook_again(world: World, tenant: Tenant) -> None:
    url, path, owner = world.server.url, f"{tenant.path}/webhooks", bearer(tenant.owner)
    tenant.ids["spare webhook"] = tell(url, "POST", path, owner, body=WEBHOOK)["id"]


def trust_again(world: World, tenant: Tenant) -> None:
    url, path, owner = world.server.url, f"{tenant.path}/ci-trusts", bearer(tenant.owner)
    tenant.ids["spare trust"] = tell(url, "POST", path, owner, body=TRUST)["id"]


@dataclass(frozen=True)
class Row:
    """What is expected of a route. `thing`: what its second id names. `body`: made for each time.
    `metrics`: only while CI Metrics is on. `query`: what the route must be asked.
    """

    by: By
    granted: int
    thing: str | None = None
    body: Body | None = None
    metrics: bool = False
    undo: Undo | None = None
    query: str = ""


def name(_: World) -> Any:
    return {"name": f"new {next(NUMBERS)}"}


def person(_: World) -> Any:
    return {"email": f"new-{next(NUMBERS)}@example.net", "role": "member"}


def account(_: World) -> Any:
    return {"email": f"new-{next(NUMBERS)}@example.net", "password": PASSWORD}


def renewable(world: World) -> Any:
    body = sign_in_of("newcomer")
    made = tell(world.server.url, "POST", "/api/auth/login", body=body)
    return {"refreshToken": made["refreshToken"]}


def always(body: Any) -> Body:
    return lambda _: body


CONFIRMATION = {"challenge": "c" * 43, "accepted": True}
INVITATION = {"email": "ada@example.org", "inviteToken": "i" * 43}
EXCHANGE = {"code": "unknown", "verifier": "v" * 43}
SAME_PASSWORD = {"currentPassword": PASSWORD, "newPassword": PASSWORD}
UNKNOWN_REVIEW = {"reviews": [{"failureId": f"{7:032x}", "action": "reset", "seenReviewAt": None}]}
UNSENT = {"unsent": [{"sha": "b" * 40, "changes": {"base_sha": "a" * 40, "commits": []}}]}
RESET = {"resetToken": "unknown", "newPassword": PASSWORD}
JOB = {"orgId": f"{7:032x}", "token": "unknown"}
ORG = "/api/orgs/{orgId}"
REVIEW = f"{ORG}/ci-failures/{{failureId}}"
LIST = Row(By.MEMBER, 200)
A_BOX = "?boxKey=bench-1"
A_TEST = "?repoKey=acme/firmware&suite=hardware&testId=i2c"
A_COMMIT = f"?repoKey=acme/firmware&sha={'1' * 40}&days=3650"
FIGURES = Row(By.READER, 200, metrics=True)

ROWS = {
    "POST /api/ci/merge-announce": Row(By.CI, 204, body=always(ANNOUNCEMENT)),
    "POST /api/ci/run-report": Row(By.CI, 204, body=always(report(run_id=50))),
    "PUT /api/ci/suite-config": Row(By.CI, 204, body=always(CONFIGURATION)),
    "POST /api/ci/job-key": Row(By.ANYONE, 401, body=always(JOB)),
    "POST /api/auth/register": Row(By.ANYONE, 201, body=account),
    "POST /api/auth/login": Row(By.ANYONE, 200, body=always(sign_in_of("newcomer"))),
    "POST /api/auth/refresh": Row(By.ANYONE, 200, body=renewable),
    "POST /api/auth/logout": Row(By.ANYONE, 204, body=always({"refreshToken": "unknown"})),
    "GET /api/auth/me": Row(By.USER, 200),
    "POST /api/auth/password": Row(By.USER, 200, body=always(SAME_PASSWORD)),
    "POST /api/auth/reset": Row(By.ANYONE, 403, body=always(RESET)),
    "GET /api/auth/sessions": Row(By.USER, 200),
    "DELETE /api/auth/sessions": Row(By.USER, 200),
    "DELETE /api/auth/sessions/{sessionId}": Row(By.USER, 404),  # another's are another test's
    "GET /api/auth/sso": Row(By.ANYONE, 200),
    "GET /api/auth/sso/{provider}/login": Row(By.ANYONE, 404),
    "POST /api/auth/sso/{provider}/login": Row(By.ANYONE, 404, body=always(INVITATION)),
    "GET /api/auth/sso/{provider}/callback": Row(By.ANYONE, 404),
    "GET /api/auth/sso/command-line": Row(By.ANYONE, 401),
    "POST /api/auth/sso/command-line": Row(By.ANYONE, 401, body=always(CONFIRMATION)),
    "POST /api/auth/sso/token": Row(By.ANYONE, 401, body=always(EXCHANGE)),
    "GET /api/orgs": Row(By.USER, 200),
    "POST /api/orgs": Row(By.USER, 201, body=name),
    f"GET {ORG}": LIST,
    f"PATCH {ORG}": Row(By.ADMIN, 200, body=always({"keepDays": {"messages": 30}})),
    f"DELETE {ORG}": Row(By.OWNER, 200, undo=undeleted),
    f"POST {ORG}/undelete": Row(By.OWNER, 409),  # it is not deleted
    f"GET {ORG}/audit-log": Row(By.ADMIN, 200),
    f"GET {ORG}/members": LIST,
    f"PATCH {ORG}/members/{{userId}}": Row(
        By.ADMIN, 200, "person", body=always({"role": "member"})
    ),
    f"DELETE {ORG}/members/{{userId}}": Row(By.ADMIN, 204, "person", undo=spare_again),
    f"GET {ORG}/invites": Row(By.ADMIN, 200),
    f"POST {ORG}/invites": Row(By.ADMIN, 201, body=person),
    f"DELETE {ORG}/invites/{{inviteId}}": Row(By.ADMIN, 204, "invite", undo=invited_again),
    "GET /api/invites": Row(By.USER, 200),
    "POST /api/invites/{inviteId}/accept": Row(By.USER, 404, body=always({})),
    "POST /api/invites/{inviteId}/decline": Row(By.USER, 404),
    f"POST {ORG}/ci-keys": Row(By.ADMIN, 201, body=name),
    f"GET {ORG}/ci-keys": LIST,
    f"DELETE {ORG}/ci-keys/{{keyId}}": Row(By.ADMIN, 204, "key"),
    f"POST {ORG}/reader-keys": Row(By.ADMIN, 201, body=name),
    f"GET {ORG}/reader-keys": LIST,
    "GET /api/reader-key": Row(By.READER_KEY, 200),
    f"DELETE {ORG}/reader-keys/{{keyId}}": Row(By.ADMIN, 204, "reader key"),
    f"POST {ORG}/ci-trusts": Row(By.ADMIN, 201, body=always(TRUST)),
    f"GET {ORG}/ci-trusts": LIST,
    f"DELETE {ORG}/ci-trusts/{{trustId}}": Row(By.ADMIN, 204, "spare trust", undo=trust_again),
    f"GET {ORG}/boxes": LIST,
    f"POST {ORG}/boxes": Row(By.ADMIN, 201, body=name),
    f"PATCH {ORG}/boxes/{{boxId}}": Row(By.ADMIN, 204, "spare box", body=name),
    f"DELETE {ORG}/boxes/{{boxId}}": Row(By.ADMIN, 204, "spare box", undo=box_again),
    f"POST {ORG}/boxes/{{boxId}}/install-token": Row(By.ADMIN, 201, "box"),
    f"GET {ORG}/box-notes": LIST,
    f"POST {ORG}/box-notes": Row(By.ADMIN, 201, body=box_note),
    f"DELETE {ORG}/box-notes/{{noteId}}": Row(By.ADMIN, 204, "box note", undo=note_again),
    f"GET {ORG}/known-failures": LIST,
    f"POST {ORG}/known-failures": Row(By.MEMBER, 201, body=rule),
    f"DELETE {ORG}/known-failures/{{ruleId}}": Row(By.MEMBER, 204, "rule", undo=rule_again),
    f"GET {ORG}/webhooks": Row(By.ADMIN, 200),
    f"POST {ORG}/webhooks": Row(By.ADMIN, 201, body=always(WEBHOOK)),
    f"PATCH {ORG}/webhooks/{{webhookId}}": Row(
        By.ADMIN, 200, "webhook", body=always({"silentHours": 24})
    ),
    f"DELETE {ORG}/webhooks/{{webhookId}}": Row(By.ADMIN, 204, "spare webhook", undo=webhook_again),
    f"GET {ORG}/webhooks/{{webhookId}}/deliveries": Row(By.ADMIN, 200, "webhook"),
    # No delivery has the id of its webhook.
    f"POST {ORG}/webhooks/{{webhookId}}/deliveries/{{deliveryId}}/resend": Row(
        By.ADMIN, 404, "webhook"
    ),
    "POST /api/boxes/install": Row(By.ANYONE, 401, body=always({"installToken": "unknown"})),
    "POST /api/box/heartbeat": Row(By.BOX, 204),
    "POST /api/box/runs": Row(By.BOX, 201, body=always(HEAD)),
    "POST /api/box/runs/{runId}/events": Row(By.BOX, 204, "live run", body=always(EVENTS)),
    f"GET {ORG}/runs": Row(By.READER, 200),
    f"GET {ORG}/runs/stream": Row(By.READER, 200),
    f"GET {ORG}/runs/ws": Row(By.FOLLOWER, 101),
    f"GET {ORG}/runs/{{runId}}": Row(By.READER, 200, "run"),
    f"GET {ORG}/products": FIGURES,
    f"GET {ORG}/suite-configs": FIGURES,
    f"POST {ORG}/suite-configs/plan": Row(By.MEMBER, 200, body=always(CONFIGURATION), metrics=True),
    f"GET {ORG}/ci-metrics": FIGURES,
    f"GET {ORG}/ci-metrics/trend": FIGURES,
    f"GET {ORG}/ci-metrics/unchecked-merges": FIGURES,
    f"GET {ORG}/ci-metrics/checked-merges": FIGURES,
    f"GET {ORG}/ci-metrics/real-bugs": FIGURES,
    f"GET {ORG}/ci-metrics/other-failures": FIGURES,
    f"GET {ORG}/ci-metrics/flakiest-tests": FIGURES,
    f"GET {ORG}/ci-metrics/flakiest-tests/history": FIGURES,
    f"GET {ORG}/ci-analysis/merges": FIGURES,
    f"GET {ORG}/ci-analysis/unchecked-merges": FIGURES,
    f"GET {ORG}/ci-analysis/merge-plan": FIGURES,
    f"GET {ORG}/ci-analysis/boxes": FIGURES,
    f"GET {ORG}/ci-analysis/bisection": Row(By.READER, 400, metrics=True),  # of no test
    f"GET {ORG}/ci-analysis/flaky-tests": FIGURES,
    f"GET {ORG}/ci-analysis/flaky-tests/history": FIGURES,
    f"GET {ORG}/ci-analysis/incidents": FIGURES,
    f"GET {ORG}/ci-analysis/quarantine": FIGURES,
    f"GET {ORG}/ci-analysis/causes": FIGURES,
    f"GET {ORG}/ci-analysis/lost-boards": FIGURES,
    f"GET {ORG}/ci-analysis/lost-boards/resolved": FIGURES,
    f"GET {ORG}/ci-analysis/lost-boards/failures": FIGURES,
    f"GET {ORG}/ci-analysis/gaps": FIGURES,
    f"GET {ORG}/ci-analysis/times-to-fix": FIGURES,
    f"GET {ORG}/ci-analysis/days": FIGURES,
    f"GET {ORG}/ci-analysis/digest": FIGURES,
    f"GET {ORG}/ci-analysis/trends": FIGURES,
    f"GET {ORG}/ci-analysis/fleet": FIGURES,
    f"GET {ORG}/ci-analysis/page": Row(By.MEMBER, 200, metrics=True),
    f"GET {ORG}/ci-analysis/box": Row(By.READER, 200, metrics=True, query=A_BOX),
    f"GET {ORG}/ci-analysis/test": Row(By.READER, 200, metrics=True, query=A_TEST),
    f"GET {ORG}/ci-analysis/tests": FIGURES,
    f"GET {ORG}/ci-analysis/commit": Row(By.READER, 200, metrics=True, query=A_COMMIT),
    f"GET {ORG}/ci-failures": FIGURES,
    f"GET {REVIEW}": Row(By.READER, 200, "real", metrics=True),
    f"GET {ORG}/ci-analysis/failures/{{failureId}}": Row(By.READER, 200, "real", metrics=True),
    f"POST {ORG}/ci-analysis/failures/{{failureId}}": Row(
        By.READER, 200, "real", body=always(UNSENT), metrics=True
    ),
    f"POST {REVIEW}/confirm": Row(
        By.ADMIN, 200, "harness", metrics=True, undo=review("reset", "harness")
    ),
    f"POST {REVIEW}/dismiss": Row(
        By.ADMIN, 200, "real", metrics=True, undo=review("reset", "real")
    ),
    f"POST {REVIEW}/reset": Row(
        By.ADMIN, 200, "reviewed", metrics=True, undo=review("dismiss", "reviewed")
    ),
    f"POST {ORG}/ci-reviews": Row(By.ADMIN, 404, body=always(UNKNOWN_REVIEW), metrics=True),
    "GET /api/wheel": Row(By.ANYONE, 200),
    "GET /healthz": Row(By.ANYONE, 200),
    "GET /readyz": Row(By.ANYONE, 200),
    "GET /api/openapi.json": Row(By.ANYONE, 200),
    "GET /api/hwci.schema.json": Row(By.ANYONE, 200),
}
