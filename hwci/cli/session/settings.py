# SPDX-License-Identifier: Apache-2.0
"""Which server, organization and credential a command uses (contract, "Command line"):
flag > `HWCI_*` > profile > default. A secret is never taken from an argument, and the token of a
profile is never shown to another server than the one that gave it.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from hwci.cli.terminal.errors import report
from hwci.client.explained import NO_URL, NO_URL_FIX, ErrorMessage, not_empty, wrong_usage
from hwci.client.session_file import SessionFile, own_session_file

if TYPE_CHECKING:
    from hwci.bench.box_key import BoxCredential
    from hwci.client.session import Session

DEFAULT_URL = "http://127.0.0.1:8080"
KEY_FILE = "HWCI_CI_KEY_FILE"
SECRET_BYTES_MAX = 64 * 1024
RETRIES = 1
"""A person waits for the answer, and can try again; a CI job is more patient."""


@dataclass(frozen=True)
class Flags:
    """The flags of the command line; None if not given."""

    url: str | None = None
    profile: str | None = None
    org: str | None = None


@dataclass(frozen=True)
class Settings:
    """What holds for this command. What is kept in files is read by who asks for it: a CI job
    whose settings are all in its environment needs no home folder.
    """

    url: str
    org: str | None
    environ: Mapping[str, str]
    named: str | None = None
    """The profile that a flag or a variable names, else the one in use where no server is named."""
    explicit: bool = False
    """A flag or a variable names the profile."""
    guessed: bool = False
    """The server is the default, to try hwci with."""
    named_server: bool = False
    """A flag or a variable names the server or its profile. Any other gets no key of the
    environment: on a bench, whoever signed in last would decide where the keys of all jobs go.
    """

    @property
    def session(self) -> "Session":
        """The kept sign-in: that of the profile that is named, else that of the server. A job with
        a token asks for none, and needs no file.
        """
        from hwci.client.session import Session

        return Session(self.url, kept_sign_ins(self.environ), profile=self.named, retries=RETRIES)

    def ci_key(self) -> str | None:
        """Read the CI key: only the commands that report need one."""
        return secret("HWCI_CI_KEY", self.environ)

    def reader_key(self) -> str | None:
        """Read the reader key: with it, commands that read need no sign-in."""
        return secret("HWCI_READER_KEY", self.environ)

    def token(self) -> str | None:
        """Read the token of the environment."""
        return secret("HWCI_TOKEN", self.environ)

    def url_for_key(self, failed: str, *, in_person: bool = False) -> str:
        """Return the address, for a command that shows it a key or a token of its environment.
        `in_person`: a person calls it, for whom the server of their sign-in is the one they named.
        """
        if not self.named_server and (self.guessed or not in_person):
            raise wrong_usage(failed, NO_URL, NO_URL_FIX)
        return self.url

    def __repr__(self) -> str:
        """Show where to, and no secret."""
        return f"Settings(url={self.url!r}, profile={self.named!r}, org={self.org!r})"


def resolve(flags: Flags, environ: Mapping[str, str] | None = None) -> Settings:
    """Find the settings of a command."""
    for flag, text in (("--url", flags.url), ("--profile", flags.profile), ("--org", flags.org)):
        not_empty(text, flag)
    env = os.environ if environ is None else environ
    explicit = flags.profile or env.get("HWCI_PROFILE")
    said_url = flags.url or env.get("HWCI_URL")
    named, url = explicit, said_url
    if not url:
        sign_ins = kept_sign_ins(env).read()
        named = explicit or sign_ins.current
        profile = sign_ins.get(named or "")
        url = None if profile is None else profile.url
    return Settings(
        url=(url or DEFAULT_URL).rstrip("/"),
        org=flags.org or env.get("HWCI_ORG") or None,
        environ=env,
        named=named,
        explicit=bool(explicit),
        guessed=not url,
        named_server=bool(said_url or (explicit and url)),
    )


def is_usual(settings: Settings, profile: str | None) -> bool:
    """Return whether a person's next commands go to this server without `--url`: a key or a token
    of the environment goes only to one that is named.
    """
    usual = resolve(Flags(profile=profile), settings.environ)
    by_sign_in = settings.token() is None and settings.reader_key() is None
    return usual.url == settings.url and (usual.named_server or by_sign_in)


def kept_sign_ins(environ: Mapping[str, str]) -> SessionFile:
    """Return the file of this user's sign-ins."""
    return own_session_file(environ, _warn_of_others)


@cache
def _warn_of_others(path: Path, mode: int) -> None:
    what = f"Others can read the sign-ins in {path}"
    cause = f"the mode of the file is {mode:04o}"
    fix = f"Run: chmod 600 {path}. If strangers use this machine, sign in again"
    report(ErrorMessage(what, cause, fix), "warning")


def secret(name: str, environ: Mapping[str, str]) -> str | None:
    """Read a secret from `NAME` or from the file that `NAME_FILE` names.

    An empty value is none: CI systems hand one to jobs that may not see the secret.
    """
    value = environ.get(name, "").strip()
    if value == f"$({name})":  # Azure hands on what a job may not see as its own name
        value = ""
    return value or _from_file(f"{name}_FILE", environ) or None


def box_credential(
    url: str | None, key_file: Path | None, environ: Mapping[str, str]
) -> "BoxCredential":
    """Return the key of this bench: that of the environment, else of the key file.

    Raises:
        NotInstalledError: there is none.
        ExplainedError: it cannot be read, or belongs to another server.
    """
    from hwci.bench.box_key import BoxCredential, box_file, kept_credential

    key = secret("HWCI_BOX_KEY", environ)
    if key is not None:
        return BoxCredential(resolve(Flags(url)).url_for_key("The box's key is not used"), key)
    return kept_credential(box_file(key_file, environ), url or environ.get("HWCI_URL"))


def _from_file(name: str, environ: Mapping[str, str]) -> str:
    from hwci.client.files import read_whole

    path = environ.get(name, "")
    if not path:
        return ""
    try:
        return read_whole(Path(path), SECRET_BYTES_MAX).decode().strip()
    except (OSError, UnicodeDecodeError) as fault:
        raise wrong_usage(
            f"The file that {name} names cannot be read",
            f"{path}: {getattr(fault, 'strerror', None) or 'it is not text'}",
            f"Correct {name}, or unset it",
        ) from fault
