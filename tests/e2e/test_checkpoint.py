# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What goes in comes out (docs/failures.md 16, 18)."""
import json
import shutil
import unittest

import support
import tensors


class Checkpoint(support.TestCase):
    def test_no_steps_no_change(self):
        """After 0 steps a checkpoint has the same names, types, bytes and files; tensors that are not trained go
        along."""
        for case in support.CASES:
            for dtype in ("f32", "bf16"):
                with self.subTest(case=case, dtype=dtype):
                    source = self.work / f"{case}-{dtype}-source"
                    shutil.copytree(support.GOLDEN / case, source)
                    (source / "tokenizer.json").write_text("{}")
                    (source / "generation_config.json").write_text("{}")
                    (source / "golden.json").unlink()
                    for name in ("acts", "batch", "grads"):
                        (source / f"{name}.safetensors").unlink()
                    vocab = support.vocabulary(case)
                    packed = self.work / f"{case}-{dtype}-packed"
                    support.write_packed(packed, [support.random_documents(1, [32], vocab)], 32, vocab)
                    program = self.build(case, "32", dtype=dtype, name=f"{case}-{dtype}")
                    out = self.work / f"{case}-{dtype}-out"
                    support.run("qrun", "train", "--program", program, "--data", packed, "--weights", source, "--out",
                                out, "--steps", 0)
                    before, after = (tensors.read(path / "model.safetensors") for path in (source, out / "checkpoint"))
                    self.assertEqual(before, after)
                    for name in ("config.json", "tokenizer.json", "generation_config.json"):
                        self.assertEqual((source / name).read_bytes(), (out / "checkpoint" / name).read_bytes(), name)

    def test_from_scratch(self):
        """A run from scratch exports a checkpoint that the next run starts from."""
        vocab = support.vocabulary("tiny_tied")
        packed = self.work / "packed"
        support.write_packed(packed, [support.random_documents(1, [30, 34], vocab)], 64, vocab)
        program = self.build("tiny_tied", "64")
        support.run("qrun", "train", "--program", program, "--data", packed, "--scratch", "--seed", 3, "--out",
                    self.work / "a", "--steps", 2)
        exported = self.work / "a" / "checkpoint"
        config = json.loads((exported / "config.json").read_text())
        self.assertTrue(config["tie_word_embeddings"])
        self.assertNotIn("lm_head.weight", tensors.read(exported / "model.safetensors"))
        support.run("qrun", "train", "--program", program, "--data", packed, "--weights", exported, "--out",
                    self.work / "b", "--steps", 1)


if __name__ == "__main__":
    unittest.main()
