# SPDX-License-Identifier: Apache-2.0
"""A client whose sign-in is renewed when the server no longer takes its access token before its
time: the operator changed the signing key. It decides when to ask again, and nothing of how a
sign-in is renewed. Commands that need it import it late: it brings the client with it.
"""

from collections.abc import Callable
from typing import TypeVar

from hwci.client import Call, Client
from hwci.client.errors import UnauthorizedError

T = TypeVar("T")


class RenewingClient(Client):
    """Sends with the token that `token` returns. A refused token is passed to `token`, once for
    each call, to get another in its place: a refused call was not looked at, and is repeated.
    """

    def __init__(
        self,
        url: str,
        token: Callable[[str | None], str],
        reader_key: str | None,
        retries: int,
    ) -> None:
        self._given = ""
        self._token = token
        super().__init__(url, token=lambda: self._ask(None), reader_key=reader_key, retries=retries)

    def send(self, call: Call[T], *, within: float | None = None) -> T:
        """Perform a call and return its answer, as every client does."""
        try:
            return super().send(call, within=within)
        except UnauthorizedError:
            refused = self._given
            if not refused or self._ask(refused) == refused:
                raise
            return super().send(call, within=within)

    def _ask(self, refused: str | None) -> str:
        self._given = self._token(refused)
        return self._given
