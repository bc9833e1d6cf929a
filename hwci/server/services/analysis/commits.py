# SPDX-License-Identifier: Apache-2.0
"""One commit, and what caused its failures (contract, "Answers beside the rules")."""

from hwci.analysis.commits.one_commit import one_commit
from hwci.contract.runs.one_commit import OneCommit
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import Analysis, Answers, Asked
from hwci.server.services.ci_metrics.tags import Tags
from hwci.server.services.known import known_commit
from hwci.wire import limits
from hwci.wire.analysis.one_commit import OneCommitQuery
from hwci.wire.endpoints import analysis


class Commits(Analysis):
    """Reads about one commit."""

    async def show(self, viewer: Viewer, query: OneCommitQuery, tags: Tags) -> OneCommit | None:
        """Return what became of a commit."""

        def work(about: Asked) -> OneCommit:
            return one_commit(*about, known_commit(*about, query.sha), limits.COMMIT_MAX)

        return await self._answer(viewer, query, work, tags)


ANSWERS: Answers = {
    analysis.ONE_COMMIT: Commits.show,
}
