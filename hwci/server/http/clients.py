# SPDX-License-Identifier: Apache-2.0
"""What kind of program asks, so that people know their sign-ins again.

This module decides which kinds there are. What a program says of itself is anybody's to write: none
of its words are kept, only ours for what it resembles.
"""

from aiohttp import hdrs, web

_HWCI = "hwci/"
# The first that fits counts: each browser names those that it wants to be taken for.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
)
_UNKNOWN = "another program"


def client_of(request: web.BaseRequest) -> str:
    """Return the kind of program that sent a request."""
    said = request.headers.get(hdrs.USER_AGENT, "")
    if said.startswith(_HWCI):
        return "hwci command line"
    browser = next((name for sign, name in _BROWSERS if sign in said), None)
    system = next((name for sign, name in _SYSTEMS if sign in said), None)
    if browser is None:
        return _UNKNOWN
    return browser if system is None else f"{browser} on {system}"
