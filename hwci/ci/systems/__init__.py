# SPDX-License-Identifier: Apache-2.0
"""The CI systems that hwci knows, each described as `SYSTEM` in the module of its name."""

from collections.abc import Mapping
from importlib import import_module

from hwci.ci.job import Job
from hwci.ci.systems.earlier import EarlierRunsApi
from hwci.ci.systems.system import System
from hwci.contract.ci_systems import CiSystem

SYSTEMS: tuple[System, ...] = tuple(
    import_module(f"hwci.ci.systems.{name}").SYSTEM for name in CiSystem
)


def detected(environ: Mapping[str, str]) -> System | None:
    """Return the system whose job this is."""
    return next((system for system in SYSTEMS if system.is_here(environ)), None)


def system_of(job: Job) -> System | None:
    """Return the system of a job; None at a desk."""
    return next((system for system in SYSTEMS if system.name == job.system), None)


def api_of(job: Job) -> EarlierRunsApi | None:
    """Return the API that lists earlier runs of a job, None if its system has none, or lists those
    of another repository.
    """
    system = None if job.is_elsewhere else system_of(job)
    return system.api if system else None
