# SPDX-License-Identifier: Apache-2.0
"""Boxes: as people manage them, and what a box itself says."""

from hwci.client._call import Call, Credential
from hwci.client.calls._writing import Id, checked, listing, org_path, segment, written
from hwci.wire import boxes, limits, runs
from hwci.wire.base import ListPage


def list_boxes(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[boxes.BoxAnswer]]:
    """List the boxes."""
    return listing(_boxes(org_id), ListPage[boxes.BoxAnswer], page, limit)


def create_box(org_id: Id, name: str) -> Call[boxes.BoxInstallAnswer]:
    """Create a box: the answer is the only one that ever holds its install token."""
    body = written(checked(boxes.NewBox, "body", name=name))
    return Call("POST", _boxes(org_id), boxes.BoxInstallAnswer, 201, body=body, repeatable=False)


def new_install_token(org_id: Id, box_id: Id) -> Call[boxes.BoxInstallAnswer]:
    """Make a token for a new install of a box; earlier tokens stop working."""
    path = f"{_boxes(org_id)}/{segment(box_id)}/install-token"
    return Call("POST", path, boxes.BoxInstallAnswer, 201, repeatable=False)


def install_box(install_token: str) -> Call[boxes.InstalledBox]:
    """Exchange an install token, once, for the box's key."""
    return Call(
        "POST",
        "/api/boxes/install",
        boxes.InstalledBox,
        201,
        credential=Credential.NONE,
        body=written(checked(boxes.InstallBox, "body", install_token=install_token)),
        repeatable=False,
    )


def heartbeat() -> Call[None]:
    """Keep the box online, and its live runs alive."""
    return Call("POST", "/api/box/heartbeat", None, 204, credential=Credential.BOX_KEY)


def open_run(body: runs.RunHead) -> Call[runs.OpenedRun]:
    """Open a live run; the same run again keeps its id."""
    return Call(
        "POST",
        "/api/box/runs",
        runs.OpenedRun,
        201,
        credential=Credential.BOX_KEY,
        body=written(body),
    )


def feed_run(run_record_id: Id, body: runs.RunEvents) -> Call[None]:
    """Report which tests of a live run began or ended."""
    path = f"/api/box/runs/{segment(run_record_id)}/events"
    return Call("POST", path, None, 204, credential=Credential.BOX_KEY, body=written(body))


def _boxes(org_id: Id) -> str:
    return f"{org_path(org_id)}/boxes"
