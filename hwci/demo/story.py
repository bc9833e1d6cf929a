# SPDX-License-Identifier: Apache-2.0
"""What happened in the demo's ninety days: bugs and their fixes, bench problems, flaky tests.

The story has a calendar of its own, which ends on a Friday evening; `history.py` moves it as a
whole. Each row has how many days before that it began. The rows are chosen so that every table of
the metrics page has rows; the page itself is computed by the engine from what CI would have sent,
and no row here holds what the page should show.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hwci.contract.vocabulary import Verdict
from hwci.demo.project import GATEWAY, MAIN, RELEASE, SENSOR, DemoProduct

THE_END = datetime(2026, 11, 20, 19, tzinfo=UTC)
"""The last run of the working day has reported, and the next is the nightly one."""
SATURDAY = 5


@dataclass(frozen=True, slots=True)
class Change:
    """A commit of the story. `cut`: it changed more files than its report lists."""

    subject: str
    files: tuple[str, ...]
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Incident:
    """Tests of a product fail, from a commit or a moment on, until a commit or a moment.

    Without `broken_by` the trouble comes from the bench; without `fixed_by` it goes by itself
    after `hours`, and without `hours` it has not gone yet. `among` ordinary firmware commits came
    in the same push before the one that broke it; `bisected`: each was then run by hand.
    """

    days_ago: int
    hours: int | None
    product: DemoProduct
    tests: tuple[str, ...]
    verdict: Verdict | None = Verdict.DEVICE
    broken_by: Change | None = None
    fixed_by: Change | None = None
    boxes: tuple[str, ...] = ()
    branch: str = MAIN
    among: int = 0
    bisected: bool = False


@dataclass(frozen=True, slots=True)
class Outage:
    """Boxes do not answer. `silent`: the runner is gone too, and sends no report at all."""

    days_ago: int
    hours: int
    boxes: tuple[str, ...]
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Flakiness:
    """An attempt of a test fails now and then, on one box or on all."""

    product: DemoProduct
    test: str
    rate: float
    box: str | None = None


def _numbered(stem: str, count: int) -> tuple[str, ...]:
    return tuple(f"{stem}{number}.c" for number in range(count))


BUGS = (
    Incident(
        84, 26, SENSOR, ("i2c.bus_recovery",),
        broken_by=Change("drivers: i2c: use the DMA path for short reads", ("drivers/i2c/dma.c",)),
        fixed_by=Change("drivers: i2c: release the bus before a retry", ("drivers/i2c/dma.c",)),
    ),
    Incident(
        71, 52, GATEWAY, ("mqtt.reconnect_after_drop", "mqtt.last_will"),
        broken_by=Change("gateway: mqtt: share one socket", ("apps/gateway/mqtt.c",)),
        fixed_by=Change("gateway: mqtt: close the socket on a lost link", ("apps/gateway/mqtt.c",)),
        among=2,
    ),
    Incident(
        57, 24, SENSOR, ("power.sleep_current",),
        broken_by=Change("power: keep the flash awake between logs", ("src/core/power.c",)),
        fixed_by=Change("power: let the flash sleep", ("src/core/power.c", "src/core/log.c")),
    ),
    Incident(
        44, 72, GATEWAY, ("storage.queue_survives_reboot",),
        broken_by=Change("gateway: queue: write behind", ("apps/gateway/queue.c",)),
        fixed_by=Change("gateway: queue: flush before a reset", ("apps/gateway/queue.c",)),
    ),
    Incident(
        27, 25, SENSOR, ("ota.resume_after_power_loss", "ota.update_and_confirm"),
        broken_by=Change("ota: verify blocks while receiving", ("src/ota/image.c",)),
        fixed_by=Change("ota: keep the block map across a reset", ("src/ota/image.c",)),
        among=3, bisected=True,
    ),
    Incident(
        18, 6, GATEWAY, ("ethernet.dhcp_renew",),
        broken_by=Change("net: halve the DHCP timers", ("src/net/dhcp.c",)),
        fixed_by=Change("net: renew at half the lease, not at a quarter", ("src/net/dhcp.c",)),
        among=1,
    ),
    Incident(
        8, 30, SENSOR, ("radio.duty_cycle",),
        broken_by=Change("lorawan: account airtime per band", ("src/net/lorawan.c",)),
        fixed_by=Change("lorawan: add the preamble to the airtime", ("src/net/lorawan.c",)),
    ),
    Incident(
        4, 5, GATEWAY, ("lora.concentrator_start",),
        broken_by=Change("gateway: forwarder: start early", ("apps/gateway/forwarder.c",)),
        fixed_by=Change("gateway: forwarder: wait for the clock", ("apps/gateway/forwarder.c",)),
    ),
    # Not fixed yet.
    Incident(
        1, None, GATEWAY, ("mqtt.tls_handshake",),
        broken_by=Change("gateway: mqtt: offer TLS 1.3 only", ("apps/gateway/tls.c",)),
    ),
    Incident(
        2, None, SENSOR, ("time.alarm_wakeup",), boxes=("bench-2",),
        broken_by=Change("boards: sensor_v3: run the RTC from LSE", ("boards/sensor_v3/clocks.c",)),
    ),
)  # fmt: skip
BENCH_PROBLEMS = (
    Incident(
        78, 30, GATEWAY, ("lora.packet_forwarding", "lora.crc_reject"),
        broken_by=Change("gateway: forwarder: batch packets", ("apps/gateway/forwarder.c",)),
        fixed_by=Change(
            "tests: gateway: wait for the concentrator", ("tests/hil/gateway/test_lora.py",)
        ),
    ),
    Incident(63, 20, SENSOR, ("adc.reference_drift",), Verdict.INFRA, boxes=("bench-1",)),
    Incident(
        38, 26, SENSOR, ("sampling.timestamp_order",),
        broken_by=Change("tests: sensor: compare to the host's clock",
                         ("tests/hil/sensor/test_sampling.py",)),
        fixed_by=Change("tests: sensor: allow for the host's drift",
                        ("tests/hil/sensor/test_sampling.py",)),
    ),
    Incident(
        22, 24, SENSOR, ("i2c.eeprom_page_write",),
        broken_by=Change("drivers: eeprom: write whole pages", ("drivers/storage/eeprom.c",)),
        fixed_by=Change("tests: lib: power the EEPROM first", ("tests/hil/lib/power.py",)),
    ),
    Incident(
        15, 8, GATEWAY, ("ethernet.cable_pull", "ethernet.link_up"), Verdict.INFRA,
        boxes=("bench-3",),
    ),
    Incident(
        13, 28, SENSOR, ("time.drift_correction",),
        broken_by=Change("tests: sensor: tighten the drift limit",
                         ("tests/hil/sensor/test_time.py",)),
        fixed_by=Change("drivers: rtc: trim at start", ("drivers/rtc/trim.c",)),
    ),
    Incident(
        6, 7, GATEWAY, ("boot.bootloader_timeout",),
        broken_by=Change("boards: gateway_v2: boot at full clock",
                         ("boards/gateway_v2/clocks.c",)),
        fixed_by=Change("scripts: raise the flash timeout", ("scripts/flash.sh",)),
    ),
)  # fmt: skip
AMBIGUOUS = (
    Incident(
        66, 28, GATEWAY, ("ota.signature_check",),
        broken_by=Change("third_party: import crypto 3.1",
                         ("scripts/vendor.sh", *_numbered("third_party/crypto/doc/p", 40)), True),
        fixed_by=Change("ota: use the new verify call", ("src/ota/image.c",)),
    ),
    Incident(
        52, 30, SENSOR, ("radio.adaptive_rate", "radio.channel_mask"),
        broken_by=Change("lorawan: follow regional parameters 1.1", ("src/net/lorawan.c",)),
        fixed_by=Change("radio: update the stack to 4.2",
                        _numbered("src/radio/stack/part", 60), True),
    ),
    Incident(
        32, 25, GATEWAY, ("time.ntp_sync",),
        broken_by=Change("net: ask three time servers", ("src/net/ntp.c",)),
        fixed_by=Change("net: accept a lone time server", ("src/net/ntp.c",
                                                           "tests/hil/gateway/test_time.py")),
    ),
    Incident(
        20, 24, SENSOR, ("flash.log_rotation",), None,
        broken_by=Change("log: rotate by size", ("src/core/log.c",)),
        fixed_by=Change("log: rotate before the write", ("src/core/log.c",)),
    ),
    Incident(
        11, 27, SENSOR, ("shell.factory_reset",),
        broken_by=Change("settings: keep calibration apart", ("src/core/settings.c",)),
        fixed_by=Change("settings: erase calibration too, and test for it",
                        ("src/core/settings.c", "tests/hil/sensor/test_shell.py")),
    ),
    # Three failures of one cause, which only a person can decide.
    Incident(
        5, 22, GATEWAY,
        ("storage.filesystem_check", "storage.quota", "stress.memory_watermark"),
        broken_by=Change("gateway: storage: keep a journal", ("apps/gateway/journal.c",)),
        fixed_by=Change("gateway: storage: bound the journal, and test for it",
                        ("apps/gateway/journal.c", "tests/hil/gateway/test_storage.py")),
    ),
    Incident(
        3, 6, SENSOR, ("sampling.burst_mode",), None,
        broken_by=Change("sampling: start bursts from the timer", ("src/core/sampling.c",)),
        fixed_by=Change("sampling: stop the timer between bursts", ("src/core/sampling.c",)),
    ),
    Incident(
        24, 76, SENSOR, ("power.standby_budget",), branch=RELEASE,
        broken_by=Change("release: freeze 2.4", ("CMakeLists.txt", "src/core/power.c")),
        fixed_by=Change("power: switch the radio off in standby", ("src/core/power.c",)),
    ),
)  # fmt: skip
INCIDENTS = (*BUGS, *BENCH_PROBLEMS, *AMBIGUOUS)

OUTAGES = (
    Outage(74, 9, ("bench-3",)),
    Outage(49, 30, ("bench-1", "bench-2")),
    Outage(34, 8, ("bench-2",)),
    Outage(25, 8, ("bench-3",), silent=True),
    Outage(10, 31, ("bench-3",)),
    Outage(4, 7, ("bench-1", "bench-2")),
)
FLAKY = (
    Flakiness(SENSOR, "radio.lora_join", 0.30, "bench-2"),
    Flakiness(SENSOR, "radio.downlink_window", 0.14, "bench-2"),
    Flakiness(SENSOR, "power.wake_on_interrupt", 0.05),
    Flakiness(SENSOR, "boot.brownout_recovery", 0.08, "bench-1"),
    Flakiness(GATEWAY, "mqtt.qos1_redelivery", 0.22),
    Flakiness(GATEWAY, "stress.thousand_nodes", 0.16),
    Flakiness(GATEWAY, "ethernet.static_address", 0.03),
)

RELEASE_CHANGES = (
    (21, Change("version: 2.4.0", ("CMakeLists.txt", "src/core/version.c"))),
    (17, Change("ota: accept images of 2.3", ("src/ota/image.c",))),
    (14, Change("docs: notes of 2.4.1", ("docs/releases/2.4.1.md",))),
    (12, Change("lorawan: join with the stored session", ("src/net/lorawan.c",))),
    (9, Change("version: 2.4.1", ("CMakeLists.txt", "src/core/version.c"))),
    (5, Change("drivers: sx1262: calibrate after a cold start", ("drivers/radio/sx1262.c",))),
    (3, Change("docs: notes of 2.4.2", ("docs/releases/2.4.2.md",))),
)


def midnight(days_ago: int) -> datetime:
    """Return when the day began that is so many days before the end."""
    return THE_END.replace(hour=0) - timedelta(days=days_ago)


def moment(days_ago: int, hour: float) -> datetime:
    """Return an hour of the working day that many days ago; of Friday if that is a weekend."""
    day = midnight(days_ago)
    return day + timedelta(days=-max(day.weekday() - SATURDAY + 1, 0), hours=hour)


def working(at: datetime) -> datetime:
    """Return the time, or the same hour of the next working day if it is on a weekend."""
    return at + timedelta(days=max(SATURDAY + 2 - at.weekday(), 0) if is_weekend(at) else 0)


def is_weekend(at: datetime) -> bool:
    """Return whether a time is on a weekend."""
    return at.weekday() >= SATURDAY
