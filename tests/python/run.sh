#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs the Python tests in the project's environment, which it makes if it is not there. With --with-transformers as
# first argument in the larger one, so that the comparisons with transformers run too.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
environment=.venv-data
if [ "${1:-}" = --with-transformers ]; then
  environment=.venv-transformers
  "$root/tools/python_env.sh" --with-transformers
  shift
else
  "$root/tools/python_env.sh"
fi
cd "$root/tests/python"
exec "$root/$environment/bin/python" -B -m unittest discover -p "test_*.py" "$@"
