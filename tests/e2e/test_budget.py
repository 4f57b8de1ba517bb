# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recomputation under a budget of memory: `qcc build --memory`."""
import json
import re
import unittest

import support

CASE = "tiny_untied"
LENGTHS = [70, 5, 121]
ROW = sum(LENGTHS)


def bytes_of(pattern, text):
    return int(re.search(pattern, text)[1].replace(",", ""))


class Budget(support.TestCase):
    def setUp(self):
        super().setUp()
        vocab = support.vocabulary(CASE)
        self.packed = self.work / "packed"
        support.write_packed(self.packed, [support.random_documents(seed, LENGTHS, vocab) for seed in (8, 9)], ROW, vocab)
        self.module = self.work / "model.mlir"
        support.run("qcc", "import", support.GOLDEN / CASE, "--dtype", "f32", "-o", self.module)
        self.command = ["qcc", "build", self.module, "--buckets", ROW]

    def build_within(self, memory, name):
        """A program for a budget, and what a run of it takes."""
        program = self.work / f"{name}.qprog"
        report = support.run(*self.command, "-o", program, "--memory", memory)
        self.assertRegex(report, r"a run of one micro-batch a step .* fits\n")
        needed = bytes_of(r"a run of one micro-batch a step +([\d,]+) ", report)
        self.assertLessEqual(needed, memory)
        return program, needed

    def least(self, *command):
        """The least that a run can do with, as the refusal of a budget of nothing says it."""
        with self.assertRaises(support.Failed) as caught:
            support.run(*(command or self.command), "-o", self.work / "none.qprog", "--memory", "1")
        self.assertEqual(caught.exception.code, 1)
        self.assertFalse((self.work / "none.qprog").exists())
        return bytes_of(r"at least ([\d,]+) bytes", caught.exception.output)

    def test_the_least_fits_and_less_does_not(self):
        least = self.least()
        report = support.run(*self.command, "-o", self.work / "all.qprog")
        most = bytes_of(r"a run of one micro-batch a step +([\d,]+) ", report)
        self.assertLess(least, most)
        _, needed = self.build_within(least, "least")
        self.assertEqual(needed, least)
        program = self.work / "less.qprog"
        self.assert_fails(
            1, rf"(?s)model\.mlir:\d+:\d+: error: --memory: .* too little for @step\.{ROW}, with all computed again that helps"
            rf".*at least {least:,} bytes .*: state .* transient .* batch and tables .* context, libraries and room for machine code 0 bytes", *self.command,
            "-o", program, "--memory", least - 1)
        self.assertFalse(program.exists())
        # Where all fits, a run that accumulates too, nothing is computed again: the same program but for the choices
        # that it records.
        plain = support.run("qrun", "inspect", self.work / "all.qprog", "--instructions")
        roomy, needed = self.build_within(bytes_of(r"accumulates micro-batches +([\d,]+) ", report), "roomy")
        self.assertEqual(needed, most)
        self.assertEqual(re.findall(r"(?m)^ +\d+ .*$", support.run("qrun", "inspect", roomy, "--instructions")),
                         re.findall(r"(?m)^ +\d+ .*$", plain))

    def test_recomputing_changes_no_bit(self):
        """Gradients and weights within any budget are those of keeping everything, with one micro-batch and with
        two."""
        least = self.least()
        kept = self.work / "kept.qprog"
        report = support.run(*self.command, "-o", kept)
        most = bytes_of(r"a run of one micro-batch a step +([\d,]+) ", report)
        programs = {"kept": kept}
        for percent in (0, 30, 70):
            name = f"budget{percent}"
            programs[name], _ = self.build_within(least + (most - least) * percent // 100, name)
        for rows in (1, 2):
            expected = None
            for name, program in programs.items():
                with self.subTest(program=name, micro_batches=rows):
                    run, gradients = self.train(CASE, program, self.packed, f"{name}-{rows}", "--steps", 2, "--lr", 1e-3,
                                                "--micro-batches", rows)
                    actual = gradients, (run / "checkpoint" / "model.safetensors").read_bytes()
                    expected = expected or actual
                    self.assertTrue(actual == expected)  # a diff of all numbers would take minutes

    def test_a_dump_keeps_its_budget(self):
        budget = self.least() + 1000
        program, _ = self.build_within(budget, "whole")
        for phase in ("bucketed", "remat", "planned"):
            dump, again = self.work / f"{phase}.mlir", self.work / f"{phase}.qprog"
            support.run(*self.command, "--memory", budget, "--compile-to", phase, "-o", dump)
            support.run("qcc", "build", dump, "-o", again)
            self.assertEqual(again.read_bytes(), program.read_bytes(), phase)
        self.assert_fails(1, rf"compiled with --memory={budget}, which cannot become {budget + 1}\n", "qcc", "build", dump,
                          "-o", again, "--memory", budget + 1)
        self.assert_fails(1, "compiled with --remat=budget, which cannot become none", "qcc", "build", dump, "-o", again,
                          "--remat", "none")
        self.assertIn(f"memory={budget}", support.run("qrun", "inspect", program))

    def test_qrun_builds_a_module_within_the_budget_of_its_run(self):
        build = ["qcc", "build", self.module, "--data", self.packed]
        least, program = self.least(*build), self.work / "all.qprog"
        most = bytes_of(r"a run of one micro-batch a step +([\d,]+) ", support.run(*build, "-o", program))
        options = ["--steps", 2, "--lr", 1e-3]
        results = []
        for name, memory in (("kept", most), ("least", least)):
            run, gradients = self.train(CASE, self.module, self.packed, name, *options, "--memory", memory)
            results.append((gradients, (run / "checkpoint" / "model.safetensors").read_bytes()))
        self.assertTrue(results[0] == results[1])
        train = ["qrun", "train", "--data", self.packed, "--scratch", "--out", self.work / "refused", *options, "--program"]
        self.assert_fails(1, rf"(?s)model\.mlir: the build failed:.*--memory: .* too little for @step.*at least {least:,} bytes",
                          *train, self.module, "--memory", least - 1)
        # With another policy, or built already, it is a limit alone.
        recorded = self.work / "recorded.mlir"
        support.run("qcc", "build", self.module, "--remat", "none", "--compile-to", "formed", "-o", recorded)
        for refused in ([self.module, "--remat", "none"], [recorded], [program]):
            self.assert_fails(1, rf"needs {most:,} bytes .* more than the {most - 1:,} bytes .* of the limit; `qcc build` makes "
                                 rf"it less with a smaller bucket, or --memory {most - 1} and no other --remat\n", *train,
                              *refused, "--memory", most - 1)
        # What was built for the limit already is not to be built for it again.
        kept = self.work / "kept.qprog"
        report = support.run(*build, "-o", kept, "--memory", most)
        more = bytes_of(r"accumulates micro-batches +([\d,]+) ", report) - most
        self.assert_fails(1, rf"of the limit; `qcc build` makes it less with a smaller bucket; a run of one micro-batch "
                             rf"a step \(--micro-batches 1\) takes {more:,} bytes .* less\n", *train, kept,
                          "--memory", most, "--micro-batches", 2)
        self.assert_fails(1, "--remat=budget: expected a budget, --memory", *train, self.module, "--remat", "budget")

    def test_a_bucket_that_is_compiled_later_keeps_to_the_budget_too(self):
        program, _ = self.build_within(self.least() + 1000, "small")
        longer, vocab = self.work / "longer", support.vocabulary(CASE)
        support.write_packed(longer, [support.random_documents(3, [300], vocab)], 300, vocab)
        self.assert_fails(1, r"small\.qprog: the build failed:\n.*--memory: .* too little for @step\.300", "qrun", "train",
                          "--program", program, "--data", longer, "--scratch", "--out", self.work / "refused", "--steps", 1)

    def test_the_machine_says_what_is_cheap(self):
        """Rates from a file: where products cost nothing they are computed again, where they cost all they are not."""
        program, _ = self.build_within(self.least() + 100_000, "default")
        measured = self.work / "machine.json"
        support.run("qrun", "calibrate", "--program", program, "--data", self.packed, "--scratch", "--out",
                    measured)
        rates = json.loads(measured.read_text())
        budget = self.least() + 100_000
        again = {}
        for name, rate in (("fast", 1e15), ("slow", 1e6)):
            rates["f32_products"]["flops_per_second"] = rate
            machine = self.work / f"{name}.json"
            machine.write_text(json.dumps(rates))
            explained = support.run(*self.command, "-o", self.work / f"{name}.qprog", "--memory", budget, "--machine", machine,
                                    "--explain")
            again[name] = int(re.search(r"(?m)^  product +\d+ +\S+ +(\d+) ", explained)[1])
        self.assertGreater(again["fast"], again["slow"])
        rates["target"] = "sm_90a"
        machine.write_text(json.dumps(rates))
        self.assert_fails(2, "--machine: .*slow.json has the rates of sm_90a, but .*model.mlir is compiled for cpu", *self.command, "-o",
                          program, "--memory", budget, "--machine", machine)

    def test_usage(self):
        output = self.work / "x.qprog"
        self.assert_fails(1, "--remat=budget: expected a budget, --memory", *self.command, "-o", output, "--remat", "budget")
        # With another policy it is a limit alone.
        self.assert_fails(2, "--memory: with --remat none it is compared with a program's memory plan, got --compile-to planned",
                          *self.command, "--memory", "1GB", "--remat", "none", "--compile-to", "planned")
        least = self.least()
        self.assert_fails(1, r"(?s)short by .*one micro-batch a step needs .*nothing is written; `qcc build` makes it less "
                             rf"with a smaller bucket, or --memory {least} and no other --remat\n", *self.command, "-o",
                          output, "--memory", least, "--remat", "none")
        self.assertFalse(output.exists())


if __name__ == "__main__":
    unittest.main()
