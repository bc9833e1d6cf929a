# SPDX-License-Identifier: Apache-2.0
"""The settings of a server, and how `HWCI_*` variables are read (contract, "Command line"). The
table `VARIABLES` has names, defaults and the grammar of values; the reference page is made from it
too.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from hwci.contract.ci_systems import SigningSystem
from hwci.server.errors import SettingsError
from hwci.wire import limits

Network = IPv4Network | IPv6Network
NO_LIMIT = "off"
_NOTHING = urlsplit("")
_SIZE = re.compile(r"([1-9]\d{0,5}) ?([MGT])iB", re.ASCII)
_LIMIT = re.compile(r"[1-9]\d{0,8}/([1-9]\d{0,3} )?(second|minute|hour|day)s?", re.ASCII)


class Registration(StrEnum):
    """Who may register (contract, "Auth"): the operator's policy."""

    OPEN = "open"
    INVITE = "invite"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one server. `port` 0: any free port; `secret_key_file` None: beside the database.
    Limits are such as `100/minute`, or `off`; `auth_rate_limit` None: each route's default.
    Quotas are such as `1GiB`, or `off`. Days None: no bound.
    """

    database: str = field(default="hwci-data/hwci.db", repr=False)
    database_session: str | None = field(default=None, repr=False)
    host: str = "127.0.0.1"
    port: int = 8080
    base_url: str | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    drain_seconds: float = 0.0
    registration: Registration = Registration.INVITE
    secret_key_file: Path | None = None
    rate_limit: str = "100/minute"
    auth_rate_limit: str | None = None
    quota_hour: str = "1GiB"
    quota_all: str = "1TiB"
    valkey_url: str | None = field(default=None, repr=False)
    trusted_proxies: tuple[Network, ...] = ()
    sso_file: Path | None = None
    prometheus: bool = False
    webhook_networks: tuple[Network, ...] = ()
    ci_issuers: tuple[tuple[SigningSystem, str], ...] = ()
    keep_reports_days_max: int | None = None
    keep_messages_days_max: int | None = None
    keep_logs_days_max: int | None = None


DEFAULTS = Settings()


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: its setting, reader and meaning. `secret`: it may be in a file, `name`_FILE."""

    name: str
    setting: str
    read: Callable[[str], Any]
    meaning: str
    secret: bool = False


def _registration(value: str) -> Registration:
    try:
        return Registration(value)
    except ValueError as fault:
        raise ValueError(f"it may be {', '.join(Registration)}") from fault


def _networks(value: str) -> tuple[Network, ...]:
    try:
        return tuple(ip_network(part.strip()) for part in value.split(",") if part.strip())
    except ValueError as fault:
        raise ValueError("it may be addresses or networks, such as 10.0.0.0/8,::1") from fault


def _yes(value: str) -> bool:
    if value not in {"0", "1"}:
        raise ValueError("it may be 1 or 0")
    return value == "1"


def _seconds(value: str) -> float:
    if not re.fullmatch(r"\d{1,4}(\.\d{1,3})?", value, re.ASCII):
        raise ValueError("it may be seconds, such as 10")
    return float(value)


def _limit(value: str) -> str:
    if value != NO_LIMIT and not _LIMIT.fullmatch(value):
        raise ValueError(f"it may be such as 100/minute or 20/10 seconds, or {NO_LIMIT}")
    return value


def bytes_of(quota: str) -> int | None:
    """Return a quota in bytes; None if it is off. Raises `ValueError`: it is no quota."""
    if quota == NO_LIMIT:
        return None
    size = _SIZE.fullmatch(quota)
    if size is None:
        raise ValueError(f"it may be such as 512MiB, 1GiB or 2TiB, or {NO_LIMIT}")
    return int(size[1]) << 10 * (2 + "MGT".index(size[2]))


def _quota(value: str) -> str:
    bytes_of(value)
    return value


def _parts(value: str) -> SplitResult:
    """Return the parts of an address, or none: Python's message may hold a part of a password."""
    try:
        parts = urlsplit(value)
        return parts if parts.hostname and parts.port != 0 else _NOTHING
    except ValueError:
        return _NOTHING


_LOOPBACK = {"127.0.0.1", "::1", "localhost"}


def is_safe(url: str) -> bool:
    """Return whether secrets may go to an address, or come from it: over TLS, or within this
    machine.
    """
    parts = _parts(url)
    plain = parts.scheme == "http" and parts.hostname in _LOOPBACK
    return (plain or parts.scheme == "https") and not parts.fragment


def _issuers(value: str) -> tuple[tuple[SigningSystem, str], ...]:
    try:
        pairs = [part.strip().split("=", 1) for part in value.split(",") if part.strip()]
        issuers = tuple([(SigningSystem(name), url) for name, url in pairs])
    except ValueError:
        issuers = ()
    if not issuers or not all(is_safe(url) and not urlsplit(url).query for _, url in issuers):
        raise ValueError(
            "it may be SYSTEM=ADDRESS, such as gitlab=https://gitlab.example.org, with https,"
            f" several with commas; a SYSTEM is one of {', '.join(SigningSystem)}"
        )
    return issuers


def _days(least: int) -> Callable[[str], int]:
    def read(value: str) -> int:
        most = limits.KEEP_DAYS_MAX
        if not value.isdecimal() or not value.isascii() or not least <= int(value[:9]) <= most:
            raise ValueError(f"it may be days, from {least} to {most}")
        return int(value)

    return read


def _valkey_url(value: str) -> str:
    if _parts(value).scheme not in {"valkey", "valkeys"}:
        raise ValueError("it may be an address such as valkey://host:6379, valkeys:// with TLS")
    return value


def _base_url(value: str) -> str:
    parts = _parts(value)
    if parts.scheme not in {"http", "https"} or parts.query or parts.fragment:
        raise ValueError("it may be an address such as https://hwci.example.org")
    if parts.path.strip("/"):
        raise ValueError(
            "it has a path, below which neither cookies nor links would work: give the server a"
            f" host name of its own, such as {parts.scheme}://hwci.example.org"
        )
    return value.rstrip("/")


VARIABLES: tuple[Variable, ...] = (
    Variable(
        "HWCI_DATABASE",
        "database",
        str,
        "The database: a file, `postgresql://…`, or `memory:`.",
        secret=True,
    ),
    Variable(
        "HWCI_DATABASE_SESSION",
        "database_session",
        str,
        "Where a pooler such as PgBouncer lends connections of `HWCI_DATABASE` for one transaction:"
        " an address of PostgreSQL itself, to hear of the events of other servers.",
        secret=True,
    ),
    Variable(
        "HWCI_BASE_URL",
        "base_url",
        _base_url,
        "The address that people use, where a proxy stands before the server. Links and cookies"
        " go by it; single sign-on and jobs that sign in need it.",
    ),
    Variable(
        "HWCI_TLS_CERT",
        "tls_cert",
        Path,
        "Certificate, with its chain, in PEM: the server speaks TLS itself.",
    ),
    Variable("HWCI_TLS_KEY", "tls_key", Path, "Key of the certificate, in PEM, not encrypted."),
    Variable(
        "HWCI_DRAIN_SECONDS",
        "drain_seconds",
        _seconds,
        "How long a server that is stopping is not ready but still listens, so that a load"
        " balancer sends its requests elsewhere first.",
    ),
    Variable(
        "HWCI_REGISTRATION",
        "registration",
        _registration,
        "Who may register: `open` anyone, `invite` people with an invitation, `closed` nobody.",
    ),
    Variable(
        "HWCI_SECRET_KEY_FILE",
        "secret_key_file",
        Path,
        "File of the key that signs access tokens; made beside the database when not set.",
    ),
    Variable(
        "HWCI_RATE_LIMIT",
        "rate_limit",
        _limit,
        "Requests to the API of one address, such as `100/minute`; `off` for no limit.",
    ),
    Variable(
        "HWCI_AUTH_RATE_LIMIT",
        "auth_rate_limit",
        _limit,
        "On top, for each of login, register, refresh and the sign-in of jobs, in place of their"
        " own defaults.",
    ),
    Variable(
        "HWCI_QUOTA_HOUR",
        "quota_hour",
        _quota,
        "What an organization may send in each hour, such as `1GiB`; `off` for no quota.",
    ),
    Variable(
        "HWCI_QUOTA_ALL",
        "quota_all",
        _quota,
        "What an organization may send in all, such as `1TiB`; `off` for no quota.",
    ),
    Variable(
        "HWCI_VALKEY_URL",
        "valkey_url",
        _valkey_url,
        "A Valkey that several servers count their limits in, such as `valkey://host:6379`.",
        secret=True,
    ),
    Variable(
        "HWCI_TRUSTED_PROXIES",
        "trusted_proxies",
        _networks,
        "Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` count: addresses or networks.",
    ),
    Variable(
        "HWCI_SSO_FILE",
        "sso_file",
        Path,
        "File of the providers of single sign-on, in TOML; needs `HWCI_BASE_URL`.",
    ),
    Variable(
        "HWCI_WEBHOOK_NETWORKS",
        "webhook_networks",
        _networks,
        "Own networks that webhooks may be sent to, such as `10.0.0.0/8`; without it only public"
        " addresses.",
    ),
    Variable(
        "HWCI_CI_ISSUERS",
        "ci_issuers",
        _issuers,
        "Own GitLab and GitHub Enterprise servers whose jobs may sign in, such as"
        " `gitlab=https://gitlab.example.org`, with commas between them.",
    ),
    Variable(
        "HWCI_KEEP_REPORTS_DAYS_MAX",
        "keep_reports_days_max",
        _days(limits.KEEP_REPORTS_DAYS_MIN),
        "Days after which each organization's reports and merges are deleted, if its own number is"
        " not lower; without it, as long as the organization says.",
    ),
    Variable(
        "HWCI_KEEP_MESSAGES_DAYS_MAX",
        "keep_messages_days_max",
        _days(limits.KEEP_TEXTS_DAYS_MIN),
        "The same of the messages of failed tests, which go without their reports.",
    ),
    Variable(
        "HWCI_KEEP_LOGS_DAYS_MAX",
        "keep_logs_days_max",
        _days(limits.KEEP_TEXTS_DAYS_MIN),
        "The same of the addresses of logs.",
    ),
    Variable(
        "HWCI_PROMETHEUS",
        "prometheus",
        _yes,
        "`1`: serve figures for Prometheus at `/metrics`; let a proxy decide who may read them.",
    ),
)


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Return the settings of `HWCI_*`; an empty one has its default. Raises `SettingsError`."""
    values: dict[str, Any] = {}
    for variable in VARIABLES:
        text = _value(environ, variable.name) if variable.secret else environ.get(variable.name)
        if text:
            values[variable.setting] = _read(variable, text)
    return Settings(**values)


def _read(variable: Variable, text: str) -> object:
    try:
        return variable.read(text)
    except ValueError as fault:
        shown = " cannot be used" if variable.secret else f" is {text!r}"
        raise SettingsError(f"{variable.name}{shown}", str(fault)) from fault


def _value(environ: Mapping[str, str], name: str) -> str | None:
    """Return the value of a variable, or the content of the file that `name`_FILE names."""
    path = environ.get(f"{name}_FILE")
    if not path:
        return environ.get(name)
    if environ.get(name):
        raise SettingsError(f"{name} and {name}_FILE are both set", "keep one of them")
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as fault:
        raise SettingsError(
            f"{name}_FILE names {path}, which cannot be read: {fault}",
            "name a file that can be read",
        ) from fault
