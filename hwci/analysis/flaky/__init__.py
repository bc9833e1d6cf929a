# SPDX-License-Identifier: Apache-2.0
"""Since when a test fails now and then, on which boxes, and which commit broke it (ADR 0011)."""
