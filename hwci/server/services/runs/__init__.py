# SPDX-License-Identifier: Apache-2.0
"""Runs: live ones, records of them, and the events that streams send."""
