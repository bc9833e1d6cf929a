# SPDX-License-Identifier: Apache-2.0
"""Where a sign-in is kept between commands: one file, readable by its owner alone, replaced as a
whole. It decides the form of the file; which setting wins is decided in `settings.py`.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from hwci.cli.failing import wrong_usage

FORMAT = 1


@dataclass(frozen=True)
class Profile:
    """One sign-in. The refresh token is kept for the renewal of sign-ins."""

    url: str
    email: str
    access_token: str
    refresh_token: str
    expires_at: float

    def ended(self, now: datetime) -> bool:
        """Tell whether the access token has ended: it lives 15 minutes."""
        return now >= datetime.fromtimestamp(self.expires_at, UTC)

    def __repr__(self) -> str:
        """Show whose it is, and no token."""
        return f"Profile(url={self.url!r}, email={self.email!r})"


@dataclass(frozen=True)
class Credentials:
    """The file of all profiles."""

    path: Path

    def profiles(self) -> dict[str, Profile]:
        """Read every profile; without the file there is none.

        Raises:
            CommandError: the file is not one that hwci wrote.
        """
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}
        try:
            named = json.loads(text)["profiles"]
            return {name: Profile(**fields) for name, fields in named.items()}
        except (ValueError, KeyError, TypeError, AttributeError) as fault:
            raise wrong_usage(
                f"The sign-ins in {self.path} cannot be read",
                "the file is not one that `hwci login` wrote",
                "Remove the file and sign in again: hwci login",
            ) from fault

    def store(self, name: str, profile: Profile) -> None:
        """Keep a profile in place of the earlier one of that name."""
        self._write(self.profiles() | {name: profile})

    def forget(self, name: str) -> None:
        """Drop a profile."""
        self._write({key: kept for key, kept in self.profiles().items() if key != name})

    def _write(self, profiles: Mapping[str, Profile]) -> None:
        """Replace the file at once: a reader finds the old one or the new one, never a half."""
        import tempfile

        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        content = {
            "format": FORMAT,
            "profiles": {name: asdict(profile) for name, profile in profiles.items()},
        }
        # mkstemp creates the file with mode 0600, so no one else can open it at any moment.
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=".credentials-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(content, file, indent=2)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def default_credentials(environ: Mapping[str, str]) -> Credentials:
    """Give the file of this user: `$XDG_CONFIG_HOME/hwci/credentials.json`."""
    home = environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Credentials(Path(home) / "hwci" / "credentials.json")
