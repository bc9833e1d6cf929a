# SPDX-License-Identifier: Apache-2.0
"""The body of an event in each form: what Standard Webhooks, Slack and Teams take."""

import json
from dataclasses import replace
from typing import Any

from hwci.contract.vocabulary import WebhookForm
from hwci.server.services.webhooks.forms import body_of
from tests.server.storage.examples import DELIVERY

PAGE = "https://hwci.example.org/orgs/1/boxes"
EVENT = replace(DELIVERY, data={"text": "<größer> & *b*", "page": "boxes", "boxKey": "b1"})


def written(form: WebhookForm, text: str | None = None, address: str | None = PAGE) -> Any:
    event = EVENT if text is None else replace(EVENT, data={**EVENT.data, "text": text})
    return json.loads(body_of(form, event, address))


def test_the_plain_form_has_the_event_its_time_and_its_data_with_the_whole_address() -> None:
    assert written(WebhookForm.PLAIN) == {
        "type": "box.silent",
        "timestamp": EVENT.at.isoformat().replace("+00:00", "Z"),
        "data": {"text": "<größer> & *b*", "boxKey": "b1", "url": PAGE},
    }
    assert written(WebhookForm.PLAIN)["timestamp"].endswith("Z")


def test_slack_gets_plain_text_its_line_for_notices_escaped_and_a_link() -> None:
    text = {"type": "plain_text", "text": "<größer> & *b*", "emoji": False}
    link = {"type": "mrkdwn", "text": f"<{PAGE}|Show it>"}
    assert written(WebhookForm.SLACK) == {
        "text": "&lt;größer&gt; &amp; *b*",
        "blocks": [{"type": "section", "text": text}, {"type": "section", "text": link}],
    }


def test_teams_gets_an_adaptive_card_whose_text_has_no_markup_and_a_button() -> None:
    (attachment,) = written(WebhookForm.TEAMS)["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert attachment["content"] == {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [
            {
                "type": "RichTextBlock",
                "inlines": [{"type": "TextRun", "text": "<größer> & *b*"}],
            }
        ],
        "actions": [{"type": "Action.OpenUrl", "title": "Show it", "url": PAGE}],
    }


def test_a_server_that_does_not_know_its_address_links_nothing() -> None:
    assert written(WebhookForm.PLAIN, address=None)["data"]["url"] is None
    assert len(written(WebhookForm.SLACK, address=None)["blocks"]) == 1
    (attachment,) = written(WebhookForm.TEAMS, address=None)["attachments"]
    assert "actions" not in attachment["content"]


def test_a_chat_gets_no_more_than_it_takes() -> None:
    long = "x" * 4_000
    slack, teams = written(WebhookForm.SLACK, long), written(WebhookForm.TEAMS, long)
    (run,) = teams["attachments"][0]["content"]["body"][0]["inlines"]

    assert len(slack["text"]) == len(slack["blocks"][0]["text"]["text"]) == len(run["text"])
    assert len(run["text"]) < 3_000
    assert len(written(WebhookForm.PLAIN, long)["data"]["text"]) == len(long)
