# SPDX-License-Identifier: Apache-2.0
"""What an operator types, and how the lines of an error begin."""

THREE_LINES = ["error", "cause", "fix"]
USER = [
    "admin",
    "create-user",
    "--email",
    "ada@example.org",
    "--name",
    "Ada",
    "--organization",
    "Acme",
    "--password-stdin",
]
