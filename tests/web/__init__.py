# SPDX-License-Identifier: Apache-2.0
"""Claims about the dashboard, in a real browser."""
