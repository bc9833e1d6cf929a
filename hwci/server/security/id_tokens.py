# SPDX-License-Identifier: Apache-2.0
"""ID tokens of the providers of single sign-on: read with the keys that a provider publishes."""

import jwt

Fault = jwt.PyJWTError
