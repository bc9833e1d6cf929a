# SPDX-License-Identifier: Apache-2.0
"""A client has each endpoint as a method of its resource, in one organization (ADR 0016)."""

import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from copy import copy
from datetime import UTC, datetime, timedelta
from functools import reduce
from pathlib import Path
from uuid import UUID

import pytest

from hwci.client import AsyncClient, Client, Label, Outcome, RunReport, Verdict, errors
from hwci.client._resources import Listing
from hwci.wire.endpoints import every
from tests.support.running import RunningServer, report, running_in_thread


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_in_thread(tmp_path_factory.mktemp("server")) as server:
        with Client(server.url, ci_key=server.ci_key) as ci:
            ci.runs.report(run(1, "0123abc", Outcome.FAIL, hours=3))
            ci.runs.report(run(2, "4567def", Outcome.PASS, hours=2))
        yield server


def run(run_id: int, sha: str, outcome: Outcome, hours: int) -> RunReport:
    ended_at = datetime.now(UTC) - timedelta(hours=hours)  # noqa: TID251 - reports of now
    times = {"started_at": ended_at - timedelta(minutes=10), "ended_at": ended_at}
    item = {"outcome": outcome, "attempts": 1, "duration_s": 1, "verdict": Verdict.DEVICE}
    tests = [{"id": test_id, **item} for test_id in ("uart", "spi")]
    return RunReport.model_validate(report(run_id=run_id, sha=sha, tests=tests) | times)


@pytest.fixture
def reader_key(server: RunningServer) -> str:
    with Client(server.url, token=server.token, org_id=server.org_id) as person:
        return person.reader_keys.create("embedder").api_key


def test_a_reader_key_and_an_address_are_enough(
    server: RunningServer, reader_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HWCI_URL", server.url)
    monkeypatch.setenv("HWCI_READER_KEY", reader_key)
    with Client() as client:
        failures = client.failures.list(label=Label.RESOLVED, limit=1)

        assert client.org_id == server.org_id
        assert copy(client.failures).list().total == failures.total
        assert len(failures.items) == 1 < failures.total
        assert len({failure.id for failure in failures}) == failures.total
        assert client.failures.get(failures.items[0].id).failure == failures.items[0]
        assert client.metrics.page(days=7).period.days == 7


async def test_an_asynchronous_client_has_the_same(server: RunningServer, reader_key: str) -> None:
    with Client(server.url, reader_key=reader_key) as client:
        expected = [run.id for run in client.runs.list()]
    async with AsyncClient(server.url, reader_key=reader_key) as client:
        assert [run.id async for run in await client.runs.list(limit=1)] == expected
        assert (await client.runs.get(expected[0])).id == expected[0]
        assert client.org_id == server.org_id
        client.org_id = "Nobody"
        with pytest.raises(errors.OrganizationError):
            await client.runs.list()
        client.org_id = str(server.org_id)
        async with await client.runs.follow() as following:
            assert following is not None


def test_events_are_followed_in_the_organization(server: RunningServer, reader_key: str) -> None:
    with Client(server.url, reader_key=reader_key) as client, client.runs.follow() as following:
        assert following is not None


def test_a_person_of_several_organizations_says_which(server: RunningServer) -> None:
    with Client(server.url, token=server.token) as person:
        assert person.orgs.get().id == person.org_id == server.org_id
    with Client(server.url, token=server.token) as person:
        other = person.orgs.create("Second")
        with pytest.raises(errors.OrganizationError, match=f"Second \\({other.id}\\)"):
            person.boxes.list()
        person.org_id = other.id
        assert person.boxes.list().total == 0
        person.org_id = "Acme Firmware"
        assert person.orgs.get().id == server.org_id == person.org_id
        person.org_id = "Nobody"
        with pytest.raises(errors.OrganizationError, match="Second"):
            person.boxes.list()
    with Client(server.url, token=server.token, org_id=server.org_id) as person:
        assert person.orgs.get().id == server.org_id


def test_a_key_of_the_environment_goes_to_the_address_of_the_environment_only(
    server: RunningServer, reader_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HWCI_URL", "https://elsewhere.example")
    monkeypatch.setenv("HWCI_READER_KEY", reader_key)
    with Client(server.url) as client, pytest.raises(errors.CredentialMissingError):
        client.reader_keys.own()


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda client: client.failures.get(), "failures.get takes failure_id: 0 given"),
        (lambda client: client.runs.list(bench="b"), "There is no argument 'bench'; did you mean"),
        (lambda client: client.orgs.create(nme="x"), "did you mean name"),
        (lambda client: client.runs.report(5), "The body should be a RunReport"),
    ],
)
def test_wrong_arguments_are_named_as_the_method_has_them(
    ask: Callable[[Client], object], words: str
) -> None:
    with pytest.raises(TypeError, match=words):
        ask(Client("http://localhost", org_id=str(UUID(int=1))))


def test_a_client_without_an_address_says_where_to_set_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HWCI_URL", raising=False)
    with pytest.raises(errors.ServerAddressError, match="HWCI_URL is not set"):
        Client()
    with pytest.raises(errors.ServerAddressError, match="HWCI_URL is not set"):
        AsyncClient()


def test_every_endpoint_that_programs_call_is_a_method_of_a_resource() -> None:
    client = Client("http://localhost", org_id=str(UUID(int=1)))
    for endpoint in every():
        resource, _, method = endpoint.name.partition(".")
        if endpoint.called:
            assert callable(getattr(getattr(client, resource), method))
            assert method in dir(getattr(client, resource))
    names = [endpoint.name for endpoint in every()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", ["failure", "_failures", "sso.login", "failures.lst"])
def test_what_is_no_endpoint_is_no_attribute(name: str) -> None:
    with pytest.raises(AttributeError):
        reduce(getattr, name.split("."), Client("http://localhost", org_id=str(UUID(int=1))))


def test_a_list_is_read_page_after_page_in_a_loop_only(server: RunningServer) -> None:
    with Client(server.url, token=server.token, org_id=server.org_id) as client:
        runs = client.runs.list(limit=1)

        assert isinstance(runs, Listing)
        assert runs.page.page == 1
        assert len(list(runs)) == runs.total > 1
        assert list(runs) == list(runs)


def test_the_log_has_each_try_and_no_secret(
    server: RunningServer, reader_key: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "hwci.client")
    with Client(server.url, reader_key=reader_key, org_id=server.org_id) as client:
        client.runs.list(limit=1)
    with (
        Client("http://127.0.0.1:9", reader_key=reader_key, retries=0) as client,
        pytest.raises(errors.ConnectionFailedError),
    ):
        client.reader_keys.own()

    answered, unanswered = [record.getMessage() for record in caplog.records][-2:]
    assert answered.startswith(f"GET /api/orgs/{server.org_id}/runs?limit=1 answered 200, request ")
    assert unanswered.startswith("GET /api/reader-key got no answer: ")
    assert reader_key not in caplog.text


def test_a_step_of_ci_does_not_load_what_it_does_not_call(tmp_path: Path) -> None:
    code = (
        "import sys; from hwci.client import Client, calls; Client('http://localhost');"
        "calls.report_run; print(*(m for m in sys.modules if m.startswith('hwci.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )

    loaded = done.stdout.split()
    assert "hwci.wire.endpoints.ci" in loaded
    assert not [
        it for it in loaded if it.startswith(("hwci.wire.analysis", "hwci.analysis.benches"))
    ]
    assert not {"hwci.wire.accounts", "hwci.wire.queries", "hwci.wire.metrics"} & {*loaded}
