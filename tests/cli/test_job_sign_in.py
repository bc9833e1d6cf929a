# SPDX-License-Identifier: Apache-2.0
"""A job without HWCI_CI_KEY reports with the identity of its CI system, if HWCI_ORG names the
organization; trusts are made, listed and removed.
"""

import json
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from hwci.client import Client, calls
from hwci.client.delivery.job_key import JobKey
from hwci.contract.ci_systems import SigningSystem
from hwci.wire.reports import RunReport
from tests.cli.conftest import Answer, Command
from tests.cli.kept import ANNOUNCED, body, listed
from tests.server.crooked import Crooked, crooked_provider
from tests.server.job_tokens import BUILDKITE, CIRCLECI, GITHUB, GITLAB, NAMES, Runner, minted
from tests.support.answering import Answer as Answered
from tests.support.answering import answering
from tests.support.running import RunningServer, running_in_thread

MARKS = {
    GITHUB: "GITHUB_ACTIONS",
    GITLAB: "GITLAB_CI",
    BUILDKITE: "BUILDKITE",
    CIRCLECI: "CIRCLECI",
}
"""The variable by which a job of each is known."""
PROGRAM = '#!/bin/sh\necho "$0 $@" >> {asked}\ncat {token}\n'


@pytest.fixture(scope="module")
def issuers() -> Iterator[Mapping[SigningSystem, Crooked]]:
    with ExitStack() as stack:
        yield {system: stack.enter_context(crooked_provider()) for system in SigningSystem}


@pytest.fixture(scope="module")
def server(
    issuers: Mapping[SigningSystem, Crooked], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    own = tuple((system, issuer.url) for system, issuer in issuers.items())
    with running_in_thread(tmp_path_factory.mktemp("server"), ci_issuers=own) as running:
        yield running


@pytest.fixture
def trusted(server: RunningServer, issuers: Mapping[SigningSystem, Crooked]) -> Iterator[None]:
    """Trusts in the repository at each system, for as long as a test takes."""
    with Client(server.url, token=server.token) as owner:
        made = [
            owner.send(calls.create_trust(server.org_id, system, NAMES[system], issuer=issuer.url))
            for system, issuer in issuers.items()
        ]
        yield
        for trust in made:
            owner.send(calls.remove_trust(server.org_id, trust.id))


@pytest.fixture
def runner(server: RunningServer, issuers: Mapping[SigningSystem, Crooked]) -> Iterator[Runner]:
    found = Runner(server, issuers[GITHUB])
    yield found
    found.close()


def job(server: RunningServer, system: SigningSystem, **env: str) -> dict[str, Any]:
    """Return the variables of a job that names server and organization, and has no key."""
    named = {"HWCI_URL": server.url, "HWCI_ORG": str(server.org_id), "HWCI_CI_KEY": None}
    return {**named, MARKS[system]: "true", **env}


def reported(cli: Command, number: int, **env: Any) -> Answer:
    return cli("report-run", "--body", "-", "--strict", stdin=body(number), **env)


@pytest.mark.usefixtures("trusted")
def test_a_job_of_github_asks_for_its_token_when_it_reports(
    cli: Command, server: RunningServer, runner: Runner
) -> None:
    env = job(server, GITHUB, **runner.variables)

    assert reported(cli, 1, **env).code == 0
    assert cli("merge-announce", "--body", "-", "--strict", stdin=ANNOUNCED, **env).code == 0
    assert runner.asked == [(server.url, "bearer of the runner")] * 2
    assert listed(cli) == []


@pytest.mark.usefixtures("trusted")
def test_a_job_of_gitlab_has_its_token_in_a_variable_and_once(
    cli: Command, server: RunningServer, issuers: Mapping[SigningSystem, Crooked]
) -> None:
    env = job(server, GITLAB, HWCI_ID_TOKEN=minted(server, GITLAB, issuers[GITLAB]))

    assert reported(cli, 2, **env).code == 0
    again = reported(cli, 3, **env)
    assert again.code != 0
    assert "The job's token was used before" in again.err
    assert "fix: Compare the job with `hwci trusts list`, or give it a key" in again.err
    assert [state for state, _, _ in listed(cli)] == ["waiting"]
    env["HWCI_ID_TOKEN"] = minted(server, GITLAB, issuers[GITLAB])
    assert cli("spool", "flush", **env).code == 0
    assert listed(cli) == []


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    ("system", "program", "variable", "words"),
    [
        (
            BUILDKITE,
            "buildkite-agent",
            "BUILDKITE_AGENT_ACCESS_TOKEN",
            "oidc request-token --audience {url} --claim organization_id --claim pipeline_id",
        ),
        (CIRCLECI, "circleci", "CIRCLE_OIDC_TOKEN_V2", 'run oidc get --claims {{"aud": "{url}"}}'),
    ],
)
def test_a_job_asks_the_program_of_its_system(
    cli: Command,
    *,
    server: RunningServer,
    issuers: Mapping[SigningSystem, Crooked],
    tmp_path: Path,
    system: SigningSystem,
    program: str,
    variable: str,
    words: str,
) -> None:
    token, asked, file = tmp_path / "token", tmp_path / "asked", tmp_path / program
    token.write_text(minted(server, system, issuers[system]) + "\n")
    file.write_text(PROGRAM.format(asked=asked, token=token))
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}

    env = job(server, system, **{variable: "of the job"}, **path)
    assert reported(cli, 4, **env).code == 0
    assert asked.read_text().split(" ", 1)[1].strip() == words.format(url=server.url)
    file.write_text("#!/bin/sh\nexit 3\n")
    failed = reported(cli, 5, **env)
    assert failed.code != 0
    assert f"cause: {program} " in failed.err
    assert "gives none: exit code 3" in failed.err


@pytest.mark.usefixtures("trusted")
def test_a_key_of_the_environment_goes_before_an_identity(
    cli: Command, server: RunningServer, runner: Runner
) -> None:
    env = job(server, GITHUB, **runner.variables) | {"HWCI_CI_KEY": server.ci_key}

    assert reported(cli, 6, **env).code == 0
    assert runner.asked == []


@pytest.mark.usefixtures("trusted")
def test_an_identity_goes_to_no_server_or_organization_that_nobody_named(
    cli: Command, server: RunningServer, runner: Runner
) -> None:
    env = job(server, GITHUB, **runner.variables)

    for unset in ("HWCI_URL", "HWCI_ORG"):
        done = reported(cli, 7, **env | {unset: None})
        assert done.code != 0
        assert "cause: HWCI_CI_KEY is not set, or empty" in done.err
    assert runner.asked == []


def test_an_organization_is_named_by_its_id(
    cli: Command, server: RunningServer, runner: Runner
) -> None:
    env = job(server, GITHUB, **runner.variables) | {"HWCI_ORG": "Acme Firmware"}

    done = reported(cli, 8, **env)
    assert "HWCI_ORG is 'Acme Firmware', and a job names its organization by the id" in done.err
    assert runner.asked == []


def test_a_job_that_may_not_ask_for_a_token_is_told_what_lets_it(
    cli: Command, server: RunningServer
) -> None:
    done = reported(cli, 9, **job(server, GITHUB))

    assert "cause: HWCI_CI_KEY is not set, or empty" in done.err
    assert "fix: To sign the job in: give the job `permissions: id-token: write`" in done.err
    checked = cli("doctor", **job(server, GITHUB)).out
    assert "To sign the job in: give the job `permissions: id-token: write`" in checked


def test_a_job_that_nobody_trusts_keeps_its_report_for_one_that_is(
    cli: Command, server: RunningServer, runner: Runner, issuers: Mapping[SigningSystem, Crooked]
) -> None:
    env = job(server, GITHUB, **runner.variables)
    refused = reported(cli, 10, **env)
    assert refused.code != 0
    assert "Nobody on this server trusts the issuer" in refused.err
    assert [state for state, _, _ in listed(cli)] == ["waiting"]

    with Client(server.url, token=server.token) as owner:
        made = owner.send(
            calls.create_trust(server.org_id, GITHUB, NAMES[GITHUB], issuer=issuers[GITHUB].url)
        )
        assert reported(cli, 11, **env).code == 0
        owner.send(calls.remove_trust(server.org_id, made.id))
    assert listed(cli) == []


@pytest.mark.usefixtures("trusted")
def test_configurations_are_sent_and_doctor_looks_by_an_identity(
    cli: Command, server: RunningServer, runner: Runner, tmp_path: Path
) -> None:
    env = job(server, GITHUB, **runner.variables)
    config = {"repo_key": "r", "suite": "s", "firmware_paths": ["a/**"], "harness_paths": []}
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**config, "merge_trigger": True}))

    assert cli("suite-config", "apply", str(file), **env).code == 0
    assert "the job signs in without one" in cli("doctor", **env).out


@pytest.mark.usefixtures("trusted")
def test_a_key_is_used_until_it_is_about_to_expire(
    server: RunningServer,
    issuers: Mapping[SigningSystem, Crooked],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, asked = [0.0], []

    def token() -> str:
        asked.append(now[0])
        return minted(server, GITHUB, issuers[GITHUB])

    monkeypatch.setattr("hwci.client.delivery.job_key.time.monotonic", lambda: 1000.0 + now[0])
    key = JobKey(server.url, server.org_id, token)
    first = key()
    now[0] = 14 * 60 - 1
    assert key() == first
    now[0] = 14 * 60
    assert key() != first
    assert len(asked) == 2
    with Client(server.url, ci_key=key) as client:
        client.send(calls.report_run(RunReport.model_validate_json(body(12))))
    assert "svc_" not in repr(key)


def test_a_server_that_signs_no_jobs_in_refuses_no_report(
    cli: Command, server: RunningServer, runner: Runner
) -> None:
    refusal = {"statusCode": 404, "error": "Not Found", "message": "There is nothing"}
    with answering(Answered(404, json.dumps(refusal).encode())) as older:
        env = job(server, GITHUB, **runner.variables) | {"HWCI_URL": older.url}
        assert reported(cli, 13, **env).code != 0

    assert [state for state, _, _ in listed(cli)] == ["waiting"]


def test_trusts_are_made_listed_and_removed(signed_in: Command) -> None:
    made = signed_in("trusts", "create", "github", "acme/one", "--branch", "main", "--json")
    trust = json.loads(made.out)
    assert (trust["system"], trust["branch"], trust["issuer"]) == (
        "github",
        "main",
        "https://token.actions.githubusercontent.com",
    )
    assert "HWCI_ORG=" in made.err

    shown = signed_in("trusts", "list").out
    assert "acme/one" in shown
    assert "of the first job" in shown
    assert signed_in("trusts", "remove", trust["id"][:8]).code == 0
    assert trust["id"] not in signed_in("trusts", "list", "--json").out
    missing = signed_in("trusts", "remove", trust["id"][:8])
    assert (missing.code, "names no trust of the organization" in missing.err) == (1, True)


def test_what_the_server_refuses_of_a_trust_is_named(signed_in: Command) -> None:
    done = signed_in("trusts", "create", "circleci", "github.com/acme/one")

    assert done.code != 0
    assert "name that of yours" in done.err
