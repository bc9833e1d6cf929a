# SPDX-License-Identifier: Apache-2.0
"""Webhooks on the wire: who is sent which events, and what became of them (contract,
"Webhooks").
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Self
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from hwci.contract.vocabulary import DeliveryStatus, WebhookEvent, WebhookForm
from hwci.wire import limits
from hwci.wire.accounts import Secret
from hwci.wire.base import SECRET, WORD, Address, Answer, Body, Name, Time
from hwci.wire.lists import ListRule


def _has_host(text: str) -> str:
    try:
        parts = urlsplit(text)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise PydanticCustomError("address", "Should name a host, such as https://example.org/hook")
    return text


_Address = Annotated[Address, AfterValidator(_has_host)]
_Events = Annotated[
    Sequence[Annotated[WebhookEvent, WORD]],
    ListRule(len(WebhookEvent)),
    Field(min_length=1),
]
_Hours = Annotated[int, Field(ge=1, le=limits.WEBHOOK_HOURS_MAX)]


class NewWebhook(Body):
    """Body of `POST …/webhooks`. Without `events`: all. `repo_key` and `suite`: only events of this
    repository, or product. Hours: after which a merge is unchecked, a box silent.
    """

    address: Annotated[_Address, SECRET]
    form: Annotated[WebhookForm, WORD] = WebhookForm.PLAIN
    events: _Events | None = None
    repo_key: Name | None = None
    suite: Name | None = None
    unchecked_hours: _Hours = 24
    silent_hours: _Hours = 24

    @model_validator(mode="after")
    def _whole_product(self) -> Self:
        if self.suite is not None and self.repo_key is None:
            raise PydanticCustomError("product", "`suite` needs `repoKey`")
        return self


class WebhookChange(Body):
    """Body of `PATCH …/webhooks/{webhookId}`. What is left out stays as it is."""

    address: Annotated[_Address | None, SECRET] = None
    events: _Events | None = None
    unchecked_hours: _Hours | None = None
    silent_hours: _Hours | None = None
    enabled: bool | None = None


class WebhookAnswer(Answer):
    """A webhook, with the host of its address alone: the rest may be a secret."""

    id: UUID
    host: str
    form: WebhookForm
    events: Sequence[WebhookEvent]
    repo_key: str | None
    suite: str | None
    unchecked_hours: int
    silent_hours: int
    enabled: bool
    created_at: Time


class CreatedWebhook(WebhookAnswer):
    """The only answer that ever holds the secret, by which a receiver knows who sent."""

    secret: Secret


class DeliveryAnswer(Answer):
    """An event on its way to a webhook. `due_at`: when it is sent next; null: not any more.
    `error`: why the last attempt failed.
    """

    id: UUID
    event: WebhookEvent
    at: Time
    data: Mapping[str, object]
    status: DeliveryStatus
    attempts: int
    due_at: Time | None
    error: str | None
