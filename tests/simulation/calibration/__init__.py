# SPDX-License-Identifier: Apache-2.0
"""How good the answers beside the rules are on simulated benches: `make calibration` writes it to
docs/calibration.md. A part is a module whose `part` returns a section of that page.
"""
