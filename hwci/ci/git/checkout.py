# SPDX-License-Identifier: Apache-2.0
"""What a job asks of the checkout that it runs in, when nothing better tells it."""

from datetime import datetime
from typing import Protocol


class Checkout(Protocol):
    """A work tree. None: there is no such thing, or it cannot be known."""

    def head(self) -> str | None:
        """The full hash of the commit that is checked out."""

    def resolved(self, revision: str) -> str | None:
        """The full hash of the commit that a revision names here."""

    def branch(self) -> str | None:
        """The branch that is checked out; a detached head has none."""

    def default_branch(self) -> str | None:
        """The branch that the remote calls its own, as far as the clone knows it."""

    def remote_url(self) -> str | None:
        """The address that it was cloned from."""

    def committed_at(self, sha: str) -> datetime | None:
        """When a commit was made."""
