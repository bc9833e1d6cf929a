# SPDX-License-Identifier: Apache-2.0
"""A random life of an organization over HTTP, compared step by step with a model in dictionaries:
members and roles, CI keys, boxes, run reports and reviews, CI Metrics on and off.

The model knows the contract's rules and no line of the server. Bounded and derandomized.
"""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from hwci.server.app import SetCiMetrics
from tests.server.model import FAILED, FILES, PASSED, Box, Failure, Key, Offer, changes
from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.joining import accept, decline, received
from tests.support.running import (
    ADMIN_EMAIL,
    EMAIL,
    MEMBER_EMAIL,
    RunningServer,
    new_organization,
    report,
    running_in_thread,
    sign_in,
)
from tests.support.soak import rounds

EXAMPLES, STEPS = rounds(2, 20), 50
STRANGER_EMAIL = "stranger@example.org"
PEOPLE = (EMAIL, ADMIN_EMAIL, MEMBER_EMAIL, STRANGER_EMAIL)
ADMINS = {"owner", "admin"}
BENCHES = ("bench-1", "bench-2", "bench-3")
PRODUCT = {"repo_key": "acme/firmware", "suite": "sensor"}
START = datetime.now(UTC).replace(microsecond=0) - timedelta(days=2)  # noqa: TID251 - reports of now


class Organization(RuleBasedStateMachine):
    """What people, CI and benches do, and what must then be so."""

    server: ClassVar[RunningServer]
    tokens: ClassVar[dict[str, str]]
    ids: ClassVar[dict[str, str]]
    names: ClassVar[dict[str, str]]

    # Mostly someone who may, else any of them.
    people = st.sampled_from(("owner", "owner", "admin", "admin", "member", *PEOPLE))

    others = st.sampled_from(PEOPLE)
    roles_to_give = st.sampled_from(["owner", "admin", "member"])
    which = st.integers(0, 9)
    benches = st.sampled_from(BENCHES)

    @initialize()
    def found(self) -> None:
        made = self.call(EMAIL, "POST", "/api/orgs", {"name": "Random"})
        assert made.status == 201
        self.org_id = made.json["id"]
        self.roles = {EMAIL: "owner"}
        self.keys: list[Key] = []
        self.boxes: dict[str, Box] = {}
        self.reports: dict[tuple[int, int, str], str] = {}
        self.failures: list[Failure] = []
        self.metrics = False
        self.switch(enabled=True)
        self.offers: dict[str, Offer] = {}
        for email, role in ((ADMIN_EMAIL, "admin"), (MEMBER_EMAIL, "member")):
            self.invite("owner", email, role)
            self.accept(email)
        for name in ("one", "two", "three"):
            self.create_key("owner", name)
        self.create_box("owner", BENCHES[0])
        config = {**PRODUCT, "firmware_paths": ["drivers/**"], "harness_paths": ["hil/**"]}
        put = self.with_key(0, "PUT", "/api/ci/suite-config", {**config, "merge_trigger": True})
        assert put.status == 204
        for mended in FILES:
            self.break_and_mend(0, mended)

    def call(self, person: str, method: str, path: str, body: Any = None) -> Reply:
        return ask(self.server.url, method, path, bearer(self.tokens[person]), json_body=body)

    def org(self, person: str, method: str, path: str, body: Any = None) -> Reply:
        return self.call(person, method, f"/api/orgs/{self.org_id}{path}", body)

    def key(self, which: int) -> Key:
        return self.keys[which % len(self.keys)]

    def with_key(self, which: int, method: str, path: str, body: Any) -> Reply:
        return ask(self.server.url, method, path, ci_key(self.key(which).value), json_body=body)

    def someone(self, who: str) -> str:
        """Return a person of a role, an owner where there is none; or the person who was named."""
        if "@" in who:
            return who
        return next((person for person, role in self.roles.items() if role == who), self.an_owner())

    def refusal(self, person: str, *, admins: bool = True, metrics: bool = False) -> int | None:
        """The status that a person meets before the deed itself is looked at."""
        if person not in self.roles:
            return 404
        if admins and self.roles[person] not in ADMINS:
            return 403
        return 403 if metrics and not self.metrics else None

    def an_owner(self) -> str:
        return next(person for person, role in self.roles.items() if role == "owner")

    # CI Metrics

    @rule(enabled=st.sampled_from([True, True, False]))
    def switch(self, *, enabled: bool) -> None:
        command = SetCiMetrics(org_id=UUID(self.org_id), enabled=enabled)
        self.server.operate(command)
        self.metrics = enabled

    # Members

    @rule(
        who=people,
        other=others,
        role=st.sampled_from(["owner", "admin", "member"]),
    )
    def invite(self, who: str, other: str, role: str) -> None:
        person = self.someone(who)
        expected = self.refusal(person)
        if expected is None and role == "owner" and self.roles[person] != "owner":
            expected = 403
        if expected is None and other in self.roles:
            expected = 409
        if expected is None and other in self.offers:
            earlier_needs_owner = self.offers[other].role == "owner"
            expected = 403 if earlier_needs_owner and self.roles[person] != "owner" else None
        reply = self.org(person, "POST", "/invites", {"email": other, "role": role})
        assert reply.status == (expected or 201)
        if expected is None:
            (made,) = [one for one in self.waiting(other) if one["role"] == role]
            self.offers[other] = Offer(made["id"], reply.json["inviteToken"], role, person)

    @rule(other=others)
    def accept(self, other: str) -> None:
        offer = self.offers.get(other)
        if offer is None:
            return
        inviter = self.roles.get(offer.inviter)
        stands = inviter == "owner" or (inviter == "admin" and offer.role != "owner")
        reply = accept(self.server.url, self.tokens[other], offer.id, offer.token)
        assert reply.status == (200 if stands else 403)
        if stands:
            self.roles[other] = self.offers.pop(other).role

    @rule(other=others)
    def decline(self, other: str) -> None:
        if other in self.offers:
            offer = self.offers.pop(other)
            assert decline(self.server.url, self.tokens[other], offer.id).status == 204

    @rule(who=people, other=others)
    def withdraw(self, who: str, other: str) -> None:
        if other not in self.offers:
            return
        person, offer = self.someone(who), self.offers[other]
        expected = self.refusal(person)
        if expected is None and offer.role == "owner" and self.roles[person] != "owner":
            expected = 403
        reply = self.org(person, "DELETE", f"/invites/{offer.id}")
        assert reply.status == (expected or 204)
        if expected is None:
            del self.offers[other]

    def waiting(self, person: str) -> list[Any]:
        """Return the invitations to this organization that a person sees."""
        seen = received(self.server.url, self.tokens[person])
        return [one for one in seen if one["organization"]["id"] == self.org_id]

    @invariant()
    def offers_are_those_of_the_model(self) -> None:
        listed = self.org(self.an_owner(), "GET", "/invites").json["items"]
        assert {one["email"]: one["role"] for one in listed} == {
            email: offer.role for email, offer in self.offers.items()
        }

    @rule(
        who=people,
        other=others,
        role=st.sampled_from(["owner", "admin", "member"]),
    )
    def change_role(self, who: str, other: str, role: str) -> None:
        person = self.someone(who)
        expected = self.refusal(person) or self.refusal_to_touch(person, other, role)
        if expected is None and role != "owner" and self.is_last_owner(other):
            expected = 409
        reply = self.org(person, "PATCH", f"/members/{self.ids[other]}", {"role": role})
        assert reply.status == (expected or 200)
        if expected is None:
            self.roles[other] = role

    @rule(who=people, other=others)
    def remove_member(self, who: str, other: str) -> None:
        person = self.someone(who)
        leaves = person == other and person in self.roles
        expected = None
        if not leaves:
            expected = self.refusal(person) or self.refusal_to_touch(person, other)
        if expected is None and self.is_last_owner(other):
            expected = 409
        reply = self.org(person, "DELETE", f"/members/{self.ids[other]}")
        assert reply.status == (expected or 204)
        if expected is None:
            del self.roles[other]

    def refusal_to_touch(self, person: str, other: str, role: str | None = None) -> int | None:
        """Only an owner makes or unmakes owners."""
        own = self.roles[person]
        if own != "owner" and role == "owner":
            return 403
        if other not in self.roles:
            return 404
        return 403 if own != "owner" and self.roles[other] == "owner" else None

    def is_last_owner(self, person: str) -> bool:
        return self.roles[person] == "owner" and list(self.roles.values()).count("owner") == 1

    @invariant()
    def members_are_those_of_the_model(self) -> None:
        listed = self.org(self.an_owner(), "GET", "/members").json["items"]
        assert {one["user"]["email"]: one["role"] for one in listed} == self.roles

    # CI keys

    @rule(who=people, name=st.sampled_from(["a", "b"]))
    def create_key(self, who: str, name: str) -> None:
        person = self.someone(who)
        expected = self.refusal(person)
        made = self.org(person, "POST", "/ci-keys", {"name": name})
        assert made.status == (expected or 201)
        if expected is None:
            self.keys.append(Key(made.json["id"], name, made.json["apiKey"]))

    @rule(who=people, which=which)
    def revoke_key(self, who: str, which: int) -> None:
        person, key = self.someone(who), self.key(which)
        expected = self.refusal(person)
        assert self.org(person, "DELETE", f"/ci-keys/{key.id}").status == (expected or 204)
        key.revoked = key.revoked or expected is None

    @invariant()
    def keys_are_those_of_the_model(self) -> None:
        listed = self.org(self.an_owner(), "GET", "/ci-keys?limit=100").json["items"]
        found = {one["id"]: (one["name"], one["revokedAt"] is not None) for one in listed}
        assert found == {key.id: (key.name, key.revoked) for key in self.keys}

    # Boxes

    @rule(who=people, name=benches)
    def create_box(self, who: str, name: str) -> None:
        person = self.someone(who)
        expected = self.refusal(person)
        if expected is None and name in self.boxes:
            expected = 409
        reply = self.org(person, "POST", "/boxes", {"name": name})
        assert reply.status == (expected or 201)
        if expected is None:
            self.boxes[name] = Box(reply.json["id"], name, reply.json["installToken"])

    @rule(who=people, name=benches)
    def new_install_token(self, who: str, name: str) -> None:
        person, box = self.someone(who), self.boxes.get(name)
        expected = self.refusal(person) or (None if box else 404)
        reply = self.org(person, "POST", f"/boxes/{box.id if box else uuid4()}/install-token")
        assert reply.status == (expected or 201)
        if expected is None and box:
            box.dead_tokens.append(box.token)
            box.token, box.used = reply.json["installToken"], False

    @rule(which=which, stale=st.booleans())
    def install(self, which: int, stale: bool) -> None:
        box = self.box(which)
        stale = stale and bool(box.dead_tokens)
        body = {"installToken": box.dead_tokens[-1] if stale else box.token}
        reply = ask(self.server.url, "POST", "/api/boxes/install", json_body=body)
        works = not stale and not box.used
        assert reply.status == (201 if works else 401)
        if works:
            box.dead_keys += [box.key] if box.key else []
            box.key, box.used = reply.json["apiKey"], True

    @rule(which=which, stale=st.booleans())
    def heartbeat(self, which: int, stale: bool) -> None:
        box = self.box(which)
        key = (box.dead_keys[-1] if box.dead_keys else None) if stale else box.key
        if key is not None:
            reply = ask(self.server.url, "POST", "/api/box/heartbeat", ci_key(key))
            assert reply.status == (401 if stale else 204)

    def box(self, which: int) -> Box:
        return list(self.boxes.values())[which % len(self.boxes)]

    @invariant()
    def boxes_are_those_of_the_model(self) -> None:
        listed = self.org(self.an_owner(), "GET", "/boxes").json["items"]
        result = {box for *_, box in self.reports}
        assert {
            (one["id"], one["name"], one["status"], one["lastReportAt"] is not None)
            for one in listed
        } == {
            (box.id, box.name, "online" if box.key else "new", box.name in result)
            for box in self.boxes.values()
        }

    # Run reports

    @rule(
        which=which,
        run=st.tuples(st.integers(1, 3), st.integers(1, 2), st.sampled_from(BENCHES)),
        outcome=st.sampled_from(["pass", "fail"]),
    )
    def send_report(self, which: int, run: tuple[int, int, str], outcome: str) -> None:
        run_id, attempt, box = run
        self.send(which, outcome, run_id=run_id, run_attempt=attempt, box_key=box)

    def send(self, which: int, outcome: str, test: str = "boot", **fields: Any) -> bool:
        """Send a report of one test; say whether it had to be taken."""
        tests = [{"id": test, "outcome": outcome, "attempts": 1, "duration_s": 1.0}]
        if outcome == "fail":
            tests[0]["verdict"] = "device"
        body = report(**PRODUCT, tests=tests, **fields)
        expected = 401 if self.key(which).revoked else 204 if self.metrics else 403
        assert self.with_key(which, "POST", "/api/ci/run-report", body).status == expected
        if expected == 204:
            self.reports[(body["run_id"], body["run_attempt"], body["box_key"])] = outcome
        return expected == 204

    @invariant()
    def runs_are_those_of_the_model(self) -> None:
        listed = self.org(self.an_owner(), "GET", "/runs?limit=100").json
        assert listed["total"] == len(self.reports)
        assert {
            (one["runId"], one["runAttempt"], one["boxKey"]): (
                "pass" if one["tests"] == PASSED else "fail" if one["tests"] == FAILED else None
            )
            for one in listed["items"]
        } == self.reports

    @invariant()
    def the_page_counts_the_reports_of_the_model(self) -> None:
        page = self.org(self.an_owner(), "GET", "/ci-metrics")
        assert page.status == (200 if self.metrics else 403)
        if self.metrics:
            assert page.json["tiles"]["infraRuns"] == {"infra": 0, "total": len(self.reports)}

    # Reviews

    @rule(which=which, mended=st.sampled_from(FILES))
    def break_and_mend(self, which: int, mended: str) -> None:
        """A test fails with one commit and passes with the next one."""
        number = len(self.failures) + 1
        test, bad, good = f"test-{number}", f"bad{number:037x}", f"bed{number:037x}"
        at = START + timedelta(minutes=number)
        lane: dict[str, Any] = {"test": test, "box_key": f"rig-{number}", "run_attempt": 1}
        taken = self.send(
            which,
            "fail",
            **lane,
            run_id=100 * number,
            sha=bad,
            started_at=at.isoformat(),
            changes=changes("a" * 40, bad, "drivers/i2c.c"),
        )
        if not taken:
            return
        later = (at + timedelta(seconds=30)).isoformat()
        run: dict[str, Any] = {"run_id": 100 * number + 1, "sha": good, "started_at": later}
        self.send(which, "pass", **lane, **run, changes=changes(bad, good, mended))
        shown = self.resolved_failure(test)
        expected = "real_fw_bug" if mended.startswith("drivers") else "bench_or_harness"
        assert (shown["class"], shown["status"]) == (expected, "Automatic")
        self.failures.append(Failure(shown["id"], shown["class"]))

    def resolved_failure(self, test: str) -> Any:
        for table in ("real-bugs", "other-failures"):
            items = self.org(self.an_owner(), "GET", f"/ci-metrics/{table}?limit=100").json["items"]
            for one in items:
                if one["testId"] == test:
                    return one
        raise AssertionError(f"{test} is in neither table")

    @rule(who=people, which=which, action=st.sampled_from(["confirm", "dismiss", "reset"]))
    def review(self, who: str, which: int, action: str) -> None:
        person, failure = self.someone(who), self.failures[which % len(self.failures)]
        fits = {
            "confirm": failure.shown != "real_fw_bug",
            "dismiss": failure.shown == "real_fw_bug",
            "reset": failure.action is not None,
        }[action]
        expected = self.refusal(person, metrics=True) or (200 if fits else 409)
        reply = self.org(person, "POST", f"/ci-failures/{failure.id}/{action}")
        assert reply.status == expected
        if expected == 200:
            reset = action == "reset"
            failure.action = None if reset else action
            failure.by = None if reset else self.names[person]
            assert reply.json["class"] == failure.shown
            assert reply.json["status"] == (failure.by or "Automatic")
            assert reply.json["automatic"]["class"] == failure.automatic


@pytest.fixture
def organization(tmp_path: Path) -> Iterator[type[Organization]]:
    with running_in_thread(tmp_path) as server:
        new_organization(server.location, STRANGER_EMAIL)
        tokens = {person: asyncio.run(sign_in(server.url, person)) for person in PEOPLE}
        people = {
            person: ask(server.url, "GET", "/api/auth/me", bearer(token)).json["user"]
            for person, token in tokens.items()
        }
        Organization.server, Organization.tokens = server, tokens
        Organization.ids = {person: user["id"] for person, user in people.items()}
        Organization.names = {
            person: user["name"] or user["email"] for person, user in people.items()
        }
        yield Organization


def test_a_random_life_of_an_organization_is_as_the_model_says(
    organization: type[Organization],
) -> None:
    run_state_machine_as_test(
        organization,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
