# SPDX-License-Identifier: Apache-2.0
"""Answers to those who ask whether a server lives and can serve."""

from typing import Literal

from hwci.wire.base import Answer


class HealthAnswer(Answer):
    """Answer of `/healthz` and `/readyz`."""

    status: Literal["ok"] = "ok"
