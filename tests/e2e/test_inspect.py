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

    def test_row_is_checked_first(self):
        packed = self.work / "packed"
        support.write_packed(packed, [[([9, 3], [0, 1])]], 8, 32)
        for row in (-1, 1):
            with self.assertRaises(support.Failed) as caught:
                support.run("qrun", "inspect", packed, "--row", row)
            self.assertEqual((caught.exception.code, caught.exception.output),
                             (2, f"qrun: error: --row: {packed} has rows 0 to 0, got {row}\n"))

    def test_wrong_kinds_say_what_they_are(self):
        module, program, packed = self.work / "model.mlir", self.work / "model.qprog", self.work / "packed"
        support.run("qcc", "import", support.GOLDEN / "tiny_tied", "-o", module)
        support.run("qcc", "build", module, "--buckets", "64", "-o", program)
        vocab = support.vocabulary("tiny_tied")
        support.write_packed(packed, [support.random_documents(1, [40, 24], vocab)], 64, vocab)
        run, empty, other, tokens = (self.work / name for name in ("run", "empty", "other", "tokens"))
        train = ["qrun", "train", "--program", program, "--data", packed, "--out", run, "--steps", 1]
        support.run(*train, "--scratch")
        empty.mkdir()
        other.mkdir()
        (other / "notes.txt").write_text("hello")
        for path, message in ((run, rf"got the folder of a run; its checkpoint is {run}/checkpoint$"),
                              (module, rf"got a module; .*`qcc build {module} --data packed/ -o model.qprog`"),
                              (empty, r"got a folder with nothing in it$"), (other, r"got a folder without manifest.json"),
                              (support.GOLDEN / "tiny_tied" / "config.json", "got a JSON file; take the folder"),
                              (other / "notes.txt", "got a file of another kind$")):
            with self.subTest(f"inspect {path}"):
                self.assert_fails(2, rf"(?m)^qrun: error: {path}: expected a program \(\.qprog\), a checkpoint's folder, tokens/ or packed/, {message}", "qrun", "inspect", path)
        for option, path, kind in (("--instructions", packed, "a folder of packed data"), ("--row", program, "a compiled program"),
                                   ("--tokenizer", support.GOLDEN / "tiny_tied", "a Hugging Face folder")):
            with self.subTest(option):
                self.assert_fails(2, f"{option}: goes with .*, got {kind}", "qrun", "inspect", path, option,
                                  *([] if option == "--instructions" else [1]))

        support.write_packed(tokens, [support.random_documents(1, [40, 24], vocab)], None, vocab)
        self.assertRegex(
            support.run("qrun", "inspect", tokens),
            rf"^{tokens}: token data, not packed yet: 2 documents(?s:.*)`qrun pack {tokens} --out packed/`")
        self.assert_fails(2, "--row: .*tokens is token data, which has no rows", "qrun", "inspect", tokens, "--row", 0)
        weights = ["--weights", support.GOLDEN / "tiny_tied"]
        for option, path, message in (("--data", tokens, f"expected a folder of packed data, got a folder of token data; `qrun pack {tokens} --out packed/` makes one"),
                                      ("--eval-data", empty, "expected a folder of packed data, got a folder;"),
                                      ("--weights", run, f"expected a Hugging Face folder, got the folder of a run; its checkpoint is {run}/checkpoint"),
                                      ("--weights", packed, "got a folder of packed data"), ("--weights", module, "got a module"),
                                      ("--program", support.GOLDEN / "tiny_tied", "expected a program .* got a Hugging Face folder; `qcc import "),
                                      ("--program", packed, "got a folder of packed data; that goes with --data")):
            with self.subTest(f"train {option} {path}"):
                arguments = [*train, *weights]
                arguments[arguments.index("--out") + 1] = self.work / "run2"
                if option in arguments:
                    arguments[arguments.index(option) + 1] = path
                else:
                    arguments += [option, path]
                self.assert_fails(2, f"error: {option}: {path}: .*{message}", *arguments)
        self.assert_fails(2, "packed: expected a folder of token data or files of JSON lines, got a folder of packed data", "qrun", "pack", packed, "--out", self.work / "x")

    def test_program_and_checkpoint(self):
        program = self.build("tiny_tied", "64")
        report = support.run("qrun", "inspect", program)
        self.assertIn("layers.0.linear_attn.A_log", report)
        self.assertIn("gated_delta_rule", support.run("qrun", "inspect", program, "--instructions"))
        self.assertRegex(support.run("qrun", "inspect", support.GOLDEN / "tiny_tied"),
                         r"55 tensors, [\d,]+ elements, 1 file\n")

    def test_pack_token_ids(self):
        """JSON lines with unshifted labels: the same row as by hand, a document's first token never trained."""
        lines = self.work / "ids.jsonl"
        lines.write_text(
            '{"input_ids": [1, 2, 3], "labels": [1, -100, 3]}\n{"input_ids": [4, 5], "labels": [-100, 5]}\n')
        report = support.run("qrun", "pack", lines, "--out", self.work / "packed", "--seq-len", 8, "--vocabulary", 16)
        self.assertIn("2 documents, 5 tokens (2 trained) in 1 row of 8", report)
        self.assertIn("1 2 [[3 ]]", support.run("qrun", "inspect", self.work / "packed", "--color", "never"))
        self.assert_fails(2, "empty", "qrun", "pack", lines, "--out", self.work / "packed", "--seq-len", 8)
        # What is wrong with a document is said of the line that it came from, and no folder in between is named.
        lines.write_text('\n{"input_ids": [1], "labels": [1]}\n{"input_ids": [1, 2, 3, 4], "labels": [1, 2, 3, 4]}\n')
        self.assert_fails(2, r"error: \S*/ids\.jsonl:3: 4 tokens, but a row holds 3", "qrun", "pack", lines, "--out",
                          self.work / "other", "--seq-len", 3)
        report = support.run("qrun", "pack", lines, "--out", self.work / "other", "--seq-len", 3, "--overflow", "split")
        self.assertIn("2 labels of a document's first token left out: nothing before it predicts it\n", report)
        self.assertIn("split 1 document longer than a row into 2; 1 trained token now open", report)
        self.assertRegex(report, r"warning: \S*/ids\.jsonl: 2 of 3 documents without a trained token")
        lines.write_text("")
        self.assert_fails(1, r"error: \S*/ids\.jsonl: expected documents", "qrun", "pack", lines, "--out",
                          self.work / "third")
        for option in ("--seq-len", "--naive-batch", "--vocabulary"):
            self.assert_fails(2, f"{option}: expected 1 to", "qrun", "pack", lines, "--out", self.work / "third",
                              option, 0)
        lines.write_text('{"input_ids": [1, 2, 3], "labels": [1]}\n')
        self.assert_fails(1, r"ids\.jsonl:1", "qrun", "pack", lines, "--out", self.work / "other", "--seq-len", 8)


if __name__ == "__main__":
    unittest.main()
