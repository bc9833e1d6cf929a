# SPDX-License-Identifier: Apache-2.0
"""Claims about the answers beside the rules, by exact small cases and by brute force."""
