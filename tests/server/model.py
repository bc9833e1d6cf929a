# SPDX-License-Identifier: Apache-2.0
"""What a model of an organization remembers of its invitations, its keys, its boxes and its
resolved failures.
"""

from dataclasses import dataclass, field
from typing import Any

FILES = ("drivers/i2c.c", "hil/i2c.py")
"""What mends a failure: firmware, or the harness."""
CLASSES = {"confirm": "real_fw_bug", "dismiss": "dismissed"}


PASSED = {"total": 1, "passed": 1, "failed": 0, "retried": 0}
FAILED = {"total": 1, "passed": 0, "failed": 1, "retried": 0}
"""Counts of a report of one test."""


@dataclass
class Key:
    id: str
    name: str
    value: str
    revoked: bool = False


@dataclass
class Offer:
    """An invitation that is open."""

    id: str
    token: str
    role: str
    inviter: str


@dataclass
class Box:
    id: str
    name: str
    token: str
    """The newest; `used` once it was."""
    used: bool = False
    dead_tokens: list[str] = field(default_factory=list)
    key: str | None = None
    dead_keys: list[str] = field(default_factory=list)


@dataclass
class Failure:
    id: str
    automatic: str
    action: str | None = None
    by: str | None = None

    @property
    def shown(self) -> str:
        return CLASSES[self.action] if self.action else self.automatic


def changes(base: str, sha: str, file: str) -> dict[str, Any]:
    return {"base_sha": base, "commits": [{"sha": sha, "subject": "Change", "files": [file]}]}
