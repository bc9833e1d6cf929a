# SPDX-License-Identifier: Apache-2.0
"""Sends events to webhooks, each at least once, in their order for one thing (ADR 0026).

This module decides how many at once, when one is tried again and when it is given up. A delivery is
taken in a transaction of its own before it is sent, so of several servers one sends it; one that is
killed meanwhile leaves it due again. What goes over the wire is the caller's.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import NamedTuple
from uuid import UUID

from standardwebhooks import Webhook as Signature

from hwci.contract.vocabulary import DeliveryStatus
from hwci.server.clock import Clock
from hwci.server.errors import HwciServerError, PostError
from hwci.server.security.sealing import Seals
from hwci.server.services import Service
from hwci.server.services.webhooks.forms import body_of
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import Delivery, Webhook

LOG = logging.getLogger("hwci.server")

PAUSES = tuple(timedelta(minutes=minutes) for minutes in (0.1, 1, 5, 30, 60, 120, 240, 480, 480))
"""After each attempt that failed; after one more it is given up, a day after the first."""
TAKEN_FOR = timedelta(seconds=60)
"""A server that does not say within this time what became of a delivery was killed."""
_TOGETHER = 8
"""Deliveries of a webhook that are on their way at once. None waits for another."""
_WEBHOOKS_AT_ONCE, _OF_ONE_ORGANIZATION = 64, 4
"""Others are sent to afterwards: one that does not answer holds nobody else up."""
_UNREADABLE = "its secret cannot be read any more, as the server's key is another: make a new one"


@dataclass(frozen=True, slots=True)
class Posted:
    """A request to a webhook."""

    address: str = field(repr=False)
    headers: Mapping[str, str]
    body: bytes


Post = Callable[[Posted], Awaitable[int]]
"""Sends a request and returns the status of its answer. Raises `PostError`."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a webhook leads, and what it is signed with."""

    address: str = field(repr=False)
    secret: str = field(repr=False)


def sealed_target(seals: Seals, webhook_id: UUID, target: Target) -> bytes:
    """Return a target as the database keeps it."""
    content = json.dumps([target.address, target.secret]).encode()
    return seals.seal(webhook_id.bytes, content)


def opened_target(seals: Seals, webhook: Webhook) -> Target | None:
    """Return the target of a webhook; None if no key opens it."""
    opened = seals.open(webhook.id.bytes, webhook.sealed)
    return None if opened is None else Target(*json.loads(opened.value))


class Attempt(NamedTuple):
    """A delivery as it was taken, and after the attempt."""

    taken: Delivery
    after: Delivery


class Sending(Service):
    """Sends what is due."""

    def __init__(
        self, storage: Storage, clock: Clock, seals: Seals, post: Post, base_url: str | None
    ) -> None:
        super().__init__(storage, clock)
        self._seals = seals
        self._post = post
        self._base_url = base_url
        self._busy: dict[tuple[UUID, UUID], asyncio.Task[None]] = {}

    async def sweep(self) -> None:
        """Begin to send to each webhook that something is due to, and that is not sent to yet."""
        now = self._clock()
        for key in await self._storage.read(lambda reader: reader.webhooks_due(now), short=True):
            of_organization = sum(org_id == key[0] for org_id, _ in self._busy)
            if len(self._busy) >= _WEBHOOKS_AT_ONCE:
                break
            if key not in self._busy and of_organization < _OF_ONE_ORGANIZATION:
                task = asyncio.create_task(self._send_all(*key))
                self._busy[key] = task
                task.add_done_callback(lambda _, key=key: self._busy.pop(key))  # type: ignore[misc]

    async def close(self) -> None:
        """Stop; what is being sent is due again."""
        tasks = [*self._busy.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _send_all(self, org_id: UUID, webhook_id: UUID) -> None:
        """Send to a webhook until nothing is due."""
        going: set[asyncio.Task[Attempt]] = set()
        ended: Sequence[Attempt] = ()
        try:
            while going := going | await self._begin(org_id, webhook_id, ended, len(going)):
                done, going = await asyncio.wait(going, return_when=asyncio.FIRST_COMPLETED)
                ended = [task.result() for task in done]
        except HwciServerError as error:
            LOG.info("Webhook %s is sent to later: %s", webhook_id, error)
        except Exception:
            LOG.exception("Sending to webhook %s failed because of a bug", webhook_id)
        finally:
            for task in going:
                task.cancel()

    async def _begin(
        self, org_id: UUID, webhook_id: UUID, ended: Sequence[Attempt], going: int
    ) -> set[asyncio.Task[Attempt]]:
        """Keep what became of the attempts that ended, and begin others in their place."""
        now = self._clock()
        until = now + TAKEN_FOR

        def work(writer: Writer) -> tuple[Webhook | None, Sequence[Delivery]]:
            for taken, after in ended:
                writer.settle_delivery(taken, after)
            webhook = writer.webhook(org_id, webhook_id)
            if webhook is None or not webhook.enabled:
                return None, ()
            due = writer.take_deliveries(org_id, webhook_id, now, until, _TOGETHER - going)
            return webhook, [replace(delivery, due_at=until) for delivery in due]

        webhook, taken = await self._storage.write(work, organization=org_id)
        if webhook is None:
            return set()
        target = opened_target(self._seals, webhook)
        return {asyncio.create_task(self._attempt(webhook, target, each)) for each in taken}

    async def _attempt(
        self, webhook: Webhook, target: Target | None, delivery: Delivery
    ) -> Attempt:
        fault = await self._fault(webhook, target, delivery)
        return Attempt(delivery, after_attempt(delivery, fault, self._clock()))

    async def _fault(
        self, webhook: Webhook, target: Target | None, delivery: Delivery
    ) -> str | None:
        """Send a delivery; return why that failed, or None."""
        if target is None:
            return _UNREADABLE
        address = None
        if self._base_url is not None:
            address = f"{self._base_url}/orgs/{webhook.org_id}/{delivery.data['page']}"
        body = body_of(webhook.form, delivery, address)
        try:
            status = await self._post(_signed(target, delivery, body, self._clock()))
        except PostError as error:
            return str(error)
        if HTTPStatus(200) <= status < HTTPStatus.MULTIPLE_CHOICES:
            return None
        redirected = HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST
        return f"it answers {status}{'; redirects are not followed' if redirected else ''}"


def after_attempt(delivery: Delivery, fault: str | None, now: datetime) -> Delivery:
    """Return a delivery after an attempt. `fault`: why it failed."""
    attempts = delivery.attempts + 1
    status, due_at = DeliveryStatus.DELIVERED, None
    if fault is not None:
        is_last = attempts > len(PAUSES)
        status = DeliveryStatus.GIVEN_UP if is_last else DeliveryStatus.WAITING
        due_at = None if is_last else now + PAUSES[attempts - 1]
    return replace(delivery, status=status, attempts=attempts, due_at=due_at, error=fault)


def _signed(target: Target, delivery: Delivery, body: bytes, now: datetime) -> Posted:
    signature = Signature(target.secret).sign(str(delivery.id), now, body.decode())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "hwci",
        "Webhook-Id": str(delivery.id),
        "Webhook-Timestamp": str(int(now.timestamp())),
        "Webhook-Signature": signature,
    }
    return Posted(target.address, headers, body)
