# SPDX-License-Identifier: Apache-2.0
"""Providers of single sign-on that tests run: a published mock, and the certified one of Node. One
that can be bent stands in `crooked.py`.
"""

import http.client
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.held_port import held_port

CLIENT, SECRET = "hwci-tests", "a secret/with + and %"
START_SECONDS = 60
CERTIFIED = "oidc-provider@9.13.3"
CERTIFIED_PROGRAM = Path(__file__).with_name("certified_provider.mjs")


def sso_file(folder: Path, *, trusted: Collection[str] = (), **issuers: str) -> Path:
    """Write the operator's file. `trusted`: the names of those with `trust_email`."""
    file, secret = folder / "sso.toml", folder / "client-secret"
    secret.write_text(SECRET + "\n")
    file.write_text(
        "\n".join(
            f"[providers.{name}]\ntitle = {json.dumps(name.title())}\n"
            f'issuer = "{issuer}"\nclient_id = "{CLIENT}"\nclient_secret_file = "{secret.name}"\n'
            f"trust_email = {json.dumps(name in trusted)}\n"
            for name, issuer in issuers.items()
        )
    )
    return file


@contextmanager
def mock_provider(*users: dict[str, Any]) -> Iterator[str]:
    """Run `oidc-provider-mock` and give its issuer. It lets any client in, and any user."""
    known = [part for user in users for part in ("--user-claims", json.dumps(user))]
    with held_port() as port:
        issuer = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), *known]
        with _running(command, issuer):
            yield issuer


@contextmanager
def certified_provider(folder: Path, issuer: str, redirect_uri: str) -> Iterator[None]:
    """Run the certified `oidc-provider`; skip where it cannot be had."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    shutil.copy(CERTIFIED_PROGRAM, folder)
    quietly = ("--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=0")
    install = [npm, "install", *quietly, CERTIFIED]
    try:
        subprocess.run(install, cwd=folder, check=True, capture_output=True, timeout=120)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip(f"npm could not install {CERTIFIED}")
    program = str(folder / CERTIFIED_PROGRAM.name)
    with _running(["node", program, issuer, redirect_uri, CLIENT, SECRET], issuer):
        yield


@contextmanager
def _running(command: Sequence[str], issuer: str) -> Iterator[None]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            _wait(process, issuer)
            yield
        finally:
            process.terminate()
            process.communicate(timeout=START_SECONDS)


def _wait(process: "subprocess.Popen[bytes]", issuer: str) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise AssertionError((process.communicate()[1] or b"").decode())
        line = http.client.HTTPConnection(urlsplit(issuer).netloc, timeout=5)
        try:
            line.request("GET", "/.well-known/openid-configuration")
            if line.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.05)
        finally:
            line.close()
    raise AssertionError("the provider does not start")
