# SPDX-License-Identifier: BSD-3-Clause
"""Sessions: what is asked for, where it lands, running and going on with it."""
