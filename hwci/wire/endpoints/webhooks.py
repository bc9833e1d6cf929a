# SPDX-License-Identifier: Apache-2.0
"""Webhooks of an organization, and what became of what they were sent."""

from hwci.contract.shape import ListPage
from hwci.wire.endpoint import Endpoint, Who
from hwci.wire.queries import PageQuery
from hwci.wire.webhooks import (
    CreatedWebhook,
    DeliveryAnswer,
    NewWebhook,
    WebhookAnswer,
    WebhookChange,
)

# fmt: off
LIST_WEBHOOKS = Endpoint(
    "webhooks.list", "GET", "/api/orgs/{orgId}/webhooks", Who.ADMIN,
    "List webhooks, never their address or secret", query=PageQuery, answer=ListPage[WebhookAnswer]
)
CREATE_WEBHOOK = Endpoint(
    "webhooks.create", "POST", "/api/orgs/{orgId}/webhooks", Who.ADMIN,
    "Create a webhook; the secret that signs is only in this answer", body=NewWebhook,
    answer=CreatedWebhook, status=201, also=(409,), repeatable=False
)
CHANGE_WEBHOOK = Endpoint(
    "webhooks.change", "PATCH", "/api/orgs/{orgId}/webhooks/{webhookId}", Who.ADMIN,
    "Change a webhook; its secret stays", body=WebhookChange, answer=WebhookAnswer, also=(409,)
)
REMOVE_WEBHOOK = Endpoint(
    "webhooks.remove", "DELETE", "/api/orgs/{orgId}/webhooks/{webhookId}", Who.ADMIN,
    "Remove a webhook; nothing more is sent to it", status=204
)
LIST_DELIVERIES = Endpoint(
    "webhooks.deliveries", "GET", "/api/orgs/{orgId}/webhooks/{webhookId}/deliveries", Who.ADMIN,
    "List what a webhook was sent, newest first", query=PageQuery, answer=ListPage[DeliveryAnswer]
)
RESEND_DELIVERY = Endpoint(
    "webhooks.resend", "POST",
    "/api/orgs/{orgId}/webhooks/{webhookId}/deliveries/{deliveryId}/resend", Who.ADMIN,
    "Send an event to a webhook again", status=204, repeatable=False
)
# fmt: on
