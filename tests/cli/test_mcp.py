# SPDX-License-Identifier: Apache-2.0
"""`hwci mcp` as an agent uses it: twenty questions about the demonstration, each answered in four
calls at most, by the official client over a real process with a reader key. What an agent is told
is what the commands print.
"""

import asyncio
import json
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from hwci.cli.agents.shortened import NONE, ROWS, UNKNOWN
from tests.support.commands import environment, hwci
from tests.support.moved import INSTANT, moved_command, until_the_instant

pytestmark = pytest.mark.demo
CALLS = 4
"""A question takes so many calls at most."""
NOBODY = "0123456789abcdef"
Fields = dict[str, Any]


class Demonstration(NamedTuple):
    """The running demonstration, and a folder whose commands read it with a reader key."""

    folder: Path
    variables: dict[str, str]

    def printed(self, *command: str) -> Any:
        """Return what a command prints as JSON."""
        done = hwci(self.folder, *command, "--json", **self.variables)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demonstration]:
    folder = tmp_path_factory.mktemp("agent")
    with subprocess.Popen(
        moved_command(until_the_instant(), "demo", "--port", "0", "--dir", "kept"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment(folder),
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        assert process.stderr.readline() == "Serving until Ctrl-C.\n"
        try:
            message = ""
            while "HWCI_CI_KEY" not in message:
                message += process.stdout.readline()
            [(login, url)] = re.findall(
                r"^ +(echo .* --url (\S+) .*--password-stdin)$", message, re.MULTILINE
            )
            password = login.split()[1]
            done = hwci(
                folder,
                *("login", "--url", url, "--email", "demo@example.org", "--password-stdin"),
                stdin=f"{password}\n",
            )
            assert done.returncode == 0, done.stderr
            yield Demonstration(folder, {"HWCI_URL": url, "HWCI_READER_KEY": _key(folder)})
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate()


def _key(folder: Path, *products: str) -> str:
    """Return a new reader key, bound to products if some are named."""
    bound = [flag for product in products for flag in ("--product", product)]
    printed = hwci(folder, "keys", "create", "--reader", "agent", *bound).stdout
    [reader_key] = set(re.findall(r"rdr_\w+", printed))
    return str(reader_key)


class Agent:
    """An agent with the tools: it counts its calls."""

    def __init__(self, session: ClientSession) -> None:
        self.session, self.calls = session, 0

    async def ask(self, tool: str, **arguments: object) -> Fields:
        """Return the answer of a tool."""
        self.calls += 1
        result = await self.session.call_tool(tool, arguments)
        text = getattr(result.content[0], "text", "")
        assert not result.is_error, text
        answer: Fields = json.loads(text)
        return answer

    async def fails(self, tool: str, **arguments: object) -> str:
        """Return the error of a tool."""
        self.calls += 1
        result = await self.session.call_tool(tool, arguments)
        assert result.is_error
        return str(getattr(result.content[0], "text", ""))


def with_agent(demonstration: Demonstration, talk: Callable[[Agent], Awaitable[None]]) -> None:
    """Let an agent talk to a process of `hwci mcp`."""
    folder, variables = demonstration
    process = StdioServerParameters(
        command=sys.executable,
        args=["-m", "hwci", "mcp"],
        env=environment(folder) | variables,
        cwd=folder,
    )

    async def session() -> None:
        async with stdio_client(process) as streams, ClientSession(*streams) as opened:
            await opened.initialize()
            await talk(Agent(opened))

    asyncio.run(session())


async def _a_failing_commit(agent: Agent) -> Fields:
    failing = await agent.ask("failing_now")
    return await agent.ask("commit", commit=failing["rows"][0]["first_failing_commit"])


async def did_the_commit_run(agent: Agent, printed: Callable[..., Any]) -> None:
    answer = await _a_failing_commit(agent)
    page = printed("commits", "show", answer["commit"])
    assert answer["ran_on_hardware"] is page["checked"] is True
    assert answer["runs"]["total"] == len(page["runs"])


async def whose_fault_is_it(agent: Agent, printed: Callable[..., Any]) -> None:
    answer = await _a_failing_commit(agent)
    page = printed("commits", "show", answer["commit"])
    assert [row["whose"] for row in answer["failures"]["rows"]] == [
        row["whose"] for row in page["failures"][:ROWS]
    ]
    assert all(row["says"] and row["evidence"] for row in answer["failures"]["rows"])


async def did_a_commit_nobody_reported_run(agent: Agent, _: Callable[..., Any]) -> None:
    answer = await agent.ask("commit", commit=NOBODY)
    assert answer["ran_on_hardware"] == UNKNOWN
    assert answer["merges"]["total"] == 0
    assert answer.keys() == {"commit", "ran_on_hardware", "why", "merges"}


async def did_a_merge_without_a_run_run(agent: Agent, _: Callable[..., Any]) -> None:
    listed = await agent.ask("merges_not_checked")
    never = next(row for row in listed["rows"] if row["why_not"] == "No run on it was reported")
    answer = await agent.ask("commit", commit=never["commit"])
    assert answer["ran_on_hardware"] is False
    assert answer["merges"]["rows"][0]["why_not"] == never["why_not"]


async def which_merges_never_ran(agent: Agent, printed: Callable[..., Any]) -> None:
    answer = await agent.ask("merges_not_checked")
    listed = printed("merges", "unchecked")
    assert answer["total"] == listed["total"] > 0
    assert [row["commit"] for row in answer["rows"]] == [
        row["sha"] for row in listed["items"][:ROWS]
    ]
    of_each = {row["product"] for row in answer["rows"]}
    assert any(":" not in product for product in of_each)  # announced without a suite
    for product in of_each:
        same = await agent.ask("merges_not_checked", product=product)
        assert product in {row["product"] for row in same["rows"]}


async def what_would_check_them(agent: Agent, printed: Callable[..., Any]) -> None:
    answer = await agent.ask("runs_that_would_check")
    plan = printed("merges", "plan")
    assert answer["unchecked_merges"] == plan["uncheckedMerges"]
    assert answer["runs"]["rows"][0]["command"] == plan["runs"]["items"][0]["command"]
    answer = await agent.ask("runs_that_would_check", branch="no-such-branch")
    assert answer["unchecked_merges"] == UNKNOWN


async def how_many_merges_were_checked(agent: Agent, printed: Callable[..., Any]) -> None:
    answer = await agent.ask("figures", days=90)
    tiles = printed("metrics", "--days", "90")["tiles"]
    assert answer["merges_announced"] == tiles["mergesChecked"]["announced"] > 0
    assert answer["merges_checked_on_hardware"] == tiles["mergesChecked"]["checked"]
    assert answer["real_firmware_bugs"] == tiles["realFwBugs"]["real"]


async def which_runs_never_reached_a_board(agent: Agent, printed: Callable[..., Any]) -> None:
    answer = await agent.ask("figures")
    assert (
        answer["runs_that_never_reached_hardware"]
        == (printed("metrics")["tiles"]["infraRuns"]["infra"])
    )


async def what_fails_now(agent: Agent, printed: Callable[..., Any]) -> None:
    answer = await agent.ask("failing_now")
    listed = printed("incidents", "list", "--label", "pending")
    assert answer["total"] == listed["total"] > 0
    assert [row["failure_id"] for row in answer["rows"]] == [row["id"] for row in listed["items"]]


async def what_fails_on_another_branch(agent: Agent, _: Callable[..., Any]) -> None:
    for tool in ("failing_now", "merges_not_checked", "runs"):
        answer = await agent.ask(tool, branch="no-such-branch")
        assert (answer["total"], answer["rows"]) == (UNKNOWN, [])
        assert "hwci " not in answer["why"]
    answer = await agent.ask("runs", commit=NOBODY)
    assert (answer["total"], NOBODY in answer["why"]) == (UNKNOWN, True)


async def since_when_does_it_fail(agent: Agent, printed: Callable[..., Any]) -> None:
    failing = await agent.ask("failing_now")
    test, product = failing["rows"][0]["tests"]["rows"][0], failing["rows"][0]["product"]
    answer = await agent.ask("test", test=test, product=product)
    page = printed("tests", "show", test, "--product", product)
    assert (answer["answer"], answer["evidence"]) == (page["answer"], page["says"])


async def is_the_flakiest_test_flaky(agent: Agent, printed: Callable[..., Any]) -> None:
    listed = await agent.ask("flaky_tests")
    flaky = listed["rows"][0]
    answer = await agent.ask("test", test=flaky["test"], product=flaky["product"])
    page = printed("tests", "show", flaky["test"], "--product", flaky["product"])
    assert answer["claim"] == page["statement"]["claim"]
    assert answer["first_attempts_failed"]["of"] == page["all"]["first"]["total"]


async def which_tests_are_flaky(agent: Agent, printed: Callable[..., Any]) -> None:
    first, second = [await agent.ask("flaky_tests", page=page) for page in (1, 2)]
    assert first["total"] == second["total"] > ROWS
    named = {row["test"] for row in (*first["rows"], *second["rows"])}
    assert len(named) == min(first["total"], 2 * ROWS)
    assert first["total"] == printed("metrics")["flakiestTests"]["total"]


async def which_test_is_meant(agent: Agent, printed: Callable[..., Any]) -> None:
    answer = await agent.ask("tests", search="lora")
    assert {row["test"] for row in answer["rows"]} <= {
        row["testId"] for row in printed("tests", "list", "--search", "lora")
    }
    assert answer["rows"]


async def is_an_unknown_test_flaky(agent: Agent, _: Callable[..., Any]) -> None:
    message = await agent.fails("test", test="radio.no_such_test")
    assert "no report names the test 'radio.no_such_test'" in message
    assert "fix: " in message


async def which_bench_is_worse(agent: Agent, printed: Callable[..., Any]) -> None:
    answer = await agent.ask("boxes")
    health = printed("boxes", "health")
    assert [row["answer"] for row in answer["rows"]] == [row["answer"] for row in health["boxes"]]


async def is_this_bench_well(agent: Agent, printed: Callable[..., Any]) -> None:
    boxes = await agent.ask("boxes")
    answer = await agent.ask("box", box=boxes["rows"][0]["box"])
    page = printed("boxes", "show", boxes["rows"][0]["box"])
    assert answer["evidence"] == page["box"]["evidence"]
    assert answer["tests_that_it_explains"]["total"] == len(page["tests"])


async def is_an_unknown_bench_well(agent: Agent, _: Callable[..., Any]) -> None:
    message = await agent.fails("box", box="bench-no-such")
    assert "bench-no-such" in message


async def which_bugs_were_real(agent: Agent, printed: Callable[..., Any]) -> None:
    answer = await agent.ask("firmware_bugs")
    listed = printed("metrics")["realBugs"]
    assert answer["total"] == listed["total"] > 0
    assert [row["fixed_by"] for row in answer["rows"]] == [
        row["fix"]["sha"] if row["fix"] else NONE for row in listed["items"][:ROWS]
    ]


async def why_was_it_no_bug(agent: Agent, printed: Callable[..., Any]) -> None:
    listed = await agent.ask("other_failures")
    answer = await agent.ask("failure", failure_id=listed["rows"][0]["failure_id"])
    evidence = printed("failures", "show", listed["rows"][0]["failure_id"])
    assert answer["why"] == evidence["resolved"]["reasonText"]
    assert [check["decided"] for check in answer["checks"]["rows"]] == [
        check["decided"] for check in evidence["checks"]
    ]
    assert answer["what_would_change_it"]["total"] > 0


QUESTIONS = [
    did_the_commit_run,
    whose_fault_is_it,
    did_a_commit_nobody_reported_run,
    did_a_merge_without_a_run_run,
    which_merges_never_ran,
    what_would_check_them,
    how_many_merges_were_checked,
    which_runs_never_reached_a_board,
    what_fails_now,
    what_fails_on_another_branch,
    since_when_does_it_fail,
    is_the_flakiest_test_flaky,
    which_tests_are_flaky,
    which_test_is_meant,
    is_an_unknown_test_flaky,
    which_bench_is_worse,
    is_this_bench_well,
    is_an_unknown_bench_well,
    which_bugs_were_real,
    why_was_it_no_bug,
]


def test_twenty_questions_take_four_calls_each_at_most_and_invent_nothing(
    demonstration: Demonstration,
) -> None:
    async def talk(agent: Agent) -> None:
        for question in QUESTIONS:
            agent.calls = 0
            await question(agent, demonstration.printed)
            assert agent.calls <= CALLS, question.__name__

    assert len(QUESTIONS) == 20
    with_agent(demonstration, talk)


def test_a_key_of_one_product_means_that_and_one_of_two_says_which_it_reads(
    demonstration: Demonstration,
) -> None:
    products = [f"{row['repoKey']}:{row['suite']}" for row in demonstration.printed("products")]

    def bound_to(*names: str) -> Demonstration:
        key = _key(demonstration.folder, *names)
        return demonstration._replace(variables=demonstration.variables | {"HWCI_READER_KEY": key})

    async def of_one(agent: Agent) -> None:
        for tool in ("figures", "failing_now", "boxes", "runs", "flaky_tests", "products"):
            await agent.ask(tool)
        failing = await agent.ask("runs")
        assert {row["product"] for row in failing["rows"]} == {products[0]}
        answer = await agent.ask("commit", commit=failing["rows"][0]["commit"])
        assert answer["ran_on_hardware"] in {True, False}
        assert (await agent.ask("commit", commit=NOBODY))["ran_on_hardware"] == UNKNOWN
        message = await agent.fails("figures", product=products[1])
        assert products[0] in message

    async def of_two(agent: Agent) -> None:
        message = await agent.fails("figures")
        assert "`product`" in message
        assert all(name in message for name in products)
        assert "--" not in message
        assert (await agent.ask("figures", product=products[1]))["runs"] > 0

    with_agent(bound_to(products[0]), of_one)
    with_agent(bound_to(*products), of_two)


def test_a_failure_names_the_rule_by_which_it_is_known(demonstration: Demonstration) -> None:
    folder, end = demonstration.folder, INSTANT + timedelta(days=30)
    listed = demonstration.printed("failures", "list", "--limit", "1")
    [failure] = listed["items"]

    async def ask(agent: Agent) -> None:
        answer = await agent.ask("failure", failure_id=failure["id"])
        answers.append(answer["known_by"])

    answers: list[str] = []
    with_agent(demonstration, ask)
    done = hwci(
        folder,
        *("known", "add", "FW-123", "--test", failure["testId"]),
        *("--until", f"{end:%Y-%m-%d}"),
    )
    assert done.returncode == 0, done.stderr
    with_agent(demonstration, ask)

    assert answers[0] == NONE
    assert "FW-123" in answers[1]


def test_all_tools_say_that_they_only_read_and_what_they_are_for(
    demonstration: Demonstration,
) -> None:
    async def talk(agent: Agent) -> None:
        tools = (await agent.session.list_tools()).tools
        assert 12 <= len(tools) <= 16
        for tool in tools:
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint is True
            assert tool.description
            assert all(
                "description" in field for field in tool.input_schema["properties"].values()
            ), tool

    with_agent(demonstration, talk)


def test_a_key_that_is_wrong_is_one_clear_error(demonstration: Demonstration) -> None:
    wrong = demonstration.variables | {"HWCI_READER_KEY": "rdr_" + "0" * 64}
    done = hwci(demonstration.folder, "mcp", **wrong)

    assert done.returncode != 0
    assert "Check HWCI_READER_KEY" in done.stderr
    assert done.stdout == ""
