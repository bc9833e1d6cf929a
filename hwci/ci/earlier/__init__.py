# SPDX-License-Identifier: Apache-2.0
"""What the API of a CI system tells of earlier runs, each system in a module of its own."""
