# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tools/unigram_entropy.py: numbers that can be worked out by hand."""

import math
import unittest

from support import CommandTest
from chatdata.tokenizer import Document
from chatdata.tokenfiles import TokenWriter


class UnigramEntropy(CommandTest):
    def write(self, name, *documents, bound=4):
        with TokenWriter(self.folder / name, "0" * 64, "", bound, shard_tokens=2) as writer:
            for ids, mask in documents:
                writer.add(Document(ids, bytearray(mask)))
            writer.finish()
        return self.folder / name

    def test_by_hand(self):
        tokens = self.write("tokens", ([3, 0, 0, 1], [0, 1, 1, 1]), ([3, 3, 1, 2], [0, 0, 1, 0]))  # targets 0 0 1 1
        held_out = self.write("eval", ([0, 0, 2], [0, 1, 1]))
        result = self.assert_works(self.tool("unigram_entropy.py", tokens, held_out))
        self.assertIn(f"4 trained tokens: {math.log(2):.4f} nats", result.stdout)
        # Smoothed frequencies 3/8, 3/8, 1/8, 1/8.
        self.assertIn(f"2 held-out trained tokens: {-(math.log(3 / 8) + math.log(1 / 8)) / 2:.4f} nats", result.stdout)

    def test_damage_is_found(self):
        tokens = self.write("tokens", ([3, 0], [0, 1]))
        shard = tokens / "shard-00000.safetensors"
        shard.write_bytes(shard.read_bytes()[:-1] + b"\0")
        self.assert_fails(self.tool("unigram_entropy.py", tokens), "shard-00000.safetensors: SHA-256 differs")

    def test_other_tokenizer(self):
        result = self.tool(
            "unigram_entropy.py", self.write("a", ([3, 0], [0, 1])), self.write("b", ([3, 0], [0, 1]), bound=5)
        )
        self.assert_fails(result, "vocabulary bound 5")


if __name__ == "__main__":
    unittest.main()
