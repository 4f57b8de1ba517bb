#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training against golden values that transformers computed in f64 (make_golden.py).

    check_golden.py --qcc QCC --qrun QRUN --work DIR [--cases NAME,...] [--dtype f32|bf16] [--bucket exact|larger]
                    [--target cpu|sm_90a] [--launch graph|eager] [--programs DIR]
    check_golden.py --qcc QCC --build DIR [--cases ...] [--dtype ...] [--bucket ...] [--target ...]

Each case goes through the programs that people use: qcc import, qcc build, qrun eval --dump-hidden, qrun train --dump-grads. All its documents
lie in one packed row. `--bucket larger` runs it in a bucket with an unused tail, and every buffer is filled with NaN before use.

Bounds, f32: loss 1e-6 relative, each hidden state and each gradient 5e-5 (norm of the difference over norm; gradients on a GPU 2e-4), loss and gradient norm of ten AdamW steps
1e-4. bf16, against the error of transformers' own bf16 run: each parameter of 1,024 or more elements at most 1.2 times it; smaller ones by kind (all
layers and cases, root mean square) at most 1.3 times; the median of all ratios at most 1.05; the loss 2e-4 relative.
"""
import argparse
import collections
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import packed
import tensors

GOLDEN = pathlib.Path(__file__).resolve().parent
CASES = ["tiny_untied", "tiny_tied", "tiny_long", "wide_r3", "wide_r1"]
LARGE = 1024  # elements from which a parameter is judged alone
# A GPU adds in other orders than the processor.
GPU_GRADIENT = 2e-4
BOUNDS = dict(f32=dict(loss=1e-6, hidden=5e-5, gradient=5e-5, step=1e-4), bf16=dict(loss=2e-4, large=1.2, small=1.3, median=1.05))


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"failed with {done.returncode}: {' '.join(map(str, command))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def write_packed(case, directory, row_length):
    """The case's batch as packed data of one row. labels[t] is the target of position t: token t + 1 of the same document."""
    batch = tensors.read(case / "batch.safetensors")
    ids, labels, bounds = (batch[name][2] for name in ("input_ids", "labels", "cu_seqlens"))
    documents = []
    for begin, end in zip(bounds, bounds[1:]):
        mask = [0] + [int(labels[t] != -100) for t in range(begin, end - 1)]
        documents.append((ids[begin:end], mask))
    vocabulary = json.loads((case / "config.json").read_text())["vocab_size"]
    (shape,) = packed.write(directory, [documents], row_length, vocabulary)
    return dict(zip(("tokens", "documents", "longest", "trained"), shape))


class Case:
    def __init__(self, name, options, work):
        self.name, self.options = name, options
        self.source = GOLDEN / name
        self.golden = json.loads((self.source / "golden.json").read_text())
        self.key = f"{name}-{options.dtype}-{options.bucket}"
        self.work = work / self.key
        self.failures = []

    def check(self, what, value, bound, unit=""):
        ok = value <= bound
        print(f"  {what:58} {value:.2e} <= {bound:.1e}{unit}{'' if ok else '   FAILED'}")
        if not ok:
            self.failures.append(f"{self.name}: {what}: {value:.3e} > {bound:.1e}")

    def pack(self):
        """The case's row; its bucket."""
        options, self.packed = self.options, self.work / "packed"
        tokens = self.golden["tokens"]
        row_length = tokens if options.bucket == "exact" else tokens + 200
        row = write_packed(self.source, self.packed, row_length)
        if options.bucket == "exact":
            bucket = row
        else:
            bucket = dict(tokens=row_length, documents=row["documents"] + 5, longest=row["longest"] + 37, trained=row["trained"] + 64)
        self.bucket_tokens = bucket["tokens"]
        return "x".join(str(bucket[key]) for key in ("tokens", "documents", "longest", "trained"))

    def build(self, bucket, program):
        options, module = self.options, self.work / "model.mlir"
        run(options.qcc, "import", self.source, "--dtype", options.dtype, "-o", module)
        run(options.qcc, "build", module, "-o", program, "--target", options.target, "--buckets", bucket)

    def prepare(self):
        """The row and the program for it: built here, or earlier by --build."""
        bucket, programs = self.pack(), self.options.programs
        self.program = (programs or self.work) / f"{self.key}.qprog"
        if not programs:
            self.build(bucket, self.program)

    def train(self):
        adamw, schedule = self.golden["adamw"], self.golden["schedule"]
        common = ["--program", self.program, "--data", self.packed, "--weights", self.source, "--poison"]
        if self.options.launch:
            common += ["--launch", self.options.launch]
        if self.options.bf16_products:
            common += ["--bf16-products", self.options.bf16_products]
        run(self.options.qrun, "eval", *common, "--dump-hidden", self.work / "hidden")
        run(self.options.qrun, "train", *common, "--out", self.work / "run", "--dump-grads", self.work / "grads", "--steps", schedule["steps"],
            "--lr", adamw["lr"], "--beta1", adamw["betas"][0], "--beta2", adamw["betas"][1], "--eps", adamw["eps"], "--weight-decay",
            adamw["weight_decay"], "--clip", self.golden["clip"], "--schedule", "cosine", "--warmup", schedule["warmup"])
        lines = map(json.loads, (self.work / "run" / "metrics.jsonl").read_text().splitlines())
        self.steps = [line for line in lines if "loss" in line]
        gradients = tensors.read(self.work / "grads" / "step-00001.safetensors")
        # Those of the hidden states lie beside those of the parameters.
        self.gradients = {name: value for name, value in gradients.items() if not name.startswith("hidden.")}

    def check_hidden(self):
        expected, actual = tensors.read(self.source / "acts.safetensors"), tensors.read(self.work / "hidden" / "row-00000.safetensors")
        assert set(expected) == set(actual), f"{self.name}: hidden states {sorted(actual)}, expected {sorted(expected)}"
        for name, (_, shape, values) in expected.items():
            _, actual_shape, padded = actual[name]
            assert actual_shape == [self.bucket_tokens, shape[1]], f"{self.name}: {name}: {actual_shape}"
            self.check(name, tensors.relative_error(padded[: len(values)], values), BOUNDS["f32"]["hidden"])
            if any(padded[len(values) :]):
                self.failures.append(f"{self.name}: {name}: not zero in the tail")

    def gradient_errors(self):
        """name -> (elements, relative error)."""
        expected = tensors.read(self.source / "grads.safetensors")
        assert set(expected) == set(self.gradients), f"{self.name}: gradients of {set(expected) ^ set(self.gradients)} on one side only"
        errors = {}
        for name, (_, shape, values) in expected.items():
            assert self.gradients[name][1] == shape, f"{self.name}: {name}: {self.gradients[name][1]}, expected {shape}"
            errors[name] = (len(values), tensors.relative_error(self.gradients[name][2], values))
        return errors

    def loss_error(self):
        return abs(self.steps[0]["loss"] - self.golden["loss"]) / self.golden["loss"]

    def check_f32(self):
        bounds = BOUNDS["f32"]
        self.check("loss", self.loss_error(), bounds["loss"])
        self.check_hidden()
        for name, (_, error) in self.gradient_errors().items():
            self.check(name, error, bounds["gradient"] if self.options.target == "cpu" else GPU_GRADIENT)
        assert len(self.steps) == len(self.golden["steps"])
        for actual, expected in zip(self.steps, self.golden["steps"]):
            for key in ("loss", "grad_norm"):
                error = abs(actual[key] - expected[key]) / expected[key]
                self.check(f"step {expected['step'] + 1} {key}", error, bounds["step"])

    def check_bf16(self, small, ratios):
        bounds, theirs = BOUNDS["bf16"], self.golden["transformers_bfloat16"]["gradient_error"]
        self.check("loss", self.loss_error(), bounds["loss"])
        for name, (elements, error) in self.gradient_errors().items():
            ratios.append(error / theirs[name])
            if elements >= LARGE:
                self.check(name, error / theirs[name], bounds["large"], " x")
            else:
                print(f"  {name:58} {error / theirs[name]:.2e} x, judged by kind")
                small[re.sub(r"layers\.\d+\.", "", name)].append((error, theirs[name]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qcc", help="not needed with --programs")
    parser.add_argument("--qrun")
    parser.add_argument("--work", type=pathlib.Path, help="a folder to write into; it must not exist")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR", help="build the cases' programs into this folder, and nothing else")
    parser.add_argument("--programs", type=pathlib.Path, metavar="DIR", help="the programs that --build has put there")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--bf16-products", choices=["native", "widened"], help="how the CPU multiplies bf16 matrices; otherwise as it can")
    parser.add_argument("--bucket", choices=["exact", "larger"], default="exact")
    parser.add_argument("--target", choices=["cpu", "sm_90a"], default="cpu")
    parser.add_argument("--launch", choices=["graph", "eager"], help="on a GPU; otherwise graph")
    options = parser.parse_args()
    if options.build:
        options.build.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as work:
            for name in options.cases.split(","):
                case = Case(name, options, pathlib.Path(work))
                case.build(case.pack(), options.build / f"{case.key}.qprog")
        return
    options.work.mkdir(parents=True)

    failures, small, ratios = [], collections.defaultdict(list), []
    for name in options.cases.split(","):
        case = Case(name, options, options.work)
        print(f"{name} ({options.dtype}, {options.bucket} bucket)")
        case.prepare()
        case.train()
        case.check_f32() if options.dtype == "f32" else case.check_bf16(small, ratios)
        failures += case.failures
    if options.dtype == "bf16":
        for kind, pairs in small.items():
            ours, theirs = (math.sqrt(statistics.fmean(pair[side] ** 2 for pair in pairs)) for side in (0, 1))
            ok = ours / theirs <= BOUNDS["bf16"]["small"]
            print(f"  all layers and cases: {kind:40} {ours / theirs:.3f} <= {BOUNDS['bf16']['small']}{'' if ok else '   FAILED'}")
            failures += [] if ok else [f"{kind}: {ours / theirs:.3f} times transformers' error"]
        median = statistics.median(ratios)
        print(f"  median of all ratios: {median:.3f} <= {BOUNDS['bf16']['median']}")
        failures += [] if median <= BOUNDS["bf16"]["median"] else [f"median ratio {median:.3f}"]
    print("\n".join(failures) or "all within bounds")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
