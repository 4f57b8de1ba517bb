#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs the Python tests in the project's environment, which it makes if it is not there.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
"$root/tools/python_env.sh"
cd "$root/tests/python"
exec "$root/.venv-data/bin/python" -B -m unittest discover -p "test_*.py" "$@"
