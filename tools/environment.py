# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a script of this folder in the project's Python environment (tools/python_env.sh)."""

import importlib.util
import os
import sys


def require(*modules):
    """Returns if the modules can be imported; otherwise starts the running script again with .venv-data's Python."""
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if not missing:
        return
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folder = os.path.join(root, ".venv-data")
    python = os.path.join(folder, "bin", "python")
    if os.path.exists(python) and os.path.abspath(sys.prefix) != folder:
        os.execv(python, [python, *sys.argv])
    sys.exit(
        f"{os.path.basename(sys.argv[0])}: needs the Python packages {', '.join(missing)}; run tools/python_env.sh"
        " first"
    )
