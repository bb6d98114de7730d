# SPDX-License-Identifier: BSD-3-Clause
"""What the simulator predicts for more ranks than anybody has here: ./bench scaling."""
