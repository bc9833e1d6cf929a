# SPDX-License-Identifier: Apache-2.0
"""hwci: metrics for hardware-in-the-loop CI. Importing this package imports nothing else."""

__version__ = "0.1.0"
