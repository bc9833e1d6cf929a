# SPDX-License-Identifier: Apache-2.0
"""`hwci admin`: what the operator of a server does, at its database."""
