# SPDX-License-Identifier: Apache-2.0
"""What runs on a bench: its box key, heartbeats, live runs, and the commands of `hwci exec`."""
