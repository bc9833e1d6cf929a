# SPDX-License-Identifier: Apache-2.0
"""What would decide a failure, and which failures one cause explains (ADR 0009, 0012)."""
