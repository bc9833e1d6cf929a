# SPDX-License-Identifier: Apache-2.0
"""What recorded runs suggest beside the rules: which box, which race, which gap, how sure.

This room decides no label, class or count of the specification, and the rules do not know it (ADR
0009). Every figure comes with its counts; where there is too little, the answer is that there is
not enough data. It does no I/O; what needs scipy imports it when it is asked.
"""
