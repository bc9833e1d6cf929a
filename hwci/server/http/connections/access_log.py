# SPDX-License-Identifier: Apache-2.0
"""One line per request: address, method, path, status, size, time, id. No query string, no headers.

Paths are percent-encoded, so that a caller cannot inject a line.
"""

import logging
from time import gmtime
from urllib.parse import quote

from aiohttp import web
from aiohttp.abc import AbstractAccessLogger
from aiohttp.log import access_logger

from hwci.server.http.addresses import whole_address_of
from hwci.server.http.responses import request_id


class RequestLog(AbstractAccessLogger):
    """Writes one line per request, if the log is on."""

    def log(self, request: web.BaseRequest, response: web.StreamResponse, time: float) -> None:
        """Write the line of an answered request."""
        self.logger.info(
            "%s %s %s %d %dB %.1fms %s",
            whole_address_of(request),
            request.method,
            quote(request.rel_url.path),
            response.status,
            response.body_length,
            time * 1_000,
            request_id(request),
        )

    @property
    def enabled(self) -> bool:
        """Whether lines are written."""
        return self.logger.isEnabledFor(logging.INFO)


def log_requests() -> None:
    """Log requests to stderr, each with its time in UTC."""
    lines = logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%dT%H:%M:%SZ")
    lines.converter = gmtime
    handler = logging.StreamHandler()
    handler.setFormatter(lines)
    access_logger.addHandler(handler)
    access_logger.setLevel(logging.INFO)
    access_logger.propagate = False
