# SPDX-License-Identifier: Apache-2.0
"""A CI job signs in with the identity that its CI system signs, and gets a key of some minutes that
does what a CI key does (contract, "CI jobs without a secret"). The issuers are real, over HTTP.
"""

import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

import jwt
import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec

from hwci.contract.ci_systems import SigningSystem
from hwci.server.app import CreateUser, SetCiMetrics
from hwci.wire import limits
from tests.server.crooked import KID, Crooked, Json, crooked_provider, laid_over, public, rsa_key
from tests.server.job_tokens import BUILDKITE, CIRCLECI, CLAIMS, GITHUB, GITLAB, NAMES, PROJECT
from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.databases import query
from tests.support.running import Hands, RunningServer, report, running_in_thread

ID_OF = {GITHUB: "repository_id", GITLAB: "project_id", BUILDKITE: "pipeline_id"}
OWNER_OF = {GITHUB: "repository_owner_id", GITLAB: "namespace_id", BUILDKITE: "organization_id"}
NAME_OF = {GITHUB: "repository", GITLAB: "project_path", BUILDKITE: "pipeline_slug"}
OTHER_BRANCH: Mapping[SigningSystem, Json] = {
    GITHUB: {"ref": "refs/heads/topic"},
    GITLAB: {"ref_path": "refs/heads/topic"},
    BUILDKITE: {"build_branch": "topic"},
    CIRCLECI: {"oidc.circleci.com/vcs-ref": "refs/heads/topic"},
}
NO_BRANCH: Mapping[SigningSystem, Json] = {
    GITHUB: {"ref": "refs/pull/7/merge", "event_name": "pull_request"},
    GITLAB: {"pipeline_source": "merge_request_event"},
    BUILDKITE: {"build_tag": "main"},
    CIRCLECI: {"oidc.circleci.com/vcs-ref": "refs/tags/main"},
}
OF_FORK: Mapping[SigningSystem, Json] = {
    GITHUB: {"event_name": "pull_request_target"},
    GITLAB: {"project_id": "99", "project_path": "mallory/firmware"},
    BUILDKITE: {"build_branch": "mallory:main"},
    CIRCLECI: {
        "oidc.circleci.com/vcs-ref": "refs/pull/7/merge",
        "oidc.circleci.com/vcs-origin": "github.com/mallory/firmware",
    },
}
each_system = pytest.mark.parametrize("system", SigningSystem)
with_ids = pytest.mark.parametrize("system", [GITHUB, GITLAB, BUILDKITE])


@pytest.fixture(scope="module")
def running() -> Iterator[Mapping[SigningSystem, Crooked]]:
    with ExitStack() as stack:
        yield {system: stack.enter_context(crooked_provider()) for system in SigningSystem}


@pytest.fixture(scope="module")
def hands() -> Hands:
    return Hands()


@pytest.fixture(scope="module")
def server(
    running: Mapping[SigningSystem, Crooked], hands: Hands, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    issuers = tuple((system, provider.url) for system, provider in running.items())
    folder = tmp_path_factory.mktemp("server")
    with running_in_thread(folder, clock=hands, ci_issuers=issuers) as found:
        yield found


@pytest.fixture
def issuers(
    running: Mapping[SigningSystem, Crooked], hands: Hands
) -> Mapping[SigningSystem, Crooked]:
    """The issuers, honest again, whose keys the server asks for anew."""
    hands.move(minutes=61)
    for provider in running.values():
        provider.straighten()
    return running


class Ci:
    """A CI system whose jobs sign in to an organization."""

    def __init__(
        self, server: RunningServer, system: SigningSystem, issuer: Crooked, clock: Hands
    ) -> None:
        self.server, self.system, self.issuer, self.clock = server, system, issuer, clock
        self.org_id = server.org_id
        who = {"email": server.email, "password": server.password}
        self.token = ask(server.url, "POST", "/api/auth/login", json_body=who).json["accessToken"]
        for trust in self.trusts():
            self._ask("DELETE", f"{self.path}/{trust['id']}")

    @property
    def path(self) -> str:
        return f"/api/orgs/{self.org_id}/ci-trusts"

    def _ask(self, method: str, path: str, body: Any = None) -> Reply:
        return ask(self.server.url, method, path, bearer(self.token), json_body=body)

    def trusts(self) -> list[Any]:
        found: list[Any] = self._ask("GET", f"{self.path}?limit=100").json["items"]
        return found

    def trust(self, **fields: Any) -> Any:
        body = {"system": self.system, "repository": NAMES[self.system], "issuer": self.issuer.url}
        made = self._ask("POST", self.path, {**body, **fields})
        assert made.status == 201, made.body
        return made.json

    def remove(self, trust: Any) -> None:
        assert self._ask("DELETE", f"{self.path}/{trust['id']}").status == 204

    def claims(self, **bends: Any) -> Json:
        now = int(self.clock().timestamp())
        honest = {
            "iss": self.issuer.url,
            "aud": self.server.url,
            "jti": str(uuid4()),
            "iat": now,
            "nbf": now,
            "exp": now + 300,
            **CLAIMS[self.system],
        }
        return laid_over(honest, bends)

    def job(self, **bends: Any) -> str:
        """Return the token of a job."""
        return self.issuer.signed(self.claims(**bends))

    def exchange(self, token: str, org_id: object = None) -> Reply:
        body = {"orgId": str(org_id or self.org_id), "token": token}
        return ask(self.server.url, "POST", "/api/ci/job-key", json_body=body)

    def key(self, **bends: Any) -> str:
        """Sign a job in and return its key."""
        reply = self.exchange(self.job(**bends))
        assert reply.status == 200, reply.body
        return str(reply.json["apiKey"])

    def refused(self, token: str, org_id: object = None) -> str:
        status, message = self.exchange(token, org_id).error
        assert status == 401
        return message

    def report(self, key: str) -> int:
        path, by = "/api/ci/run-report", ci_key(key)
        return ask(self.server.url, "POST", path, by, json_body=report()).status


@pytest.fixture
def system() -> SigningSystem:
    return GITHUB


@pytest.fixture
def ci(
    server: RunningServer,
    system: SigningSystem,
    issuers: Mapping[SigningSystem, Crooked],
    hands: Hands,
) -> Ci:
    return Ci(server, system, issuers[system], hands)


NO_TRUST = "No trust of this organization fits the job: "


@each_system
def test_a_job_of_a_trusted_repository_reports_with_a_key_of_minutes(ci: Ci) -> None:
    ci.trust()
    reply = ci.exchange(ci.job())

    assert reply.status == 200
    assert reply.json["apiKey"].startswith("svc_")
    assert len(reply.json["apiKey"]) == 68
    assert ci.report(reply.json["apiKey"]) == 204
    ci.clock.move(minutes=14, seconds=59)
    assert ci.report(reply.json["apiKey"]) == 204
    ci.clock.move(seconds=1)
    assert ci.report(reply.json["apiKey"]) == 401


def test_a_key_of_a_job_is_in_no_list_and_only_hashed(ci: Ci, server: RunningServer) -> None:
    ci.trust()
    key, token = ci.key(), ci.job()
    ci.exchange(token)

    path = f"/api/orgs/{ci.org_id}/ci-keys?limit=100"
    names = [one["name"] for one in ask(server.url, "GET", path, bearer(ci.token)).json["items"]]
    assert names == ["tests"]
    rows = repr(query(server.location, "SELECT digest, token FROM job_key"))
    assert key not in rows
    assert token not in rows


@each_system
def test_a_token_signs_in_once(ci: Ci) -> None:
    ci.trust()
    token = ci.job()

    assert ci.exchange(token).status == 200
    assert ci.refused(token).startswith("The job's token was used before")
    ci.clock.move(minutes=4)
    assert ci.refused(token).startswith("The job's token was used before")


def test_a_token_without_an_id_signs_in_once_too(ci: Ci) -> None:
    ci.trust()
    token = ci.job(jti=None)

    assert ci.exchange(token).status == 200
    assert ci.refused(token).startswith("The job's token was used before")
    assert ci.exchange(ci.job(jti=None, ref="refs/heads/other")).status == 200


def test_a_token_that_was_used_is_used_up_after_its_trust_was_made_anew(ci: Ci) -> None:
    trust, token = ci.trust(), ci.job()
    assert ci.exchange(token).status == 200

    ci.remove(trust)
    ci.trust()
    assert ci.refused(token).startswith("The job's token was used before")


def test_of_two_that_use_a_token_at_once_one_signs_in(ci: Ci) -> None:
    from concurrent.futures import ThreadPoolExecutor

    ci.trust()
    token = ci.job()
    with ThreadPoolExecutor(8) as pool:
        statuses = [reply.status for reply in pool.map(ci.exchange, [token] * 8)]

    assert sorted(statuses) == [200, *[401] * 7]


# What a token must be


def test_a_token_for_another_audience_is_refused(ci: Ci) -> None:
    ci.trust()
    ours = ci.server.url

    for audience in (
        "https://other.example",
        [ours, "https://other.example"],
        [],
        "hwci",
        ours[:-1],
    ):
        message = ci.refused(ci.job(aud=audience))
        assert message == (
            f"The job's token is for the audience {audience!r}; this server takes {ours!r}"
        )
    assert ci.exchange(ci.job(aud=[f"{ours}/"])).status == 200


@pytest.mark.parametrize(
    ("bends", "words"),
    [
        ({"exp": -10, "iat": -400}, "it has expired (exp)"),
        ({"iat": 60}, "it is not valid yet (iat, nbf)"),
        ({"nbf": 60}, "it is not valid yet (iat, nbf)"),
        ({"iat": -limits.JOB_TOKEN_AGE.total_seconds() - 1}, "it is more than a day old (iat)"),
    ],
)
def test_a_token_of_another_time_is_refused(ci: Ci, bends: Json, words: str) -> None:
    ci.trust()
    now = int(ci.clock().timestamp())

    moved = {name: now + seconds for name, seconds in bends.items()}
    assert ci.refused(ci.job(**moved)) == f"The job's token is not valid: {words}"


@pytest.mark.parametrize("claim", ["aud", "exp", "iat"])
def test_a_token_without_a_claim_is_refused(ci: Ci, claim: str) -> None:
    ci.trust()

    assert f'missing the "{claim}" claim' in ci.refused(ci.job(**{claim: None}))


@each_system
def test_a_token_without_the_ids_of_its_repository_is_refused(ci: Ci) -> None:
    ci.trust()
    for names in (ID_OF, OWNER_OF):
        claim = names.get(ci.system)
        if claim is not None:
            refused = ci.refused(ci.job(**{claim: None, "job_project_id": None}))
            assert refused == f"The job's token lacks the claim {claim}"


def test_only_the_algorithms_of_issuers_are_taken(ci: Ci) -> None:
    ci.trust()
    claims = ci.claims()
    bare = b".".join(
        urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=")
        for part in ({"alg": "none", "kid": KID}, claims)
    )
    tokens = {
        "none": bare.decode() + ".",
        "HS256": jwt.encode(claims, "k" * 64, "HS256", headers={"kid": KID}),
        "RS512": jwt.encode(claims, ci.issuer.key, "RS512", headers={"kid": KID}),
        "PS256": jwt.encode(claims, ci.issuer.key, "PS256", headers={"kid": KID}),
    }

    for algorithm, token in tokens.items():
        assert ci.refused(token) == (
            f"The job's token is signed with {algorithm!r}; only ES256 and RS256 are accepted"
        )


def test_an_issuer_may_sign_with_an_elliptic_curve(ci: Ci) -> None:
    ci.trust()
    key = ec.generate_private_key(ec.SECP256R1())
    ci.issuer.keys = [public(key, jwt.algorithms.ECAlgorithm, kid="curve")]

    token = jwt.encode(ci.claims(), key, "ES256", headers={"kid": "curve"})
    assert ci.exchange(token).status == 200


def test_a_token_that_another_key_signed_is_refused(ci: Ci) -> None:
    ci.trust()
    not_signed = f"The job's token is not signed by a key that its issuer {ci.issuer.url} publishes"
    other = rsa_key()

    for kid in (KID, "other", None):
        token = jwt.encode(ci.claims(), other, "RS256", headers={"kid": kid} if kid else None)
        assert ci.refused(token) == not_signed
    header, _, signature = ci.job().split(".")
    bent = urlsafe_b64encode(json.dumps(ci.claims(repository="a/b")).encode()).rstrip(b"=").decode()
    assert ci.refused(f"{header}.{bent}.{signature}") == not_signed


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "svc_" + "0" * 64, "e30.e30.", "é.ü.ö"])
def test_what_is_no_token_is_refused(ci: Ci, token: str) -> None:
    ci.trust()

    assert ci.refused(token).startswith("The job's token is no JSON Web Token: ")


# Who may sign in


@pytest.mark.parametrize(
    "issuer",
    [
        "https://gitlab.example",
        "https://token.actions.githubusercontent.com.evil.example",
        "https://evil.example/https://gitlab.com",
        "http://gitlab.com",
        "http://169.254.169.254",
        "https://oidc.circleci.com/org/x/../../y",
        "https://agent.buildkite.com",  # of the table, but nobody trusts it
    ],
)
def test_an_issuer_that_nobody_trusts_is_refused_and_asked_nothing(ci: Ci, issuer: object) -> None:
    ci.trust()

    message = ci.refused(ci.job(iss=issuer))
    assert message == f"Nobody on this server trusts the issuer {str(issuer)!r} of the job's token"
    assert not ci.issuer.asked


@each_system
def test_a_job_of_a_fork_is_refused(ci: Ci) -> None:
    ci.trust()

    assert ci.refused(ci.job(**OF_FORK[ci.system])) == (
        "The job's token is that of a pull request of a fork, whose code may be anybody's"
    )


def test_the_issuer_of_one_system_vouches_for_no_other(
    ci: Ci, issuers: Mapping[SigningSystem, Crooked]
) -> None:
    ci.trust()
    other = Ci(ci.server, GITLAB, issuers[GITLAB], ci.clock)
    ci.trust()

    assert "Nobody on this server trusts" in other.refused(other.job())


@with_ids
def test_a_repository_that_was_renamed_still_signs_in(ci: Ci) -> None:
    ci.trust()
    ci.key()

    ci.key(**{NAME_OF[ci.system]: "acme/renamed"})
    (trust,) = ci.trusts()
    assert trust["repository"].endswith("acme/renamed")
    assert trust["repositoryId"] == "74"
    assert trust["lastUsedAt"] is not None


@with_ids
def test_a_name_that_somebody_else_took_over_does_not(ci: Ci) -> None:
    ci.trust()
    ci.key()

    both = {"job_project_id": "75"} if ci.system is GITLAB else {}
    assert ci.refused(ci.job(**{ID_OF[ci.system]: "75"}, **both)).startswith(NO_TRUST)
    assert ci.refused(ci.job(**{OWNER_OF[ci.system]: "66"})).startswith(NO_TRUST)
    ci.key()


def test_the_project_of_circleci_is_not_followed_to_another_origin(
    ci: Ci, issuers: Mapping[SigningSystem, Crooked]
) -> None:
    circle = Ci(ci.server, CIRCLECI, issuers[CIRCLECI], ci.clock)
    circle.trust()
    circle.key()

    moved = circle.job(**{"oidc.circleci.com/vcs-origin": "github.com/mallory/firmware"})
    assert circle.refused(moved).startswith(NO_TRUST)


def test_an_id_that_was_given_holds_from_the_first_job_on(ci: Ci) -> None:
    ci.trust(repositoryId="74")

    assert ci.refused(ci.job(repository_id="75")).startswith(NO_TRUST)
    ci.key()
    (trust,) = ci.trusts()
    assert (trust["repositoryId"], trust["ownerId"]) == ("74", "65")


@each_system
def test_a_trust_in_a_branch_is_in_no_other_and_in_no_pull_request(ci: Ci) -> None:
    ci.trust(branch="main")

    ci.key()
    for bends in (OTHER_BRANCH, NO_BRANCH):
        assert ci.refused(ci.job(**bends[ci.system])).startswith(NO_TRUST)
    ci.trust(branch="to*ic")
    ci.key(**OTHER_BRANCH[ci.system])
    assert ci.refused(ci.job(**NO_BRANCH[ci.system])).startswith(NO_TRUST)


@pytest.mark.parametrize(
    ("pattern", "branch", "fits"),
    [
        ("release/*", "release/1.2", True),
        ("release/*", "release/", True),
        ("release/*", "release", False),
        ("*", "any/thing", True),
        ("ab*ba", "aba", False),
        ("ab*ba", "abba", True),
        ("main", "Main", False),
        ("m.in", "main", False),
    ],
)
def test_one_star_stands_for_any_characters(
    ci: Ci, pattern: str, branch: str, *, fits: bool
) -> None:
    ci.trust(branch=pattern)

    status = ci.exchange(ci.job(ref=f"refs/heads/{branch}")).status
    assert status == (200 if fits else 401)


@pytest.mark.parametrize("system", [GITHUB, GITLAB])
def test_a_trust_in_an_environment_is_in_no_other(ci: Ci) -> None:
    ci.trust(environment="bench-*")

    ci.key(environment="bench-1")
    for environment in ("production", None):
        assert ci.refused(ci.job(environment=environment)).startswith(NO_TRUST)


def test_whether_an_organization_is_there_is_not_told(ci: Ci, server: RunningServer) -> None:
    ci.trust(branch="main")
    made = server.operate(
        CreateUser(email=f"{uuid4()}@example.org", password="x" * 20 + "y", organization="Other")
    )

    job = {"ref": "refs/heads/topic"}
    messages = {
        ci.refused(ci.job(**job)),  # another branch
        ci.refused(ci.job(**job), made.org_id),  # no trust
        ci.refused(ci.job(**job), uuid4()),  # no organization
    }
    assert len(messages) == 1
    assert messages.pop() == (
        f"{NO_TRUST}acme/firmware (id 74), branch topic, signed by {ci.issuer.url}. An owner or"
        " admin compares it with `hwci trusts list`, or makes one with `hwci trusts create`"
    )


# Its key does no more than a CI key, and ends with its trust


def test_a_key_ends_at_once_when_its_trust_is_removed(ci: Ci) -> None:
    trust = ci.trust()
    key = ci.key()
    assert ci.report(key) == 204

    ci.remove(trust)
    assert ci.report(key) == 401


def test_while_ci_metrics_is_off_the_key_of_a_job_reports_nothing(
    ci: Ci, server: RunningServer
) -> None:
    ci.trust()
    key = ci.key()
    server.operate(SetCiMetrics(org_id=server.org_id, enabled=False))
    try:
        assert ci.report(key) == 403
    finally:
        server.operate(SetCiMetrics(org_id=server.org_id, enabled=True))


def test_a_used_token_is_known_for_as_long_as_it_could_come_again(
    ci: Ci, server: RunningServer
) -> None:
    ci.trust()
    ci.key()
    kept = "SELECT kept_until - created_at FROM job_key"

    least = limits.JOB_TOKEN_AGE.total_seconds() * 1_000_000
    assert all(micros >= least for (micros,) in query(server.location, kept))


# Asking an issuer for its keys


def test_keys_are_kept_for_an_hour_and_asked_for_once(ci: Ci) -> None:
    ci.trust()
    for _ in range(3):
        ci.key()
    assert ci.issuer.asked == {"/.well-known/openid-configuration": 1, "/keys": 1}


def test_a_new_key_of_an_issuer_is_found_and_a_wrong_one_asked_for_once_a_minute(ci: Ci) -> None:
    ci.trust()
    ci.key()
    key = rsa_key()
    token = jwt.encode(ci.claims(), key, "RS256", headers={"kid": "new"})
    assert "not signed" in ci.refused(token)
    assert ci.issuer.asked["/keys"] == 1

    ci.clock.move(minutes=1)
    for _ in range(5):
        assert "not signed" in ci.refused(token)
    assert ci.issuer.asked["/keys"] == 2
    ci.issuer.keys.append(public(key, kid="new"))
    ci.clock.move(minutes=1)
    assert ci.exchange(token).status == 200


def _redirect() -> web.Response:
    return web.Response(status=302, headers={"Location": "http://169.254.169.254/"})


def _of_another(url: str) -> web.Response:
    return web.json_response({"issuer": f"{url}/other", "jwks_uri": f"{url}/keys"})


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/keys", lambda _: _redirect()),
        ("/keys", lambda _: web.Response(status=500)),
        ("/keys", lambda _: web.Response(text="x" * (1024 * 1024 + 1))),
        ("/keys", lambda _: web.Response(text="[]")),
        ("/.well-known/openid-configuration", lambda _: _redirect()),
        ("/.well-known/openid-configuration", _of_another),
        ("/.well-known/openid-configuration", lambda _: web.Response(text="{}")),
    ],
)
def test_an_issuer_that_answers_oddly_is_away(ci: Ci, path: str, answer: Any) -> None:
    ci.trust()
    ci.issuer.answers[path] = lambda: answer(ci.issuer.url)

    status, message = ci.exchange(ci.job()).error
    assert status == 503
    assert message.startswith(f"The keys of {ci.issuer.url} cannot be had now")
    ci.issuer.straighten()
    assert ci.exchange(ci.job()).status == 200


def test_keys_at_another_host_are_not_asked_for(
    ci: Ci, issuers: Mapping[SigningSystem, Crooked]
) -> None:
    ci.trust()
    other = issuers[GITLAB]
    other.keys = ci.issuer.keys
    described = {"issuer": ci.issuer.url, "jwks_uri": f"{other.url}/keys"}
    ci.issuer.answers["/.well-known/openid-configuration"] = lambda: web.json_response(described)

    assert ci.exchange(ci.job()).status == 503
    assert not other.asked


# Making trusts


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"branch": "a*b*c"}, "branch"),
        ({"environment": "**"}, "environment"),
        ({"repository": "acme"}, "repository"),
        ({"repository": "https://github.com/acme/firmware"}, "repository"),
        ({"repository": "acme/group/firmware"}, "repository"),
        ({"issuer": "https://evil.example"}, "issuer"),
        ({"issuer": "http://169.254.169.254/"}, "issuer"),
        ({"issuer": "https://gitlab.com"}, "issuer"),
        ({"system": "jenkins"}, "system"),
        ({"system": "circleci"}, "issuer"),
        ({"system": "buildkite", "environment": "x"}, "environment"),
        ({"repository": ""}, "repository"),
        ({"secret": "x"}, "secret"),
    ],
)
def test_a_trust_that_breaks_the_rules_is_refused_at_its_field(
    ci: Ci, body: Json, field: str
) -> None:
    whole = {"system": "github", "repository": "acme/firmware", **body}

    assert ci._ask("POST", ci.path, whole).issue_paths == [["body", field]]


@pytest.mark.parametrize(
    ("system", "issuer"),
    [
        (GITHUB, "https://token.actions.githubusercontent.com/acme"),
        (GITHUB, "https://token.actions.acme.ghe.com"),
        (GITLAB, "https://gitlab.com"),
        (BUILDKITE, "https://agent.buildkite.com"),
        (CIRCLECI, f"https://oidc.circleci.com/org/{PROJECT}"),
    ],
)
def test_the_issuers_of_the_internet_are_known(ci: Ci, system: SigningSystem, issuer: str) -> None:
    made = ci.trust(system=system, issuer=issuer)

    assert made["issuer"] == issuer
    ci.remove(made)


def test_making_and_removing_a_trust_is_in_the_audit_log(ci: Ci, server: RunningServer) -> None:
    trust = ci.trust(branch="main")
    ci.remove(trust)

    path = f"/api/orgs/{ci.org_id}/audit-log?limit=2"
    removed, created = ask(server.url, "GET", path, bearer(ci.token)).json["items"]
    assert (removed["action"], removed["target"]) == ("trust.removed", trust["id"])
    assert (created["action"], created["details"]) == (
        "trust.created",
        {"name": "acme/firmware", "branch": "main"},
    )


def test_an_organization_has_so_many_trusts_at_most(ci: Ci) -> None:
    for _ in range(limits.TRUSTS_MAX):
        ci.trust()
    body = {"system": "github", "repository": "acme/one-more"}

    status, message = ci._ask("POST", ci.path, body).error
    assert (status, "may trust 100 repositories" in message) == (409, True)


def test_a_server_that_does_not_know_its_address_signs_no_job_in(
    issuers: Mapping[SigningSystem, Crooked],
    hands: Hands,
    server: RunningServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with running_in_thread(tmp_path_factory.mktemp("other"), clock=hands) as other:
        job = Ci(server, GITHUB, issuers[GITHUB], hands).job()
        body = {"orgId": str(other.org_id), "token": job}
        status, message = ask(other.url, "POST", "/api/ci/job-key", json_body=body).error

    assert (status, "HWCI_BASE_URL" in message) == (401, True)
