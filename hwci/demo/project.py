# SPDX-License-Identifier: Apache-2.0
"""The project of the demo: one repository, two products, three boxes, their tests.

This module decides names and paths only. `story.py` decides what happens to them.
"""

from dataclasses import dataclass

from hwci.wire.reports import SuiteConfiguration, Targets

REPOSITORY = "acme/sensor-node"
SITE = f"https://github.acme.example/{REPOSITORY}"
"""Where its CI is; no such host exists."""
MAIN = "main"
RELEASE = "release/2.4"

SHARED_FIRMWARE = ("src/**", "drivers/**", "CMakeLists.txt")
SHARED_HARNESS = ("tests/hil/lib/**", ".github/workflows/**")
SCRIPTS = "scripts/**"
"""Neither firmware nor harness, but a change there starts the suites."""


@dataclass(frozen=True, slots=True)
class DemoProduct:
    """A product with its boxes, its tests by area, and the directories of its own."""

    suite: str
    short: str
    boxes: tuple[str, ...]
    tests: tuple[str, ...]

    @property
    def merge_workflow(self) -> str:
        """Workflow that a merge starts."""
        return f"hil-{self.short}"

    @property
    def nightly_workflow(self) -> str:
        """Workflow of every night."""
        return f"nightly-{self.short}"

    def configuration(self) -> SuiteConfiguration:
        """Return its suite configuration."""
        firmware = [*SHARED_FIRMWARE, f"apps/{self.short}/**", f"boards/{self.short}_*/**"]
        harness = [*SHARED_HARNESS, f"tests/hil/{self.short}/**"]
        return SuiteConfiguration(
            repo_key=REPOSITORY,
            suite=self.suite,
            firmware_paths=[*firmware, "!**/README.md"],
            harness_paths=harness,
            trigger_paths=[*firmware, *harness, SCRIPTS],
            merge_trigger=True,
            targets=Targets(merges_checked=95, infra_runs=5),
        )


def _tests(areas: dict[str, str]) -> tuple[str, ...]:
    return tuple(f"{area}.{name}" for area, names in areas.items() for name in names.split())


SENSOR = DemoProduct(
    "sensor-fw",
    "sensor",
    ("bench-1", "bench-2"),
    _tests(
        {
            "boot": "cold_boot warm_reset watchdog_reset brownout_recovery version_banner",
            "i2c": "bme280_read bus_recovery clock_stretching eeprom_page_write",
            "adc": "battery_voltage reference_drift channel_scan",
            "radio": "lora_join uplink_ack downlink_window adaptive_rate duty_cycle channel_mask",
            "power": "sleep_current wake_on_interrupt standby_budget",
            "flash": "wear_leveling settings_survive_reset log_rotation",
            "ota": "update_and_confirm rollback_on_bad_image resume_after_power_loss",
            "shell": "help factory_reset",
            "time": "rtc_accuracy alarm_wakeup drift_correction",
            "sampling": "interval_change burst_mode timestamp_order",
        }
    ),
)
GATEWAY = DemoProduct(
    "gateway-fw",
    "gateway",
    ("bench-3",),
    _tests(
        {
            "boot": "cold_boot secure_boot_chain bootloader_timeout version_banner",
            "ethernet": "link_up dhcp_renew static_address cable_pull",
            "mqtt": "connect reconnect_after_drop qos1_redelivery last_will tls_handshake",
            "lora": "concentrator_start packet_forwarding crc_reject",
            "storage": "queue_survives_reboot quota filesystem_check",
            "ota": "update_and_confirm rollback_on_bad_image signature_check",
            "time": "ntp_sync leap_smear",
            "stress": "thousand_nodes memory_watermark",
        }
    ),
)
PRODUCTS = (SENSOR, GATEWAY)
BOXES = tuple(sorted(box for product in PRODUCTS for box in product.boxes))

# What the harness writes of a failing test, by its area.
MESSAGES = {
    "boot": "no banner on the console within 10 s",
    "i2c": "no ACK from address 0x76",
    "adc": "read 1.21 V, expected 1.25 V within 1 %",
    "radio": "no downlink in RX1 or RX2 after 3 uplinks",
    "power": "drew 412 uA asleep, at most 18 uA are allowed",
    "flash": "record 17 has a wrong checksum after the reset",
    "ota": "the image was not confirmed within 90 s",
    "shell": "expected 'ok', got 'error -22'",
    "time": "woke 1.8 s late, at most 0.1 s is allowed",
    "sampling": "sample 412 is older than sample 411",
    "ethernet": "no link within 5 s",
    "mqtt": "the broker closed the connection: protocol error",
    "lora": "the concentrator did not start within 2 s",
    "storage": "block 1024 is not clean",
    "stress": "3 kB of heap were left, at least 16 kB are expected",
}
BENCH_MESSAGE = "the programmer did not answer within 5 s"

# What everyday commits are about: the prefix of the subject, and the file that changes.
FIRMWARE_PARTS = (
    ("drivers: bme280", "drivers/sensor/bme280.c"),
    ("drivers: sx1262", "drivers/radio/sx1262.c"),
    ("drivers: eeprom", "drivers/storage/eeprom.c"),
    ("drivers: watchdog", "drivers/watchdog/wdt.c"),
    ("settings", "src/core/settings.c"),
    ("scheduler", "src/core/scheduler.c"),
    ("log", "src/core/log.c"),
    ("power", "src/core/power.c"),
    ("lorawan", "src/net/lorawan.c"),
    ("ota", "src/ota/image.c"),
    ("sensor: sampling", "apps/sensor/sampling.c"),
    ("sensor: uplink", "apps/sensor/uplink.c"),
    ("boards: sensor_v3", "boards/sensor_v3/pinmux.c"),
    ("gateway: mqtt", "apps/gateway/mqtt.c"),
    ("gateway: forwarder", "apps/gateway/forwarder.c"),
    ("gateway: queue", "apps/gateway/queue.c"),
    ("boards: gateway_v2", "boards/gateway_v2/clocks.c"),
)
FIRMWARE_ACTIONS = (
    "keep the last error for the shell",
    "check the length before the copy",
    "move the buffer off the stack",
    "handle a timeout while suspending",
    "name the states",
    "count retries",
    "drop the unused callback",
    "log the reason of a reset",
    "take the lock only once",
    "read the limits from devicetree",
    "avoid a copy on the hot path",
    "return -EAGAIN while busy",
    "make the interval configurable",
    "reduce wakeups",
)
HARNESS_CHANGES = (
    ("tests: sensor: give the join test a channel of its own", "tests/hil/sensor/test_radio.py"),
    ("tests: sensor: measure sleep current for longer", "tests/hil/sensor/test_power.py"),
    ("tests: gateway: use a broker per run", "tests/hil/gateway/test_mqtt.py"),
    ("tests: gateway: name the interface by its address", "tests/hil/gateway/test_ethernet.py"),
    ("tests: lib: power-cycle before flashing", "tests/hil/lib/board.py"),
    ("tests: lib: keep the serial log of a failed test", "tests/hil/lib/serial_log.py"),
    ("ci: pin the runner image of the benches", ".github/workflows/hil.yml"),
)
OTHER_CHANGES = (
    ("docs: describe the bench wiring", "docs/bench.md"),
    ("docs: how to provision a node", "docs/provisioning.md"),
    ("docs: update the power budget", "docs/power.md"),
    ("README: fix the badge", "README.md"),
)
