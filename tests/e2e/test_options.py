# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options that make no sense are refused before anything is done, and none is ignored in silence."""
import json
import re
import shutil
import subprocess
import unittest

import support

CASE = "tiny_tied"


class TrainOptions(support.TestCase):
    def setUp(self):
        super().setUp()
        self.program, self.data = self.build(CASE, "64"), self.pack("packed", [40, 24])

    def pack(self, name, *rows, trained=0.7):
        vocab = support.vocabulary(CASE)
        support.write_packed(self.work / name, [support.random_documents(1, row, vocab, trained) for row in rows], 64,
                             vocab)
        return self.work / name

    def train(self, *options, data=None, weights=None):
        return [
            "qrun", "train", "--program", self.program, "--data", data or self.data, "--weights", weights
            or support.GOLDEN / CASE, "--out", self.work / "run", *options
        ]

    def test_numbers_out_of_range(self):
        for option, values in {
                "--lr": ("nan", "inf", "1e400", "1e39", "-1"), "--clip": ("nan", "-1"), "--beta1": ("1", "nan", "-0.1"),
                "--beta2": ("1", "2"), "--eps": ("0", "-1", "nan"), "--weight-decay": ("-1", "nan"),
                "--warmup": ("-1", ), "--eval-every": ("-1", ), "--micro-batches": ("0", "-3"),
                "--threads": ("-1", "1000000"), "--steps": ("-1", ), "--epochs": ("-1", "1.5", "0x10"),
                "--seed": ("-1", "1e3", "99999999999999999999")
        }.items():
            for value in values:
                with self.subTest(f"{option} {value}"):
                    self.assert_fails(2, option, *self.train(option, value))
                    self.assertFalse((self.work / "run").exists() and any((self.work / "run").iterdir()))

    def test_options_of_a_gpu(self):
        """With a program for the CPU they are refused; its config.toml has none of them."""
        for options in (("--gpu", 0), ("--launch", "graph"), ("--products", self.work / "products.json")):
            for command in (self.train("--steps", 1, *options),
                            ["qrun", "profile", "--program", self.program, "--data", self.data, "--scratch", *options]):
                with self.subTest(f"{command[1]} {options[0]}"):
                    self.assert_fails(2, rf"error: {options[0]}: only programs for GPUs take it, \S+model\.qprog is compiled "
                                         r"for cpu; `--target sm_90a` compiles for GPUs\n", *command)
        self.assertNotRegex(support.run(*self.train("--print-config")), "(?m)^(threads|gpu|launch|products) = ")

    def test_config_file(self):
        """A run's config.toml starts the same run again; the command line wins; an unknown key or a missing file is an
        error."""
        config = self.work / "run.toml"
        config.write_text(support.run(*self.train("--steps", 2, "--lr", "1.25e-4", "--no-shuffle", "--print-config")))
        self.assertEqual(support.run("qrun", "train", "--config", config, "--print-config"), config.read_text())
        support.run("qrun", "train", "--config", config)
        again, other = self.work / "again", self.work / "other"
        support.run("qrun", "train", "--config", self.work / "run" / "config.toml", "--out", again)
        support.run("qrun", "train", "--out", other, "--lr", "1e-3", "--config", config)
        self.assertEqual(support.metrics(again), support.metrics(self.work / "run"))
        self.assertEqual([line["lr"] for line in support.metrics(again)][0], 1.25e-4)
        self.assertEqual([line["lr"] for line in support.metrics(other)][0], 1e-3)
        self.assert_fails(2, "--config: .*nowhere.toml: no such file",
                          *self.train("--config", self.work / "nowhere.toml"))
        self.assert_fails(2, "--config: .*expected a file", *self.train("--config", self.work))

    def test_mistakes_in_a_config_file(self):
        """Named with the file, the line, the key and what was expected."""
        config = self.work / "run.toml"
        for text, message in (("\nlearning-rate = 1", "run.toml:2: qrun train has no option --learning-rate"),
                              ("print-config = true", "run.toml:1: print-config: has no place in a file of options"),
                              ('lr = "fast"', "run.toml:1: --lr: expected a number, got 'fast'"),
                              ("lr = fast", "run.toml:1: lr: expected .* got 'fast'"),
                              ("steps = true", r"run.toml:1: steps: expected a value \(N\), got 'true'"),
                              ("steps = [1, 2]", "run.toml:1: steps: expected one value, got a list of 2"),
                              ("scratch = 1", "run.toml:1: scratch: expected true or false, got '1'"),
                              ("[train]", "run.toml:1: .*without sections"),
                              ("steps = 1\nepochs = 1", "--steps excludes --epochs")):
            with self.subTest(text):
                config.write_text(text)
                self.assert_fails(2, message, *self.train("--config", config))

    def test_command_line_wins_over_what_it_excludes(self):
        config = self.work / "run.toml"
        config.write_text("epochs = 3\n")
        printed = support.run(*self.train("--config", config, "--steps", 5, "--print-config"))
        self.assertIn("steps = 5\n", printed)
        self.assertNotRegex(printed, "(?m)^epochs")

    def test_rules_of_what_is_left_open_are_printed(self):
        printed = support.run(*self.train("--print-config"))
        self.assertIn("# epochs = 1  (without steps)\n# lr = 1e-05  (with weights)\n# warmup: a tenth of the steps, at most 100\n", printed)
        support.run(*self.train("--steps", 30))
        config = (self.work / "run" / "config.toml").read_text()
        self.assertIn("\nsteps = 30\n", config)
        self.assertNotIn("epochs", config)
        self.assertIn("# warmup = 3  (a tenth of the steps, at most 100)\n", config)

    def test_tokenizer(self):
        """It goes into the checkpoint; a folder that has none is refused before anything is trained."""
        folder = self.work / "tokenizer"
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        self.assert_fails(1, "--tokenizer: .*tokenizer: there is no tokenizer.json, tokenizer.model or vocab.json",
                          *self.train("--steps", 1, "--tokenizer", folder))
        (folder / "tokenizer.json").write_text("{}")
        report = support.run(*self.train("--steps", 1, "--tokenizer", folder))
        self.assertRegex(report, r"(?m)^checkpoint: .*/run/checkpoint$")
        self.assertTrue((self.work / "run" / "checkpoint" / "tokenizer.json").exists())

    def test_report_of_a_run(self):
        """Columns are explained, a long run has some hundred lines, and the end is said in a sentence."""
        report = support.run(*self.train("--steps", 250, "--eval-data", self.data, "--eval-every", 101))
        self.assertRegex(report, r"(?m)^of each step: loss: mean over its trained tokens \(nats\)")
        self.assertRegex(report, r"(?m)^  tok/s: .*\(trained\).*\(real\).*\(slot\); GiB: memory")
        self.assertRegex(report, r"(?m)^about every 3 steps have a line .* all of them are in .*metrics.jsonl$")
        steps = [int(step) for step in re.findall(r"(?m)^step (\d+)/250 ", report)]
        self.assertTrue({1, 101, 202, 250} <= set(steps) and 84 <= len(steps) < 95, steps)
        self.assertEqual(report.count("held-out loss"), 4)
        self.assertRegex(report, r"(?m)^trained 250 steps in \d+:\d\d: loss \d.\d{4} in the first step, \d.\d{4} in the last, held-out loss \d.\d{4} at the end\ncheckpoint: .*/run/checkpoint, without a tokenizer \(--tokenizer DIR\)$")
        self.assertEqual(sum("loss" in line for line in support.metrics(self.work / "run")), 250)
        shutil.rmtree(self.work / "run")
        report = support.run(*self.train("--steps", 25, "--log-every", 10))
        self.assertEqual([int(step) for step in re.findall(r"(?m)^step (\d+)/25 ", report)], [1, 10, 20, 25])
        self.assert_fails(2, "--log-every: expected at least 1, got 0", *self.train("--log-every", 0))

    def test_bf16_is_said_where_it_is(self):
        self.assertRegex(support.run(*self.train("--steps", 0)), r"(?m)^device: cpu, \d+ threads?, [^,]+$")
        shutil.rmtree(self.work / "run")
        self.program = self.build(CASE, "64", dtype="bf16", name="bf16")
        self.assertRegex(support.run(*self.train("--steps", 0)),
                         r"(?m)^device: .*, bf16 products (native|widened to f32)$")

    def test_eval_every_without_data(self):
        self.assert_fails(2, "--eval-data", *self.train("--steps", 1, "--eval-every", 1))

    def test_huge_micro_batches_are_one_step_of_all_rows(self):
        self.assertRegex(support.run(*self.train("--epochs", 1, "--micro-batches", 2**63 - 1)), r"step 1/1 ")

    def test_what_the_export_needs_is_known_before_the_first_step(self):
        with self.assertRaises(support.Failed) as caught:
            support.run(*self.train("--steps", 1, "--tokenizer", self.work / "nowhere"))
        self.assertNotIn("step 1", caught.exception.output)

    def test_untrained_step_is_known_before_the_first_step(self):
        """Rows without a trained token are fine where others of their step have one."""
        vocab = support.vocabulary(CASE)
        rows = [support.random_documents(1, [40, 24], vocab), support.random_documents(2, [64], vocab, 0)]
        support.write_packed(self.work / "some", rows, 64, vocab)
        with self.assertRaises(support.Failed) as caught:
            support.run(*self.train("--epochs", 1, "--no-shuffle", data=self.work / "some"))
        self.assertEqual(caught.exception.code, 1)
        self.assertRegex(caught.exception.output, r"step 2: none of its rows \(1\) has a trained token")
        self.assertNotIn("step 1/", caught.exception.output)
        self.assertRegex(support.run(*self.train("--epochs", 1, "--micro-batches", 2, data=self.work / "some")),
                         r"step 1/1 ")

    def test_checkpoint_of_another_model_of_the_same_shapes(self):
        config = json.loads((support.GOLDEN / CASE / "config.json").read_text())
        rope = dict(config["rope_parameters"], rope_theta=123456.0)
        for key, value in {"rms_norm_eps": 1e-3, "rope_parameters": rope, "tie_word_embeddings": False}.items():
            with self.subTest(key):
                weights = self.work / key
                shutil.copytree(support.GOLDEN / CASE, weights)
                (weights / "config.json").write_text(json.dumps(dict(config, **{key: value})))
                self.assert_fails(1, f"config.json: {key}: the program was built for",
                                  *self.train("--steps", 1, weights=weights))


class FullOutput(support.TestCase):
    def test_what_cannot_be_printed_is_an_error(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([support.BIN / "qrun", "inspect", support.GOLDEN / CASE], stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "qrun: error: standard output: not all could be written\n"))


class Version(support.TestCase):
    def test_version(self):
        self.assertRegex(support.run("qcc", "--version"), r"^qcc \d+\.\d+\.\d+, LLVM \d+\.\d+\.\d+\n$")
        for program, compiler in (("qrun", "with"), ("qrun-runtime", "without")):
            self.assertRegex(support.run(program, "--version"), rf"^qrun \d+\.\d+\.\d+, {compiler} the compiler\n$")


class PackOptions(support.TestCase):
    def test_other_folders_are_left_alone(self):
        lines, out = self.work / "lines.jsonl", self.work / "out"
        lines.write_text('{"input_ids": [1, 2], "labels": [1, 2]}\n')
        (self.work / "out.tokens").mkdir()
        (self.work / "out.tokens" / "precious").write_text("mine")
        support.run("qrun", "pack", lines, "--out", f"{out}/", "--vocabulary", 5, "--seq-len", 4)
        self.assertEqual(sorted(path.name for path in self.work.iterdir()), ["lines.jsonl", "out", "out.tokens"])
        self.assertEqual((self.work / "out.tokens" / "precious").read_text(), "mine")


class BuildOptions(support.TestCase):
    def setUp(self):
        super().setUp()
        self.module = self.work / "model.mlir"
        support.run("qcc", "import", support.GOLDEN / CASE, "-o", self.module)

    def dump(self, phase):
        path = self.work / f"{phase}.mlir"
        support.run("qcc", "build", self.module, "--buckets", "64", "--compile-to", phase, "-o", path)
        return path

    def test_recorded_choices_are_not_ignored(self):
        for phase, options, message in (("grad", ["--states", "bf16", "--buckets", "64"], "states=f32"),
                                        ("planned", ["--states", "bf16"], "states=f32"),
                                        ("planned", ["--remat", "memory-bound"], "remat=none"),
                                        ("planned", ["--disable-kernel", "swiglu"], "swiglu"),
                                        ("planned", ["--buckets", "128"], "buckets 64, which cannot become 128\\n"),
                                        ("bucketed", ["--buckets",
                                                      "64,128"], "buckets 64, which cannot become 128,64")):
            with self.subTest(f"{phase} {options}"):
                self.assert_fails(1, message, "qcc", "build", self.dump(phase), "-o", self.work / "x.qprog", *options)
        for phase in ("bucketed", "planned"):
            support.run("qcc", "build", self.dump(phase), "-o", self.work / "x.qprog", "--buckets", "64", "--states",
                        "f32")

    def test_states_of_weights_that_are_all_f32(self):
        """The option is for bf16 weights: where there are none, a warning says so once, and states are f32."""
        warning = (r"model\.mlir:\d+:\d+: warning: --states=bf16 is for bf16 weights, of which the model has none: its "
                   r"optimizer states are f32\n")
        program = self.work / "x.qprog"
        build = ["qcc", "build", self.module, "--buckets", "64", "-o"]
        support.run("qcc", "import", support.GOLDEN / CASE, "--dtype", "f32", "-o", self.module)
        for options in ((), ("--explain", )):
            output = support.run(*build, program, "--states", "bf16", *options)
            self.assertEqual(len(re.findall(warning, output)), 1, output)
        plain = support.run(*build, program, "--states", "f32")
        self.assertNotIn("warning", plain)
        # The plan of memory, as with f32.
        self.assertTrue(plain.startswith(f"{program}: program for cpu") and output.endswith(plain), output)
        vocab, packed = support.vocabulary(CASE), self.work / "packed"
        support.write_packed(packed, [support.random_documents(1, [40, 24], vocab)], 64, vocab)
        output = support.run("qrun", "train", "--program", self.module, "--data", packed, "--weights",
                             support.GOLDEN / CASE, "--out", self.work / "run", "--steps", 1, "--states", "bf16")
        self.assertEqual(len(re.findall(warning, output)), 1, output)
        support.run("qcc", "import", support.GOLDEN / CASE, "--dtype", "bf16", "-o", self.module)
        self.assertNotIn("warning", support.run(*build, program, "--states", "bf16"))

    def test_usage(self):
        program = self.work / "x.qprog"
        self.assert_fails(2, "--buckets or --data", "qcc", "build", self.module, "-o", program)
        self.assert_fails(2, "--layers", "qcc", "import", "--size", "27b", "--layers", 0)
        self.assert_fails(1, "nowhere.*No such file", "qcc", "build", self.work / "nowhere", "--buckets", "64", "-o",
                          program)
        self.assert_fails(2, "no kernel 'swigglu'; did you mean swiglu", "qcc", "build", self.module, "--buckets", "64",
                          "--disable-kernel", "swigglu", "-o", program)
        self.assert_fails(2, "--compile-to: .*got 'fuse'; did you mean fused", "qcc", "build", self.module, "--buckets",
                          "64", "--compile-to", "fuse")
        self.assert_fails(2, "--memory: expected an amount like 80GiB", "qcc", "build", self.module, "--buckets", "64",
                          "--memory", "lots", "-o", program)

    def test_wrong_kinds_say_the_command_they_are_for(self):
        program, golden = self.work / "x.qprog", support.GOLDEN / CASE
        support.run("qcc", "build", self.module, "--buckets", "64", "-o", program)
        vocab, packed = support.vocabulary(CASE), self.work / "packed"
        support.write_packed(packed, [support.random_documents(1, [40, 24], vocab)], 64, vocab)
        for source, message in ((golden, f"got a Hugging Face folder; `qcc import {golden} -o model.mlir`"),
                                (self.work, "got a folder"), (golden / "config.json", "got a JSON file; `qcc import "),
                                (golden / "model.safetensors", "got a safetensors file"),
                                (program, f"got a compiled program; `qrun inspect {program}`"),
                                (packed, f"got a folder of packed data; .*--data {packed}")):
            with self.subTest(f"build {source}"):
                self.assert_fails(2,
                                  re.escape(f"{source}: expected a module (.mlir), ") + message, "qcc", "build", source,
                                  "--buckets", "64", "-o", self.work / "y.qprog")
        for source, message in ((self.module, f"got a module; `qcc build {self.module} "),
                                (program, "got a compiled program"), (self.work, "got a folder without a config.json"),
                                (packed, "got a folder of packed data")):
            with self.subTest(f"import {source}"):
                self.assert_fails(2, f"{source}: expected a Hugging Face folder or a config.json, {message}", "qcc",
                                  "import", source)
        self.assert_fails(1, "nowhere.*No such file", "qcc", "import", self.work / "nowhere")
        self.assert_fails(2, "--data: .*expected a folder of packed data, got a module", "qcc", "build", self.module,
                          "--data", self.module, "-o", program)

    def test_output(self):
        """What was written is said in a line, on standard output only where that is not the result."""
        self.assertRegex(support.run("qcc", "import", support.GOLDEN / CASE, "-o", self.module, "--dtype", "bf16"),
                         r"^\S+model\.mlir: 4 layers, 55 parameters with [0-9,]+ elements, bf16\n$")
        program = self.work / "x.qprog"
        self.assertRegex(support.run("qcc", "build", self.module, "--buckets", "64,96", "-o", program),
                         r"x\.qprog: program for cpu, 2 buckets: 64, 96\n")
        done = subprocess.run([support.BIN / "qcc", "build", self.module, "--buckets", "64,96", "-o", "-"],
                              capture_output=True, check=True)
        self.assertEqual(done.stdout, program.read_bytes())
        self.assertIn(b"a run of one micro-batch a step", done.stderr)

    def test_memory(self):
        """The plan of the build, of `qrun inspect` and of a run are the same; a budget that is too small fails, and
        nothing is written."""
        program = self.work / "x.qprog"
        built = support.run("qcc", "build", self.module, "--buckets", "64", "-o", program)
        table = re.search(r"memory  .*?(?=  entry )", built, re.DOTALL).group()
        self.assertIn(table, support.run("qrun", "inspect", program))
        one, many = (int(number.replace(",", ""))
                     for number in re.findall(r"^  a run \D+ ([\d,]+) ", table, re.MULTILINE))
        self.assertLess(one, many)
        vocab, packed = support.vocabulary(CASE), self.work / "packed"
        support.write_packed(packed, [support.random_documents(1, [40, 24], vocab)] * 2, 64, vocab)
        for rows, expected in ((1, one), (2, many)):
            output = support.run("qrun", "train", "--program", program, "--data", packed, "--weights",
                                 support.GOLDEN / CASE, "--out", self.work / f"run{rows}", "--steps", 1,
                                 "--micro-batches", rows, "--no-compile")
            self.assertIn(f"memory reserved: {expected:,} bytes", output)
        program.unlink()
        # Nothing is to be recomputed: test_budget.py is about what is.
        build = ["qcc", "build", self.module, "--buckets", "64", "-o", program, "--remat", "none", "--memory"]
        self.assert_fails(1, f"(?s)short by .*needs {one:,} bytes .* more than {one - 1:,} bytes.*nothing is written",
                          *build, one - 1)
        self.assertFalse(program.exists())
        self.assertRegex(
            support.run(*build, one),
            r"(?s)one micro-batch a step .* fits\n.*accumulates micro-batches .* short by [0-9,]+ bytes \(0.001 GiB\)\n"
        )
        self.assertTrue(program.exists())
        self.assertEqual(support.run(*build, many).count("  fits\n"), 2)

    def test_diagnostics_are_short(self):
        """An error about a module does not print the module."""
        self.module.write_text(self.module.read_text().replace("qt.entry<model>", "qt.entry<eval>"))
        with self.assertRaises(support.Failed) as caught:
            support.run("qcc", "build", self.module, "--buckets", "64", "-o", self.work / "x.qprog")
        self.assertRegex(caught.exception.output, r"model\.mlir:\d+:\d+: error: ")
        self.assertLess(caught.exception.output.count("\n"), 10)


if __name__ == "__main__":
    unittest.main()
