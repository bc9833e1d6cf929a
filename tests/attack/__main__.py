# SPDX-License-Identifier: Apache-2.0
"""Run attacks and print what their victim noticed (`tests/attack/__init__.py`)."""

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from tests.attack.probe import Seen, percentile, probing, resident, rested
from tests.attack.scene import Attack, scene

NO_ATTACKS = {"__init__", "__main__", "heavy", "probe", "scene"}
SETTLE_SECONDS = 1.0


def main(names: Sequence[str]) -> int:
    """Run the attacks of these names, or all; return 1 when a promise did not hold."""
    known = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))
    known = [name for name in known if name not in NO_ATTACKS]
    if unknown := set(names) - set(known):
        print(f"There is no attack {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
        return 2
    faults = [fault for name in names or known for fault in asyncio.run(_attacked(name))]
    return 1 if faults else 0


async def _attacked(name: str) -> list[str]:
    module = import_module(f"tests.attack.{name}")
    attack: Attack = module.ATTACK
    print(f"{name}: {(module.__doc__ or '').splitlines()[0]}", flush=True)
    begun, figure = time.monotonic(), None
    with tempfile.TemporaryDirectory(prefix="hwci-attack-") as folder:
        async with scene(Path(folder), attack) as running:
            async with probing(running) as seen:
                await asyncio.sleep(SETTLE_SECONDS)
                seen.before = resident(running.process.pid)
                faults: list[str] = []
                try:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(attack.seconds):
                            figure = await attack.run(running)
                except AssertionError as fault:
                    faults.append(f"{fault}")
                await asyncio.sleep(SETTLE_SECONDS)
            if running.process.returncode is None:
                seen.after = await rested(running, seen.before)
            if running.process.returncode not in {None, 0}:
                faults.append(f"the server ended with {running.process.returncode}")
            logged = sum(map(len, running.log))
    faults += seen.faults() if attack.probed else []
    _show(seen, logged, time.monotonic() - begun)
    if figure:
        print(f"  {figure}" + (f" (before: {attack.before})" if attack.before else ""))
    for broken in faults:
        print(f"  FAULT: {broken}", flush=True)
    return faults


def _show(seen: Seen, logged: int, seconds: float) -> None:
    for what, times in (("page", seen.pages), ("report", seen.reports)):
        print(
            f"  {what:6} {len(times):4} times, median {percentile(times, 50) * 1e3:6.0f} ms,"
            f" 99th percentile {percentile(times, 99) * 1e3:6.0f} ms"
        )
    answers = ", ".join(f"{status} x{times}" for status, times in sorted(seen.statuses.items()))
    print(f"  answers: {answers}")
    before, most, after = (size / 1024**2 for size in (seen.before, seen.memory, seen.after))
    print(
        f"  memory {before:.0f} MiB, at most {most:.0f}, then {after:.0f};"
        f" log {logged:,} bytes, {seconds:.0f} s in all"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
