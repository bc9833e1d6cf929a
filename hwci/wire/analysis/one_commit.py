# SPDX-License-Identifier: Apache-2.0
"""What can be asked of one commit (contract, "Answers beside the rules")."""

from hwci.wire.base import Name
from hwci.wire.queries import PeriodQuery, ShaStart


class OneCommitQuery(PeriodQuery):
    """Query of one commit of a repository, by the runs of a period. `suite`: of this product.
    `sha`: the commit, or the first digits of one that ran.
    """

    repo_key: Name
    sha: ShaStart
