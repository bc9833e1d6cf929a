# SPDX-License-Identifier: Apache-2.0
"""Making reports of a job: what is under test, the report itself, its parts and its summary."""
