# SPDX-License-Identifier: Apache-2.0
"""Every call against the real server: what the one writes, the other reads."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from hwci.ci.reporting.report import part_run_id, run_reports
from hwci.ci.results.model import BoxResults
from hwci.client import AsyncClient, Client, calls, errors
from hwci.contract.vocabulary import FailureClass, Label, Outcome, Reason, Trigger, Verdict
from hwci.wire.accounts import TokenPair
from hwci.wire.reports import (
    Changes,
    CommitItem,
    MergeAnnouncement,
    RunReport,
    SuiteConfiguration,
    TestItem,
)
from tests.support.running import RunningServer, running_in_thread

NOW = datetime.now(UTC).replace(microsecond=0)  # noqa: TID251 - the page looks back from now
BAD, FIX = "bad0000", "f1c0000"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_in_thread(tmp_path_factory.mktemp("server")) as running:
        with Client(running.url, ci_key=running.ci_key) as client:
            send_history(client)
        yield running


@pytest.fixture
def user(server: RunningServer) -> Iterator[Client]:
    with Client(server.url, token=server.token) as client:
        yield client


def report(sha: str, base: str | None, minutes: int, outcome: Outcome, file: str) -> RunReport:
    started_at = NOW - timedelta(hours=5) + timedelta(minutes=minutes)
    item = TestItem(
        id="uart.loopback", outcome=outcome, attempts=1, duration_s=2.5, verdict=Verdict.DEVICE
    )
    head = {
        "repo_key": "acme/fw",
        "workflow": "hil",
        "run_id": 100 + minutes,
        "run_attempt": 1,
        "trigger": Trigger.MERGE,
        "branch": "main",
        "sha": sha,
        "conclusion": "done",
        "changes": Changes(
            base_sha=base, commits=[CommitItem(sha=sha, subject=f"Change {file}", files=[file])]
        ),
    }
    (made,) = run_reports(head, {"bench-1": BoxResults([item], 0, started_at, 2.5)})
    return made


def send_history(client: Client) -> None:
    client.send(
        calls.put_suite_config(
            SuiteConfiguration(
                repo_key="acme/fw",
                suite="hil",
                firmware_paths=["src/**"],
                harness_paths=["tests/**"],
                merge_trigger=True,
            )
        )
    )
    for sha, merged in ((BAD, 0), ("0dd0000", 1)):
        client.send(
            calls.announce_merge(
                MergeAnnouncement(
                    repo_key="acme/fw",
                    suite="hil",
                    sha=sha,
                    branch="main",
                    merged_at=NOW - timedelta(hours=6) + timedelta(minutes=merged),
                )
            )
        )
    client.send(calls.report_run(report("900d000", "0000000", 0, Outcome.PASS, "src/a.c")))
    client.send(calls.report_run(report(BAD, "900d000", 10, Outcome.FAIL, "src/uart.c")))
    client.send(calls.report_run(report(FIX, BAD, 20, Outcome.PASS, "src/uart.c")))


def test_the_metrics_page_is_read(server: RunningServer, user: Client) -> None:
    page = user.send(calls.metrics(server.org_id, days=7, repo_key="acme/fw", suite="hil"))

    assert (page.tiles.merges_checked.checked, page.tiles.merges_checked.announced) == (1, 2)
    assert page.tiles.real_fw_bugs.real == 1
    assert page.period.end - page.period.start == timedelta(days=7)
    assert [merge.sha for merge in page.unchecked_merges.items] == ["0dd0000"]
    (bug,) = page.real_bugs.items
    assert bug.fix is not None
    assert (bug.first_failure.sha, bug.fix.sha) == (BAD, FIX)
    assert bug.failure_class is FailureClass.REAL_FW_BUG


def test_each_table_is_read(server: RunningServer, user: Client) -> None:
    org = server.org_id

    assert user.send(calls.unchecked_merges(org, days=7)).total == 1
    assert user.send(calls.real_bugs(org, days=7)).total == 1
    assert user.send(calls.other_failures(org, days=7)).total == 0
    assert user.send(calls.flakiest_tests(org, days=7)).items[0].flake_rate > 0
    assert user.send(calls.list_failures(org, label=Label.RESOLVED)).total == 1
    assert user.send(calls.list_failures(org, label=Label.PENDING, as_of=NOW)).total == 0
    products = user.send(calls.list_products(org)).items
    assert [item.suite for item in products if item.repo_key == "acme/fw"] == ["hil"]
    assert user.send(calls.list_suite_configs(org)).items[0].firmware_paths == ("src/**",)


def test_a_failure_is_read_with_its_evidence_and_reviewed(
    server: RunningServer, user: Client
) -> None:
    (failure,) = user.items(calls.list_failures(server.org_id))

    evidence = user.send(calls.get_failure(server.org_id, failure.id))
    assert evidence.failure.label is Label.RESOLVED
    assert [commit.sha for commit in evidence.timeline] == ["900d000", BAD, FIX]

    dismissed = user.send(calls.dismiss_failure(server.org_id, failure.id))
    assert (dismissed.failure_class, dismissed.reason) == (
        FailureClass.DISMISSED,
        Reason.DISMISSED,
    )
    with pytest.raises(errors.ConflictError):
        user.send(calls.dismiss_failure(server.org_id, failure.id))
    assert user.send(calls.confirm_failure(server.org_id, failure.id)).review is not None
    assert user.send(calls.reset_failure(server.org_id, failure.id)).status == "Automatic"
    log = list(user.items(calls.audit_log(server.org_id, limit=1)))
    assert [entry.action for entry in log][:3] == ["reset", "confirm", "dismiss"]


def test_keys_are_created_listed_and_revoked(server: RunningServer, user: Client) -> None:
    created = user.send(calls.create_ci_key(server.org_id, "spare"))
    user.send(calls.revoke_ci_key(server.org_id, created.id))
    user.send(calls.revoke_ci_key(server.org_id, created.id))

    listed = {key.id: key for key in user.items(calls.list_ci_keys(server.org_id, limit=1))}
    assert created.api_key.startswith("svc_")
    assert listed[created.id].revoked_at is not None


def test_the_refusal_of_a_revoked_key_arrives_whatever_the_size_of_the_body(
    server: RunningServer,
) -> None:
    letters = random.Random(1)
    files = [letters.randbytes(800).hex() for _ in range(2_000)]
    commit = CommitItem(sha=BAD, subject="Add files", files=files)
    large = report(BAD, None, 0, Outcome.PASS, "src/uart.c").model_copy(
        update={"changes": Changes(base_sha=None, commits=[commit])}
    )

    with (
        Client(server.url, ci_key="svc_" + "0" * 64, retries=0) as client,
        pytest.raises(errors.UnauthorizedError) as caught,
    ):
        client.send(calls.report_run(large))

    assert caught.value.request_id is not None


def held(tokens: TokenPair) -> str:
    assert tokens.refresh_token is not None
    return tokens.refresh_token


def test_a_person_registers_looks_around_and_leaves(server: RunningServer) -> None:
    with Client(server.url) as client:
        email = f"{uuid4().hex}@example.org"
        first = client.send(calls.register(email, "correct horse battery", "New", "Own"))
        again = client.send(calls.login(email, "correct horse battery"))
    with Client(server.url, token=again.access_token) as client:
        assert client.send(calls.me()).user.id == first.user.id
        made = client.send(calls.create_org("Second"))
        assert {org.name for org in client.items(calls.list_orgs(limit=1))} == {"Own", "Second"}
        assert client.send(calls.get_org(made.id)).role == "owner"
        client.send(calls.logout(held(again)))
        with pytest.raises(errors.UnauthorizedError):
            client.send(calls.me())


def test_a_sign_in_is_renewed_and_each_refresh_token_is_taken_once(server: RunningServer) -> None:
    with Client(server.url) as client:
        first = client.send(calls.register(f"{uuid4().hex}@example.org", "correct horse battery"))
        renewed = client.send(calls.refresh(held(first)))
        with Client(server.url, token=renewed.access_token) as again:
            assert again.send(calls.me()).user == first.user
        for token in (held(first), held(renewed)):
            with pytest.raises(errors.UnauthorizedError, match="used before"):
                client.send(calls.refresh(token))


def test_a_large_report_arrives_in_parts_that_show_as_one_run(server: RunningServer) -> None:
    tests = [
        TestItem(id=f"t{index}", outcome=Outcome.PASS, attempts=1, duration_s=0)
        for index in range(2_500)
    ]
    head = {
        "repo_key": "acme/large",
        "workflow": "hil",
        "run_id": 5,
        "run_attempt": 1,
        "trigger": Trigger.NIGHTLY,
        "branch": "main",
        "sha": "abcdef0",
        "conclusion": "success",
    }
    reports = run_reports(head, {"bench-1": BoxResults(tests, 0, NOW, 60)})

    with Client(server.url, ci_key=server.ci_key) as client:
        for part in reports:
            client.send(calls.report_run(part))
    with Client(server.url, token=server.token) as client:
        page = client.send(calls.metrics(server.org_id, repo_key="acme/large"))

    assert [part.run_id for part in reports] == [5, part_run_id(5, 2), part_run_id(5, 3)]
    assert page.tiles.infra_runs.total == 1


async def test_the_asynchronous_client_reads_the_same(server: RunningServer) -> None:
    async with AsyncClient(server.url, token=server.token) as client:
        page = await client.send(calls.metrics(server.org_id))
        listed = [item async for item in client.items(calls.list_failures(server.org_id, limit=1))]

    with Client(server.url, token=server.token) as other:
        as_of = page.period.end
        assert other.send(calls.metrics(server.org_id, as_of=as_of)) == page
    assert len(listed) == 1


async def test_an_answer_that_is_the_same_is_not_sent_again(server: RunningServer) -> None:
    asked = calls.list_failures(server.org_id, limit=1)
    later = report("1a7e000", FIX, 30, Outcome.FAIL, "src/a.c")
    with Client(server.url, token=server.token, ci_key=server.ci_key) as user:
        async with AsyncClient(server.url, token=server.token) as other:
            page, others = user.send(asked), await other.send(asked)
            assert user.send(asked) is page
            assert await other.send(asked) is others
            assert others == page

            user.send(calls.report_run(later))
            for now in (user.send(asked), await other.send(asked)):
                assert now.total == page.total + 1


def test_a_stranger_finds_nothing(user: Client) -> None:
    with pytest.raises(errors.NotFoundError, match="Organization not found"):
        user.send(calls.metrics(UUID(int=7)))


def test_the_server_is_well(server: RunningServer) -> None:
    with Client(server.url) as client:
        assert client.send(calls.health()).status == "ok"
