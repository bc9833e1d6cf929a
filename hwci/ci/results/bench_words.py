# SPDX-License-Identifier: Apache-2.0
r"""The words by which harnesses and flash tools name a part of the bench that failed.

A row is data: an expression, who writes such a message and when, and what it looks like. Whom a
message blames is decided in `verdicts.py`. A row names a part of the bench that failed whatever the
firmware did. Left out on purpose, since a firmware can be the cause too:

- time-outs, missing console output, `RunID mismatch` (an image that was rolled back), `Fault
  detected while running test` (seen in the output of the image before);
- a target that does not answer its probe, and a boot loader that does not answer esptool;
- a device that does not appear at USB as itself: for dfu-util, picotool, bossac, the boot loaders
  that avrdude knows, an ESP's own USB JTAG (`No serial ports could be detected` of espflash), and
  `/dev/ttyACM*`, which may be the device's own;
- words that an application has as well: `open failed`, `Probe not found`, `device not found`.
"""

from typing import NamedTuple


class Words(NamedTuple):
    """A message that the expression matches anywhere. `why`: who writes it, and when."""

    pattern: str
    why: str
    samples: tuple[str, ...]


_OPENS = (
    r"(?i:could not open|could not exclusively lock|cannot open|failed to open|unable to open)"
    r"(?i: serial)?(?i: port)?:? ?['\"]?"
)
_NAME = r"[^\s'\"]{0,120}?"
_PROBES = (
    r"j-link|st-?link|cmsis-dap|daplink|mcu-link|xds110|nu-?link|kitprog|black_magic|debug_?probe"
)
_CONVERTERS = r"1a86_|ftdi_|prolific_|silicon_labs_cp21"
_ADAPTER = (
    r"(?:/dev/ttyUSB\d+|(?:\\\\\.\\)?COM\d{1,3}\b|rfc2217://"
    r"|/dev/(?:cu|tty)\.(?:usbserial|wchusbserial|SLAB_USBtoUART)"
    rf"|/dev/serial/by-(?:id|path)/{_NAME}-port\d"
    rf"|/dev/serial/by-id/usb-{_NAME}(?i:{_PROBES}|{_CONVERTERS}))"
)
"""Ports of serial adapters and of debug probes, and of a bench's server of ports. Linux names a
converter's port `…-port0`. A COM port of Windows does not say what it is, and is nearly always one
of these.
"""

MACHINE: tuple[Words, ...] = (
    Words(
        r"Timeout during flashing",
        "twister: the flash tool did not end",
        ("Timeout during flashing",),
    ),
    Words(
        r"Device issue \((?:Flash error\??|Timeout)\)",
        "twister: the flash tool failed, or did not end",
        ("Device issue (Flash error?): Error: no probe. returncode: 1", "Device issue (Timeout)"),
    ),
    Words(
        r"TwisterHarnessException: Could not flash device",
        "twister's pytest harness",
        ("twister_harness.exceptions.TwisterHarnessException: Could not flash device 726350165",),
    ),
    Words(
        r"labgrid\.exceptions\.(?:NoConfigFound|InvalidConfig|NoDriverFound)Error",
        "labgrid: the description of the bench does not fit the bench",
        ("labgrid.exceptions.NoConfigFoundError: lg-env.yaml",),
    ),
    Words(
        r"(?s)\A(?>.*?NoResourceFoundError).*(?:PowerPort|NetworkSerialPort|SDMux|SDWire|USBDebugger)\b",
        "labgrid: a part of the bench is away; USB ports that the device itself opens do not count",
        (
            (
                "labgrid.exceptions.NoResourceFoundError: Not all resources are available: "
                "{NetworkPowerPort(target=Target(name='main'), name=None)}"
            ),
        ),
    ),
    Words(
        r"\bplace \S+ is not acquired",
        "labgrid: the place is not this job's",
        ("labgrid.remote.client.UserError: place imx8-3 is not acquired",),
    ),
    Words(
        r"has an orphaned resource",
        "labgrid: the exporter of the bench is away",
        (
            (
                "labgrid.remote.client.ServerError: place imx8-3 has an orphaned resource"
                " (exporter rack1 disconnected?)"
            ),
        ),
    ),
    Words(
        r"Could not connect to coordinator",
        "labgrid: the laboratory is away",
        ("labgrid.remote.client.ServerError: Could not connect to coordinator",),
    ),
    Words(
        r"\bInfrastructureError\b|\AInfrastructure: ",
        "LAVA: neither the test nor the device, as it says itself, also as the type of an error",
        (
            "InfrastructureError: The Infrastructure is not working correctly.",
            "Infrastructure: Unable to reach the power hub",
        ),
    ),
    Words(
        r"\bConnectionClosedError: connection closed",
        "LAVA: one of its InfrastructureErrors",
        ("ConnectionClosedError: connection closed",),
    ),
    Words(
        r"\bLAVABug\b",
        "LAVA: a fault of LAVA itself",
        ("LAVABug: This is probably a bug in LAVA, please report it.",),
    ),
    Words(
        r"The LAVA instance is not configured",
        "LAVA: one of its ConfigurationErrors",
        ("ConfigurationError: The LAVA instance is not configured correctly.",),
    ),
    Words(
        r"\berror_type\"?: ?\"?(?:Infrastructure|Bug|Configuration)\b",
        "LAVA: results of a job, and the line of its log that ends one",
        (
            "error_type: Infrastructure",
            (
                '- {"dt": "2026-08-20T10:11:12.131415", "lvl": "results", "msg": {"case": "job", '
                '"definition": "lava", "error_msg": "Unable to ping the power hub", '
                '"error_type": "Infrastructure", "result": "fail"}}'
            ),
        ),
    ),
    Words(
        r"FATAL ERROR: required program [^\n]{1,200}? not found\b"
        r"|required program [^\n]{1,200}? not found; install it or add its location to PATH",
        "west: the machine of the bench lacks the flash tool",
        (
            (
                "FATAL ERROR: required program nrfutil not found; install it or add its location to"
                " PATH"
            ),
            r"FATAL ERROR: required program C:\Program Files\SEGGER\JLink\JLink.exe not found",
            "required program JLinkExe not found; install it or add its location to PATH",
        ),
    ),
    Words(
        r"\busb\.core\.NoBackendError\b",
        "pyusb, as of pyocd: the machine of the bench lacks libusb",
        ("usb.core.NoBackendError: No backend available",),
    ),
)
"""Harnesses, laboratories, and the machine that a bench hangs on."""

PROBES: tuple[Words, ...] = (
    Words(
        r"[Uu]nable to (?:find a matching|open|find) CMSIS-DAP device",
        "openocd: the probe is away",
        (
            "Error: unable to find a matching CMSIS-DAP device",
            "Error: unable to open CMSIS-DAP device 0xd28:0x204",
        ),
    ),
    Words(
        r"No J-Link device found|unable to open ftdi device",
        "openocd: the probe is away",
        (
            "Error: No J-Link device found",
            (
                "Error: unable to open ftdi device with description '*', serial '*' at bus location"
                " '*'"
            ),
        ),
    ),
    Words(
        r"(?:ST-LINK open failed \(|unable to (?:find|open) Nu-Link|CK-Link probe not found"
        r"|Can't find a KitProg device|Could not open ULINK device|ft232r not found"
        r"|Altera USB-Blaster II not found|XDS110: failed to connect)",
        "openocd: other probes that are away",
        (
            "Error: ST-LINK open failed (serial mismatch)",
            "Error: unable to find Nu-Link",
            "Error: CK-Link probe not found",
            "Error: Can't find a KitProg device! Please check device connections and permissions.",
            "Error: Could not open ULINK device",
            "Error: ft232r not found: serial=A10K, vid/pid=0403:6001",
            "Error: Altera USB-Blaster II not found",
            "Error: XDS110: failed to connect",
        ),
    ),
    Words(
        r"Error: open failed\s{1,8}(?:in procedure '|\*\* OpenOCD init failed)"
        r"|(?s:\A(?>.*?Open On-Chip Debugger).*Error: open failed\b)",
        "openocd: no ST-LINK; the words before alone are an application's too",
        (
            "Error: open failed\nin procedure 'program' \n** OpenOCD init failed **",
            "Error: open failed\r\n** OpenOCD init failed **\r\nshutdown command invoked",
            "Open On-Chip Debugger 0.12.0\nInfo : clock speed 500 kHz\nError: open failed\n",
        ),
    ),
    Words(
        r"The specified (?:debug interface|adapter driver) was not found",
        "openocd: the probe cannot be driven",
        (
            "Error: The specified debug interface was not found (cmsis-dap)",
            "Error: The specified adapter driver was not found (jlink)",
        ),
    ),
    Words(
        r"libusb_open\(\) failed with LIBUSB_ERROR_(?:ACCESS|BUSY|NOT_FOUND|NOT_SUPPORTED)"
        r"|could not open device 0x[0-9a-fA-F]{4}:0x[0-9a-fA-F]{4}:",
        "openocd: the machine of the bench does not let it at the probe",
        (
            "Error: libusb_open() failed with LIBUSB_ERROR_ACCESS",
            "Error: could not open device 0x0d28:0x0204: Access denied (insufficient permissions)",
        ),
    ),
    Words(
        r"No (?:available debug probes are connected|connected debug probe(?:s\b| matches))"
        r"|Waiting for a debug probe (?:matching unique ID '[^']{0,80}' )?to be connected",
        "pyocd: the probe is away",
        (
            "No available debug probes are connected",
            "No connected debug probes",
            "No connected debug probe matches unique ID '0240000034544e45'",
            "Waiting for a debug probe matching unique ID '0240' to be connected...",
        ),
    ),
    Words(
        r"pyocd\.core\.exceptions\.Probe(?:Error|Disconnected)"
        r"|pyocd\.probe\.pydapaccess\.\S{0,80}DeviceError\b|Unable to claim interface for probe ",
        "pyocd: the probe failed, or another program has it",
        (
            "pyocd.core.exceptions.ProbeError: no device with serial number",
            "pyocd.core.exceptions.ProbeDisconnected: gone",
            (
                "pyocd.probe.pydapaccess.dap_access_api.DAPAccessIntf.DeviceError: Probe 0240 not"
                " found"
            ),
            "Unable to claim interface for probe 0240000034544e45",
        ),
    ),
    Words(
        r"Connecting to J-Link via (?:USB|IP)\.{3}FAILED"
        r"|(?:Cannot|Could not|Failed to) connect to (?:the )?J-Link\b|Connecting to J-Link failed",
        "J-Link Commander and GDB server: the probe is away",
        (
            "Connecting to J-Link via USB...FAILED: Cannot connect to the probe/programmer.",
            "Connecting to J-Link via IP...FAILED: Cannot connect to J-Link.",
            "Cannot connect to J-Link via USB.",
            "Connecting to J-Link failed. Connected correctly?",
        ),
    ),
    Words(
        r"No emulator with serial number \S{1,40} found",
        "pylink: the probe is away",
        ("pylink.errors.JLinkException: No emulator with serial number 1064123452 found.",),
    ),
    Words(
        r"There is no debugger connected to the PC|No debuggers were discovered",
        "nrfjprog: the probe is away",
        (
            "ERROR: There is no debugger connected to the PC.",
            "ERROR: No debuggers were discovered.",
        ),
    ),
    Words(
        r"No devices with requested serial number\(s\) or trait\(s\) found",
        "nrfutil: the probe is away",
        ("Error: No devices with requested serial number(s) or trait(s) found",),
    ),
    Words(
        r"Unable to find a board; is the board connected\?|--ids\" did not find a board; [Ii]s the"
        r"|There are no boards connected(?:\.| matching ')|The Segger SNR obtained is 0;"
        r"|refusing to guess which of \d{1,3} connected boards to use",
        "west: no probe of a board, or several and none chosen",
        (
            "FATAL ERROR: Unable to find a board; is the board connected?",
            'FATAL ERROR: "nrfjprog --ids" did not find a board; Is the board connected?',
            "FATAL ERROR: There are no boards connected matching '68*'.",
            "FATAL ERROR: The Segger SNR obtained is 0; is a debugger already connected?",
            "FATAL ERROR: refusing to guess which of 2 connected boards to use.",
        ),
    ),
    Words(
        r"No debug probe detected|Error: No (?i:st-?link) detected|DEV_USB_COMM_ERR",
        "STM32CubeProgrammer: the probe is away, or its USB fails",
        (
            "Error: No debug probe detected.",
            "Error: No ST-LINK detected!",
            "Error: No STLink detected!",
            "Error: ST-LINK error (DEV_USB_COMM_ERR)",
        ),
    ),
    Words(
        r"Couldn't find any ST-Link|Stlink usb device found, but unable to claim",
        "st-flash: the probe is away, or another program has it",
        (
            "2026-08-20T10:11:12 WARN usb.c: Couldn't find any ST-Link devices",
            "WARN usb.c: Stlink usb device found, but unable to claim (probably already in use?)",
        ),
    ),
    Words(
        r"No (?:connected |debug )?probes were found\b|The selected debug probe was not found"
        r"|Failed to open the debug probe\b|The debug probe could not be created"
        r"|\bProbe could not be created\b|Error: Probe is already in use\b",
        "probe-rs: the probe is away, or another program has it",
        (
            "Error: No connected probes were found.",
            "No debug probes were found.",
            "Error: No probes were found",
            "Error: Failed to open probe: The selected debug probe was not found.",
            (
                "Error: Failed to open the debug probe.\n\nCaused by:\n    0: The debug probe"
                " could not be created."
            ),
            "Error: Probe could not be created\n\nCaused by:\n    Probe was not found.",
            "Error: Probe is already in use",
        ),
    ),
    Words(
        r"did not find any(?: \(matching\))? USB device usb"
        r"|found but could not access USB device usb"
        r"|(?:cannot|could not) find USB device with vid=0x|cannot find USBtiny device"
        r"|no device found matching VID 0x",
        "avrdude: the programmer is away",
        (
            "Error: did not find any (matching) USB device usb:xyz (03eb:2103)",
            "Error: found but could not access USB device usb (03eb:2141)",
            "Error: cannot find USB device with vid=0x16c0 pid=0x5dc",
            "Error: cannot find USBtiny device (0x1781/0xc9f)",
            "Error: no device found matching VID 0x03eb and PID list: 0x2175",
        ),
    ),
)
"""Debug probes and programmers, which no firmware can take away."""

PORTS: tuple[Words, ...] = (
    Words(
        _OPENS + _ADAPTER,
        "pyserial, esptool, espflash, avrdude: the bench's serial adapter is away or taken",
        (
            (
                "serial.serialutil.SerialException: [Errno 2] could not open port /dev/ttyUSB0: "
                "[Errno 2] No such file or directory: '/dev/ttyUSB0'"
            ),
            (
                "serial.serialutil.SerialException: could not open port 'COM7':"
                " FileNotFoundError(2, 'The system cannot find the file specified.', None, 2)"
            ),
            (
                "serial.serialutil.SerialException: could not open port 'COM12':"
                " PermissionError(13, 'Access is denied.', None, 5)"
            ),
            "A fatal error occurred: Could not open COM3, the port is busy or doesn't exist.",
            (
                "A fatal error occurred: Could not open /dev/ttyUSB0, the port is busy or doesn't"
                " exist."
            ),
            (
                "SerialException: [Errno 2] could not open port /dev/serial/by-id/usb-FTDI_FT232R"
                "_USB_UART_A10K4ZQF-if00-port0: [Errno 2] No such file or directory"
            ),
            "could not open port /dev/serial/by-path/pci-0000:00:14.0-usb-0:2.1:1.0-port0: gone",
            "could not open port /dev/serial/by-id/usb-SEGGER_J-Link_000683884227-if00: gone",
            "could not open port /dev/serial/by-id/usb-STMicroelectronics_STM32_STLink_0667FF-if02",
            "could not open port /dev/serial/by-id/usb-ARM_DAPLink_CMSIS-DAP_0240-if01: gone",
            "could not open port /dev/serial/by-id/usb-1a86_USB_Single_Serial_54D2-if00: gone",
            "[Errno 2] could not open port /dev/cu.usbserial-A10K4ZQF: [Errno 2] No such file",
            "[Errno 2] could not open port /dev/tty.SLAB_USBtoUART: [Errno 2] No such file",
            "Could not open port rfc2217://rack1:4000: [Errno 111] Connection refused",
            "espflash::serial_error: Failed to open serial port /dev/ttyUSB0",
            r"Error: cannot open port \\.\COM3: The system cannot find the file specified.",
        ),
    ),
    Words(
        r"(?i:could not open port) [^\s:]{1,200}: \[Errno (?:13|16)\]"
        r"|Could not exclusively lock port \S",
        "pyserial: the port is there, and the bench does not let the job at it",
        (
            (
                "[Errno 13] could not open port /dev/ttyACM0: [Errno 13] Permission denied: "
                "'/dev/ttyACM0'"
            ),
            (
                "[Errno 16] could not open port /dev/ttyACM1: [Errno 16] Device or resource busy: "
                "'/dev/ttyACM1'"
            ),
            (
                "[Errno 11] Could not exclusively lock port /dev/ttyACM0: [Errno 11] Resource "
                "temporarily unavailable"
            ),
        ),
    ),
    Words(
        r"Cannot open DFU device \S{9} found on devnum \d+ \(LIBUSB_ERROR_(?:ACCESS|NOT_SUPPORTED)"
        r"|but picotool was unable to connect\. (?:Maybe try 'sudo'|You may need to install)",
        "dfu-util, picotool: the device is there, and the bench does not let the job at it",
        (
            "dfu-util: Cannot open DFU device 0483:df11 found on devnum 51 (LIBUSB_ERROR_ACCESS)",
            (
                "RP2040 device at bus 1, address 5 appears to be in BOOTSEL mode, but picotool was "
                "unable to connect. Maybe try 'sudo' or check your permissions."
            ),
        ),
    ),
)
"""Ports through which a bench reaches its device."""

BENCH = (*MACHINE, *PROBES, *PORTS)

DEVICE = Words(
    r"\ATestsuite failed\Z",
    "twister: the device itself wrote PROJECT EXECUTION FAILED after its tests",
    ("Testsuite failed",),
)
"""The only words that blame the device: it says itself that its tests failed."""
