# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the end-to-end tests share: the programs, tiny models, packed data made by hand (docs/data.md), tensors in plain
Python.

The programs are found in $QCC_BIN, the folder with qcc and qrun.
"""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "golden"))
import packed  # noqa: E402
import tensors  # noqa: E402

write_packed = packed.write
GOLDEN = ROOT / "tests" / "golden"
BIN = pathlib.Path(os.environ.get("QCC_BIN", ROOT / "build" / "bin"))

# Three head ratios, tied and untied: the golden cases' shapes.
CASES = {"tiny_tied": 2, "tiny_untied": 3, "tiny_long": 1}


class Failed(Exception):
    def __init__(self, command, code, output):
        super().__init__(f"exit code {code}: {' '.join(command)}\n{output[-4000:]}")
        self.code, self.output = code, output


def run(program, *arguments):
    """Runs qcc or qrun and returns what it printed; Failed if it fails."""
    command = [str(BIN / program), *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Failed(command, done.returncode, done.stdout)
    return done.stdout


def vocabulary(case):
    return json.loads((GOLDEN / case / "config.json").read_text())["vocab_size"]


def random_documents(seed, lengths, vocab, trained=0.7):
    """Documents as (ids, mask) lists; a document's first token is never a target, and at least one token of all is."""
    generator = random.Random(seed)
    documents = []
    for length in lengths:
        ids = [generator.randrange(vocab) for _ in range(length)]
        mask = [0] + [int(generator.random() < trained) for _ in range(length - 1)]
        documents.append((ids, mask))
    return documents


def metrics(run_directory):
    """The lines of a run's metrics, without times."""
    lines = [json.loads(line) for line in (pathlib.Path(run_directory) / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        line.pop("time")
    return lines


class TestCase(unittest.TestCase):
    """A test with a folder of its own, `self.work`, removed afterwards."""

    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="qcc-e2e-"))
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)

    def build(self, case, buckets, *options, dtype="f32", name="model"):
        """The program of a golden case's model for these buckets."""
        module, program = self.work / f"{name}.mlir", self.work / f"{name}.qprog"
        run("qcc", "import", GOLDEN / case, "--dtype", dtype, "-o", module)
        run("qcc", "build", module, "-o", program, "--buckets", buckets, *options)
        return program

    def train(self, case, program, packed, name, *options):
        """Trains from the case's weights; returns the run's folder and the first step's gradients."""
        out, grads = self.work / name, self.work / f"{name}-grads"
        run("qrun", "train", "--program", program, "--data", packed, "--weights", GOLDEN / case, "--out", out,
            "--dump-grads", grads, "--no-shuffle", "--poison", *options)
        return out, tensors.read(grads / "step-00001.safetensors")

    def assert_fails(self, code, pattern, program, *arguments):
        """The program ends with this exit code and a message that matches."""
        with self.assertRaises(Failed) as caught:
            run(program, *arguments)
        self.assertEqual(caught.exception.code, code, caught.exception)
        self.assertRegex(caught.exception.output, pattern)

    def assert_gradients_close(self, actual, expected):
        """Of parameters: within rounding of f32: 2e-5, and 5e-5 for the decay parameters, whose gradients are sums of
        terms that cancel."""
        actual, expected = ({name: value for name, value in side.items() if not name.startswith("hidden.")}
                            for side in (actual, expected))
        self.assertEqual(set(actual), set(expected))
        for name, (_, _, values) in expected.items():
            bound = 5e-5 if name.endswith(("A_log", "dt_bias")) else 2e-5
            self.assertLessEqual(tensors.relative_error(actual[name][2], values), bound, name)
