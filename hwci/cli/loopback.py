# SPDX-License-Identifier: Apache-2.0
"""A sign-in that a browser makes for the command line (contract, "Auth": "also from the CLI through
a loopback redirect"; RFC 8252).

It listens at an address that only this machine reaches, sends the browser to the server with a
challenge, and exchanges what comes back for the sign-in. Whatever else comes to that address is
worth nothing: the server gives a sign-in only for a code that was made for this challenge.
"""

import queue
import secrets
import socketserver
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from hwci.cli import options
from hwci.cli.failing import CommandError, ExitCode, Failing, wrong_usage
from hwci.cli.render import note

if TYPE_CHECKING:
    from hwci.client import Client
    from hwci.wire.accounts import SignedIn
    from hwci.wire.sso import SsoProvider

WAIT_SECONDS = 300
_PAGE = b"You are signed in to hwci. You may close this window.\n"


def sign_in_through(
    client: "Client", url: str, name: str, *, open_browser: bool
) -> "tuple[datetime, SignedIn]":
    """Have a browser sign in through a provider; give when it was asked for, and the sign-in.

    Raises:
        CommandError: there is no such provider, or nobody came back from it.
        HwciError: as any call of the client.
    """
    from hwci.client import calls
    from hwci.wire.sso import challenge_of

    title = _title(client.send(calls.sso_providers()).providers, name)
    verifier = secrets.token_urlsafe(32)
    with _listening() as (port, codes):
        query = urlencode({"port": port, "challenge": challenge_of(verifier)})
        _show(f"{url}/api/auth/sso/{quote(name)}/login?{query}", title, open_browser=open_browser)
        code = _wait(codes, name)
    began = options.now()
    return began, client.send(calls.exchange_sso_code(code, verifier))


def _title(providers: "Sequence[SsoProvider]", name: str) -> str:
    there = {provider.name: provider.title for provider in providers}
    if name not in there:
        raise wrong_usage(
            f"There is no provider {name!r}",
            "the server has " + (", ".join(there) or "none"),
            "Name one of them, or sign in with a password: hwci login --email EMAIL",
        )
    return there[name]


def _show(address: str, title: str, *, open_browser: bool) -> None:
    import webbrowser

    note(f"Sign in through {title} in a browser of this machine, within 5 minutes:")
    note(f"  {address}")
    if open_browser and not webbrowser.open(address):
        note("No browser could be opened here; open that address yourself.")


def _wait(codes: "queue.Queue[str]", name: str) -> str:
    try:
        return codes.get(timeout=WAIT_SECONDS)
    except queue.Empty:
        raise CommandError(
            Failing(
                "The sign-in failed",
                "the browser did not come back within 5 minutes",
                f"Look at what the browser says, then try again: hwci login --sso {name}",
                ExitCode.SIGN_IN,
            )
        ) from None


class _Listener(socketserver.ThreadingTCPServer):
    """Answers at a free port of this machine, each line in a thread: browsers open idle ones."""

    daemon_threads = True

    def __init__(self, codes: "queue.Queue[str]") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.codes = codes


class _Handler(BaseHTTPRequestHandler):
    """Takes the code that a browser brings."""

    server: _Listener
    timeout = 10

    def do_GET(self) -> None:
        """Answer a browser, and only then let the command go on and end."""
        address = urlsplit(self.path)
        codes = parse_qs(address.query).get("code", [])
        if address.path != "/callback" or len(codes) != 1:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(_PAGE)))
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        self.wfile.write(_PAGE)
        self.server.codes.put(codes[0])

    def log_message(self, *_: object) -> None:
        """Write nothing: the address holds the code."""


@contextmanager
def _listening() -> Iterator[tuple[int, "queue.Queue[str]"]]:
    """Give the port that is listened at, and the codes that arrive there."""
    codes: queue.Queue[str] = queue.Queue()
    with _Listener(codes) as listener:
        thread = threading.Thread(target=listener.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield listener.server_address[1], codes
        finally:
            listener.shutdown()
