# SPDX-License-Identifier: Apache-2.0
"""What git has of changes that runs did not send (ADR 0071)."""

from collections.abc import Sequence
from typing import Annotated

from hwci.analysis.failures.what_if import OfGit
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

    def of_git(self) -> OfGit:
        """Return the changes by the commits that they lie between."""
        facts = ((one.sha, one.changes.fact()) for one in self.unsent)
        return {(of.base_sha, sha): of for sha, of in facts if of.base_sha is not None}
