# SPDX-License-Identifier: Apache-2.0
"""Webhooks as owners and admins manage them (contract, "Webhooks"). Address and secret are sealed:
an answer holds the secret once, and of the address the host.
"""

import base64
import secrets
from dataclasses import replace
from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID, uuid4

from hwci.contract.shape import ListPage
from hwci.contract.vocabulary import WebhookEvent
from hwci.server.clock import Clock
from hwci.server.errors import ConflictError, NotFoundError
from hwci.server.security.sealing import Seals
from hwci.server.services import Service
from hwci.server.services.access import ADMINS, Member, role_now
from hwci.server.services.audit import entry_of
from hwci.server.services.webhooks.sending import Target, opened_target, sealed_target
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import Webhook
from hwci.wire import limits
from hwci.wire import webhooks as wire
from hwci.wire.queries import PageQuery

_SECRET_BYTES = 32
_TOO_MANY = (
    f"An organization may have {limits.WEBHOOKS_MAX} webhooks; remove one that is not needed"
)
_UNREADABLE = (
    "The address and the secret cannot be read any more, as the server's key is another: remove the"
    " webhook and make a new one"
)


class Webhooks(Service):
    """Webhooks, for owners and admins."""

    def __init__(self, storage: Storage, clock: Clock, seals: Seals) -> None:
        super().__init__(storage, clock)
        self._seals = seals

    async def listed(self, member: Member, query: PageQuery) -> ListPage[wire.WebhookAnswer]:
        """List the organization's webhooks."""

        def work(reader: Reader) -> ListPage[wire.WebhookAnswer]:
            rows = reader.webhooks(member.org_id, query.offset, query.limit)
            return query.page_of(rows, wire.WebhookAnswer.model_validate)

        return await self._storage.read(work, organization=member.org_id, person=member.id)

    async def create(self, member: Member, body: wire.NewWebhook) -> wire.CreatedWebhook:
        """Create a webhook. Only this answer ever holds its secret. Raises `ConflictError`."""
        secret = f"whsec_{base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()}"
        webhook_id, now = uuid4(), self._clock()
        webhook = Webhook(
            id=webhook_id,
            org_id=member.org_id,
            host=_host(body.address),
            sealed=sealed_target(self._seals, webhook_id, Target(body.address, secret)),
            form=body.form,
            events=tuple(dict.fromkeys(body.events or WebhookEvent)),
            repo_key=body.repo_key,
            suite=body.suite,
            unchecked_hours=body.unchecked_hours,
            silent_hours=body.silent_hours,
            enabled=True,
            created_at=now,
        )

        def work(writer: Writer) -> None:
            role_now(writer, member, ADMINS)
            if writer.webhooks(member.org_id, 0, 1).total >= limits.WEBHOOKS_MAX:
                raise ConflictError(_TOO_MANY)
            writer.put_webhook(webhook)
            _record(writer, member, now, "created", webhook)

        await self._storage.write(work, organization=member.org_id)
        answer = wire.WebhookAnswer.model_validate(webhook)
        return wire.CreatedWebhook(**answer.model_dump(by_alias=False), secret=secret)

    async def change(
        self, member: Member, webhook_id: UUID | None, body: wire.WebhookChange
    ) -> wire.WebhookAnswer:
        """Change a webhook.

        Raises:
            NotFoundError: there is no such webhook.
            ConflictError: its secret cannot be read any more, so that it takes no other address.
        """
        now = self._clock()
        changes = body.model_dump(exclude_none=True, exclude={"address", "events"}, by_alias=False)
        if body.events is not None:
            changes["events"] = tuple(dict.fromkeys(body.events))

        def work(writer: Writer) -> Webhook:
            webhook = _managed(writer, member, webhook_id)
            if body.address is not None:
                target = opened_target(self._seals, webhook)
                if target is None:
                    raise ConflictError(_UNREADABLE)
                sealed = sealed_target(
                    self._seals, webhook.id, replace(target, address=body.address)
                )
                changes.update(sealed=sealed, host=_host(body.address))
            webhook = replace(webhook, **changes)
            writer.put_webhook(webhook)
            _record(writer, member, now, "changed", webhook)
            return webhook

        webhook = await self._storage.write(work, organization=member.org_id)
        return wire.WebhookAnswer.model_validate(webhook)

    async def remove(self, member: Member, webhook_id: UUID | None) -> None:
        """Remove a webhook with its deliveries. Raises `NotFoundError`."""
        now = self._clock()

        def work(writer: Writer) -> None:
            webhook = _managed(writer, member, webhook_id)
            writer.remove_webhook(member.org_id, webhook.id)
            _record(writer, member, now, "removed", webhook)

        await self._storage.write(work, organization=member.org_id)

    async def deliveries(
        self, member: Member, webhook_id: UUID | None, query: PageQuery
    ) -> ListPage[wire.DeliveryAnswer]:
        """List what a webhook was sent. Raises `NotFoundError`."""

        def work(reader: Reader) -> ListPage[wire.DeliveryAnswer]:
            webhook = _found(reader, member, webhook_id)
            rows = reader.deliveries(member.org_id, webhook.id, query.offset, query.limit)
            return query.page_of(rows, wire.DeliveryAnswer.model_validate)

        return await self._storage.read(work, organization=member.org_id, person=member.id)

    async def resend(
        self, member: Member, webhook_id: UUID | None, delivery_id: UUID | None
    ) -> None:
        """Send an event again, with all its attempts. Raises `NotFoundError`."""
        now = self._clock()

        def work(writer: Writer) -> None:
            webhook = _managed(writer, member, webhook_id)
            if delivery_id is None or not writer.resend_delivery(
                member.org_id, webhook.id, delivery_id, now
            ):
                raise NotFoundError("Delivery not found")

        await self._storage.write(work, organization=member.org_id)


def _found(reader: Reader, member: Member, webhook_id: UUID | None) -> Webhook:
    webhook = None if webhook_id is None else reader.webhook(member.org_id, webhook_id)
    if webhook is None:
        raise NotFoundError("Webhook not found")
    return webhook


def _managed(writer: Writer, member: Member, webhook_id: UUID | None) -> Webhook:
    """Return the webhook that an owner or admin changes, in the transaction that changes it."""
    role_now(writer, member, ADMINS)
    return _found(writer, member, webhook_id)


def _record(writer: Writer, member: Member, now: datetime, deed: str, webhook: Webhook) -> None:
    action = f"webhook.{deed}"
    entry = entry_of(member.user, now, action, webhook.id, name=webhook.host)
    writer.add_audit(member.org_id, entry)


def _host(address: str) -> str:
    """Return what is shown of an address: its path and query may be a secret, as Slack's are."""
    return urlsplit(address).netloc
