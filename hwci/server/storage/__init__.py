# SPDX-License-Identifier: Apache-2.0
"""Storage: small ports (`ports.py`), what they carry (`records.py`), the drivers behind them."""
