# SPDX-License-Identifier: Apache-2.0
"""The systemd unit, the containers and their proxy name what exists, and fit together."""

import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
import yaml

from hwci.server.app.process import FILES_MOST
from hwci.server.settings import VARIABLES, read_settings
from hwci.wire.errors import ErrorBody
from tests.examples.reading import accepted
from tests.support.commands import started
from tests.support.held_port import held_port

ROOT = Path(__file__).parents[2]
UNIT = (ROOT / "examples/self-hosting/hwci.service").read_text()
OWN_VARIABLES = {variable.name for variable in VARIABLES}


def of_unit(key: str) -> list[str]:
    """Return the values of a setting of the unit, commented ones too."""
    return re.findall(rf"^#?{key}=(.*)$", UNIT, re.MULTILINE)


def test_the_containers_of_a_cluster_share_a_database_and_keys_and_the_proxy_names_them() -> None:
    folder = ROOT / "examples/cluster"
    compose = yaml.safe_load((folder / "compose.yaml").read_text())
    parts = compose["services"]
    servers = {name: part for name, part in parts.items() if part.get("build") == "../.."}
    proxy = parts["proxy"]
    (address,) = {one["environment"]["HWCI_TRUSTED_PROXIES"] for one in servers.values()}
    settings = next(iter(servers.values()))["environment"]

    assert len(servers) == 3
    assert all(one["environment"] == settings for one in servers.values())
    assert set(settings) <= OWN_VARIABLES
    assert proxy["environment"]["SERVERS"].split() == [f"{name}:8080" for name in servers]
    assert address_of_proxy(compose) == address
    assert mounted(compose) == {*compose["volumes"], "./Caddyfile"}


def address_of_proxy(compose: Any) -> str:
    """Return the address of the proxy, which Docker gives to no other container."""
    address = str(compose["services"]["proxy"]["networks"]["default"]["ipv4_address"])
    (pool,) = compose["networks"]["default"]["ipam"]["config"]
    assert ip_address(address) in ip_network(pool["subnet"])
    assert ip_address(address) not in ip_network(pool["ip_range"])
    return address


def mounted(compose: Any) -> set[str]:
    """Return the volumes and files that the containers have."""
    parts = compose["services"].values()
    return {volume.split(":")[0] for part in parts for volume in part.get("volumes", [])}


def test_one_server_in_a_container_believes_its_proxy_which_has_the_name_that_people_use(
    tmp_path: Path,
) -> None:
    folder = ROOT / "examples/self-hosting"
    text = (folder / "compose.yaml").read_text()
    compose = yaml.safe_load(text.replace("${HOST_NAME:?set the host name}", "hwci.example.org"))
    server, proxy = compose["services"]["server"], compose["services"]["proxy"]
    settings = read_settings(server["environment"])
    caddyfile = "../cluster/Caddyfile"

    assert set(server["environment"]) <= OWN_VARIABLES
    assert settings.base_url == "https://hwci.example.org"
    assert settings.trusted_proxies == (ip_network(address_of_proxy(compose)),)
    assert proxy["environment"] == {"ADDRESS": "hwci.example.org", "SERVERS": "server:8080"}
    assert {port.split(":")[0] for port in proxy["ports"]} == {"80", "443"}, "where Caddy listens"
    assert "ports" not in server, "who reaches it beside the proxy could claim any address"
    assert (folder / server["build"] / "Dockerfile").exists()
    assert server["volumes"] == ["data:/data"]
    assert mounted(compose) == {*compose["volumes"], caddyfile}
    if shutil.which("caddy") is None:
        pytest.skip("caddy is not installed")
    validate = ["caddy", "validate", "--adapter", "caddyfile", "--config", str(folder / caddyfile)]
    home = {"XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    variables = os.environ | home | proxy["environment"]
    done = subprocess.run(validate, env=variables, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_with_tls_the_proxy_gets_a_certificate_for_the_name_by_which_people_reach_the_servers() -> (
    None
):
    folder = ROOT / "examples/cluster"
    plain = yaml.safe_load((folder / "compose.yaml").read_text())["services"]
    parts = yaml.safe_load((folder / "tls.yaml").read_text())["services"]
    proxy = parts.pop("proxy")
    name = "${HOST_NAME:?set the host name}"
    servers = {key for key, part in plain.items() if part.get("build") == "../.."}

    settings = {"environment": {"HWCI_BASE_URL": f"https://{name}"}}
    assert parts.keys() == servers
    assert [part for part in parts.values() if part != settings] == []
    assert proxy["environment"] == {"ADDRESS": name}
    assert {port.split(":")[0] for port in proxy["ports"]} == {"80", "443"}, "where Caddy listens"
    assert plain["proxy"]["environment"]["ADDRESS"] == ":8080"
    assert plain["proxy"]["ports"] == ["8080:8080"]


def test_the_proxy_of_a_cluster_answers_as_a_server_that_is_not_ready() -> None:
    caddyfile = (ROOT / "examples/cluster/Caddyfile").read_text()
    (body,) = re.findall(r"respond @away `(.*)` 503", caddyfile)

    assert ErrorBody.model_validate_json(body).status_code == 503
    assert "header @away Retry-After 5" in caddyfile
    assert "@away expression `{err.status_code} >= 502`" in caddyfile, "413 stays what it is"
    assert set(re.findall(r"{\$(\w+)", caddyfile)) == {"ADDRESS", "SERVERS"}


@pytest.fixture
def caddy(tmp_path: Path) -> Path:
    """The configuration of the cluster's proxy with TLS, for the server of this test."""
    if shutil.which("caddy") is None:
        pytest.skip("caddy is not installed")
    return tmp_path / "caddy.json"


@contextmanager
def proxy(file: Path, port: int, server: str) -> Iterator[Path]:
    """Run the proxy of the cluster with TLS at a port of localhost, before a server; yield where
    its certificate of the root will be. Nothing of it is left on this machine.
    """
    adapt = ["caddy", "adapt", "--adapter", "caddyfile", "--config", "examples/cluster/Caddyfile"]
    variables = os.environ | {"ADDRESS": f"localhost:{port}", "SERVERS": server}
    adapted = subprocess.run(adapt, cwd=ROOT, env=variables, check=True, capture_output=True)
    config = json.loads(adapted.stdout)
    with held_port() as plain:
        config["apps"]["http"]["http_port"] = plain
        config["apps"]["pki"] = {"certificate_authorities": {"local": {"install_trust": False}}}
        file.write_text(json.dumps(config))
        home = {"XDG_DATA_HOME": str(file.parent), "XDG_CONFIG_HOME": str(file.parent)}
        command = ["caddy", "run", "--config", str(file)]
        with subprocess.Popen(command, env=os.environ | home, stderr=subprocess.DEVNULL) as process:
            try:
                yield file.parent / "caddy/pki/authorities/local/root.crt"
            finally:
                process.terminate()


def answer_of(url: str, root: Path, *, wanted: int) -> Message:
    """Return the head of an answer of a status, which comes within half a minute."""
    until = time.monotonic() + 30
    answer: tuple[object, Message] = (None, Message())
    while time.monotonic() < until:
        try:
            with urlopen(url, context=ssl.create_default_context(cafile=root), timeout=10) as reply:
                answer = reply.status, reply.headers
        except HTTPError as fault:
            answer = fault.code, fault.headers
        except OSError as fault:  # it is not there yet
            answer = fault, Message()
        if answer[0] == wanted:
            break
        time.sleep(0.1)
    assert answer[0] == wanted
    return answer[1]


def test_the_proxy_speaks_tls_for_its_host_name_and_says_when_no_server_is_ready(
    caddy: Path, tmp_path: Path
) -> None:
    with held_port() as port:
        base = f"https://localhost:{port}"
        settings = {"HWCI_BASE_URL": base, "HWCI_TRUSTED_PROXIES": "127.0.0.1"}
        with (
            started(tmp_path, "serve", "--port", "0", **settings) as (process, line),
            proxy(caddy, port, urlsplit(line.split()[2]).netloc) as root,
        ):
            answer_of(f"{base}/readyz", root, wanted=200)
            process.terminate()
            away = answer_of(f"{base}/readyz", root, wanted=503)

    assert away["Retry-After"] == "5"


def test_the_unit_starts_the_server_that_notifies(tmp_path: Path) -> None:
    (start,) = of_unit("ExecStart")
    named = {one.split("=")[0] for one in of_unit("Environment")}

    assert accepted(start.split()[1:]).params["quiet"] is True
    assert of_unit("Type") == ["notify"]
    assert {"HWCI_DATABASE", "HWCI_SSO_FILE", "HWCI_BASE_URL"} == named <= OWN_VARIABLES
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / "hwci.service"
    unit.write_text(UNIT.replace(start.split()[0], sys.executable))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_unit_makes_the_folder_of_the_backups_that_its_guides_make() -> None:
    (made,) = of_unit("StateDirectory")
    folders = [f"/var/lib/{name}/" for name in made.split()]
    guides = [ROOT / "docs/how-to/operate.md", ROOT / "examples/self-hosting/README.md"]
    copies = re.findall(
        r"hwci admin (?:backup|restore|export(?: \".*\")?) (/\S+/)",
        "".join(guide.read_text() for guide in guides),
    )

    assert len(copies) == 6
    assert set(copies) <= set(folders)


def test_the_unit_allows_as_many_open_files_as_the_server_takes() -> None:
    assert of_unit("LimitNOFILE") == [str(FILES_MOST)]
