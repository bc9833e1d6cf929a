# SPDX-License-Identifier: Apache-2.0
"""The operator's commands, and the audit log as the operator checks it."""
