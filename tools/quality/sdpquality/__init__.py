# SPDX-License-Identifier: GPL-2.0
"""How good the tests are: what they run, and what they notice."""
