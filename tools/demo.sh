#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# From a fresh Debian 12 machine to a trained checkpoint: installs what is missing, builds, and trains a tiny Qwen 3.5 (four layers, three of them gated
# delta nets) from scratch on the chats in data/. Everything it makes lies in demo/.
#
#   tools/demo.sh [--epochs N]
set -euo pipefail
cd "$(dirname "$0")/.."

epochs=8
while [ $# -gt 0 ]; do
  case "$1" in
    --epochs) epochs=$2; shift 2 ;;
    *) echo "usage: tools/demo.sh [--epochs N]" >&2; exit 2 ;;
  esac
done

start=$SECONDS
times=()
stage() { # stage NAME command...: runs it and notes its time
  local name=$1 began=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  "$@"
  times+=("$(printf '%-28s %4d s' "$name" $((SECONDS - began)))")
}

build() {
  cmake --preset release -DQCC_BUILD_TESTS=OFF -B build-demo >/dev/null
  cmake --build build-demo --target qcc qrun
}

stage "install" tools/setup.sh
stage "Python environment" tools/python_env.sh
stage "build" build
qcc=build-demo/bin/qcc qrun=build-demo/bin/qrun

rm -rf demo
mkdir demo
stage "tokenize" tools/tokenize.py data/chat-sample.jsonl --tokenizer data/tokenizer --out demo/tokens --eval-out demo/eval-tokens \
  --eval-count 40
stage "pack" "$qrun" pack demo/tokens --out demo/packed --seq-len 2048 --overflow split
stage "pack held-out" "$qrun" pack demo/eval-tokens --out demo/eval-packed --seq-len 2048 --overflow split
stage "import" "$qcc" import data/demo --dtype f32 -o demo/qwen.mlir
stage "compile" "$qcc" build demo/qwen.mlir -o demo/qwen.qprog --data demo/packed --explain
stage "train" "$qrun" train --program demo/qwen.qprog --data demo/packed --eval-data demo/eval-packed --eval-every 100 \
  --scratch --tokenizer data/tokenizer --out demo/run --epochs "$epochs" --lr 2e-3 --warmup 40 --weight-decay 0.1 --beta2 0.95 --seed 1
stage "evaluate the export" "$qrun" eval --program demo/qwen.qprog --data demo/eval-packed --weights demo/run/checkpoint

printf '\n== result\n'
echo "what guessing from frequencies alone would lose (nats a trained token):"
tools/unigram_entropy.py demo/tokens demo/eval-tokens
echo "held-out loss of the trained model (nats a trained token):"
grep -o '"eval_loss":[0-9.]*' demo/run/metrics.jsonl | tail -n 1 | cut -d: -f2
echo "checkpoint: demo/run/checkpoint (transformers loads it)"
printf '\n== times\n'
printf '%s\n' "${times[@]}"
printf '%-28s %4d s\n' "all" $((SECONDS - start))
