# SPDX-License-Identifier: Apache-2.0
"""Builders and fixtures that tests of several rooms share."""
