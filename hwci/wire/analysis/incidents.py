# SPDX-License-Identifier: Apache-2.0
"""What can be asked of incidents (contract, "Answers beside the rules")."""

from typing import Literal

from hwci.contract.vocabulary import Label
from hwci.wire.base import NamePattern
from hwci.wire.queries import TableQuery, WhereQuery


class IncidentsQuery(TableQuery, WhereQuery):
    """Query of the incidents. `label`: those that still fail, or those that are resolved. `sha`:
    those of which something failed on this commit. `branch`: as of `BranchesQuery`.
    """

    branch: NamePattern | None = None
    label: Literal[Label.PENDING, Label.RESOLVED] | None = None
