# SPDX-License-Identifier: Apache-2.0
"""Connections: accepted, hardened, timed, and ended when the server stops."""
