#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All checks that need a GPU, from a built tree alone: no compiler, no network. tools/gpu_check.sh calls it.

    gpu_check.py [--build DIR] [--only TEXT] [--jobs N] [--seed N] [--list]
    gpu_check.py --build DIR --programs

  conformance  every kernel against the CPU's, in shapes and lengths random from a printed seed; outputs and workspace
               hold NaN beforehand (the tests of cuda-conformance, each in a process of its own)
  failure N    the kinds of docs/failures.md that a GPU can show, by row
  golden       f32 and bf16 against values that transformers computed in f64, in an exact and in a larger bucket
  sanitizer    a tiny step under each tool of compute-sanitizer, which must also report a fault where there is one
  launch       a replayed graph has the bits of the instructions launched one by one
  repeat       two runs have the same bits; 20 runs while another process keeps the GPU busy have them too
  poison       memory full of NaN beforehand gives the same bits
  remat        gradients in the least memory are those of a run that keeps everything
  clusters     a model whose gates no compound takes has the numbers of one whose gates are compounds
  steps        losses fall as on the CPU; a gradient that is not finite changes nothing

The programs for them come with the tree: `ninja -C build gpu-check-programs` builds them with --programs into
build/gpu-check.
"""
import argparse
import concurrent.futures
import dataclasses
import json
import math
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import typing

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
sys.path.insert(0, str(GOLDEN))
import packed  # noqa: E402
import spellings  # noqa: E402

GOLDEN_RUNS = [(dtype, bucket) for dtype in ("f32", "bf16") for bucket in ("exact", "larger")]
# The tools of compute-sanitizer, and the function of FaultsTest.cpp that each must find fault with.
SANITIZERS = {"memcheck": "writePastTheEnd", "racecheck": "readWithoutBarrier", "initcheck": "readUnwritten",
              "synccheck": "meetAtTwoBarriers"}
# A small model with the heads of the real ones, so that a step goes through their kernels.
HEADS = dict(hidden_size=512, intermediate_size=1024, num_hidden_layers=4, vocab_size=4096, linear_num_key_heads=2,
             linear_num_value_heads=6, num_attention_heads=4, num_key_value_heads=2,
             layer_types=["linear_attention"] * 3 + ["full_attention"])
ROW_LENGTH = 1024
VOCABULARY = 248320


class Failed(Exception):
    pass


@dataclasses.dataclass
class Check:
    name: str
    run: typing.Callable[[], typing.Optional[str]]  # what to say beside PASS
    alone: bool = False  # nothing beside it on the GPU


class Tree:
    """A built tree and what the checks do with it."""

    def __init__(self, build, work, seed):
        self.build, self.work = build, work
        self.programs = build / "gpu-check"
        # Device functions that programs do not carry: those of tests and benchmarks, and what a step has chosen.
        self.environment = {"QCC_CACHE_DIR": str(self.programs / "cache"), "QCC_SEED": str(seed)}

    def program(self, name):
        path = self.programs / f"{name}.qprog"
        if not path.exists():
            raise Failed(f"{path} is missing: build it with `ninja -C {self.build} gpu-check-programs`")
        return path

    def run(self, *command, timeout=300, environment=None, codes=(0,)):
        command = [str(part) for part in command]
        try:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                       start_new_session=True, env={**os.environ, **self.environment, **(environment or {})})
        except OSError as reason:
            raise Failed(f"{command[0]} cannot be run: {reason.strerror}") from None
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            raise Failed(f"ran longer than {timeout} s: {' '.join(command)}\n{output[-3000:]}")
        if process.returncode not in codes:
            raise Failed(f"exit code {process.returncode}, expected {codes}: {' '.join(command)}\n{output[-6000:]}")
        return output

    def qrun(self, *arguments, **options):
        return self.run(self.build / "bin" / "qrun", *arguments, **options)

    def conformance(self, pattern):
        """Runs the tests of this pattern; at least one must be there."""
        output = self.run(self.build / "bin" / "cuda-conformance", f"--gtest_filter={pattern}")
        (count,) = re.findall(r"\[  PASSED  \] (\d+) tests?", output)
        if count == "0":
            raise Failed(f"no test is called {pattern}")
        return f"{count} of cuda-conformance"

    def first_look(self):
        """A device that does not open would fail every check: Failed says why in one line."""
        try:
            self.conformance("Device.Opens")
        except Failed as reason:
            why = re.search(r"(?m)^error: (.*)$", str(reason))
            raise Failed(why[1] if why else str(reason)) from None

    def conformance_tests(self):
        listing = self.run(self.build / "bin" / "cuda-conformance", "--gtest_list_tests", "--gtest_filter=-Faults.*")
        suite, tests = "", []
        for line in listing.splitlines():
            name = line.split("#")[0].rstrip()
            if line.startswith("  "):
                tests.append(suite + name.strip())
            elif name.endswith("."):
                suite = name
        return tests

    def rows(self, name="rows", lengths=None, vocabulary=HEADS["vocab_size"]):
        """Packed random data."""
        directory = self.work / name
        if not directory.exists():
            generator = random.Random(7)
            rows = [[document(generator, length, vocabulary) for length in row] for row in lengths or ROWS]
            packed.write(directory, rows, max(map(sum, lengths or ROWS)), vocabulary)
        return directory

    def train(self, program, name, *options, data=None, steps=6, **settings):
        """Trains; returns the steps' metrics, the checkpoint's bytes, and the algorithms of its products."""
        out = self.work / name
        shutil.rmtree(out, ignore_errors=True)
        self.qrun("train", "--program", self.program(program), "--data", data or self.rows(), "--scratch", "--out", out,
                  "--steps", steps, "--lr", 1e-3, "--seed", 3, *options, **settings)
        lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
        weights = [path.read_bytes() for path in sorted((out / "checkpoint").glob("*.safetensors"))]
        shutil.rmtree(out / "checkpoint")
        return [line for line in lines if "loss" in line], weights, json.loads((out / "products.json").read_text())


# Of each row its documents: some empty buckets' worth, single tokens, boundaries of chunks, one long document.
ROWS = [[600, 1, 2, 3, 63, 64, 65, 127], [128, 129, 257, 510], [1024], [70, 130, 99, 100, 101, 333]]


def document(generator, length, vocabulary):
    return [generator.randrange(vocabulary) for _ in range(length)], [0] + [int(generator.random() < 0.8) for _ in range(length - 1)]


def numbers(steps):
    """What of a run's metrics depends on the arithmetic."""
    return [(step["loss"], step["grad_norm"]) for step in steps]


def same(runs, one, other):
    """Two runs, as Tree.train returns them, computed the same."""
    if one[2] != other[2]:
        raise Failed(f"{runs}: algorithms of products differ")
    for step, (left, right) in enumerate(zip(numbers(one[0]), numbers(other[0]), strict=True), 1):
        if left != right:
            raise Failed(f"{runs}: step {step}: loss and gradient norm are {left} and {right}")
    if one[1] != other[1]:
        raise Failed(f"{runs}: checkpoints differ")


def golden(tree, dtype, bucket):
    output = tree.run(sys.executable, "-B", GOLDEN / "check_golden.py", "--qrun", tree.build / "bin" / "qrun", "--work",
                      tree.work / f"golden-{dtype}-{bucket}", "--dtype", dtype, "--bucket", bucket, "--target", "sm_90a",
                      "--programs", tree.programs)
    return output.splitlines()[-1]


def sanitize(tree, tool, *command):
    """Runs a command under a tool of compute-sanitizer: what it found, a text each, and all that was printed. Of races
    those within our device functions count: hazards within the library's matrix products are its own business, and the
    tool's filters by kernel make those products fail."""
    output = tree.run("compute-sanitizer", "--tool", tool, "--error-exitcode", 9, *command, timeout=600, codes=(0, 9))
    summary = re.search(r"(?m)^========= (?:ERROR|RACECHECK) SUMMARY: (\d+) ", output)
    if not summary:
        raise Failed(f"{tool} says nothing of what it found:\n{output[-4000:]}")
    # The exit code is the tool's once it has found anything, in the library too.
    for broken in ("Target application returned an error", "Internal Sanitizer Error"):
        if broken in output:
            raise Failed(f"{tool}: {broken}:\n{output[:4000]}\n...\n{output[-4000:]}")
    if tool == "racecheck":
        return re.findall(r"Race reported between .*qrt::device.*(?:\n.*hazards\])*", output), output
    said = [line for line in output.splitlines() if line.startswith("=========")]
    return ["\n".join(said)] if summary[1] != "0" else [], output


def sanitizer(tree, tool, program):
    """One step, its instructions launched one by one."""
    found, output = sanitize(tree, tool, tree.build / "bin" / "qrun", "train", "--program", tree.program(program), "--data",
                        tree.rows("short", [[200, 1, 64, 99]]), "--scratch", "--out", tree.work / f"{tool}-{program}",
                        "--steps", 1, "--launch", "eager")
    if found:
        raise Failed("\n".join(found)[:4000])
    if "\ncheckpoint: " not in output:
        raise Failed(f"the step did not end:\n{output[-4000:]}")
    return program


def planted_fault(tree, tool, function):
    """A tool that is silent has looked: it reports the fault of a function that has one (FaultsTest.cpp), by name."""
    found, output = sanitize(tree, tool, tree.build / "bin" / "cuda-conformance", f"--gtest_filter=Faults.{tool.capitalize()}")
    if "[  PASSED  ] 1 test" not in output:
        raise Failed(f"the function was not launched:\n{output[-4000:]}")
    if not any(f"qrt::device::{function}(" in text for text in found):
        raise Failed(f"{tool} did not report qrt::device::{function}:\n{output[-4000:]}")
    return f"{function} is reported"


def launch(tree, program):
    """docs/failures.md 32: losses and gradient norms too."""
    graph, eager = (tree.train(program, f"{program}-{mode}", "--launch", mode, "--poison") for mode in ("graph", "eager"))
    same("graph and eager", graph, eager)
    return f"{len(graph[0])} steps"


def twice(tree, program):
    """docs/failures.md 26."""
    first, second = (tree.train(program, f"{program}-{name}") for name in ("first", "second"))
    same("two runs", first, second)
    return f"{len(first[0])} steps"


def poison(tree, program):
    """Nothing is read that nobody wrote: memory full of NaN gives the same bits."""
    clean, poisoned = (tree.train(program, f"{program}-{name}", *options)
                       for name, options in (("clean", ()), ("poisoned", ("--poison",))))
    same("as it comes and poisoned", clean, poisoned)
    return f"{len(clean[0])} steps"


def under_load(tree, program, repeats=20):
    """Runs have the same bits while another process keeps the GPU busy."""
    alone = tree.train(program, f"{program}-alone", steps=3)
    stop = threading.Event()

    def load():
        runs = 0
        while not stop.is_set():
            tree.run(tree.build / "bin" / "bench-cuda", "attention")
            runs += 1
        return runs

    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        background = executor.submit(load)
        try:
            for repeat in range(repeats):
                beside = tree.train(program, f"{program}-loaded", steps=3)
                same(f"repeat {repeat}", alone, beside)
        finally:
            stop.set()
        if background.result() == 0:
            raise Failed("the GPU was not busy")
    return f"{repeats} runs"


def large_vocabulary(tree):
    """docs/failures.md 23: a step keeps its logits once, in bf16. Untrained, it guesses evenly."""
    steps, *_ = tree.train("vocabulary", "vocabulary", data=tree.rows("vocabulary-rows", [[4096, 4096]], VOCABULARY), steps=2)
    logits = 8192 * VOCABULARY * 2
    parameters = 2 * VOCABULARY * 64 * (2 + 4 + 2)  # embedding and head: weights, two moments, gradients; a narrow model
    overhead = 0.75e9  # the driver's context, machine code, workspace of the products
    if steps[-1]["memory_bytes"] > parameters + 1.25 * logits + overhead:
        raise Failed(f"{steps[-1]['memory_bytes']} bytes, expected at most {parameters} + {overhead:.0f} and 1.25 x {logits} of bf16 logits")
    if abs(steps[0]["loss"] - math.log(VOCABULARY)) > 0.5:
        raise Failed(f"loss {steps[0]['loss']} in the first step, expected about {math.log(VOCABULARY):.3f}")
    return f"{steps[-1]['memory_bytes'] / 1e9:.2f} GB, logits {logits / 1e9:.2f}"


def no_compilation(tree):
    """docs/failures.md 24: nothing is compiled once training has begun, whatever rows come."""
    steps, *_ = tree.train("heads-bf16", "compiles", steps=8)
    compiled = [step["step"] for step in steps if step["time"]["compile_ms"] > 0]
    if compiled:
        raise Failed(f"steps {compiled} compiled something")
    return f"{len(steps)} steps"


def utilisation(tree):
    """docs/failures.md 25: against the peak of a GPU that is known by name, otherwise unknown."""
    output = tree.qrun("profile", "--program", tree.program("heads-bf16"), "--data", tree.rows(), "--scratch", "--seconds", 0.5)
    lines = [line for line in output.splitlines() if "MFU" in line]
    device = re.search(r"(?m)^device: (.*?),", output).group(1)
    known = device in ("NVIDIA H200", "NVIDIA H100 80GB HBM3")
    if len(lines) != 1 or ("unknown" in lines[0]) == known:
        raise Failed(output)
    return lines[0].strip()


def falling(tree, dtype):
    """Ten passes over the same rows."""
    steps, *_ = tree.train(f"heads-{dtype}", f"falling-{dtype}", steps=10 * len(ROWS))
    first, last = (sum(step["loss"] for step in part) / len(ROWS) for part in (steps[:len(ROWS)], steps[-len(ROWS):]))
    if not last < first - 0.5:
        raise Failed(f"loss {first} at first, {last} at last")
    return f"loss {first:.3f} to {last:.3f}"


def near(run, one, other, bound):
    """Losses and gradient norms of `one`, the run that is described, are those of the other within a relative bound."""
    for step, (got, expected) in enumerate(zip(numbers(one), numbers(other), strict=True), 1):
        if not all(abs(left - right) <= bound * abs(right) for left, right in zip(got, expected)):
            raise Failed(f"step {step}: loss and gradient norm {run} are {got}, expected {expected} within {bound} of them")


def clusters(tree):
    """Generated kernels in place of a compound's: a run has the same numbers within rounding."""
    formed, *_ = tree.train("heads-f32", "formed")
    generated, *_ = tree.train("clusters-f32", "generated")
    near("with clusters", generated, formed, 1e-4)
    return f"{len(generated)} steps"


def remat(tree, dtype):
    """In the least memory, where all that helps is computed again, gradients are those of a run that keeps everything."""
    kept = tree.train(f"heads-{dtype}", f"kept-{dtype}", steps=len(ROWS))
    least = tree.train(f"least-{dtype}", f"least-{dtype}", steps=len(ROWS))
    if numbers(kept[0]) == numbers(least[0]) and kept[1] == least[1]:
        return "the same bits"
    near("in the least memory", least[0], kept[0], {"f32": 1e-5, "bf16": 2e-3}[dtype])
    return "within rounding"


def checks(tree):
    # Those that take longest begin first. The tool's initcheck does not see what the copy engine stores: with bf16 it
    # takes the library's products for memory that nobody wrote. There `poison` looks for such reads.
    found = [Check(f"sanitizer {tool} {program}", lambda tool=tool, program=program: sanitizer(tree, tool, program))
             for program in ("heads-bf16", "tiny-f32") for tool in SANITIZERS if (tool, program) != ("initcheck", "heads-bf16")]
    found += [Check(f"sanitizer {tool} sees a fault", lambda tool=tool, function=function: planted_fault(tree, tool, function))
              for tool, function in SANITIZERS.items()]
    found += [Check(f"conformance {test}", lambda test=test: tree.conformance(test) and None,
                    alone=test.startswith("CudaMemory.")) for test in tree.conformance_tests()]
    for row, what, pattern in [
            (4, "gradients of the delta rule at every length", "GatedDeltaRuleOnGpuWide.ReportedLengths"),
            (5, "empty documents", "*NoDocuments*:*AttentionOnGpu.Lengths*:*ReportedLengths*:GatedDeltaInputsOnGpu.WideHeads"),
            (6, "tails of 4,099 and of odd lengths", "GatedDeltaInputsOnGpu.WideHeads:*AttentionOnGpu.Lengths*"),
            (7, "gradient of the convolution's weights", "GatedDeltaInputsOnGpu.ShortDocuments:GatedDeltaInputsOnGpu.AddsToWeightGradients"),
            (9, "head ratios 1 to 4, outputs poisoned", "*HeadRatios*")]:
        found.append(Check(f"failure {row}: {what}", lambda pattern=pattern: tree.conformance(pattern)))
    found.append(Check("failure 8: 1,024 tokens, 16 heads of 64, under memcheck", lambda: tree.run(
        "compute-sanitizer", "--tool", "memcheck", "--error-exitcode", 9, tree.build / "bin" / "cuda-conformance",
        "--gtest_filter=*SixteenHeadsOf64*") and None))
    found.append(Check("failure 23: 248,320 logits", lambda: large_vocabulary(tree), alone=True))
    found.append(Check("failure 24: no compilation", lambda: no_compilation(tree)))
    found.append(Check("failure 25: utilisation", lambda: utilisation(tree), alone=True))
    for dtype in ("f32", "bf16"):
        found.append(Check(f"failure 26: repeat heads-{dtype}", lambda dtype=dtype: twice(tree, f"heads-{dtype}")))
        found.append(Check(f"failure 32: launch heads-{dtype}", lambda dtype=dtype: launch(tree, f"heads-{dtype}")))
        found.append(Check(f"poison heads-{dtype}", lambda dtype=dtype: poison(tree, f"heads-{dtype}")))
    for dtype, bucket in GOLDEN_RUNS:
        found.append(Check(f"golden {dtype} {bucket}", lambda dtype=dtype, bucket=bucket: golden(tree, dtype, bucket)))
    found.append(Check("clusters", lambda: clusters(tree)))
    for dtype in ("f32", "bf16"):
        found.append(Check(f"remat {dtype}", lambda dtype=dtype: remat(tree, dtype)))
    for dtype in ("f32", "bf16"):
        found.append(Check(f"steps heads-{dtype}", lambda dtype=dtype: falling(tree, dtype)))
    found.append(Check("repeat heads-bf16 under load", lambda: under_load(tree, "heads-bf16"), alone=True))
    return found


def build_programs(tree):
    """Everything that has to be compiled; says what it is at."""
    qcc = tree.build / "bin" / "qcc"
    tree.programs.mkdir(exist_ok=True)
    print("device functions of the conformance tests", flush=True)
    tree.run(tree.build / "bin" / "cuda-conformance", environment={"QCC_COMPILE_ONLY": "1"}, timeout=3600)
    for dtype, bucket in GOLDEN_RUNS:
        print(f"programs of the golden cases, {dtype}, bucket {bucket}", flush=True)
        tree.run(sys.executable, "-B", GOLDEN / "check_golden.py", "--qcc", qcc, "--build", tree.programs, "--dtype", dtype,
                 "--bucket", bucket, "--target", "sm_90a")
    config = json.loads((GOLDEN / "wide_r3" / "config.json").read_text())
    tiny = json.loads((GOLDEN / "tiny_untied" / "config.json").read_text()) | {"vocab_size": HEADS["vocab_size"]}
    narrow = dict(HEADS, hidden_size=64, intermediate_size=128, vocab_size=VOCABULARY)
    for name, changes, dtype, states, buckets in [("tiny-f32", tiny, "f32", "f32", "384"),
                                                  ("clusters-f32", HEADS, "f32", "f32", "384,1024"),
                                                  ("heads-f32", HEADS, "f32", "f32", "384,1024"),
                                                  ("heads-bf16", HEADS, "bf16", "bf16", "384,1024"),
                                                  ("vocabulary", narrow, "bf16", "bf16", "8192")]:
        print(f"program {name}", flush=True)
        path, module = tree.work / f"{name}.json", tree.work / f"{name}.mlir"
        path.write_text(json.dumps({**config, **changes}))
        tree.run(qcc, "import", path, "--dtype", dtype, "-o", module)
        if name == "clusters-f32" and not spellings.without_swiglu(module):
            raise Failed(f"{module} has no gates")
        build = [qcc, "build", module, "--target", "sm_90a", "--states", states, "--buckets", buckets, "-o"]
        report = tree.run(*build, tree.programs / f"{name}.qprog")
        if name.startswith("heads-"):
            # What no run can do with is refused with what one can.
            refusal = tree.run(*build, tree.work / "none.qprog", "--memory", 1, codes=(1,))
            least = bytes_in(r"at least ([\d,]+) bytes", refusal)
            least_report = tree.run(*build, tree.programs / f"least-{dtype}.qprog", "--memory", least)
            kept, needed = (bytes_in(r"a run of one micro-batch a step +([\d,]+) ", text) for text in (report, least_report))
            if needed >= kept:
                raise Failed(f"least-{dtype} takes {needed} bytes of {name}'s {kept}: nothing is computed again")


def bytes_in(pattern, text):
    """The number that the pattern finds."""
    match = re.search(pattern, text)
    if not match:
        raise Failed(f"expected {pattern} in\n{text}")
    return int(match[1].replace(",", ""))


def run_checks(found, jobs):
    """Runs them and prints a line for each as it ends; returns how many failed."""
    failed = 0

    def run(check):
        begin = time.monotonic()
        try:
            return check, True, check.run(), time.monotonic() - begin
        except Failed as reason:
            return check, False, str(reason), time.monotonic() - begin

    with concurrent.futures.ThreadPoolExecutor(jobs) as executor:
        beside = [executor.submit(run, check) for check in found if not check.alone]
        alone = (check for check in found if check.alone)
        for results in ((done.result() for done in concurrent.futures.as_completed(beside)), map(run, alone)):
            for check, passed, text, seconds in results:
                failed += not passed
                print(f"{'PASS' if passed else 'FAIL'} {check.name} ({seconds:.1f} s){': ' + text if text else ''}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the built tree (default: build)")
    parser.add_argument("--programs", action="store_true", help="build the programs of the checks, and run none")
    parser.add_argument("--only", default="", help="checks whose name contains this")
    parser.add_argument("--jobs", type=int, default=6, help="checks at once (default: 6)")
    parser.add_argument("--seed", type=int, default=None, help="of the random shapes (default: new each time)")
    parser.add_argument("--list", action="store_true", help="name the checks, and run none")
    options = parser.parse_args()
    seed = random.randrange(2**31) if options.seed is None else options.seed
    with tempfile.TemporaryDirectory(prefix="gpu-check-") as work:
        tree = Tree(options.build.resolve(), pathlib.Path(work), seed)
        if options.programs:
            build_programs(tree)
            return 0
        found = [check for check in checks(tree) if options.only in check.name]
        if options.list:
            print("\n".join(check.name for check in found))
            return 0
        tree.first_look()
        print(f"seed {seed}")
        tree.rows()
        tree.rows("short", [[200, 1, 64, 99]])
        failed = run_checks(found, options.jobs)
    print(f"{len(found) - failed} passed, {failed} failed")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as reason:
        sys.exit(f"gpu_check.py: error: {reason}")
