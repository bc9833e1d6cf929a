# SPDX-License-Identifier: Apache-2.0
"""`python -m hwci` is the `hwci` command."""

from hwci.cli.main import main

if __name__ == "__main__":
    main()
