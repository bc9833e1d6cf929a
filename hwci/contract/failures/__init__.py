# SPDX-License-Identifier: Apache-2.0
"""Failures, why they have their class, and what they have in common."""
