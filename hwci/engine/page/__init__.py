# SPDX-License-Identifier: Apache-2.0
"""What people see: the metrics page, its tables, and one failure with its evidence."""
