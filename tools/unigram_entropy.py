#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How well guessing without context would do, in nats a token: what a model's loss must beat to have learned anything.

tools/unigram_entropy.py tokens/           entropy of the frequencies of the trained tokens
tools/unigram_entropy.py tokens/ eval/     and the loss on eval/'s trained tokens of guessing with tokens/' frequencies
                                           (each of the vocabulary counted once more, so that none is impossible)
"""

import argparse
import math
import sys
from itertools import compress

from chatdata import DataError
from chatdata.tokenfiles import read_manifest, read_shards


def trained_counts(folder):
    """How often each id is a target."""
    counts = [0] * read_manifest(folder)["vocabulary_bound"]
    for ids, mask, _ in read_shards(folder):
        for token in compress(ids, mask):
            counts[token] += 1
    if not any(counts):
        raise DataError(f"{folder}: no trained tokens")
    return counts


def entropy(counts):
    """-sum p ln p over the frequencies, in nats."""
    total = sum(counts)
    return -math.fsum(count / total * math.log(count / total) for count in counts if count)


def guessing_loss(counts, guessed_from):
    """Mean of -ln p(token), p from other counts with add-one smoothing, in nats."""
    total = sum(guessed_from) + len(guessed_from)
    return -math.fsum(count * math.log((guess + 1) / total) for count, guess in zip(counts, guessed_from)) / sum(counts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokens", help="token or packed folder")
    parser.add_argument("eval", nargs="?", help="held-out token or packed folder of the same tokenizer")
    options = parser.parse_args()
    try:
        counts = trained_counts(options.tokens)
        print(f"unigram entropy of {sum(counts):,} trained tokens: {entropy(counts):.4f} nats")
        if options.eval is not None:
            held_out = trained_counts(options.eval)
            if len(held_out) != len(counts):
                raise DataError(f"{options.eval}: vocabulary bound {len(held_out)}, {options.tokens} has {len(counts)}")
            print(
                f"unigram loss on {sum(held_out):,} held-out trained tokens: {guessing_loss(held_out, counts):.4f} nats"
            )
    except DataError as error:
        print(f"unigram_entropy.py: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
