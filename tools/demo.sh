#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# From a fresh Debian 12 machine to a trained checkpoint: installs what is missing, builds, and trains a tiny Qwen 3.5
# (four layers, three of them gated delta nets) from scratch on the chats in data/. Everything it makes lies in demo/
# and build-demo/.
#
#   tools/demo.sh [--epochs N] [--replace]
#
#   --epochs N   times through the chats instead of 4; with fewer it is done sooner and has learned less. What it has
#                learned is then only reported; without the option, less than 1 nat below guessing is a failure
#   --replace    remove the demo/ of an earlier run; without it that is an error
#   -h, --help   this text
#
# Exit codes: 0 done, 1 a step failed (its messages are above) or the trained model has not learned, 2 wrong usage.
set -euo pipefail
cd "$(dirname "$0")/.."

epochs=4
must_learn=1
replace=0
usage() { sed -n '4,15s/^# \{0,1\}//p' tools/demo.sh; }
wrong_usage() {
  echo "demo.sh: error: $1 (tools/demo.sh --help lists the options)" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case "$1" in
    --epochs | --epochs=*)
      if [ "$1" = --epochs ]; then
        [ $# -gt 1 ] || wrong_usage "--epochs needs a number"
        shift
      fi
      epochs=${1#--epochs=}
      [[ $epochs =~ ^[1-9][0-9]{0,5}$ ]] || wrong_usage "--epochs: expected a whole number from 1 to 999999, got '$epochs'"
      must_learn=0
      ;;
    --replace) replace=1 ;;
    -h | --help) usage; exit 0 ;;
    *) wrong_usage "unknown option '$1'" ;;
  esac
  shift
done
if [ -e demo ] && [ "$replace" = 0 ]; then
  echo "demo.sh: error: demo/ is there, from an earlier run. Keep it under another name (mv demo demo-before), or have" \
    "it removed: tools/demo.sh --replace" >&2
  exit 1
fi

start=$SECONDS
times=()
stage() { # stage NAME command...: runs it and notes its time
  local name=$1 began=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  "$@"
  took=$((SECONDS - began))
  times+=("$(printf '%-28s %4d s' "$name" "$took")")
}

build() {
  # Of what configuring says, only for which devices the programs will be.
  cmake --preset release -DQCC_BUILD_TESTS=OFF -B build-demo | { grep '^-- CUDA backend' || true; }
  cmake --build build-demo --target qcc qrun
}
evaluate_export() {
  "$qrun" eval --program demo/qwen.qprog --data demo/eval-packed --weights demo/run/checkpoint | tee demo/eval.txt
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
stage "train" "$qrun" train --program demo/qwen.qprog --data demo/packed --eval-data demo/eval-packed --eval-every 60 \
  --scratch --tokenizer data/tokenizer --out demo/run --epochs "$epochs" --lr 2e-3 --warmup 60 --weight-decay 0.1 --beta2 0.95 --seed 1
train_took=$took
stage "evaluate the export" evaluate_export

printf '\n== result\n'
unigram=$(tools/unigram_entropy.py demo/tokens demo/eval-tokens)
echo "$unigram"
guess=$(sed -n 's/^unigram loss .*: \([0-9.]*\) nats$/\1/p' <<<"$unigram")
loss=$(sed -n 's/^loss \([0-9.]*\) .*/\1/p' demo/eval.txt)
if [ -z "$guess" ] || [ -z "$loss" ]; then
  echo "demo.sh: error: expected the loss of guessing above and 'loss NUMBER' in demo/eval.txt, got '$guess' and" \
    "'$(cat demo/eval.txt)'" >&2
  exit 1
fi
learned=$(awk -v loss="$loss" -v guess="$guess" 'BEGIN { print (guess - loss >= 1) }')
awk -v loss="$loss" -v guess="$guess" 'BEGIN {
  printf "On conversations that it never saw the exported model loses %.4f nats a trained token;\n", loss
  printf "guessing from the frequencies of tokens alone loses %.4f: %.4f %s.\n", guess, \
    loss < guess ? guess - loss : loss - guess, loss < guess ? "less" : "more"
}'
printf '\n== times\n'
printf '%s\n' "${times[@]}"
printf '%-28s %4d s\n' "all" $((SECONDS - start))
echo "Meant for two cores: training 180 s or more, this time $train_took s; all of it 1200 s or less, this time" \
  "$((SECONDS - start)) s."
if [ "$learned" = 0 ]; then
  message="the exported model's held-out loss is $loss: expected at least 1 nat below guessing, $guess"
  if [ "$must_learn" = 1 ]; then
    echo "demo.sh: error: $message" >&2
    exit 1
  fi
  echo "It has not learned to predict yet: $message. Train longer."
fi
cat <<'END'

== next
The checkpoint is the Hugging Face folder demo/run/checkpoint. To chat with it in transformers (the first command
installs PyTorch and transformers in .venv-transformers/, some GB, once):

tools/python_env.sh --with-transformers
.venv-transformers/bin/python -c '
from transformers import pipeline
chat = pipeline("text-generation", "demo/run/checkpoint")
messages = [{"role": "user", "content": "Hi! How are you?"}]
print(chat(messages, max_new_tokens=60)[0]["generated_text"][-1]["content"])'
END
