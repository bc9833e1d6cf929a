# SPDX-License-Identifier: Apache-2.0
"""The cases of each CI system, by its name."""

from importlib import import_module

from hwci.contract.ci_systems import CiSystem
from tests.ci.systems.cases import Cases

CASES: dict[CiSystem, Cases] = {
    name: import_module(f"tests.ci.systems.{name}").CASES for name in CiSystem
}
