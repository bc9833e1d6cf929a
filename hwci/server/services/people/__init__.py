# SPDX-License-Identifier: Apache-2.0
"""People and their organizations: accounts, sign-ins, members and invitations."""
