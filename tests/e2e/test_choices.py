# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The choices of a build and of a run: what must not change the numbers, and what may."""
import math
import re
import shutil
import unittest

import support
import spellings
import tensors

CASE = "tiny_untied"
LENGTHS = [70, 5, 121]


class Choices(support.TestCase):
    def setUp(self):
        super().setUp()
        vocab = support.vocabulary(CASE)
        self.packed = self.work / "packed"
        support.write_packed(self.packed, [support.random_documents(8, LENGTHS, vocab)], sum(LENGTHS), vocab)

    def gradients(self, name, *options, dtype="f32", run_options=()):
        program = self.build(CASE, str(sum(LENGTHS)), *options, dtype=dtype, name=name)
        return self.train(CASE, program, self.packed, f"{name}-run", "--steps", 3, "--lr", 1e-3, *run_options)

    def test_missed_pack(self):
        """A frozen projection stays out of its pack. The gradients of its input are added by a kernel then, and all
        other gradients are the same within rounding."""
        frozen = "layers.1.mlp.up_proj.weight"
        _, expected = self.gradients("packed")
        module, program = self.work / "missed.mlir", self.work / "missed.qprog"
        support.run("qcc", "import", support.GOLDEN / CASE, "--dtype", "f32", "-o", module)
        text, changes = re.subn(rf"(qt\.parameter @{re.escape(frozen)} : \S+) ", r"\1 frozen ", module.read_text())
        self.assertEqual(changes, 1)
        module.write_text(text)
        explained = support.run("qcc", "build", module, "-o", program, "--buckets", sum(LENGTHS), "--explain")
        self.assertRegex(explained, r"missed parameter_pack at mlp\.up_proj")
        self.assertIn("add", {line.split()[0] for line in support.run("qrun", "inspect", program).splitlines() if line.strip()})
        _, actual = self.train(CASE, program, self.packed, "missed-run", "--steps", 1, "--lr", 1e-3)
        self.assertEqual({name for name in expected if name not in actual}, {f"model.{frozen}"})
        del expected[f"model.{frozen}"]
        self.assert_gradients_close(actual, expected)

    def test_missed_compound(self):
        """A gate that is written as x * sigmoid(x) is no swiglu: clusters compute it and its gradients, the same within
        rounding, and every build says so, that of `qrun`, too."""
        _, expected = self.gradients("formed")
        module = self.work / "pointwise.mlir"
        support.run("qcc", "import", support.GOLDEN / CASE, "--dtype", "f32", "-o", module)
        self.assertEqual(spellings.without_swiglu(module), 4, "layers")
        warning = (r"(?m)pointwise\.mlir.*: warning: no compound takes qt\.sigmoid, 2 qt\.mul in scope 'layers\.0\.mlp' of "
                   r"@model, nor in 3 more of 'layers': computed by themselves, they read and write at least \d+ bytes a token$")
        program, grads = self.work / "pointwise.qprog", self.work / "grads"
        self.assertRegex(support.run("qcc", "build", module, "-o", program, "--buckets", sum(LENGTHS)), warning)
        self.assertRegex(support.run("qrun", "inspect", program), r"(?m)^ +pointwise +\d")
        printed = support.run("qrun", "train", "--program", module, "--data", self.packed, "--weights",
                              support.GOLDEN / CASE, "--out", self.work / "run", "--dump-grads", grads, "--no-shuffle",
                              "--steps", 1, "--lr", 1e-3)
        self.assertRegex(printed, warning)
        self.assert_gradients_close(tensors.read(grads / "step-00001.safetensors"), expected)

    def test_recomputing_changes_no_bit(self):
        """What is recomputed comes out the same: gradients, metrics, weights (docs/design.md, remat)."""
        for dtype in ("f32", "bf16"):
            with self.subTest(dtype):
                kept_run, kept = self.gradients(f"kept-{dtype}", dtype=dtype)
                again_run, again = self.gradients(f"again-{dtype}", "--remat", "memory-bound", dtype=dtype)
                self.assertEqual(kept, again)
                for file in ("model.safetensors",):
                    self.assertEqual((kept_run / "checkpoint" / file).read_bytes(),
                                     (again_run / "checkpoint" / file).read_bytes())

    def test_states(self):
        """bf16 moments and stochastically rounded weights: the first step's gradients are those with masters; later
        weights are others, and the same twice."""
        masters_run, masters = self.gradients("masters", dtype="bf16")
        first_run, first = self.gradients("first", "--states", "bf16", dtype="bf16")
        second_run, second = self.gradients("second", "--states", "bf16", dtype="bf16")
        self.assertEqual(masters, first)
        weights = [(run / "checkpoint" / "model.safetensors").read_bytes()
                   for run in (masters_run, first_run, second_run)]
        self.assertNotEqual(weights[0], weights[1])
        self.assertEqual(weights[1], weights[2])
        seeded_run, _ = self.gradients("seeded", "--states", "bf16", dtype="bf16", run_options=("--seed", 5))
        self.assertNotEqual(weights[1], (seeded_run / "checkpoint" / "model.safetensors").read_bytes())

    def test_program_from_a_module(self):
        """`--program model.mlir` compiles for the data, and trains as the built program does."""
        built_run, built = self.gradients("built")
        out, grads = self.work / "direct", self.work / "direct-grads"
        support.run("qrun", "train", "--program", self.work / "built.mlir", "--data", self.packed, "--weights",
                    support.GOLDEN / CASE, "--out", out, "--dump-grads", grads, "--no-shuffle", "--steps", 3, "--lr",
                    1e-3)
        self.assertEqual([line["loss"] for line in support.metrics(built_run)],
                         [line["loss"] for line in support.metrics(out)])

    def test_config_file(self):
        """--print-config shows what a TOML file sets; the command line wins."""
        config = self.work / "run.toml"
        config.write_text('lr = 0.25\nschedule = "linear"\nmicro-batches = 2\n')
        printed = support.run("qrun", "train", "--config", config, "--program", "p.qprog", "--data", "d", "--out", "o",
                              "--lr", 0.5, "--print-config")
        self.assertRegex(printed, r"(?m)^lr = 0.5$")
        self.assertRegex(printed, r"(?m)^schedule = \"linear\"$")
        self.assertRegex(printed, r"(?m)^micro-batches = 2$")
        config.write_text(printed)
        self.assertEqual(support.run("qrun", "train", "--config", config, "--print-config"), printed)
        config.write_text("lrr = 1\n")
        self.assert_fails(2, "lrr", "qrun", "train", "--config", config, "--program", "p", "--data", "d", "--out", "o")

    def test_non_finite_gradients_update_nothing(self):
        """A step whose gradients are not finite is reported, counted, and changes nothing: the run that ends with it
        has the weights of the run that ends before it, and the run that goes on has the weights of one that never saw its
        row, so that no moment and no counter of the optimizer has changed either."""
        vocab = support.vocabulary(CASE)
        poisoned = vocab - 1  # a token whose embedding is not a number; only the row `bad` has it
        source = self.work / "source"
        shutil.copytree(support.GOLDEN / CASE, source)
        weights = tensors.read(source / "model.safetensors")
        _, (_, width), values = weights["model.embed_tokens.weight"]
        values[poisoned * width : (poisoned + 1) * width] = type(values)(values.typecode, [math.nan] * width)
        tensors.write(source / "model.safetensors", weights)
        first, second, bad = (support.random_documents(seed, LENGTHS, poisoned) for seed in (1, 2, 3))
        bad[1][0][2] = poisoned

        for dtype in ("f32", "bf16"):
            program = self.build(CASE, str(sum(LENGTHS)), dtype=dtype, name=dtype)

            def run(name, *rows):
                packed, out = self.work / f"{dtype}-{name}-packed", self.work / f"{dtype}-{name}"
                support.write_packed(packed, rows, sum(LENGTHS), vocab)
                printed = support.run("qrun", "train", "--program", program, "--data", packed, "--weights", source,
                                      "--out", out, "--no-shuffle", "--epochs", 1, "--micro-batches", 1, "--lr", 1e-3,
                                      "--schedule", "constant", "--warmup", 0, "--weight-decay", 0.1)
                return printed, support.metrics(out), (out / "checkpoint" / "model.safetensors").read_bytes()

            with self.subTest(dtype):
                _, _, before = run("before", first)
                printed, lines, after = run("after", first, bad)
                self.assertIn("; 1 step changed nothing, the gradients were not finite", printed)
                self.assertEqual([line["skipped"] for line in lines], [False, True])
                self.assertIsNone(lines[1]["grad_norm"])
                self.assertEqual(before, after)
                _, lines, skipping = run("skipping", first, bad, second)
                _, expected, without = run("without", first, second)
                self.assertEqual([line["skipped"] for line in lines], [False, True, False])
                self.assertEqual(lines[2]["loss"], expected[1]["loss"])
                self.assertEqual(lines[2]["grad_norm"], expected[1]["grad_norm"])
                self.assertEqual(skipping, without)
                self.assertNotEqual(skipping, before)


if __name__ == "__main__":
    unittest.main()
