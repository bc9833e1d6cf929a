# SPDX-License-Identifier: Apache-2.0
"""What a failed test blames, by the message that its harness wrote (spec, "Test item").

This module decides verdicts by rules, which are data. A message without a rule is `unknown`: a
bench that is blamed wrongly hides a bug, a device that is blamed wrongly invents one. So a rule for
the bench names a part of the bench that failed, whatever the firmware did, and the only rule for
the device is a device that says itself that its tests failed.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from hwci.ci.results.expressions import TRY_SECONDS, EndlessError, Expressions
from hwci.engine.vocabulary import Verdict

MESSAGE_MAX = 65_536
"""Rules look no further: the output of a whole test may stand in place of its message."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A message that the pattern matches anywhere has the verdict. `why`: who writes it, when."""

    pattern: re.Pattern[str]
    verdict: Verdict
    why: str

    def matches(self, message: str) -> bool:
        """Return whether a message has the verdict."""
        return self.pattern.search(message) is not None


class OwnRule:
    """A rule of a project, whose expression may never end on some message. Then it is tried no
    more, and `cut`.
    """

    def __init__(self, number: int, verdict: Verdict, expressions: Expressions) -> None:
        self._number = number
        self.verdict = verdict
        self._expressions = expressions
        self.cut = False

    def matches(self, message: str) -> bool:
        """Return whether a message has the verdict. Raises `EndlessError`: it cannot be known."""
        if self.cut:
            raise EndlessError
        try:
            return self._expressions.match(self._number, message)
        except EndlessError:
            self.cut = True
            raise


AnyRule = Rule | OwnRule


def judge(message: str, rules: Sequence[AnyRule]) -> Verdict:
    """Return the verdict of the first rule that matches, `unknown` if none does, or if one before
    it was cut: that one might have matched.
    """
    looked_at = message[:MESSAGE_MAX]
    try:
        found = (rule.verdict for rule in rules if rule.matches(looked_at))
        return next(found, Verdict.UNKNOWN)
    except EndlessError:
        return Verdict.UNKNOWN


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a project and, after them, those that are built in: the first match wins."""

    own: Sequence[OwnRule]
    patterns: Sequence[str]

    @property
    def all(self) -> Sequence[AnyRule]:
        """All of them."""
        return (*self.own, *BUILT_IN)

    def notices(self, path: object) -> list[str]:
        """Return a line for each rule of a project file that was cut."""
        return [
            f"warning: {path}: verdict {number}: {pattern[:_SHOWN]!r} was not done with a message"
            f" within {TRY_SECONDS:.0f} s, and is tried no more: such verdicts stay unknown. Let no"
            " part of it that repeats hold another one that does"
            for number, (rule, pattern) in enumerate(zip(self.own, self.patterns, strict=True), 1)
            if rule.cut
        ]


_SHOWN = 80


@contextmanager
def with_built_in(own: Sequence[tuple[re.Pattern[str], Verdict]]) -> Iterator[Rules]:
    """Yield the rules of a project with those that are built in."""
    patterns = [pattern.pattern for pattern, _ in own]
    with Expressions(patterns) as expressions:
        rules = [OwnRule(number, verdict, expressions) for number, (_, verdict) in enumerate(own)]
        yield Rules(rules, patterns)


def never_built(message: str) -> bool:
    """Return whether there was no firmware to run. Such a test is not an item of a report: it never
    reached the hardware, and a run of such tests only did not test its commit.
    """
    return _NEVER_BUILT.fullmatch(message) is not None


# Twister (`Build failure - undefined reference …` since it names details), and PlatformIO.
_NEVER_BUILT = re.compile(
    r"(?:CMake build failure|Build failure)(?: - .*)?|Building stage has failed, .*", re.DOTALL
)


def _bench(pattern: str, why: str) -> Rule:
    return Rule(re.compile(pattern), Verdict.INFRA, why)


BUILT_IN: tuple[Rule, ...] = (
    _bench(r"Timeout during flashing", "twister: the flash tool did not end"),
    _bench(
        r"Device issue \((?:Flash error\??|Timeout)\)",
        "twister: the flash tool failed, or did not end",
    ),
    _bench(r"TwisterHarnessException: Could not flash device", "twister's pytest harness"),
    Rule(
        re.compile(r"\ATestsuite failed\Z"),
        Verdict.DEVICE,
        "twister: the device itself wrote PROJECT EXECUTION FAILED after its tests",
    ),
    _bench(
        r"labgrid\.exceptions\.(?:NoConfigFound|InvalidConfig|NoDriverFound)Error",
        "labgrid: the description of the bench does not fit the bench",
    ),
    _bench(
        r"(?s)\A(?>.*?NoResourceFoundError).*(?:PowerPort|NetworkSerialPort|SDMux|SDWire|USBDebugger)\b",
        "labgrid: a part of the bench is away; USB ports that the device itself opens do not count",
    ),
    _bench(r"\bplace \S+ is not acquired", "labgrid: the place is not this job's"),
    _bench(r"has an orphaned resource", "labgrid: the exporter of the bench is away"),
    _bench(r"Could not connect to coordinator", "labgrid: the laboratory is away"),
    _bench(r"\bInfrastructureError\b", "LAVA: neither the test nor the device, as it says itself"),
    _bench(r"\bConnectionClosedError: connection closed", "LAVA: one of its InfrastructureErrors"),
    _bench(r"\bLAVABug\b", "LAVA: a fault of LAVA itself"),
    _bench(r"The LAVA instance is not configured", "LAVA: one of its ConfigurationErrors"),
    _bench(r"\berror_type: ?(?:Infrastructure|Bug|Configuration)\b", "LAVA: results of a job"),
    _bench(
        r"unable to (?:find a matching|open) CMSIS-DAP device|unable to find CMSIS-DAP device",
        "openocd: the probe is away",
    ),
    _bench(r"No J-Link device found|unable to open ftdi device", "openocd: the probe is away"),
    _bench(r"The specified debug interface was not found", "openocd: the probe cannot be driven"),
    _bench(
        r"No (?:available |connected )debug probes?(?: are connected| matches)?",
        "pyocd: the probe is away",
    ),
    _bench(r"pyocd\.core\.exceptions\.Probe(?:Error|Disconnected)", "pyocd: the probe failed"),
    _bench(r"Connecting to J-Link via USB\.{3}FAILED", "J-Link Commander: the probe is away"),
    _bench(r"There is no debugger connected to the PC", "nrfjprog: the probe is away"),
    _bench(r"No debug probe detected", "STM32CubeProgrammer: the probe is away"),
    _bench(r"No connected probes were found", "probe-rs: the probe is away"),
    _bench(
        r"[Cc]ould not open (?:port )?'?/dev/ttyUSB\d+",
        "pyserial, esptool: the bench's serial adapter is away; ttyACM may be the device's own",
    ),
)
"""The words of harnesses and flash tools. Left out on purpose, since a firmware can be the cause
too: time-outs, missing console output, `RunID mismatch` (an image that was rolled back), `Fault
detected while running test` (seen in the output of the image before), a target that does not answer
its probe, and a boot loader that does not answer esptool."""
