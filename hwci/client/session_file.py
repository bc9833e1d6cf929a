# SPDX-License-Identifier: Apache-2.0
"""Where sign-ins are kept between programs: one file, readable by its owner alone, replaced as a
whole. It decides the form of the file; when a sign-in is renewed is decided in `session.py`.
"""

import json
import os
import stat
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

DEFAULT_PROFILE = "default"
FORMAT = 1
"""Raised when a hwci that knows only the earlier form could no longer read the file."""
BYTES_MAX = 4 * 1024 * 1024


@dataclass(frozen=True)
class Profile:
    """One sign-in. `refresh_token` None: it is sent, or was, and may not be sent again.
    `device_token` None: the server gave none.
    """

    url: str
    email: str
    access_token: str
    refresh_token: str | None
    expires_at: float
    device_token: str | None = None

    def __repr__(self) -> str:
        """Show whose it is, and no token."""
        return f"Profile(url={self.url!r}, email={self.email!r})"


_FIELDS = tuple(field.name for field in fields(Profile) if field.default is MISSING)


@dataclass(frozen=True)
class SignIns:
    """The profiles of a file, as they were read at one moment."""

    content: dict[str, Any]

    @property
    def profiles(self) -> dict[str, Profile]:
        """Every profile, by its name."""
        return _profiles(self.content)

    @property
    def current(self) -> str | None:
        """The name of the profile in use, if there is one: signed in or chosen last."""
        names = (self.content.get("current"), DEFAULT_PROFILE)
        return next((name for name in names if name in self.content["profiles"]), None)

    def get(self, name: str) -> Profile | None:
        """Return a profile, if there is one of this name."""
        return self.profiles.get(name)

    def of_server(self, url: str) -> str:
        """Return the name of the profile of a server; without one, a name that no other has."""
        profiles = self.profiles
        fitting = [name for name, profile in profiles.items() if profile.url == url]
        if fitting:
            return next((name for name in fitting if name == self.current), fitting[0])
        names = (DEFAULT_PROFILE, urlsplit(url).netloc, url)
        return next(name for name in names if name == url or name not in profiles)


@dataclass(frozen=True)
class Changing(SignIns):
    """The profiles of a file while its lock is held. What is put is written at once."""

    write: Callable[[dict[str, Any]], None]

    def put(self, name: str, profile: Profile) -> None:
        """Keep a profile in place of the earlier one of that name."""
        profiles = self.content["profiles"]
        profiles[name] = {**profiles.get(name, {}), **asdict(profile)}
        self.write(self.content)

    def use(self, name: str) -> None:
        """Make a profile the current one."""
        self.content["current"] = name
        self.write(self.content)

    def drop(self, name: str) -> None:
        """Drop a profile."""
        del self.content["profiles"][name]
        self.write(self.content)


def _warn_of_others(path: Path, mode: int) -> None:
    warnings.warn(f"Others can read the sign-ins in {path}: its mode is {mode:04o}", stacklevel=2)


class Fixes(NamedTuple):
    """What to do about a file that cannot be used, by what is wrong with it."""

    damaged: str
    unreadable: str
    unwritable: str
    newer: str


OF_A_PROGRAM = Fixes(
    damaged="Remove the file, and let the program sign in again",
    unreadable="Make the file yours to read",
    unwritable="Make the folder yours to write, or choose another",
    newer="Update hwci, or choose another file for its sign-ins",
)
OF_THE_COMMANDS = Fixes(
    damaged="Remove the file and sign in again: hwci login",
    unreadable="Make the file yours to read, or do without: HWCI_URL with HWCI_TOKEN or"
    " HWCI_CI_KEY",
    unwritable="Make the folder yours to write, or choose another: XDG_CONFIG_HOME",
    newer="Update hwci, or keep its sign-ins in another folder: XDG_CONFIG_HOME",
)


@dataclass(frozen=True)
class SessionFile:
    """The file of all profiles. What another version wrote beside our fields stays in it.

    `exposed` is called with the path and the mode of a file that others can read. It is used all
    the same: a sign-in ends by itself, and a renewed one is written for its owner alone. `fixes`:
    what its errors advise.

    A method raises `SessionFileError` if the file cannot be read or written, or is not one that
    this hwci knows.
    """

    path: Path
    exposed: Callable[[Path, int], None] = _warn_of_others
    fixes: Fixes = OF_A_PROGRAM

    def read(self) -> SignIns:
        """Return what is kept; without the file, that is nothing."""
        return SignIns(self._content())

    @contextmanager
    def changing(self) -> Iterator[Changing]:
        """Yield the profiles to change. No other thread or process changes them meanwhile."""
        from hwci.client.files import locked

        with ExitStack() as held:
            with self._writing():
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                held.enter_context(locked(self.path.with_suffix(".lock"), wait=True))
            yield Changing(self._content(), self._write)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        from hwci.client.errors import SessionFileError

        try:
            yield
        except OSError as fault:
            raise SessionFileError(
                f"The sign-ins in {self.path} cannot be written",
                fault.strerror or str(fault),
                self.fixes.unwritable,
            ) from fault

    def _content(self) -> dict[str, Any]:
        from hwci.client.errors import SessionFileError

        try:
            written = self._bytes()
        except FileNotFoundError:
            return {"format": FORMAT, "profiles": {}}
        except OSError as fault:
            raise SessionFileError(
                f"The sign-ins in {self.path} cannot be read",
                fault.strerror or str(fault),
                self.fixes.unreadable,
            ) from fault
        try:
            content: dict[str, Any] = json.loads(written)
            newer = content["format"] > FORMAT
            if not newer:
                _profiles(content)
        except (ValueError, KeyError, TypeError, AttributeError) as fault:
            raise SessionFileError(
                f"The sign-ins in {self.path} cannot be read",
                "the file is not one that hwci wrote",
                self.fixes.damaged,
            ) from fault
        if newer:
            raise SessionFileError(
                f"The sign-ins in {self.path} are of a newer hwci",
                f"they have format {content['format']}, and this one knows {FORMAT}",
                self.fixes.newer,
            )
        return content

    def _bytes(self) -> bytes:
        from hwci.client.files import OF_OTHERS, read_at_most, refuse_pipe

        refuse_pipe(self.path)
        with self.path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if mode & OF_OTHERS:
                self.exposed(self.path, mode)
            return read_at_most(file, BYTES_MAX)

    def _write(self, content: Mapping[str, Any]) -> None:
        from hwci.client.files import replace_whole

        with self._writing():
            replace_whole(self.path, json.dumps(content, indent=2).encode())


def _profiles(content: Mapping[str, Any]) -> dict[str, Profile]:
    return {
        name: Profile(
            **{field: profile[field] for field in _FIELDS}, device_token=profile.get("device_token")
        )
        for name, profile in content["profiles"].items()
    }


def own_session_file(
    environ: Mapping[str, str], exposed: Callable[[Path, int], None] = _warn_of_others
) -> SessionFile:
    """Return the file of this user, which `hwci login` uses, too:
    `$XDG_CONFIG_HOME/hwci/credentials.json`.

    Raises:
        SessionFileError: this user has no home folder.
    """
    from hwci.client.errors import SessionFileError
    from hwci.client.files import own_folder

    try:
        path = own_folder(environ) / "credentials.json"
    except RuntimeError as fault:
        raise SessionFileError(
            "There is no place for sign-ins",
            "HOME is not set, and this user has no home folder",
            "Set HWCI_URL with HWCI_TOKEN or HWCI_CI_KEY, or set XDG_CONFIG_HOME",
        ) from fault
    return SessionFile(path, exposed, OF_THE_COMMANDS)
