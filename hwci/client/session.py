# SPDX-License-Identifier: Apache-2.0
"""A sign-in that lasts: kept in a file that threads and processes share, and renewed when its
access token ends (contract, "Auth"). It decides when and how; the form of the file is decided in
`session_file.py`, and which calls need a token in `_protocol.py`.

A refresh token works once, and sent a second time ends every session of its user. So nobody else
may use it meanwhile: a renewal is done under the lock and with what is kept now, which another may
have renewed just before. And it leaves the file before it leaves this machine: whatever ends this
process in between, the next one has no token to send.
"""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path

from hwci.client import calls
from hwci.client._sync import Client
from hwci.client.errors import (
    AnswerShapeError,
    ApiError,
    ConnectionFailedError,
    HwciError,
    SessionEndedError,
)
from hwci.client.session_file import Changing, Profile, SessionFile, SignIns, own_session_file
from hwci.wire.accounts import SignedIn, TokenPair

ARRIVES_WITHIN_S = 5
"""A server reads a token some time after we have looked at it, and by its own clock."""


class Session:
    """A person's sign-in at one server, for `Client(url, token=session)` and `AsyncClient`. Threads
    and processes may share it, each process with a Session of the same file.

    Args:
        url: the server's address. Its tokens are sent to no other.
        path: the file; by default that of `hwci login`.
        profile: its name in the file; by default the one that is kept of this server.
        login: returns e-mail and password. Called when there is no sign-in that can be renewed: at
            first, after a week without use, after a crash within a renewal. Without it, calls then
            raise `SessionEndedError`.
        retries: tries after the first one, where repeating a call is safe.
    """

    def __init__(
        self,
        url: str,
        path: str | Path | SessionFile | None = None,
        *,
        profile: str | None = None,
        login: Callable[[], tuple[str, str]] | None = None,
        retries: int = 4,
    ) -> None:
        self.url = url.rstrip("/")
        self._path = path
        self._profile = profile
        self._login = login
        self._retries = retries

    def __repr__(self) -> str:
        return f"Session({self.url!r})"

    @property
    def file(self) -> SessionFile:
        """The file of sign-ins. It is looked for when it is needed."""
        if self._path is None:
            return own_session_file(os.environ)
        return self._path if isinstance(self._path, SessionFile) else SessionFile(Path(self._path))

    @property
    def name(self) -> str:
        """The name of the profile."""
        return self._name_in(self.file.read())

    def kept(self) -> Profile | None:
        """Return the sign-in as it is kept; one of another server is none."""
        file = self.file.read()
        return self._own(file.get(self._name_in(file)))

    def token(self, refused: str | None = None) -> str:
        """Return an access token. The sign-in is renewed, or begun, if the token that is kept has
        ended or is the one that was refused.

        Raises:
            SessionEndedError: only a new sign-in helps.
            HwciError: see `hwci.client.errors`; what is kept works, or can be renewed, later.
        """
        profile = self.kept()
        if profile is None or not _works(profile, refused):
            with self.file.changing() as file:
                name = self._name_in(file)
                profile = self._own(file.get(name))
                if profile is None or not _works(profile, refused):
                    profile = self._fresh(file, name, profile)
                    file.put(name, profile)
        return profile.access_token

    def keep(self, answer: SignedIn, began: float, *, use: bool = False) -> str:
        """Keep a sign-in that was requested at `began`, and return the name of its profile. `use`:
        as the current one of the file.
        """
        profile = self._profile_of(answer.user.email, answer, began, answer.device_token)
        with self.file.changing() as file:
            name = self._name_in(file)
            file.put(name, profile)
            if use:
                file.use(name)
        return name

    def end(self) -> bool:
        """End the session here and at the server; return whether the server knows. It does
        not if there is no session, or if a renewal took its refresh token.

        Raises:
            HwciError: the server does not know. The session is ended here even so.
        """
        with self.file.changing() as file:
            name = self._name_in(file)
            profile = self._own(file.get(name))
            if profile is not None:
                file.drop(name)
        if profile is None or profile.refresh_token is None:
            return False
        with Client(profile.url, retries=self._retries) as client:
            client.send(calls.logout(profile.refresh_token))
        return True

    def _name_in(self, file: SignIns) -> str:
        return self._profile or file.of_server(self.url)

    def _own(self, profile: Profile | None) -> Profile | None:
        return profile if profile is not None and profile.url == self.url else None

    def _fresh(self, file: Changing, name: str, profile: Profile | None) -> Profile:
        try:
            return self._renewed(file, name, profile)
        except SessionEndedError:
            if self._login is None:
                raise
        email, password = self._login()
        device = profile.device_token if profile is not None and profile.email == email else None
        began = time.time()
        with Client(self.url, retries=self._retries) as client:
            answer = client.send(calls.login(email, password, device_token=device))
        return self._profile_of(email, answer, began, answer.device_token)

    def _renewed(self, file: Changing, name: str, profile: Profile | None) -> Profile:
        if profile is None:
            raise self._none_kept()
        if profile.refresh_token is None:
            reason = f"profile {name!r} at {profile.url} was being renewed, and no answer was kept"
            raise SessionEndedError("The sign-in has ended", reason)
        file.put(name, replace(profile, refresh_token=None))
        began = time.time()
        try:
            with Client(profile.url, retries=self._retries) as client:
                answer = client.send(calls.refresh(profile.refresh_token))
        except HwciError as fault:
            if not _unused(fault):
                raise SessionEndedError("Your sign-in could not be renewed", str(fault)) from fault
            file.put(name, profile)
            raise
        return self._profile_of(profile.email, answer, began, profile.device_token)

    def _none_kept(self) -> SessionEndedError:
        named = f"profile {self._profile!r} keeps no sign-in at {self.url}"
        reason = named if self._profile else f"no sign-in at {self.url} is kept"
        return SessionEndedError("You are not signed in", reason)

    def _profile_of(
        self, email: str, tokens: TokenPair, began: float, device_token: str | None
    ) -> Profile:
        assert tokens.refresh_token is not None, "only a browser asks for a cookie in its place"
        return Profile(
            url=self.url,
            email=email,
            access_token=tokens.access_token,
            refresh_token=tokens.refresh_token,
            expires_at=began + tokens.expires_in,
            device_token=device_token,
        )


def _works(profile: Profile, refused: str | None) -> bool:
    """Return whether the access token will not have ended when it arrives, and was not refused."""
    return time.time() + ARRIVES_WITHIN_S < profile.expires_at and profile.access_token != refused


def _unused(fault: HwciError) -> bool:
    """Return whether the server surely did not look at the token. A 503 counts if it is hwci's own,
    with a request id: that of a proxy may come from a connection that broke after the request.
    """
    if isinstance(fault, ApiError):
        busy = fault.status_code == HTTPStatus.SERVICE_UNAVAILABLE and fault.request_id is not None
        return busy or fault.status_code == HTTPStatus.TOO_MANY_REQUESTS
    if isinstance(fault, ConnectionFailedError):
        return not fault.sent
    return not isinstance(fault, AnswerShapeError)
