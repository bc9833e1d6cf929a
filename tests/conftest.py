# SPDX-License-Identifier: Apache-2.0
"""What holds for every test: how hypothesis looks for counterexamples, that no test reads or writes
what the person at this machine keeps in their home, that passwords are hashed in a moment, that
what a test starts takes SIGINT, and that no search for garbage looks at what lives until the end.

Counterexamples are looked for the same each time, however busy the machine is and whatever tests
ran before, so that a test which passed fails for a change alone. `--hypothesis-profile=search`
looks for others.
"""

import gc
import signal
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

# What tests share asserts too, and a failure shows both sides there as well.
pytest.register_assert_rewrite(
    *(f"tests.{room.parent.name}" for room in Path(__file__).parent.glob("*/__init__.py"))
)
pytest_plugins = ["tests.support.passwords", "tests.support.spec_client"]

# Modules and collected tests are a million objects. To look for garbage among them, and after every
# seven hundred new objects, takes a seventh of the processor.
gc.disable()
GARBAGE_THRESHOLDS = (10_000, 20, 20)


def pytest_collection_finish() -> None:
    """Look for garbage again, but not in what there is by now."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    gc.enable()


SOAKED = {"rounds", "of_each_period_and_product", "SOME_SYSTEMS"}
"""Names in a test file that tries more in `make soak`."""
STARTERS = {"subprocess", "running", "running_in_thread", "serving", "answering", "git", "page"}
"""Names in a test file whose tests start processes, servers, repositories or pages."""
SERVED = {"server", "service", "spec_client", "browser_name"}
"""Fixtures that do."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of files that try more in `make soak`, those that `make quick` runs, and those
    in a browser that see the demonstration. Files of quick tests come last: they fill the time of
    workers that would wait for the one with a long file.
    """
    long = set()
    for item in items:
        if "demo" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.demo)
        names = vars(getattr(item, "module", None) or ModuleType("none")).keys()
        if names & SOAKED:
            item.add_marker(pytest.mark.soak)
        elif not names & STARTERS and not SERVED.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.quick)
            continue
        long.add(item.path)
    items.sort(key=lambda item: item.path not in long)


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A job in the background: what a test starts would ignore the signal, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("search"), derandomize=True, database=None)
settings.load_profile("same")

_constants_of_ours = providers._get_local_constants


def _constants() -> Constants:
    """Return none for a search that is the same each time: hypothesis tries the constants of all
    loaded modules, which depend on the order of the tests.
    """
    return Constants() if settings().derandomize else _constants_of_ours()


providers._get_local_constants = _constants

KEPT = {"XDG_CONFIG_HOME": ".config", "XDG_STATE_HOME": ".local/state"}
"""Variables that name where a person's things are kept, and where that is in a home."""
ELSEWHERE = ("HWCI_STATE_DIR", "HWCI_SPOOL_DIR")
"""Variables that name such a place outside of any home."""


def live_in(home: Path, patch: pytest.MonkeyPatch) -> None:
    """Set an empty home for this process and those that it starts."""
    home.mkdir()
    patch.setenv("HOME", str(home))
    for name, folder in KEPT.items():
        patch.setenv(name, str(home / folder))
    for name in ELSEWHERE:
        patch.delenv(name, raising=False)


@pytest.fixture(scope="session", autouse=True)
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Iterator[Path]]:
    """Yield one home after the other. The first is for what lives longer than a test."""
    folder = tmp_path_factory.mktemp("homes")
    places = (folder / str(number) for number in count())
    with pytest.MonkeyPatch.context() as patch:
        live_in(next(places), patch)
        yield places


@pytest.fixture(autouse=True)
def own_home(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of this test, which no other shares."""
    own = next(homes)
    live_in(own, monkeypatch)
    return own
