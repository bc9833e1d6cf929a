# SPDX-License-Identifier: Apache-2.0
"""One line per request: method, path, status, size, time, id. Never a query string or a header."""

import logging
from urllib.parse import quote

from aiohttp import web
from aiohttp.abc import AbstractAccessLogger

from hwci.server.http.responses import request_id


class RequestLog(AbstractAccessLogger):
    """Writes the line, when anyone listens."""

    def log(self, request: web.BaseRequest, response: web.StreamResponse, time: float) -> None:
        """Write the line of an answered request."""
        self.logger.info(
            "%s %s %d %dB %.1fms %s",
            request.method,
            quote(request.rel_url.path),
            response.status,
            response.body_length,
            time * 1_000,
            request_id(request),
        )

    @property
    def enabled(self) -> bool:
        """Whether the line would be written."""
        return self.logger.isEnabledFor(logging.INFO)
