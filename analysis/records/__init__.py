# SPDX-License-Identifier: BSD-3-Clause
"""Session folders to tidy frames: record files read, checked against their schema, put together."""
