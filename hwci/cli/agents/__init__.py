# SPDX-License-Identifier: Apache-2.0
"""What an agent may ask over the Model Context Protocol, and in which few fields it is answered."""
