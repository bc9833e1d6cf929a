# SPDX-License-Identifier: Apache-2.0
"""A sign-in that a browser makes for the command line (contract, "Auth": "also from the CLI through
a loopback redirect"; RFC 8252).

It listens at an address that only this machine reaches, sends the browser to the server with a
challenge, and exchanges what comes back for the sign-in, or ends with the words of a refusal. The
person confirms on a page of the server that this is what waits, by what both show of it.
Whatever else comes to that address is worth nothing: the server gives a sign-in only for a code
that was made for this challenge, and only what names the challenge is a refusal.
"""

import queue
import secrets
import socketserver
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from hwci.cli.terminal import options
from hwci.cli.terminal.render import note
from hwci.client.explained import ExitCode, ExplainedError, command_error, wrong_usage

if TYPE_CHECKING:
    from hwci.client import Client
    from hwci.wire.accounts import SignedIn
    from hwci.wire.sso import SsoProvider

WAIT_SECONDS = 300
_SIGNED_IN = "You are signed in to hwci. You may close this window.\n"
_REFUSED = "The sign-in to hwci failed: {}. You may close this window.\n"


class Brought(NamedTuple):
    """What a browser brings: a code, or the words of a refusal."""

    code: str = ""
    refusal: str = ""


def sign_in_through(
    client: "Client", url: str, name: str, *, open_browser: bool
) -> "tuple[datetime, SignedIn]":
    """Sign in through a provider in a browser; return when it was requested, and the sign-in.

    Raises:
        ExplainedError: there is no such provider, it refuses, or the browser did not come back.
        HwciError: as any call of the client.
    """
    from hwci.client import calls
    from hwci.wire.sso import challenge_of, code_of

    title = _title(client.send(calls.sso_providers()).providers, name)
    verifier = secrets.token_urlsafe(32)
    challenge = challenge_of(verifier)
    with listening(challenge) as (port, arrivals):
        query = {"port": port, "challenge": challenge, "machine": _machine()}
        address = f"{url}/api/auth/sso/{quote(name)}/login?{urlencode(query)}"
        comparing = f"A page that asks has to show the code {code_of(challenge)} and port {port}."
        _show(address, title, comparing, open_browser=open_browser)
        code = _wait(arrivals, name)
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


def _machine() -> str:
    """Return the name of this machine, as people know it."""
    from platform import node

    from hwci.wire import limits
    from hwci.wire.base import made_storable

    return made_storable(node())[: limits.MACHINE_MAX] or "a machine without a name"


def _show(address: str, title: str, comparing: str, *, open_browser: bool) -> None:
    import webbrowser

    note(f"Sign in through {title} in a browser of this machine, within 5 minutes:")
    note(f"  {address}")
    note(comparing)
    if open_browser and not webbrowser.open(address):
        note("No browser could be opened here; open that address yourself.")


def _wait(arrivals: "queue.Queue[Brought]", name: str) -> str:
    again = f"try again: hwci login --sso {name}"
    try:
        brought = arrivals.get(timeout=WAIT_SECONDS)
    except queue.Empty:
        late = "the browser did not come back within 5 minutes"
        raise _failed(late, f"Look at the message in the browser, then {again}") from None
    if brought.refusal:
        raise _failed(brought.refusal, f"If that is not what you meant, {again}")
    return brought.code


def _failed(cause: str, fix: str) -> ExplainedError:
    return command_error("The sign-in failed", cause, fix, ExitCode.SIGN_IN)


class _Listener(socketserver.ThreadingTCPServer):
    """Answers at a free port of this machine, each line in a thread: browsers open idle ones."""

    daemon_threads = True

    def __init__(self, challenge: str, arrivals: "queue.Queue[Brought]") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.challenge = challenge
        self.arrivals = arrivals


class _Handler(BaseHTTPRequestHandler):
    """Takes what a browser brings."""

    server: _Listener
    timeout = 10

    def do_GET(self) -> None:
        """Answer a browser, and only then let the command go on and end."""
        brought = self._brought()
        if brought is None:
            self.send_error(404)
            return
        page = (_REFUSED.format(brought.refusal) if brought.refusal else _SIGNED_IN).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Length", str(len(page)))
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        self.wfile.write(page)
        self.server.arrivals.put(brought)

    def _brought(self) -> Brought | None:
        address = urlsplit(self.path)
        if address.path != "/callback":
            return None
        match parse_qs(address.query):
            case {"code": [code], **others} if not others:
                return Brought(code=code)
            case {"error": [words], "challenge": [self.server.challenge], **others} if not others:
                return Brought(refusal=words)
        return None

    def log_message(self, *_: object) -> None:
        """Write nothing: the address holds the code."""


@contextmanager
def listening(challenge: str) -> Iterator[tuple[int, "queue.Queue[Brought]"]]:
    """Yield the port, and the queue of what arrives there for this challenge."""
    arrivals: queue.Queue[Brought] = queue.Queue()
    with _Listener(challenge, arrivals) as listener:
        thread = threading.Thread(target=listener.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield listener.server_address[1], arrivals
        finally:
            listener.shutdown()
