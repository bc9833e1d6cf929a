# SPDX-License-Identifier: Apache-2.0
"""What only HTTP knows: reading requests, the order of checks, the shape of answers."""
