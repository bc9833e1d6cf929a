# SPDX-License-Identifier: Apache-2.0
"""Webhooks: who gets them, what they are sent, and how often it is tried."""
