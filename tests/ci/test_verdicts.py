# SPDX-License-Identifier: Apache-2.0
"""Whom messages blame: those of harnesses and flash tools, as they write them."""

import os
import re
from pathlib import Path

import pytest

from hwci.ci.results import bench_words, expressions
from hwci.ci.results.bench_words import DEVICE, Words
from hwci.ci.results.verdicts import BUILT_IN, judge, never_built, with_built_in
from hwci.contract.vocabulary import Verdict

WORDS = (DEVICE, *bench_words.BENCH)
BENCH = [
    "Timeout during flashing",
    "Device issue (Flash error?)",
    "Device issue (Flash error?): Error: no probe. returncode: 1",
    "Device issue (Flash error)",
    "Device issue (Timeout)",
    (
        'failed on setup with "twister_harness.exceptions.TwisterHarnessException: '
        'Could not flash device 726350165"'
    ),
    "labgrid.exceptions.NoConfigFoundError: lg-env.yaml",
    "labgrid.exceptions.InvalidConfigError: unknown driver class OpenOCDriver",
    "labgrid.exceptions.NoDriverFoundError: no active PowerProtocol driver found in Target",
    (
        'failed on setup with "labgrid.exceptions.NoResourceFoundError: Not all resources are '
        "available: {NetworkPowerPort(target=Target(name='main'), name=None)}\""
    ),
    "labgrid.remote.client.UserError: place imx8-3 is not acquired",
    (
        "labgrid.remote.client.ServerError: place imx8-3 has an orphaned resource (exporter rack1 "
        "disconnected?)"
    ),
    "labgrid.remote.client.ServerError: Could not connect to coordinator",
    (
        "InfrastructureError: The Infrastructure is not working correctly. Please report this "
        "error to LAVA admins."
    ),
    "ConnectionClosedError: connection closed",
    "LAVABug: This is probably a bug in LAVA, please report it.",
    (
        "ConfigurationError: The LAVA instance is not configured correctly. Please report this "
        "error to LAVA admins."
    ),
    "error_type: Infrastructure",
    "Error: unable to find a matching CMSIS-DAP device",
    "Error: unable to open CMSIS-DAP device 0xd28:0x204",
    "Error: No J-Link device found",
    "Error: unable to open ftdi device with description '*', serial '*' at bus location '*'",
    "Error: The specified debug interface was not found (cmsis-dap)",
    "No available debug probes are connected",
    "No connected debug probe matches unique ID '0240000034544e45'",
    "pyocd.core.exceptions.ProbeError: no device with serial number",
    "pyocd.core.exceptions.ProbeDisconnected: gone",
    "Connecting to J-Link via USB...FAILED: Cannot connect to J-Link.",
    "ERROR: There is no debugger connected to the PC.",
    "Error: No debug probe detected.",
    "Error: No connected probes were found.",
    "Error: Probe could not be created\n\nCaused by:\n    Probe was not found.",
    "Error: Probe is already in use",
    "usb.core.NoBackendError: No backend available",
    r"FATAL ERROR: required program C:\Program Files\SEGGER\JLink\JLink.exe not found",
    (
        "serial.serialutil.SerialException: [Errno 2] could not open port /dev/ttyUSB0: [Errno 2] "
        "No such file or directory: '/dev/ttyUSB0'"
    ),
    "A fatal error occurred: Could not open /dev/ttyUSB0, the port is busy or doesn't exist.",
]

NOBODY = [
    "",
    "Timeout",
    "Unknown Error",
    "Failed",
    "No Console Output(Timeout)",
    "RunID mismatch",
    "Fault detected while running test",
    "Serial Device Error",
    "AssertionError: Testsuite failed",
    "AssertionError: assert 1 == 2",
    "Failed: Timeout >30.0s",
    "pexpect.exceptions.TIMEOUT: Timeout exceeded.",
    (
        "labgrid.exceptions.NoResourceFoundError: Not all resources are available: "
        "{AndroidUSBFastboot(target=Target(name='main'))}"
    ),
    "labgrid.driver.exception.ExecutionError: ('uname -a', [], [], 1)",
    "labgrid.strategy.common.StrategyError: no transition found",
    "LAVATimeoutError: test shell has timed out.",
    "TestError: A test failed to run, look at the error message.",
    "Error: init mode failed (unable to connect to the target)",
    "Error: Error connecting DP: cannot read IDR",
    "pyocd.core.exceptions.TransferError: No ACK received",
    "A fatal error occurred: Failed to connect to ESP32-S3: No serial data received.",
    "Could not open /dev/ttyACM0, the port is busy or doesn't exist.",
    "Cannot connect to target.",
    "Expected 1200 Was 0",
    # A device that does not appear as itself, or a port that may be its own.
    "[Errno 2] could not open port /dev/ttyACM0: [Errno 2] No such file or directory",
    (
        "could not open port /dev/serial/by-id/usb-Espressif_USB_JTAG_serial_debug_unit_7C:DF-if00:"
        " [Errno 2] No such file or directory"
    ),
    "could not open port /dev/serial/by-id/usb-ZEPHYR_USB-DEV_0102-if00: [Errno 2] No such file",
    "dfu-util: No DFU capable USB device available",
    "dfu-util: Cannot open DFU device 0483:df11 found on devnum 5 (LIBUSB_ERROR_NOT_FOUND)",
    "No accessible RP-series devices in BOOTSEL mode were found.",
    "No device found on ttyACM0",
    "Error: cannot find device with Micronucleus bootloader (16D0:0753)",
    "Error: esp_usb_jtag: could not find or open device!",
    "Error: no matching USB device found",
    # A target behind a probe that is there.
    "Error: ST-LINK error (DEV_CONNECT_ERR)",
    "Error: No STM32 target found!",
    "ERROR: Unable to connect to a debugger.",
    "Error: Connecting to the chip was unsuccessful.",
    "FATAL ERROR: command exited with status 1: openocd -s /x -c init",
    (
        "A fatal error occurred: Could not connect to an Espressif device on any of the 2 available"
        " serial ports."
    ),
    "Could not connect to J-Linked peer",
    # Words of an application.
    "ASSERTION FAIL [probe != NULL] @ drivers/sensor/probe.c:42: No probe found",
    "Assertion failed: target_not_found == false, function check_target, file target.c, line 7",
    "Error: open failed",
    "Error: open failed\nerrno 2",
    "E: Probe not found",
    "Error: Probe not found",
    "device not found on i2c bus, address 0x48",
    "usbh: did not find any USB device on port 2",
    "usbh: could not find device, timeout",
    "modem: could not open port 8080: connection refused",
    "could not open port /dev/ttyS1 of the modem",
    "file not found: /lfs/COM1.cfg",
    "could not open COMMAND channel",
    "serial port not found",
    "net: could not open socket://10.0.0.2:4000",
    "[Errno 2] could not open port /dev/cu.usbmodem14101: [Errno 2] No such file or directory",
    "No debug info, no probe points",
    "ASSERT: required program slot not found",
    "temperature probe could not be created",
    "sensor: Probe is already in use",
    "keyring.errors.NoBackendError: none",
    "Error: No serial ports could be detected",
    "There are no boards connected to the backplane",
    "flash: unable to open /dev/ttyUSB",
    "E (312) app: error_type: InfrastructureMode is not supported",
    '"error_type": "Test"',
    '"error_type": "Job"',
]


@pytest.mark.parametrize("message", BENCH)
def test_a_harness_that_names_a_part_of_the_bench_blames_the_bench(message: str) -> None:
    assert judge(message, BUILT_IN) is Verdict.INFRA


@pytest.mark.parametrize("message", NOBODY)
def test_what_a_firmware_can_cause_as_well_sets_no_verdict(message: str) -> None:
    assert judge(message, BUILT_IN) is Verdict.UNKNOWN


TARGET = '- {{"dt": "2026-08-20T10:11:{}.000000", "lvl": "target", "msg": "{}"}}'
RESULTS = (
    '- {"dt": "2026-08-20T10:11:12.131415", "lvl": "results", "msg": {"case": "job", "definition":'
    ' "lava", "error_msg": "x", "error_type": "Infrastructure", "result": "fail"}}'
)


def test_what_a_device_writes_into_a_log_of_lava_does_not_blame_the_bench() -> None:
    words = ["could not open port /dev/ttyUSB0: gone", "Error: No J-Link device found"]
    log = "\n".join(TARGET.format(10 + number, line) for number, line in enumerate(words))

    assert judge(log, BUILT_IN) is Verdict.UNKNOWN
    assert judge(f"{log}\n{RESULTS}", BUILT_IN) is Verdict.INFRA
    assert judge(f"{RESULTS}\n{log}", BUILT_IN) is Verdict.INFRA


def test_a_rule_of_ones_own_sees_what_a_device_writes_into_a_log_of_lava() -> None:
    with with_built_in([(re.compile("Kernel panic"), Verdict.DEVICE)]) as rules:
        assert judge(TARGET.format(10, "Kernel panic"), rules.all) is Verdict.DEVICE


def test_only_a_device_that_fails_its_own_tests_is_blamed() -> None:
    blaming = [rule for rule in BUILT_IN if rule.verdict is Verdict.DEVICE]

    assert judge("Testsuite failed", BUILT_IN) is Verdict.DEVICE
    assert [rule.pattern.pattern for rule in blaming] == [r"\ATestsuite failed\Z"]


@pytest.mark.parametrize("words", WORDS, ids=[words.pattern[:40] for words in WORDS])
def test_each_row_has_samples_that_it_alone_knows_and_that_no_other_row_knows_first(
    words: Words,
) -> None:
    verdict = Verdict.DEVICE if words is DEVICE else Verdict.INFRA
    assert words.why
    assert words.samples
    for sample in words.samples:
        knowing = [row.pattern for row in WORDS if re.search(row.pattern, sample)]
        assert knowing == [words.pattern]
        assert judge(sample, BUILT_IN) is verdict


@pytest.mark.parametrize("words", WORDS, ids=[words.pattern[:40] for words in WORDS])
def test_no_alternative_of_a_row_is_without_a_sample(words: Words) -> None:
    """Each alternative at the top of an expression is one that some sample alone needs."""
    needed = {
        branch
        for branch in alternatives(words.pattern)
        if any(re.search(branch, sample) for sample in words.samples)
    }

    assert needed == set(alternatives(words.pattern))


def alternatives(pattern: str) -> list[str]:
    """Split an expression at its outermost `|`."""
    branches, depth, escaped = [""], 0, False
    for letter in pattern:
        depth += 0 if escaped else {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == "|" and depth == 0 and not escaped:
            branches.append("")
        else:
            branches[-1] += letter
        escaped = letter == "\\" and not escaped
    return branches


def test_rules_of_ones_own_go_first_and_the_first_match_wins() -> None:
    own = [
        (re.compile("flashing"), Verdict.DEVICE),
        (re.compile("Timeout"), Verdict.UNKNOWN),
    ]
    with with_built_in(own) as rules:
        assert judge("Timeout during flashing", rules.all) is Verdict.DEVICE
        assert judge("Timeout", rules.all) is Verdict.UNKNOWN
        assert judge("Device issue (Timeout)", rules.all) is Verdict.UNKNOWN
        assert judge("No debug probe detected", rules.all) is Verdict.INFRA
        assert rules.notices("hwci.toml") == []


ENDLESS, STUCK = r"(a+)+$", "a" * 64 + "!"
OWN = [
    (re.compile("^first"), Verdict.DEVICE),
    (re.compile(ENDLESS), Verdict.DEVICE),
    (re.compile("!"), Verdict.INFRA),
]


def test_an_expression_that_does_not_end_is_cut_and_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No rule behind it decides then: it might have matched. Those before it do."""
    monkeypatch.setattr(expressions, "TRY_SECONDS", 1.0)
    with with_built_in(OWN) as rules:
        assert judge(STUCK, rules.all) is Verdict.UNKNOWN
        assert judge("!", rules.all) is Verdict.UNKNOWN
        assert judge("No debug probe detected", rules.all) is Verdict.UNKNOWN
        assert judge("first of all", rules.all) is Verdict.DEVICE
        (notice,) = rules.notices("hwci.toml")

    assert notice == (
        "warning: hwci.toml: verdict 2: '(a+)+$' was not done with a message within 5 s, and is"
        " tried no more: such verdicts stay unknown. Let no part of it that repeats hold another"
        " one that does"
    )


def test_no_process_is_left_of_rules_and_none_is_begun_without_a_message() -> None:
    with with_built_in(OWN) as rules:
        assert children() == []
        judge("first of all", rules.all)
        assert len(children()) == 1
    assert children() == []


def test_a_message_of_any_letters_is_seen_as_it_is() -> None:
    own = [(re.compile("(?i)naïve \n\U0001f525\ud800\\Z"), Verdict.INFRA)]
    with with_built_in(own) as rules:
        assert judge("a NAÏVE \n\U0001f525\ud800", rules.all) is Verdict.INFRA
        assert judge("a naive", rules.all) is Verdict.UNKNOWN


def children() -> list[str]:
    """Return the processes that this one has begun for expressions."""
    pids = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    lines = [Path(f"/proc/{pid}/cmdline").read_text() for pid in pids]
    return [line for line in lines if "json.loads" in line]


def test_built_in_rules_take_time_in_proportion_to_a_message() -> None:
    """Twice the message must not be four times the steps: of a name that comes thousands of times,
    none but the first begins a search for the end.
    """
    (rule,) = [rule for rule in BUILT_IN if "NoResourceFoundError" in rule.pattern.pattern]
    assert rule.pattern.pattern.startswith(r"(?s)\A(?>")
    assert judge("NoResourceFoundError " * 3_000 + "USBDebugger", BUILT_IN) is Verdict.INFRA
    assert judge("NoResourceFoundError " * 3_000, BUILT_IN) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    "message",
    [
        "Build failure",
        "CMake build failure",
        "CMake build failure - Could NOT find Python3",
        "Build failure - undefined reference to\n`k_yield'",
        "Building stage has failed, see errors above. Use `pio test -vvv` option",
    ],
)
def test_a_build_that_failed_never_reached_the_hardware(message: str) -> None:
    assert never_built(message)


@pytest.mark.parametrize("message", ["", "AssertionError: Build failure", "Build failures: 0"])
def test_other_words_of_builds_are_no_such_thing(message: str) -> None:
    assert not never_built(message)


def test_a_message_without_end_is_looked_at_for_a_while() -> None:
    assert judge("x" * 100_000 + "Timeout during flashing", BUILT_IN) is Verdict.UNKNOWN
