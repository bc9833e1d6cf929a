# SPDX-License-Identifier: Apache-2.0
"""What git has of changes that runs did not send (ADR 0009)."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from hwci.contract.runs.commits import ChangeList
from hwci.wire import limits
from hwci.wire.base import Body, Sha
from hwci.wire.lists import ListRule
from hwci.wire.reports import Changes


class UnsentChanges(Body):
    """What git has of the changes that a run on `sha` did not send, as a report holds them."""

    sha: Sha
    changes: Changes


class UnsentBody(Body):
    """What git has of changes that runs did not send."""

    unsent: Annotated[Sequence[UnsentChanges], ListRule(limits.UNSENT_MAX)]

    def of_git(self) -> Mapping[tuple[str, str], ChangeList]:
        """Return the changes by the commits that they lie between."""
        lists = ((unsent.sha, unsent.changes.fact()) for unsent in self.unsent)
        return {
            (changes.base_sha, sha): changes
            for sha, changes in lists
            if changes.base_sha is not None
        }
