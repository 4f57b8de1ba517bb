# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""qrun profile and qrun calibrate on the CPU: what they print and write fits together."""
import json
import re
import unittest

from support import TestCase, random_documents, run, vocabulary, write_packed


class Profile(TestCase):
    CASE = "tiny_untied"

    def setUp(self):
        super().setUp()
        self.packed = self.work / "packed"
        # 100 tokens in a bucket of 128.
        vocab = vocabulary(self.CASE)
        write_packed(self.packed, [random_documents(1, [40, 37, 23], vocab)], 100, vocab)

    def profile(self, program, *options):
        return run("qrun", "profile", "--program", program, "--data", self.packed, "--scratch", "--seconds", "0.1",
                   "--threads", "1", *options)

    def test_classes(self):
        program = self.build(self.CASE, "128", "--remat", "memory-bound")
        path = self.work / "profile.json"
        trace_path = self.work / "trace.json"
        output = self.profile(program, "--json", path, "--instructions", "--trace", trace_path)
        table = json.loads(path.read_text())
        rows = {row["class"]: row for row in table["classes"]}
        for name in ("attention", "gated_delta_rule", "adamw", "swiglu", "swiglu, recomputed"):
            self.assertIn(name, rows)
            self.assertRegex(output, rf"(?m)^{name} +\d+ +\d+ ")
        self.assertEqual(rows["swiglu"]["calls"], rows["swiglu, recomputed"]["calls"])
        self.assertTrue(any(name.startswith("gemm ") for name in rows))
        # A run is its instructions and what lies between them.
        self.assertEqual(table["all"]["calls"], sum(row["calls"] for row in rows.values()))
        self.assertAlmostEqual(table["all"]["milliseconds"] + table["idle_milliseconds"], table["run_milliseconds"])
        self.assertGreater(table["all"]["predicted_milliseconds"], 0)
        self.assertGreater(table["recomputed_flops"], 0)
        self.assertGreater(table["model_flops"], table["recomputed_flops"])
        tokens = table["tokens_per_second"]
        self.assertAlmostEqual(tokens["real"] / tokens["slots"], 100 / 128)
        # A line for each instruction, with its scope.
        self.assertEqual(len(re.findall(r"(?m)^ +\d+ .*layers\.\d", output)),
                         len(re.findall(r"layers\.\d", output)))
        self.assertRegex(output, r"(?m)^ +\d+ +[\d.]+ .* swiglu, recomputed +layers\.0\.mlp")
        # One run more, instruction by instruction.
        trace = json.loads(trace_path.read_text())["traceEvents"]
        works = [event for event in trace if event["ph"] == "X" and event["tid"] == 1]
        self.assertEqual(len(works), table["all"]["calls"])
        self.assertTrue(all(a["ts"] + a["dur"] <= b["ts"] + 1e-3 for a, b in zip(works, works[1:])))
        self.assertTrue(any(event["args"]["class"] == "swiglu, recomputed" and
                            event["args"]["scope"].startswith("layers.0.mlp") for event in works))
        self.assertIn(f"{trace_path}: {len(works)} works in ", output)
        # Nobody knows a CPU's peak; its clock and power are not asked for.
        self.assertIn("MFU unknown: no peak is known of cpu in f32\n", output)
        self.assertIsNone(table["model_flops_utilisation"])
        self.assertNotIn("power", output)

    def test_only_the_first_row_is_built_for(self):
        """The second row needs a bucket of its own, which nothing runs."""
        vocab = vocabulary(self.CASE)
        rows = [random_documents(1, [1600], vocab, trained) for trained in (0.1, 0.9)]
        self.packed = self.work / "two"
        write_packed(self.packed, rows, 1600, vocab)
        first, second = "1600x1x1600x1024", "1600x1x1600x1600"
        program = self.build(self.CASE, first)
        for options in ((), ("--no-compile", )):
            self.assertNotIn("compiled bucket", self.profile(program, *options))
        self.assertRegex(self.profile(self.work / "model.mlir"), f"(?m)^program .*, buckets {first}$")
        program = self.build(self.CASE, "64")
        self.assertEqual(re.findall(r"compiled bucket (\S+)", self.profile(program)), [first])
        self.assert_fails(1, rf"has no bucket for its first row: build it with --data \S+two or --buckets {first},{second}\n",
                          "qrun", "profile", "--program", program, "--data", self.packed, "--scratch", "--no-compile")

    def test_calibrate(self):
        program = self.build(self.CASE, "128")
        machine = self.work / "machine.json"
        output = run("qrun", "calibrate", "--program", program, "--data", self.packed, "--scratch", "--seconds", "0.1",
                     "--threads", "1", "--out", machine)
        rates = json.loads(machine.read_text())
        self.assertEqual((rates["target"], rates["machine"]), ("cpu", "cpu"))
        self.assertIn("gated_delta_rule", rates["kernels"])
        # By its own rates the instructions take what was measured, but for those that are too short to tell.
        measured, predicted = map(float, re.search(r"instructions ([\d.]+); .* ([\d.]+) by the rates", output).groups())
        self.assertLess(abs(predicted / measured - 1), 0.3, output)

        self.assertIn("by the rates of cpu\n", self.profile(program, "--machine", machine))
        # The compiler predicts by them too, and takes no others.
        build = ["qcc", "build", self.work / "model.mlir", "--buckets", "128", "-o", self.work / "again.qprog"]
        self.assertIn("predicted time of the step on cpu\n", run(*build, "--explain", "--machine", machine))
        self.assertIn("predicted time of the step on two cores", run(*build, "--explain"))
        self.assert_fails(2, "--machine: nothing is predicted without --explain, or --memory and the phase remat", *build, "--machine", machine)
        rates["target"] = "sm_90a"
        machine.write_text(json.dumps(rates))
        self.assert_fails(1, r"machine\.json: rates of sm_90a, but .*model\.qprog is compiled for cpu", "qrun", "profile",
                          "--program", program, "--data", self.packed, "--scratch", "--seconds", "0.1", "--machine",
                          machine)
        self.assert_fails(2, r"--machine: .*machine\.json has the rates of sm_90a, but .*model\.mlir is compiled for cpu", *build,
                          "--explain", "--machine", machine)
        rates["coffee"] = 1
        machine.write_text(json.dumps(rates))
        self.assert_fails(1, r"machine\.json: coffee: unknown", "qrun", "profile", "--program", program, "--data",
                          self.packed, "--scratch", "--seconds", "0.1", "--machine", machine)


if __name__ == "__main__":
    unittest.main()
