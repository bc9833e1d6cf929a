# SPDX-License-Identifier: Apache-2.0
"""People, their organizations, keys, boxes and sign-ins, and the audit log of what they did."""
