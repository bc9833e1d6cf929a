# SPDX-License-Identifier: Apache-2.0
"""The body of what a webhook is sent, in each form. In a chat, text of tests, boxes and branches is
text: it is no link, mention or markup.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from html import escape

from hwci.contract.vocabulary import WebhookForm
from hwci.server.storage.records import Delivery

_CARD = "application/vnd.microsoft.card.adaptive"
_SCHEMA = "http://adaptivecards.io/schemas/adaptive-card.json"
_CHAT_MAX = 2_500
"""Characters of a text in a chat; Slack takes 3,000."""


def body_of(form: WebhookForm, delivery: Delivery, address: str | None) -> bytes:
    """Return the body of a delivery. `address`: of its page, if the server knows its own."""
    return json.dumps(_FORMS[form](delivery, address), ensure_ascii=False).encode()


def _plain(delivery: Delivery, address: str | None) -> Mapping[str, object]:
    data = {name: value for name, value in delivery.data.items() if name != "page"}
    return {
        "type": delivery.event,
        "timestamp": _time(delivery.at),
        "data": {**data, "url": address},
    }


def _slack(delivery: Delivery, address: str | None) -> Mapping[str, object]:
    text = _text(delivery)
    blocks: list[object] = [
        {"type": "section", "text": {"type": "plain_text", "text": text, "emoji": False}}
    ]
    if address is not None:
        link = {"type": "mrkdwn", "text": f"<{address}|Show it>"}
        blocks.append({"type": "section", "text": link})
    return {"text": escape(text, quote=False), "blocks": blocks}


def _teams(delivery: Delivery, address: str | None) -> Mapping[str, object]:
    run = {"type": "TextRun", "text": _text(delivery)}
    card: dict[str, object] = {
        "$schema": _SCHEMA,
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [{"type": "RichTextBlock", "inlines": [run]}],
    }
    if address is not None:
        card["actions"] = [{"type": "Action.OpenUrl", "title": "Show it", "url": address}]
    return {"type": "message", "attachments": [{"contentType": _CARD, "content": card}]}


_FORMS: Mapping[WebhookForm, Callable[[Delivery, str | None], Mapping[str, object]]] = {
    WebhookForm.PLAIN: _plain,
    WebhookForm.SLACK: _slack,
    WebhookForm.TEAMS: _teams,
}


def _text(delivery: Delivery) -> str:
    return str(delivery.data["text"])[:_CHAT_MAX]


def _time(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
