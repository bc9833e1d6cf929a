# SPDX-License-Identifier: Apache-2.0
"""Resolved failures by their cause (contract, "Answers beside the rules")."""

from uuid import UUID

from hwci.contract.failures.failures import ResolvedFailure
from hwci.contract.runs.commits import CommitInShort
from hwci.contract.shape import shape


@shape
class Message:
    """The first line of what the harness wrote, of how many failures it wrote that, and which of
    those in the cause's list they are.
    """

    line: str
    failures: int
    failure_ids: tuple[UUID, ...]


@shape
class Cause:
    """Resolved failures with one cause, the first to fail first. `id`: of the first of them. The
    list holds 100 at most, the numbers beside it count all. `messages`: what the harness wrote of
    them, the five most frequent of `messages_total` different lines. `commits`: those that may have
    broken them (of a range the first 20), the first that failed and the fix, each once, as far as a
    run listed them.
    """

    id: UUID
    tests_total: int
    boxes_total: int
    failures: tuple[ResolvedFailure, ...]
    failures_total: int
    messages: tuple[Message, ...]
    messages_total: int
    commits: tuple[CommitInShort, ...]
