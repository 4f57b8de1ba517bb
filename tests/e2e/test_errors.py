# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What goes wrong says so, with the right exit code, before anything is lost (docs/failures.md 10, 13, 22, 33)."""
import json
import os
import re
import shutil
import unittest
import unittest.mock

import support

CASE = "tiny_tied"


class Errors(support.TestCase):
    def packed(self, lengths, row_length, vocab=None, name="packed", trained=0.7):
        path = self.work / name
        documents = support.random_documents(2, lengths, vocab or support.vocabulary(CASE), trained)
        support.write_packed(path, [documents], row_length, vocab or support.vocabulary(CASE))
        return path

    def train(self, program, packed, *options):
        return [
            "qrun", "train", "--program", program, "--data", packed, "--weights", support.GOLDEN / CASE, "--out",
            self.work / "run", "--steps", 1, *options
        ]

    def test_missing_kernel_fails_the_build(self):
        module = self.work / "model.mlir"
        support.run("qcc", "import", support.GOLDEN / CASE, "-o", module)
        self.assert_fails(1, r"model\.mlir:\d+:\d+: error: no kernel for 'qt\.swiglu' on target cpu, in "
                             r"layers\.0\.mlp: kernel swiglu is disabled\n", "qcc", "build", module, "--buckets", "64",
                          "-o", self.work / "x.qprog", "--disable-kernel", "swiglu")
        self.assertFalse((self.work / "x.qprog").exists())

    def test_no_nvrtc(self):
        module = self.work / "model.mlir"
        support.run("qcc", "import", support.GOLDEN / CASE, "-o", module)
        # Nothing but what is named is looked for, and nothing is in the cache.
        environment = {"QCC_NVRTC_DIR": str(self.work / "toolkit"), "QCC_CACHE_DIR": str(self.work / "cache")}
        with unittest.mock.patch.dict(os.environ, environment):
            self.assert_fails(1, r"error: NVRTC, which compiles kernels for GPUs \(QCC_NVRTC_DIR names its folder\) cannot "
                                 r"be opened: \S+/toolkit/libnvrtc\.so\.13: cannot open shared object file",
                              "qcc", "build", module, "--target", "sm_90a", "--buckets", "64", "-o",
                              self.work / "x.qprog")
        self.assertFalse((self.work / "x.qprog").exists())

    def test_bucket_that_was_not_built(self):
        program, packed = self.build(CASE, "64"), self.packed([80, 20], 100)
        self.assert_fails(1, r"packed: the program \S+model\.qprog has no bucket for any of its rows: "
                             r"build it with --data \S+packed or --buckets 100x2x100x100\n",
                          *self.train(program, packed, "--no-compile"))

    def test_missing_buckets_are_named_so_that_they_do(self):
        """Data of two buckets, and held-out data of another: what the message says to build runs them all."""
        vocab, packed, held_out = support.vocabulary(CASE), self.work / "packed", self.packed([80, 20], 100, name="eval")
        few, many = (support.random_documents(1, [2048], vocab, trained) for trained in (0.1, 0.9))
        support.write_packed(packed, [few, many, many], 2048, vocab)
        # It takes the first row: a program of the missing buckets alone would not do.
        program = self.build(CASE, "2048x1x2048x1024")
        rebuild = ["qcc", "build", self.work / "model.mlir", "-o", program]
        evaluate = ["qrun", "eval", "--program", program, "--data", packed, "--weights", support.GOLDEN / CASE,
                    "--no-compile"]
        for option in (1, 2):
            self.build(CASE, "2048x1x2048x1024")
            with self.assertRaises(support.Failed) as caught:
                support.run(*evaluate)
            advice = re.search(r"packed: the program \S+model\.qprog has no bucket for 2 of its 3 rows: build it with "
                               r"(--data \S+packed) or (--buckets 2048x1x2048x1024,2048x1x2048x2048)\n",
                               caught.exception.output)
            self.assertIsNotNone(advice, caught.exception.output)
            support.run(*rebuild, *advice.group(option).split())
            self.assertIn("perplexity", support.run(*evaluate))
        # No folder has the rows of both: their buckets are named.
        self.build(CASE, "64")
        train = self.train(program, packed, "--eval-data", held_out, "--no-compile")
        with self.assertRaises(support.Failed) as caught:
            support.run(*train)
        advice = re.search(r"packed: the program \S+ has no bucket for any of its rows: build it with (--buckets \S+)\n",
                           caught.exception.output)
        self.assertIsNotNone(advice, caught.exception.output)
        support.run(*rebuild, *advice.group(1).split())
        self.assertIn("held-out loss", support.run(*train))
        # Without --no-compile a bucket that both lack is compiled once.
        program = self.build(CASE, "64")
        shutil.rmtree(self.work / "run")
        self.assertEqual(support.run(*self.train(program, held_out, "--eval-data", held_out)).count("compiled bucket"), 1)

    def test_missing_bucket_is_compiled(self):
        program, packed = self.build(CASE, "64"), self.packed([80, 20], 100)
        output = support.run(*self.train(program, packed))
        self.assertRegex(output, r"(?m)^compiled bucket 100x2x100x100 in [\d.,]+ m?s: the program did not have it$")

    def test_vocabulary(self):
        vocab = support.vocabulary(CASE) + 1
        program, packed = self.build(CASE, "64"), self.packed([64], 64, vocab=vocab)
        self.assert_fails(1, rf"packed: its tokenizer has {vocab} ids, more than the model's vocabulary of {vocab - 1} "
                             r"\(\S+model\.qprog\)\n",
                          *self.train(program, packed))

    def test_nothing_trained(self):
        program, packed = self.build(CASE, "64"), self.packed([64], 64, trained=0)
        self.assert_fails(1, r"packed: step 1: none of its rows \(0\) has a trained token\n",
                          *self.train(program, packed))

    def test_out_is_not_empty(self):
        program, packed = self.build(CASE, "64"), self.packed([64], 64)
        (self.work / "run").mkdir()
        (self.work / "run" / "precious").write_text("mine")
        self.assert_fails(2, r"error: \S+/run: expected a new or empty directory, but it holds 'precious'\n",
                          *self.train(program, packed))
        self.assertEqual((self.work / "run" / "precious").read_text(), "mine")

    def test_a_run_that_cannot_begin_leaves_nothing(self):
        program, packed = self.build(CASE, "64"), self.packed([64], 64)
        arguments = self.train(program, packed)
        arguments[arguments.index("--out") + 1] = self.work / "runs" / "first"
        arguments[arguments.index("--weights") + 1] = self.work / "nowhere"
        self.assert_fails(1, "nowhere.*No such file", *arguments)
        self.assertFalse((self.work / "runs").exists())

    def test_weights_of_another_model(self):
        program, packed = self.build(CASE, "64"), self.packed([64], 64)
        arguments = self.train(program, packed)
        arguments[arguments.index("--weights") + 1] = support.GOLDEN / "tiny_untied"
        self.assert_fails(1, r"tiny_untied/model\.safetensors: tensor "
                             r"'model\.layers\.0\.linear_attn\.in_proj_qkv\.weight': expected the shape \[256, 64\], got f32\[160, 64\]\n", *arguments)

    def test_tied_flag(self):
        """At the root, nested, and absent: a checkpoint without a head is fine only where the two are tied."""
        config = json.loads((support.GOLDEN / CASE / "config.json").read_text())
        for name, text, heads in (("root", config, 0),
                                  ("nested", {"model_type": "qwen3_5", "tie_word_embeddings": True, "text_config": dict(config, tie_word_embeddings=False)}, 0),
                                  ("only nested", {"model_type": "qwen3_5", "text_config": config}, 1),
                                  ("absent", {key: value for key, value in config.items() if key != "tie_word_embeddings"}, 1)):
            with self.subTest(name):
                path = self.work / "config.json"
                path.write_text(json.dumps(text))
                module = support.run("qcc", "import", path)
                self.assertEqual(module.count("qt.parameter @lm_head.weight"), heads)
                self.assertEqual(module.count('tied ["lm_head.weight"]'), 1 - heads)

    def test_untied_checkpoint_without_a_head(self):
        source = self.work / "source"
        shutil.copytree(support.GOLDEN / CASE, source)
        config = json.loads((source / "config.json").read_text())
        (source / "config.json").write_text(json.dumps(dict(config, tie_word_embeddings=False)))
        module, program = self.work / "m.mlir", self.work / "m.qprog"
        support.run("qcc", "import", source, "-o", module)
        support.run("qcc", "build", module, "--buckets", "64", "-o", program)
        packed = self.packed([64], 64)
        self.assert_fails(1, r"source: no tensor for parameter 'lm_head\.weight': expected one of the names "
                             r"lm_head\.weight\n", "qrun", "train", "--program", program, "--data", packed, "--weights",
                          source, "--out", self.work / "run", "--steps", 1)

    def test_module_that_qrun_cannot_compile(self):
        """The place is spelt as qcc spells it."""
        module = self.work / "model.mlir"
        module.write_text("module {\n  nonsense\n}\n")
        self.assert_fails(1, r"model\.mlir: the build failed:\n\S*/model\.mlir:2:3: error: custom op 'nonsense'",
                          "qrun", "train", "--program", module, "--data", self.packed([64], 64), "--scratch", "--out",
                          self.work / "run", "--steps", 1)

    def test_no_bucket(self):
        """One line of usage, not the module."""
        module = self.work / "model.mlir"
        support.run("qcc", "import", support.GOLDEN / CASE, "-o", module)
        with self.assertRaises(support.Failed) as caught:
            support.run("qcc", "build", module, "-o", self.work / "x.qprog")
        self.assertEqual(caught.exception.code, 2)
        self.assertRegex(caught.exception.output, "--buckets or --data")
        self.assertLess(len(caught.exception.output.splitlines()), 4)

    def test_usage(self):
        self.assert_fails(2, "qrun train: expected --program FILE, --data DIR and --out DIR\n", "qrun", "train")
        self.assert_fails(2, "no command 'fly': the commands are pack, train, eval, profile, calibrate and inspect", "qrun", "fly")
        self.assert_fails(2, "no command 'bild': the commands are import and build; did you mean build", "qcc", "bild")
        self.assert_fails(2, "--bukets; did you mean --buckets", "qcc", "build", "--bukets", 8, "model.mlir")
        self.assert_fails(2, "--epochs: expected a value", "qrun", "train", "--epochs")
        self.assert_fails(2, "--size: expected 0.8b, 2b, 4b, 9b or 27b, got '3b'\n", "qcc", "import", "--size", "3b")


if __name__ == "__main__":
    unittest.main()
