# SPDX-License-Identifier: Apache-2.0
"""Which server and credential a command uses, and how a person signs in."""
