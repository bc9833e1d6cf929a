# SPDX-License-Identifier: Apache-2.0
"""The routes of single sign-on through Acme, and who a browser is signed in as."""

from typing import Any

from tests.support.asking import Reply, ask, bearer
from tests.support.browsing import Browser
from tests.support.running import RunningServer

LOGIN = "/api/auth/sso/acme/login"
CALLBACK = "/api/auth/sso/acme/callback"


def refreshed(server: RunningServer, browser: Browser) -> Reply:
    """Renew the sign-in that a browser's cookie holds, as the dashboard does."""
    cookie = ("Cookie", f"hwci_rt={browser.cookies()['hwci_rt'].value}")
    body = {"session": "cookie"}
    return ask(server.url, "POST", "/api/auth/refresh", cookie, json_body=body)


def who(server: RunningServer, browser: Browser) -> Any:
    """Return who a browser is signed in as."""
    token = refreshed(server, browser).json["accessToken"]
    return ask(server.url, "GET", "/api/auth/me", bearer(token)).json
