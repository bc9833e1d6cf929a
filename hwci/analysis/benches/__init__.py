# SPDX-License-Identifier: Apache-2.0
"""Which box fails more than the others on the same commits, and how each box fares (ADR 0010)."""
