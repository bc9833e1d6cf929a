# SPDX-License-Identifier: Apache-2.0
"""Products, and their configurations as they were sent (contract, "CI metrics")."""

from datetime import datetime

from hwci.contract.scope import ProductKey
from hwci.contract.shape import shape


@shape
class Links:
    """Templates of addresses of commits, files and pull requests."""

    commit: str | None = None
    file: str | None = None
    pull: str | None = None


@shape
class Targets:
    """Shares in percent: of merges checked on hardware at least, of infra runs at most."""

    merges_checked: float | None = None
    infra_runs: float | None = None


@shape
class Product(ProductKey):
    """A known product. `merge_trigger` null: not configured. `suite` null: a repository of which
    a merge was announced without one.
    """

    configured: bool
    merge_trigger: bool | None
    last_report_at: datetime | None
    links: Links | None = None


@shape
class SuiteConfig:
    """A configuration as sent."""

    repo_key: str
    suite: str
    firmware_paths: tuple[str, ...]
    harness_paths: tuple[str, ...]
    trigger_paths: tuple[str, ...] | None
    merge_trigger: bool
    updated_at: datetime
    links: Links | None = None
    targets: Targets | None = None
