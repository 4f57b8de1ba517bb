# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""qrun inspect and qrun pack, as people use them."""
import json
import unittest

import support


class Inspect(support.TestCase):
    def test_packed_data_shows_what_is_trained(self):
        packed = self.work / "packed"
        documents = [([5, 6, 7, 8], [0, 0, 1, 1]), ([9, 3], [0, 1])]
        support.write_packed(packed, [documents], 8, 32)
        plain = support.run("qrun", "inspect", packed, "--color", "never")
        self.assertIn("5 6 [[7 8 ]]", plain)
        self.assertIn("9 [[3 ]]", plain)
        self.assertIn("75.00% full", plain)
        self.assertIn("\x1b[1;32m7 8", support.run("qrun", "inspect", packed, "--color", "always"))

    def test_text_of_the_shipped_tokenizer(self):
        packed = self.work / "packed"
        vocabulary = json.loads((support.ROOT / "data/tokenizer/tokenizer.json").read_text())["model"]["vocab"]
        ids = [vocabulary[piece] for piece in ("H", "i", "Ġthe")]
        support.write_packed(packed, [[(ids, [0, 1, 1])]], 4, 2048)
        self.assertIn("H[[i the]]", support.run("qrun", "inspect", packed, "--tokenizer", support.ROOT / "data/tokenizer", "--color", "never"))

    def test_program_and_checkpoint(self):
        program = self.build("tiny_tied", "64")
        report = support.run("qrun", "inspect", program)
        self.assertIn("layers.0.linear_attn.A_log", report)
        self.assertIn("gated_delta_rule", support.run("qrun", "inspect", program, "--instructions"))
        self.assertRegex(support.run("qrun", "inspect", support.GOLDEN / "tiny_tied"), r"55 tensors, \d+ elements, 1 files")

    def test_pack_token_ids(self):
        """JSON lines with unshifted labels: the same row as by hand, a document's first token never trained."""
        lines = self.work / "ids.jsonl"
        lines.write_text('{"input_ids": [1, 2, 3], "labels": [1, -100, 3]}\n{"input_ids": [4, 5], "labels": [-100, 5]}\n')
        report = support.run("qrun", "pack", lines, "--out", self.work / "packed", "--seq-len", 8, "--vocabulary", 16)
        self.assertIn("2 documents, 5 tokens (2 trained) in 1 rows of 8", report)
        self.assertIn("1 2 [[3 ]]", support.run("qrun", "inspect", self.work / "packed", "--color", "never"))
        self.assert_fails(2, "empty", "qrun", "pack", lines, "--out", self.work / "packed", "--seq-len", 8)
        lines.write_text('{"input_ids": [1, 2, 3], "labels": [1]}\n')
        self.assert_fails(1, r"ids\.jsonl:1", "qrun", "pack", lines, "--out", self.work / "other", "--seq-len", 8)


if __name__ == "__main__":
    unittest.main()
