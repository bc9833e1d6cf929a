# SPDX-License-Identifier: Apache-2.0
"""The wheels at `/dist/`: a page that pip can read, and the files. Which wheels there are is
decided in `services/wheels.py`.
"""

from html import escape

from aiohttp import hdrs, web

from hwci.server.http.connections.unread import PacedFile
from hwci.server.services.wheels import ADDRESS, Wheels

_NEVER_CHANGES = "public, max-age=31536000, immutable"


def add_wheels(app: web.Application, wheels: Wheels) -> None:
    """Serve the wheels to anyone who reaches the server, as a bench does before it has a key."""

    async def index(_: web.Request) -> web.Response:
        links = "".join(
            f'<a href="{escape(wheel.at(""))}">{escape(wheel.at(""))}</a><br>\n'
            for wheel in await wheels.listed()
        )
        page = f"<!DOCTYPE html>\n<title>hwci</title>\n{links}"
        return web.Response(text=page, content_type="text/html")

    async def file(request: web.Request) -> web.StreamResponse:
        path = await wheels.file(request.match_info["folder"], request.match_info["file"])
        if path is None:
            raise web.HTTPNotFound
        headers = {hdrs.CACHE_CONTROL: _NEVER_CHANGES, hdrs.CONTENT_TYPE: "application/zip"}
        return PacedFile(path, headers=headers)

    app.router.add_get(ADDRESS, index)
    app.router.add_get(f"{ADDRESS}{{folder}}/{{file}}", file)
