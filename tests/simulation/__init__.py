# SPDX-License-Identifier: Apache-2.0
"""Simulated benches with planted causes: how good the answers beside the rules are (ADR 0009)."""
