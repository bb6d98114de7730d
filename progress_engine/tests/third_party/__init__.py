# SPDX-License-Identifier: BSD-3-Clause
"""Other people's test suites under the engine: they must not be able to tell that it is there."""
