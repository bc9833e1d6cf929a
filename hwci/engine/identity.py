# SPDX-License-Identifier: Apache-2.0
"""Identifiers that survive recomputation: derived from natural keys, never from a row number.

A late or replaced report may move and rebuild everything derived; links, reviews and bookmarks
hold ids, so the same failure must keep the same id for ever.
"""

from uuid import UUID, uuid5

from hwci.engine.facts import FailureKey

_NAMESPACE = UUID("6f1c2f0e-7c55-5d0b-9d5c-8f3f0c1a7e21")


def _derived(*parts: str) -> UUID:
    """Derive a UUIDv5; lengths keep ("a", "bc") and ("ab", "c") apart."""
    return uuid5(_NAMESPACE, "".join(f"{len(part)}:{part}" for part in parts))


def failure_id(org_id: UUID, key: FailureKey) -> UUID:
    """Id of a failure: stable for organization, test, box, branch and commit."""
    return _derived("failure", str(org_id), *key.lane, key.sha)


def run_record_id(org_id: UUID, repo_key: str, run_id: int, run_attempt: int, box_key: str) -> UUID:
    """Id of a run record: stable when its report is replaced (contract, "Runs and streams")."""
    return _derived("run", str(org_id), repo_key, str(run_id), str(run_attempt), box_key)
