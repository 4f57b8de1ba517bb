#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what is missing, builds everything into build/, and runs all tests: the command of the README and of
# continuous integration.
#
#   tools/check.sh [--with-transformers]
#
#   --with-transformers   make an environment with PyTorch and transformers once (.venv-transformers/, some GB) and run
#                         the comparisons with them too; without it they are run where that environment is there
#   -h, --help            this text
#
# Exit codes: 0 all tests passed, 2 wrong usage, another one: a step or a test failed (its messages are above).
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { sed -n '4,13s/^# \{0,1\}//p' tools/check.sh; }
with_transformers=0
for argument in "$@"; do
  case "$argument" in
    --with-transformers) with_transformers=1 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "check.sh: error: unknown option '$argument' (tools/check.sh --help lists the options)" >&2; exit 2 ;;
  esac
done

start=$SECONDS
times=()
stage() { # stage NAME command...: runs it and notes its time
  local name=$1 began=$SECONDS
  shift
  "$@"
  times+=("$(printf '%-28s %4d s' "$name" $((SECONDS - began)))")
}
print_times() {
  printf '\n== times\n'
  printf '%s\n' "${times[@]}"
  printf '%-28s %4d s\n\n' "$1" $((SECONDS - start))
}
check_format() { git ls-files '*.cpp' '*.h' '*.cuh' | xargs clang-format-22 --dry-run -Werror; }

python_env=(tools/python_env.sh)
if [ "$with_transformers" = 1 ]; then
  python_env+=(--with-transformers)
fi
stage "install" tools/setup.sh --cuda
stage "Python environment" "${python_env[@]}"
stage "format" check_format
stage "configure" cmake --preset release
stage "build" cmake --build --preset release
if ! ctest --test-dir build --show-only -R '^cuda-kernels-compile$' | grep cuda-kernels-compile >/dev/null; then
  echo "NOT RUN: cuda-kernels-compile (the build has left the CUDA backend out, see its configuration above)"
fi
if [ ! -e .venv-transformers/stamp ]; then
  echo "NOT RUN: e2e-transformers, e2e-transformers-demo, python-transformers (tools/check.sh --with-transformers runs them)"
elif [ ! -d demo/run/checkpoint ]; then
  echo "NOT RUN: e2e-transformers-demo (there is no demo/run/checkpoint: tools/demo.sh makes it)"
fi
print_times "all before the tests"
# Last: the run ends with ctest's summary, which has the time of the tests.
ctest --test-dir build --output-on-failure
