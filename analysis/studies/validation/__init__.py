# SPDX-License-Identifier: BSD-3-Clause
"""What is predicted by a model before it is measured."""
