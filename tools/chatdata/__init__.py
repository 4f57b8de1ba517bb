# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chat and text files to token files: what tools/tokenize.py is made of."""


class DataError(Exception):
    """Something is wrong with an input, in words for the user: what, where (file:line), and what was expected."""
