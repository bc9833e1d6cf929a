# SPDX-License-Identifier: Apache-2.0
"""What a report is made of and how it is delivered, behind the commands of a CI job."""
