# SPDX-License-Identifier: Apache-2.0
"""Boxes, as people manage them and as they report themselves."""

from hwci.contract.boxes.boxes import Box, BoxNote
from hwci.contract.runs.runs import OpenedRun
from hwci.contract.shape import ListPage
from hwci.wire import limits
from hwci.wire.boxes import (
    BoxChange,
    BoxInstallAnswer,
    InstallBox,
    InstalledBox,
    NewBox,
    NewBoxNote,
)
from hwci.wire.endpoint import Endpoint, Who
from hwci.wire.queries import BoxesQuery, BoxNotesQuery
from hwci.wire.runs import RunEvents, RunHead

# fmt: off
LIST_BOXES = Endpoint(
    "boxes.list", "GET", "/api/orgs/{orgId}/boxes", Who.MEMBER, "List the boxes of an organization",
    query=BoxesQuery, answer=ListPage[Box]
)
CREATE_BOX = Endpoint(
    "boxes.create", "POST", "/api/orgs/{orgId}/boxes", Who.ADMIN,
    "Create a box; the token that installs it once is only in this answer", body=NewBox,
    answer=BoxInstallAnswer, status=201, also=(409,), repeatable=False
)
RENAME_BOX = Endpoint(
    "boxes.rename", "PATCH", "/api/orgs/{orgId}/boxes/{boxId}", Who.ADMIN,
    "Rename a box; its key goes on, and reports keep the name that they have", body=BoxChange,
    status=204, also=(409,)
)
REMOVE_BOX = Endpoint(
    "boxes.remove", "DELETE", "/api/orgs/{orgId}/boxes/{boxId}", Who.ADMIN,
    "Remove a box: its key stops at once, and what it reported stays", status=204
)
NEW_INSTALL_TOKEN = Endpoint(
    "boxes.new_install_token", "POST", "/api/orgs/{orgId}/boxes/{boxId}/install-token", Who.ADMIN,
    "Make a token for a new install of a box; its key works until then", answer=BoxInstallAnswer,
    status=201, repeatable=False
)
LIST_BOX_NOTES = Endpoint(
    "box_notes.list", "GET", "/api/orgs/{orgId}/box-notes", Who.MEMBER,
    "List what people did to boxes, latest first", query=BoxNotesQuery,
    answer=ListPage[BoxNote]
)
ADD_BOX_NOTE = Endpoint(
    "box_notes.add", "POST", "/api/orgs/{orgId}/box-notes", Who.ADMIN,
    "Note what was done to a box; from then on it is compared as a new box", body=NewBoxNote,
    answer=BoxNote, status=201, also=(404, 409), repeatable=False
)
REMOVE_BOX_NOTE = Endpoint(
    "box_notes.remove", "DELETE", "/api/orgs/{orgId}/box-notes/{noteId}", Who.ADMIN,
    "Remove a note of a box", status=204
)
INSTALL_BOX = Endpoint(
    "boxes.install", "POST", "/api/boxes/install", Who.ANYONE,
    "Exchange an install token for the box's key; an earlier key of the box stops working",
    body=InstallBox, answer=InstalledBox, status=201, also=(401,), repeatable=False
)
HEARTBEAT = Endpoint(
    "boxes.heartbeat", "POST", "/api/box/heartbeat", Who.BOX,
    "Stay online, and keep the box's live runs alive", status=204
)
OPEN_RUN = Endpoint(
    "live_runs.open", "POST", "/api/box/runs", Who.BOX,
    "Open a live run; it is lost after 10 minutes without event or heartbeat", body=RunHead,
    answer=OpenedRun, status=201, also=(409,), body_bytes=limits.RUN_REPORT_BYTES, whole_body=True
)
FEED_RUN = Endpoint(
    "live_runs.feed", "POST", "/api/box/runs/{runId}/events", Who.BOX,
    "Report which tests of a live run began or ended", body=RunEvents, status=204, also=(404, 409),
    body_bytes=limits.RUN_EVENTS_BYTES, whole_body=True
)
# fmt: on
