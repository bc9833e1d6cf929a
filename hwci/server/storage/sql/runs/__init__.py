# SPDX-License-Identifier: Apache-2.0
"""Runs as people see them: live, reported, their tests, and their events."""
