# SPDX-License-Identifier: Apache-2.0
"""Both shells over TLS: a certificate that is not trusted, one that is, and a proxy in between."""

import asyncio
import ipaddress
import select
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from hwci.client import AsyncClient, Client, calls, errors
from tests.support.answering import Answer, AnsweringServer, answering

OK = Answer(200, b'{"status": "ok"}')


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)  # noqa: TID251 - a certificate is of today
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@contextmanager
def answering_over_tls(
    certificate: Path, answer: Answer = OK
) -> Iterator[tuple[AnsweringServer, str]]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with answering(answer) as server:
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        yield server, server.url.replace("http:", "https:")


class _Tunnel(StreamRequestHandler):
    """A proxy that answers CONNECT and hands bytes on."""

    def handle(self) -> None:
        lines = list(iter(self.rfile.readline, b"\r\n"))
        seen: list[bytes] = self.server.seen  # type: ignore[attr-defined]  # of this test
        seen.extend(lines)
        host, port = lines[0].split()[1].decode().split(":")
        with socket.create_connection((host, int(port))) as beyond:
            self.wfile.write(b"HTTP/1.1 200 Connected\r\n\r\n")
            pair = {self.connection: beyond, beyond: self.connection}
            while ready := select.select(list(pair), [], [])[0]:
                if not all(self._hand_on(one, pair[one]) for one in ready):
                    return

    @staticmethod
    def _hand_on(one: socket.socket, other: socket.socket) -> bool:
        try:
            data = one.recv(65536)
            other.sendall(data)
        except OSError:
            return False
        return bool(data)


@contextmanager
def proxy() -> Iterator[tuple[str, list[bytes]]]:
    with ThreadingTCPServer(("127.0.0.1", 0), _Tunnel) as server:
        server.daemon_threads = True
        seen: list[bytes] = []
        server.seen = seen  # type: ignore[attr-defined]  # read above
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://me:secret@127.0.0.1:{server.server_address[1]}", seen
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_a_certificate_that_is_not_trusted_is_an_error_at_once(certificate: Path) -> None:
    pauses: list[float] = []
    with answering_over_tls(certificate) as (server, url), Client(url) as client:
        client._sleep = pauses.append
        for _ in range(2):
            with pytest.raises(errors.ConnectionFailedError, match="certificate verify failed"):
                client.send(calls.health())

        assert server.received == []
    assert pauses == []


def test_a_certificate_that_is_not_trusted_is_an_error_at_once_asynchronously(
    certificate: Path,
) -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    async def ask(url: str) -> None:
        async with AsyncClient(url) as client:
            client._sleep = pause
            await client.send(calls.health())

    with (
        answering_over_tls(certificate) as (_, url),
        pytest.raises(errors.ConnectionFailedError, match="certificate verify failed"),
    ):
        asyncio.run(ask(url))

    assert pauses == []


def test_a_certificate_that_the_environment_trusts_is_trusted(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with answering_over_tls(certificate) as (_, url), Client(url) as client:
        assert client.send(calls.health()).status == "ok"
        assert client.send(calls.health()).status == "ok"


def test_an_answer_that_comes_byte_by_byte_is_given_up_in_time(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with (
        answering_over_tls(certificate, Answer(200, drip="body")) as (server, url),
        Client(url, retries=0) as client,
    ):
        with pytest.raises(errors.TimedOutError):
            client.send(calls.health(), within=1)

        assert not server.dripped_out.is_set()


async def test_a_proxy_learns_no_credential_asynchronously(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering_over_tls(certificate) as (_, url), proxy() as (through, seen):
        monkeypatch.setenv("https_proxy", through)
        async with AsyncClient(url, token="t.o.k", retries=0) as client:
            with pytest.raises(errors.ConnectionFailedError, match="certificate verify failed"):
                await client.send(calls.me())

    assert seen[0].startswith(b"CONNECT 127.0.0.1:")
    assert b"Proxy-Authorization: Basic bWU6c2VjcmV0\r\n" in seen
    assert b"t.o.k" not in b"".join(seen)


def test_a_proxy_leads_to_the_server_and_learns_no_credential(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with answering_over_tls(certificate) as (server, url), proxy() as (through, seen):
        monkeypatch.setenv("https_proxy", through)
        with Client(url, token="t.o.k") as client, pytest.raises(errors.AnswerShapeError):
            client.send(calls.me())

        assert server.received[0].headers["authorization"] == "Bearer t.o.k"
        assert "proxy-authorization" not in server.received[0].headers
    assert seen[0].startswith(b"CONNECT 127.0.0.1:")
    assert b"Proxy-Authorization: Basic bWU6c2VjcmV0\r\n" in seen
    assert b"t.o.k" not in b"".join(seen)
