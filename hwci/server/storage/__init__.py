# SPDX-License-Identifier: Apache-2.0
"""Storage: small ports (`ports.py`), what they carry (`records.py`), and the drivers behind them."""
