# SPDX-License-Identifier: Apache-2.0
"""Delivery: a report is on the disk before it is sent, and leaves when the server has it."""
