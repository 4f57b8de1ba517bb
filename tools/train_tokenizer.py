#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the small tokenizer of data/tokenizer/ on chat JSONL: byte-level BPE, Qwen's special tokens and turn format.

    tools/train_tokenizer.py data/chat-sample.jsonl --out data/tokenizer

writes tokenizer.json and tokenizer_config.json; chat_template.jinja in that folder is written by hand. Same input, same
bytes.
"""

import argparse
import json
import sys
from pathlib import Path

import environment

# What is split before any merge, in this order. Merges never cross these borders.
PIECES = (
    r"'(?i:ll|re|ve|[dmst])(?!\p{L})",  # English endings: it's, don't, we'll
    r" ?[\p{L}\p{M}]+",  # a word with the space before it
    r"\p{N}",  # every digit by itself
    r" ?[^\s\p{L}\p{M}\p{N}]+",  # a run of punctuation with the space before it
    r"[\r\n]+",  # line ends
    r"[^\S\r\n]+(?!\S)",  # spaces, less the one that goes with the next word
    r"\s",
)
TURN_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")  # markup, never text
THINK_TOKENS = ("<think>", "</think>")  # single tokens, but part of what the assistant writes
PAD_TOKEN, END_OF_TURN = "<|endoftext|>", "<|im_end|>"


def train(texts, entries):
    from tokenizers import (
        AddedToken,
        Regex,
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        processors,
        trainers,
    )

    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex("|".join(PIECES)), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    added = len(TURN_TOKENS) + len(THINK_TOKENS)
    trainer = trainers.BpeTrainer(
        vocab_size=entries - added,
        min_frequency=2,
        show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in TURN_TOKENS])
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in THINK_TOKENS])
    if tokenizer.get_vocab_size() != entries:
        sys.exit(
            f"train_tokenizer.py: the text gives only {tokenizer.get_vocab_size()} entries, {entries} were asked for"
        )
    return tokenizer


def config_of(tokenizer):
    """tokenizer_config.json as transformers reads it."""
    added = {
        str(number): {
            "content": token.content,
            "lstrip": False,
            "normalized": False,
            "rstrip": False,
            "single_word": False,
            "special": token.special,
        }
        for number, token in sorted(tokenizer.get_added_tokens_decoder().items())
    }
    return {
        "add_bos_token": False,
        "add_prefix_space": False,
        "added_tokens_decoder": added,
        "bos_token": None,
        "clean_up_tokenization_spaces": False,
        "eos_token": END_OF_TURN,
        "errors": "replace",
        "model_max_length": 262144,
        "pad_token": PAD_TOKEN,
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": None,
    }


def main():
    from chatdata import DataError
    from chatdata.sources import read_chat

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="+", metavar="FILE", help="chat JSONL")
    parser.add_argument("--out", required=True, metavar="DIR", help="the tokenizer goes there")
    parser.add_argument("--entries", type=int, default=2048, help="size of the vocabulary (default %(default)s)")
    options = parser.parse_args()
    out = Path(options.out)

    def texts():
        # As the turn format spells them, so that the role names become single tokens.
        for path in options.inputs:
            for conversation in read_chat(path):
                for message in conversation.messages:
                    yield message["role"] + "\n" + message["content"]

    try:
        tokenizer = train(texts(), options.entries)
    except DataError as error:
        sys.exit(f"train_tokenizer.py: error: {error}")
    out.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(out / "tokenizer.json"), pretty=True)
    text = json.dumps(config_of(tokenizer), indent=2, ensure_ascii=False) + "\n"
    (out / "tokenizer_config.json").write_text(text, encoding="utf-8")
    print(f"{out}: {tokenizer.get_vocab_size():,} entries")


if __name__ == "__main__":
    environment.require("tokenizers", "jinja2")
    main()
