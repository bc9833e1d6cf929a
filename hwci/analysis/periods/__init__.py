# SPDX-License-Identifier: Apache-2.0
"""The days of a period, a period beside the one before, and how long fixes took (ADR 0009)."""
