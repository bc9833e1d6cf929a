# SPDX-License-Identifier: Apache-2.0
"""Send many reports at once, several of each run, and compare what the API then shows with what was
sent: one run each, with one whole report each. Any server may be killed meanwhile.

HWCI_URL may name several addresses with blanks between them; the senders take them in turn.
"""

import argparse
import asyncio
import os
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from uuid import UUID

from hwci.client import (
    AsyncClient,
    Call,
    HwciError,
    Outcome,
    RunDetail,
    RunReport,
    TestItem,
    Trigger,
    calls,
)
from hwci.client.errors import ApiError, ConnectionFailedError

NEEDED = ("HWCI_URL", "HWCI_EMAIL", "HWCI_PASSWORD")
PAUSE_SECONDS = 0.5
MEANT_TO_PASS = (429, 503)
"""Refusals that say when to try again."""


@dataclass
class Tally:
    """What the senders saw: how often each outcome, and the seconds of each report until its 204,
    of the last try and of all of them.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    last_tries: list[float] = field(default_factory=list)
    in_all: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Load:
    """What is sent: of each of `runs` runs a report of each sender, which has its own tests."""

    repo_key: str
    started_at: datetime
    senders: int
    runs: int
    tests: int

    def report(self, sender: int, run: int) -> RunReport:
        return RunReport(
            repo_key=self.repo_key,
            workflow="load",
            suite="load",
            run_id=run,
            run_attempt=1,
            trigger=Trigger.NIGHTLY,
            branch="main",
            sha=f"{run:040x}",
            started_at=self.started_at + timedelta(seconds=run),
            ended_at=self.started_at + timedelta(seconds=run + 1),
            conclusion=_name(sender),
            hello_ok=True,
            box_key=f"box-{run % 4}",
            tests=[_test(name, number) for number, name in enumerate(self.names(sender))],
        )

    def names(self, sender: int) -> list[str]:
        """Return the names of the tests of a sender. No two senders have equally many."""
        return [f"{_name(sender)}.test-{number}" for number in range(self.tests + sender)]

    def whole(self, found: RunDetail) -> bool:
        """Return whether a run is what one of the senders sent."""
        names = [item.id for item in found.items]
        return any(
            found.conclusion == _name(sender) and names == self.names(sender)
            for sender in range(self.senders)
        )


def _name(sender: int) -> str:
    return f"sender-{sender:03}"


def _test(name: str, number: int) -> TestItem:
    outcome = Outcome.FAIL if number == 0 else Outcome.PASS
    return TestItem(id=name, outcome=outcome, attempts=1, duration_s=0.1)


async def deliver(client: AsyncClient, call: Call[None], tally: Tally) -> None:
    """Send until it is taken, with the client's own rule: after the pause that a refusal asks for,
    or a short one that grows where there was no answer. Raises what no patience helps against.
    """
    begun = time.monotonic()
    for tried in count():
        tried_at = time.monotonic()
        try:
            await client.send(call)
        except ConnectionFailedError:
            tally.outcomes["no answer"] += 1
            await asyncio.sleep(_pause(tried))
        except ApiError as fault:
            asked = fault.retry_after
            tally.outcomes[f"{fault.status_code}{'' if asked else ' without Retry-After'}"] += 1
            if fault.status_code not in MEANT_TO_PASS:
                raise
            await asyncio.sleep((asked or 0) + _pause(tried))
        else:
            tally.outcomes["204"] += 1
            tally.last_tries.append(time.monotonic() - tried_at)
            tally.in_all.append(time.monotonic() - begun)
            return


def _pause(tried: int) -> float:
    return random.uniform(0, PAUSE_SECONDS * 2.0 ** min(tried, 4))


async def send_all(url: str, key: str, load: Load, sender: int, tally: Tally) -> None:
    """Send the reports of one sender, in an order of its own."""
    runs = list(range(load.runs))
    random.shuffle(runs)
    async with AsyncClient(url, ci_key=key, retries=0) as client:
        for run in runs:
            await deliver(client, calls.report_run(load.report(sender, run)), tally)


async def compared(client: AsyncClient, org_id: UUID, load: Load) -> list[str]:
    """Return what the API shows otherwise than it was sent."""
    wanted = calls.list_runs(org_id, repo_key=load.repo_key, limit=100)
    listed = [run async for run in client.items(wanted)]
    times = Counter(run.run_id for run in listed)
    faults = [
        f"run {run} is there {times[run]} times" for run in range(load.runs) if times[run] != 1
    ]
    details = [await client.send(calls.get_run(org_id, run.id)) for run in listed]
    mixed = [run.run_id for run in details if not load.whole(run)]
    return faults + [f"run {run} is not what one sender sent" for run in mixed]


def seconds(name: str, taken: list[float]) -> str:
    ordered = sorted(taken)
    shown = (ordered[int((len(ordered) - 1) * part)] for part in (0.5, 0.95, 1))
    return "{}: half within {:.3f} s, 95 % within {:.3f} s, all within {:.3f} s".format(
        name, *shown
    )


async def signed_in(url: str) -> AsyncClient:
    """Return a client for an owner of the organization. Its token works for 15 minutes."""
    async with AsyncClient(url, retries=30) as client:
        call = calls.login(os.environ["HWCI_EMAIL"], os.environ["HWCI_PASSWORD"])
        token = (await client.send(call)).access_token
    return AsyncClient(url, token=token, retries=30)


async def run(urls: list[str], load: Load) -> list[str]:
    tally = Tally()
    async with await signed_in(urls[0]) as client:
        org_id = (await client.send(calls.me())).organizations[0].id
        made = await client.send(calls.create_ci_key(org_id, "load"))
    begun = time.monotonic()
    await asyncio.gather(
        *(
            send_all(urls[sender % len(urls)], made.api_key, load, sender, tally)
            for sender in range(load.senders)
        )
    )
    took = time.monotonic() - begun
    print(f"{load.senders * load.runs} reports in {took:.1f} s")
    print("answers:", ", ".join(f"{n} {what}" for what, n in sorted(tally.outcomes.items())))
    print(seconds("a report that was taken", tally.last_tries))
    print(seconds("with all tries before it", tally.in_all))
    async with await signed_in(urls[-1]) as client:
        await client.send(calls.revoke_ci_key(org_id, made.id))
        return await compared(client, org_id, load)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--senders", type=int, default=32)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument(
        "--tests", type=int, default=20, help="of the first sender; others have more"
    )
    arguments = parser.parse_args()
    if missing := [name for name in NEEDED if not os.environ.get(name)]:
        print(f"Set {', '.join(missing)}", file=sys.stderr)
        return 2
    now = datetime.fromtimestamp(int(time.time()), UTC)
    load = Load(
        f"load/{now:%Y%m%dT%H%M%S}-{os.getpid()}",
        now - timedelta(hours=1),
        arguments.senders,
        arguments.runs,
        arguments.tests,
    )
    try:
        faults = asyncio.run(run(os.environ["HWCI_URL"].split(), load))
    except HwciError as error:
        print(error, file=sys.stderr)
        return 1
    print(*faults or [f"{load.runs} runs, each one whole report of one sender"], sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
