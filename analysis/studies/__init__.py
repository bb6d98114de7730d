# SPDX-License-Identifier: BSD-3-Clause
"""One file a study: what is claimed of it and what is drawn. Found by analysis/subject.py; a file added is enough."""
