# SPDX-License-Identifier: Apache-2.0
"""Where a sign-in is kept between commands: one file, readable by its owner alone, replaced as a
whole. It decides the form of the file; which setting wins is decided in `settings.py`.
"""

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, asdict, dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hwci.cli.terminal.errors import report
from hwci.client.explained import (
    SIGN_IN_FIX,
    ErrorMessage,
    ExitCode,
    ExplainedError,
    command_error,
    wrong_usage,
)

DEFAULT_PROFILE = "default"
FORMAT = 1
"""Raised when a hwci that knows only the earlier form could no longer read the file."""
BYTES_MAX = 4 * 1024 * 1024
ARRIVES_WITHIN = timedelta(seconds=5)
"""A server reads a token some time after we have looked at it, and by its own clock."""


class UnusedError(ExplainedError):
    """A renewal that failed, and surely did not use the refresh token up."""


@dataclass(frozen=True)
class Profile:
    """One sign-in. `refresh_token` None: it is sent, or was, and may not be sent again.
    `device_token` None: the server gave none, or an earlier hwci kept this.
    """

    url: str
    email: str
    access_token: str
    refresh_token: str | None
    expires_at: float
    device_token: str | None = None

    def ended(self, now: datetime) -> bool:
        """Return whether the access token has ended, or will before it arrives."""
        return now + ARRIVES_WITHIN >= datetime.fromtimestamp(self.expires_at, UTC)

    def __repr__(self) -> str:
        """Show whose it is, and no token."""
        return f"Profile(url={self.url!r}, email={self.email!r})"


_FIELDS = tuple(field.name for field in fields(Profile) if field.default is MISSING)


@dataclass(frozen=True)
class Credentials:
    """The file of all profiles. What another version wrote beside our fields stays in it. A method
    raises ExplainedError if the file cannot be read or written, or is not one that this hwci knows.
    """

    path: Path

    def profiles(self) -> dict[str, Profile]:
        """Read every profile; without the file there is none."""
        return _profiles(self._content())

    def current(self) -> str | None:
        """Return the name of the profile in use, if there is one: signed in or chosen last."""
        content = self._content()
        names = (content.get("current"), DEFAULT_PROFILE)
        return next((name for name in names if name in content["profiles"]), None)

    def of_server(self, url: str) -> str:
        """Return the name of the profile of a server; without one, a name that no other has."""
        profiles = self.profiles()
        fitting = [name for name, kept in profiles.items() if kept.url == url]
        if fitting:
            return next((name for name in fitting if name == self.current()), fitting[0])
        names = (DEFAULT_PROFILE, urlsplit(url).netloc, url)
        return next(name for name in names if name == url or name not in profiles)

    def store(self, name: str, profile: Profile, *, use: bool = True) -> None:
        """Keep a profile in place of the earlier one of that name. `use`: it is the current one."""
        with self._changing() as content:
            kept = content["profiles"]
            kept[name] = {**kept.get(name, {}), **asdict(profile)}
            if use:
                content["current"] = name

    def use(self, name: str) -> None:
        """Make a profile the current one."""
        with self._changing() as content:
            content["current"] = name

    def renewed(
        self,
        name: str,
        now: datetime,
        renew: Callable[[Profile], Profile],
        refused: str | None = None,
    ) -> Profile | None:
        """Put what `renew` makes of a profile in its place, and return it, if its access token has
        ended or is the one that was refused.

        A refresh token works once, and sent a second time ends every sign-in of the user. So no
        other command may use it meanwhile: all is done under the lock and with what is kept now,
        which another command may have renewed just before. And it leaves the file before it leaves
        this machine: whatever ends this command in between, the next one has no token to send.
        Without a profile the answer is None.

        Raises:
            UnusedError: `renew` raised it, and the profile is kept as it was.
            ExplainedError: the file cannot be read or written, or there is nothing to renew with.
        """
        with self._locked() as content:
            kept = content["profiles"]
            profile = _profiles(content).get(name)
            if profile is None or not (profile.ended(now) or profile.access_token == refused):
                return profile
            if profile.refresh_token is None:
                raise _nothing_to_renew_with(name, profile)
            before = kept[name]
            kept[name] = {**before, "refresh_token": None}
            self._write(content)
            try:
                fresh = renew(profile)
            except UnusedError:
                kept[name] = before
                self._write(content)
                raise
            kept[name] = {**before, **asdict(fresh)}
            self._write(content)
            return fresh

    def forget(self, name: str) -> None:
        """Drop a profile."""
        with self._changing() as content:
            content["profiles"].pop(name, None)

    def _content(self) -> dict[str, Any]:
        try:
            content: dict[str, Any] = json.loads(self._text())
            newer = content["format"] > FORMAT
            if not newer:
                _profiles(content)
        except FileNotFoundError:
            return {"format": FORMAT, "profiles": {}}
        except OSError as fault:
            raise wrong_usage(
                f"The sign-ins in {self.path} cannot be read",
                fault.strerror or str(fault),
                "Make the file yours to read, or do without: HWCI_URL with HWCI_TOKEN or"
                " HWCI_CI_KEY",
            ) from fault
        except (ValueError, KeyError, TypeError, AttributeError) as fault:
            raise wrong_usage(
                f"The sign-ins in {self.path} cannot be read",
                "the file is not one that `hwci login` wrote",
                "Remove the file and sign in again: hwci login",
            ) from fault
        if newer:
            raise wrong_usage(
                f"The sign-ins in {self.path} are of a newer hwci",
                f"they have format {content['format']}, and this one knows {FORMAT}",
                "Update hwci, or keep its sign-ins in another folder: XDG_CONFIG_HOME",
            )
        return content

    def _text(self) -> str:
        from hwci.ci.bounded import read_at_most, refuse_pipe

        refuse_pipe(self.path)
        with self.path.open("rb") as file:
            _warn_of_others(self.path, stat.S_IMODE(os.fstat(file.fileno()).st_mode))
            return read_at_most(file, BYTES_MAX).decode()

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Any]]:
        """Yield the content to change, under a lock: two sign-ins at once both stay."""
        with self._locked() as content:
            yield content
            self._write(content)

    @contextmanager
    def _locked(self) -> Iterator[dict[str, Any]]:
        from hwci.client.files import locked

        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(self.path.with_suffix(".lock"), wait=True):
                yield self._content()
        except OSError as fault:
            raise command_error(
                f"The sign-ins in {self.path} cannot be written",
                fault.strerror or str(fault),
                "Make the folder yours to write, or choose another: XDG_CONFIG_HOME",
            ) from fault

    def _write(self, content: Mapping[str, Any]) -> None:
        from hwci.client.files import replace_whole

        replace_whole(self.path, json.dumps(content, indent=2).encode())


@cache
def _warn_of_others(path: Path, mode: int) -> None:
    """Warn once that others can read the file. It is used all the same: a sign-in ends by itself,
    and a renewed one is written for its owner alone.
    """
    from hwci.client.files import OF_OTHERS

    if mode & OF_OTHERS:
        what = f"Others can read the sign-ins in {path}"
        cause = f"the mode of the file is {mode:04o}"
        fix = f"Run: chmod 600 {path}. If strangers use this machine, sign in again"
        report(ErrorMessage(what, cause, fix), "warning")


def _nothing_to_renew_with(name: str, profile: Profile) -> ExplainedError:
    return command_error(
        "Your sign-in has ended",
        f"profile {name!r} at {profile.url} was being renewed, and no answer was kept",
        SIGN_IN_FIX,
        ExitCode.SIGN_IN,
    )


def _profiles(content: Mapping[str, Any]) -> dict[str, Profile]:
    return {
        name: Profile(
            **{field: kept[field] for field in _FIELDS}, device_token=kept.get("device_token")
        )
        for name, kept in content["profiles"].items()
    }


def default_credentials(environ: Mapping[str, str]) -> Credentials:
    """Return the file of this user: `$XDG_CONFIG_HOME/hwci/credentials.json`."""
    from hwci.client.files import own_folder

    try:
        return Credentials(own_folder(environ) / "credentials.json")
    except RuntimeError as fault:
        raise wrong_usage(
            "There is no place for sign-ins",
            "HOME is not set, and this user has no home folder",
            "Set HWCI_URL with HWCI_TOKEN or HWCI_CI_KEY, or set XDG_CONFIG_HOME",
        ) from fault
