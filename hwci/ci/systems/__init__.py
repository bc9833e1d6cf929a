# SPDX-License-Identifier: Apache-2.0
"""The CI systems that are known by their variables, each in a module of its own."""
