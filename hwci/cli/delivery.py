# SPDX-License-Identifier: Apache-2.0
"""How the commands of a CI job send: one after the other, and what is refused holds back no other.
A server that refuses or is away fails no build unless the caller is strict (contract, "Command
line"). What the bodies say is decided in `bodies.py`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from hwci.cli.failing import Failing, failing_of, shortened, warn
from hwci.cli.render import say_json
from hwci.cli.settings import Settings
from hwci.cli.tables import counted

if TYPE_CHECKING:
    from hwci.client import Call
    from hwci.client.errors import HwciError

TAKES_NOTHING = {429, 502, 503, 504}
"""Statuses that say nothing of the report: any other would meet them too."""


class Parcel(NamedTuple):
    """A report on its way. `name`: its box and part."""

    name: str
    call: "Call[None]"


class Unsent(NamedTuple):
    """A report that the server did not take."""

    name: str
    fault: "HwciError"


def print_exactly(parcels: Iterable[Parcel]) -> None:
    """Print each body as it would be sent, one per line."""
    for parcel in parcels:
        say_json((parcel.call.body or b"").decode())


def deliver(settings: Settings, parcels: Sequence[Parcel], failed: str, *, strict: bool) -> bool:
    """Send with the CI key. Gives False when one was refused or found no server.

    Raises:
        CommandError: that, and the caller is strict.
    """
    sent, unsent = _send_each(settings, parcels)
    if not unsent:
        return True
    failing = (
        failing_of(unsent[0].fault, failed, by_ci_key=True)
        if len(parcels) == 1
        else _failing_in_part(failed, sent, unsent, len(parcels))
    )
    warn(failing, strict=strict or failing.wrong_usage)
    return False


def _send_each(settings: Settings, parcels: Sequence[Parcel]) -> tuple[int, list[Unsent]]:
    """Give how many were taken, and which were not; after the end of all, the rest is not tried."""
    from hwci.client import Client
    from hwci.client.errors import HwciError

    unsent: list[Unsent] = []
    sent = 0
    try:
        client = Client(settings.url, ci_key=settings.ci_key())
    except HwciError as fault:
        return sent, [Unsent(parcels[0].name, fault)]
    with client:
        for parcel in parcels:
            try:
                client.send(parcel.call)
                sent += 1
            except HwciError as fault:
                unsent.append(Unsent(parcel.name, fault))
                if not _is_refusal(fault):
                    break
    return sent, unsent


def _is_refusal(fault: "HwciError") -> bool:
    """Tell a refusal, after which the next may be taken, from what ends the sending."""
    from hwci.client.errors import ApiError

    return isinstance(fault, ApiError) and fault.status_code not in TAKES_NOTHING


def _failing_in_part(failed: str, sent: int, unsent: Sequence[Unsent], total: int) -> Failing:
    """Say how many of several were sent, and of each that was not, why. The first fault counts."""
    faults = [(name, failing_of(fault, by_ci_key=True)) for name, fault in unsent]
    lines = [
        line
        for name, failing in faults
        for line in (f"{name}: {failing.cause}", *(f"  {detail}" for detail in failing.details))
    ]
    untried = total - sent - len(unsent)
    cause = f"{counted(len(unsent), 'report')} not taken"
    return replace(
        faults[0][1],
        what=f"{failed}{' whole' if sent else ''}: {sent} of {total} were sent",
        cause=f"{cause}, {untried} not tried" if untried else cause,
        details=shortened(lines),
    )
