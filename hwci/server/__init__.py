# SPDX-License-Identifier: Apache-2.0
"""The service: what CI sends is kept, what the engine decides is answered over HTTP."""
