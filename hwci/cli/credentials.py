# SPDX-License-Identifier: Apache-2.0
"""Where a sign-in is kept between commands: one file, readable by its owner alone, replaced as a
whole. It decides the form of the file; which setting wins is decided in `settings.py`.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hwci.cli.failing import CommandError, Failing, wrong_usage
from hwci.cli.own_file import own_folder, replacing

FORMAT = 1
"""Raised when a hwci that knows only the earlier form could no longer read the file."""
ARRIVES_WITHIN = timedelta(seconds=5)
"""A server reads a token some time after we have looked at it, and by its own clock."""


class SpentError(CommandError):
    """A renewal that may have used the refresh token up, and gave no other in its place."""


@dataclass(frozen=True)
class Profile:
    """One sign-in. The refresh token is kept for the renewal of sign-ins."""

    url: str
    email: str
    access_token: str
    refresh_token: str
    expires_at: float

    def ended(self, now: datetime) -> bool:
        """Tell whether the access token has ended, or would before it arrives."""
        return now + ARRIVES_WITHIN >= datetime.fromtimestamp(self.expires_at, UTC)

    def __repr__(self) -> str:
        """Show whose it is, and no token."""
        return f"Profile(url={self.url!r}, email={self.email!r})"


_FIELDS = tuple(field.name for field in fields(Profile))


@dataclass(frozen=True)
class Credentials:
    """The file of all profiles. What another version wrote beside our fields stays in it."""

    path: Path

    def profiles(self) -> dict[str, Profile]:
        """Read every profile; without the file there is none.

        Raises:
            CommandError: the file cannot be read, or is not one that this hwci knows.
        """
        return _profiles(self._content())

    def store(self, name: str, profile: Profile) -> None:
        """Keep a profile in place of the earlier one of that name.

        Raises:
            CommandError: the file cannot be read or written.
        """
        with self._changing() as kept:
            kept[name] = {**kept.get(name, {}), **asdict(profile)}

    def renewed(self, name: str, renew: Callable[[Profile], Profile | None]) -> Profile | None:
        """Put what `renew` makes of a profile in its place, and give it.

        A refresh token works once, so no other command may use it meanwhile: `renew` is called
        under the lock and with what is kept now, which another command may have renewed just
        before; it gives None to leave the profile as it is. Without a profile the answer is None.

        Raises:
            SpentError: `renew` raised it, and the profile is forgotten: its token, sent a second
                time, would end every sign-in of the user.
            CommandError: the file cannot be read or written.
        """
        with self._changing() as kept:
            profile = _profiles({"profiles": kept}).get(name)
            try:
                fresh = None if profile is None else renew(profile)
            except SpentError as fault:
                del kept[name]
                spent = fault
            else:
                if fresh is not None:
                    kept[name] = {**kept[name], **asdict(fresh)}
                return fresh or profile
        raise spent

    def forget(self, name: str) -> None:
        """Drop a profile.

        Raises:
            CommandError: the file cannot be read or written.
        """
        with self._changing() as kept:
            kept.pop(name, None)

    def _content(self) -> dict[str, Any]:
        try:
            content: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
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

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Any]]:
        """Give the profiles to change, under a lock: two sign-ins at once both stay."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _locked(self.path.with_suffix(".lock")):
                content = self._content()
                yield content["profiles"]
                with replacing(self.path) as file:
                    json.dump(content, file, indent=2)
        except OSError as fault:
            raise CommandError(
                Failing(
                    f"The sign-ins in {self.path} cannot be written",
                    fault.strerror or str(fault),
                    "Make the folder yours to write, or choose another: XDG_CONFIG_HOME",
                )
            ) from fault


def _profiles(content: Mapping[str, Any]) -> dict[str, Profile]:
    return {
        name: Profile(**{field: kept[field] for field in _FIELDS})
        for name, kept in content["profiles"].items()
    }


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Wait for the lock of a file. It stands beside the one that it guards, which is replaced."""
    import fcntl

    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def default_credentials(environ: Mapping[str, str]) -> Credentials:
    """Give the file of this user: `$XDG_CONFIG_HOME/hwci/credentials.json`.

    Raises:
        CommandError: the user has no home, as in a container that runs as any number.
    """
    try:
        return Credentials(own_folder(environ) / "credentials.json")
    except RuntimeError as fault:
        raise wrong_usage(
            "There is no place for sign-ins",
            "HOME is not set, and this user has no home folder",
            "Set HWCI_URL with HWCI_TOKEN or HWCI_CI_KEY, or set XDG_CONFIG_HOME",
        ) from fault
