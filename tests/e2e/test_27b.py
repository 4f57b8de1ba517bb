# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The whole 27B (64 layers, 851 tensors, no weights read) in one bucket of 8,192 tokens: each build in bounded time and
memory, from every phase's dump to the same bytes, with its memory plan."""
import hashlib
import re
import resource
import time
import unittest

import support
from test_determinism import PHASES

# A build of this size is to take less than 60 s and 4 GB. It takes 1 to 4 s, so that slow machines stay below, and some
# 60 MB; memory hardly depends on the machine and has the narrower bound.
LIMIT_SECONDS = 60
LIMIT_BYTES = 500_000_000


class Whole27B(support.TestCase):
    def build(self, source, output, *options):
        begin = time.monotonic()
        printed = support.run("qcc", "build", source, "--buckets", "8192", "-o", output, *options)
        seconds = time.monotonic() - begin
        print(f"\n{output.name}: {seconds:.1f} s", end="", flush=True)
        self.assertLess(seconds, LIMIT_SECONDS, output.name)
        return printed

    def test_budget(self):
        """What is recomputed for a budget is chosen for all layers in bounded time, and memory is packed tightly then;
        the least that the refusal of a budget names is enough, and a gigabyte less is refused."""
        model, program = self.work / "27b.mlir", self.work / "27b.qprog"
        support.run("qcc", "import", "--size", "27b", "-o", model)
        keep = self.build(model, program, "--states", "bf16")
        program.unlink()

        def number(pattern, text):
            return int(re.search(pattern, text)[1].replace(",", ""))

        most = number(r"a run of one micro-batch a step +([\d,]+) ", keep)
        refused = ["qcc", "build", model, "--buckets", "8192", "--states", "bf16", "-o", program, "--memory"]
        with self.assertRaises(support.Failed) as caught:
            support.run(*refused, "100GB")
        self.assertEqual(caught.exception.code, 1)
        least = number(r"at least ([\d,]+) bytes", caught.exception.output)
        for budget in (least, (least + most) // 2, most - 1):
            plan = self.build(model, program, "--states", "bf16", "--memory", budget)
            self.assertLessEqual(number(r"a run of one micro-batch a step +([\d,]+) ", plan), budget)
            for transient, unused in re.findall(r"\n +transient +([\d,]+) .*\n(?:.*\n){4} +unused +([\d,]+) ", plan):
                transient, unused = (int(bytes.replace(",", "")) for bytes in (transient, unused))
                self.assertLessEqual(transient, 1.1 * (transient - unused))
            program.unlink()
        self.assert_fails(1, "(?s)too little for @step.8192.*at least ", *refused, least - 10**9)
        self.assertFalse(program.exists())

    def test_build(self):
        model = self.work / "27b.mlir"
        support.run("qcc", "import", "--size", "27b", "-o", model)
        self.assertEqual(sum(line.lstrip().startswith("qt.parameter ") for line in model.read_text().splitlines()), 851)

        program = self.work / "27b.qprog"
        plan = self.build(model, program)
        # Weights, masters and moments of 26,895,998,464 parameters: 2 + 4 + 8 bytes each (A_log and gated norms: 4 + 8).
        self.assertRegex(plan, r"weights +53,79\d,\d{3},\d{3} ")
        self.assertRegex(plan, r"masters +107,58\d,\d{3},\d{3} ")
        self.assertRegex(plan, r"moments +215,16\d,\d{3},\d{3} ")
        # No matrix of logits, not even in bf16: the head works in tiles.
        self.assertLess(int(re.search(r"entry eval 8192\n.*\n +transient +([\d,]+)", plan)[1].replace(",", "")), 8192 * 248320 * 2)
        small = self.build(model, self.work / "27b-bf16-states.qprog", "--states", "bf16")
        self.assertRegex(small, r"masters +0 ")
        self.assertRegex(small, r"moments +107,58\d,\d{3},\d{3} ")

        digest = hashlib.sha256(program.read_bytes()).hexdigest()
        for phase in PHASES:
            dump, again = self.work / f"{phase}.mlir", self.work / f"{phase}.qprog"
            support.run("qcc", "build", model, "--buckets", "8192", "--compile-to", phase, "-o", dump)
            self.build(dump, again)
            self.assertEqual(hashlib.sha256(again.read_bytes()).hexdigest(), digest, phase)
            dump.unlink()
            again.unlink()

        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        print(f"\npeak memory of a build: {peak / 1e6:.0f} MB")
        self.assertLess(peak, LIMIT_BYTES)


if __name__ == "__main__":
    unittest.main()
