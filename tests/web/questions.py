# SPDX-License-Identifier: Apache-2.0
"""The way of a browser to the question whether a command line gets its sign-in: a server whose
people sign in through a provider, and a person who does.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from hwci.server.settings import Registration
from tests.support.providers import mock_provider, sso_file
from tests.support.running import EMAIL, RunningServer, running_in_thread

PERSON = {"sub": "olga", "email": EMAIL, "email_verified": True}


@contextmanager
def provided_server(folder: Path) -> Iterator[RunningServer]:
    """Run a server whose people sign in through Acme."""
    with mock_provider(PERSON) as issuer:
        file = sso_file(folder, acme=issuer)
        with running_in_thread(folder, registration=Registration.INVITE, sso_file=file) as server:
            yield server


def come_to_the_question(
    page: Page, server: RunningServer, port: int, challenge: str, machine: str
) -> None:
    """Open the address that `hwci login --sso acme` shows, and sign in at the provider."""
    query = {"port": port, "challenge": challenge, "machine": machine}
    page.goto(f"{server.url}/api/auth/sso/acme/login?{urlencode(query)}")
    page.locator("input[name=sub]").fill("olga")
    page.get_by_role("button", name="Authorize").click()
    expect(page.get_by_role("button", name="Yes, sign in")).to_be_visible()
