# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other spellings of a model's module, for tests."""
import re

SILU = r'%(\d+) = qt\.silu (%\d+) (\{qt\.scope = "layers\.\d+\.mlp"\}) : (\S+)'
PRODUCT = r"%s\1 = qt.sigmoid \2 \3 : \4\n    %\1 = qt.mul \2, %s\1 \3 : \4, \4"


def without_swiglu(path):
    """The gate of each layer as x * sigmoid(x): the same numbers within rounding, which no compound takes. Returns how many
    there are."""
    text, count = re.subn(SILU, PRODUCT, path.read_text())
    path.write_text(text)
    return count
