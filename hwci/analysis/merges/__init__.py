# SPDX-License-Identifier: Apache-2.0
"""Why a merge was not checked on hardware, and which runs would check it (ADR 0009)."""
