# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same input gives the same bytes (docs/failures.md 26), from every phase's dump too."""
import json
import re
import unittest

import support
import check_golden  # beside support's tensors

PHASES = ["model", "raised", "formed", "grad", "bucketed", "sharded", "fused", "remat", "planned"]


class Determinism(support.TestCase):
    def test_two_runs(self):
        """Programs, metrics (times aside) and checkpoints; with another number of threads too."""
        case = "tiny_untied"
        vocab = support.vocabulary(case)
        documents = [[document] for document in support.random_documents(1, [70, 33, 128, 65, 12, 90], vocab)]
        packed = self.work / "packed"
        support.write_packed(packed, documents, 128, vocab)
        runs = []
        for threads in (1, 2):
            program = self.build(case, "128", dtype="bf16", name=f"run{threads}")
            out = self.work / f"out{threads}"
            support.run("qrun", "train", "--program", program, "--data", packed, "--weights", support.GOLDEN / case,
                        "--out", out, "--epochs", 2, "--micro-batches", 2, "--lr", 1e-3, "--threads", threads, "--seed",
                        4)
            checkpoint = out / "checkpoint"
            files = {path.name: path.read_bytes() for path in checkpoint.iterdir()}
            self.assertIn("model.safetensors", files)
            runs.append((program.read_bytes(), support.metrics(out), files))
        self.assertEqual(runs[0][0], runs[1][0], "programs")
        self.assertEqual(runs[0][1], runs[1][1], "metrics")
        self.assertEqual(runs[0][2], runs[1][2], "checkpoints")

    def test_dumps_change_no_bit(self):
        """Losses, metrics and checkpoints of a golden case are those of the same commands without --dump-hidden and
        --dump-grads."""
        case = "tiny_untied"
        vocab = support.vocabulary(case)
        batch, length = self.work / "batch", json.loads((support.GOLDEN / case / "golden.json").read_text())["tokens"]
        check_golden.write_packed(support.GOLDEN / case, batch, length)
        rows = self.work / "rows"
        documents = support.random_documents(1, [70, 33], vocab)
        support.write_packed(rows, [[document] for document in documents], length, vocab)
        for dtype in ("f32", "bf16"):
            program = self.build(case, str(length), dtype=dtype, name=dtype)
            # Gradients of a single row, and added over two.
            for name, data, micro_batches in (("batch", batch, 1), ("rows", rows, 2)):
                with self.subTest(dtype=dtype, data=name):
                    runs = []
                    for dump in (False, True):
                        folder = self.work / f"{dtype}-{name}-{dump}"
                        common = ["--program", program, "--data", data, "--weights", support.GOLDEN / case]
                        losses, hidden, grads = (self.work / f"{folder.name}-{what}"
                                                 for what in ("losses", "hidden", "grads"))
                        evaluated = support.run("qrun", "eval", *common, "--dump-losses", losses,
                                                *(["--dump-hidden", hidden] if dump else []))
                        (loss,) = re.findall(r"loss +\S+", evaluated)
                        support.run("qrun", "train", *common, "--out", folder, "--steps", 3, "--lr", 1e-3,
                                    "--micro-batches", micro_batches, *(["--dump-grads", grads] if dump else []))
                        files = [{path.name: path.read_bytes() for path in place.iterdir()}
                                 for place in (losses, folder / "checkpoint")]
                        runs.append((loss, files[0], support.metrics(folder), files[1]))
                    self.assertTrue(any(hidden.iterdir()))
                    self.assertEqual(len(list(grads.iterdir())), 3)
                    for what, without, with_dumps in zip(("loss", "losses", "metrics", "checkpoint"), *runs):
                        self.assertEqual(without, with_dumps, what)

    def test_the_bucket_changes_no_gradient(self):
        """Rows of one length in buckets of many: what lies past the documents adds nothing, not even in another
        order."""
        case = "tiny_untied"
        vocab = support.vocabulary(case)
        packed = self.work / "packed"
        support.write_packed(packed, [support.random_documents(1, [70, 33, 97], vocab)], 200, vocab)
        gradients = []
        for bucket in ("200", "333", "1600"):
            _, values = self.train(case, self.build(case, bucket, name=f"bucket{bucket}"), packed, f"run{bucket}",
                                   "--steps", 1)
            gradients.append(values)
        for name, value in gradients[0].items():
            if not name.startswith("hidden."):
                for other in gradients[1:]:
                    self.assertEqual(value, other[name], name)

    def test_every_dump_continues(self):
        """A dump of any phase compiles further to a byte-identical program, whatever the options were; they are not
        repeated."""
        for options in ([], ["--states", "bf16", "--remat", "memory-bound"]):
            with self.subTest(options=options):
                name = "-".join(["model", *(option.strip("-") for option in options)])
                whole = self.build("tiny_untied", "256,64", *options, dtype="bf16", name=name)
                for phase in PHASES:
                    dump, program = self.work / f"{name}.{phase}.mlir", self.work / f"{name}.{phase}.qprog"
                    support.run("qcc", "build", self.work / f"{name}.mlir", "--buckets", "256,64", *options,
                                "--compile-to", phase, "-o", dump)
                    support.run("qcc", "build", dump, "--buckets", "256,64", "-o", program)
                    self.assertEqual(program.read_bytes(), whole.read_bytes(), phase)


if __name__ == "__main__":
    unittest.main()
