# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/reading-a-dump.md is true: its commands run as they stand, one after the other, and what it shows as a command's
output (or as a part of a dump) is there in that order, up to blanks and what it leaves out with `...`. So is the table of
docs/performance.md that says what fits on one GPU."""
import os
import re
import subprocess
import unittest

import support

PAGE = support.ROOT / "docs" / "reading-a-dump.md"
PERFORMANCE = support.ROOT / "docs" / "performance.md"


# What the page shows to fail, by how the commands begin; all others succeed.
FAILING = ("qcc build wrong.mlir -o wrong.qprog ", "qcc build qwen.mlir -o none.qprog ")


def read_page():
    """Its commands, and what it shows in fences: commands before it, whether it is a part of a dump, first line's
    number, lines."""
    commands, shown, fence = [], [], None
    for number, line in enumerate(PAGE.read_text().splitlines(), 1):
        if line.startswith("```"):
            if fence is not None:
                shown.append(fence)
            fence = (len(commands), line == "```mlir", number + 1, []) if fence is None else None
        elif fence is not None:
            fence[-1].append(line)
        elif line.startswith("    "):
            commands.append(line.strip())
    return commands, shown


def first_missing(text, lines):
    """The index of the first line that does not follow those before it in the text, up to blanks and what `...` stands
    for; None if all are there."""
    position = 0
    for index, line in enumerate(lines):
        if "epoch" in line or "_ms" in line:
            continue  # times, and losses of another processor
        for piece in line.split("..."):
            piece = " ".join(piece.split())
            found = text.find(piece, position)
            if found < 0:
                return index
            position = found + len(piece)
    return None


class ReadingADump(support.TestCase):
    def test_commands_and_what_they_print(self):
        commands, shown = read_page()
        self.assertGreater(len(commands), 10)
        self.assertEqual(commands[:2], ['export PATH="$PWD/build/bin:$PATH"', "mkdir -p build/dump && cd build/dump"])
        # The same places as there: the programs on the PATH, a folder two below the repository's.
        folder = self.work / "repository" / "build" / "dump"
        folder.mkdir(parents=True)
        (self.work / "repository" / "tests").symlink_to(support.ROOT / "tests")
        environment = dict(os.environ, PATH=f"{support.BIN}:{os.environ['PATH']}")
        outputs, failed = ["", ""], set()
        for command in commands[2:]:
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            expected = [begin for begin in FAILING if command.startswith(begin)]
            failed.update(expected)
            self.assertEqual(done.returncode, 1 if expected else 0, f"{command}\n{done.stdout}")
            outputs.append(" ".join(done.stdout.split()))
        self.assertEqual(failed, set(FAILING))
        dumps = [" ".join(path.read_text().split()) for path in sorted(folder.glob("*.mlir"))]
        for before, is_dump, begin, lines in shown:
            # All of a fence is in one dump, or printed by one command before it.
            missing = [first_missing(text, lines) for text in (dumps if is_dump else outputs[:before])]
            if None not in missing:
                index = max(missing)
                where = "dump" if is_dump else "output of one command"
                self.fail(f"{PAGE.name}:{begin + index}: in no {where} behind the lines before it: {lines[index]}")


class WhatFits(support.TestCase):
    """The table of docs/performance.md: bytes as the compiler plans them, and what follows for a GPU."""

    def test_table(self):
        rows = re.findall(r"(?m)^\| ([\d.]+B) \| (f32|bf16) \| ([\d.]+) \| ([\d.]+) \| (.*) \| (.*) \|$",
                          PERFORMANCE.read_text())
        self.assertEqual(len(rows), 10)
        for size, states, kept, least, on_80, on_141 in rows:
            with self.subTest(size=size, states=states):
                model, dump = self.work / f"{size}.mlir", self.work / "dump.mlir"
                support.run("qcc", "import", "--size", size.lower(), "-o", model)
                build = ["qcc", "build", model, "--target", "sm_90a", "--states", states, "--buckets", "8192x64x8192x8192",
                         "-o", dump, "--compile-to"]
                with self.assertRaises(support.Failed) as caught:
                    support.run(*build, "remat", "--memory", 1)
                refusal = caught.exception.output

                def refused(what):
                    return int(re.search(rf"{what} ([\d,]+) bytes", refusal)[1].replace(",", ""))

                support.run(*build, "planned")
                entries = re.findall(r"step\.entry @(?:step|eval)\.\S+ .* io (\d+) transient (\d+) {", dump.read_text())
                self.assertEqual(len(entries), 2)
                everything = (refused("state") + refused("machine code") + max(int(io) for io, _ in entries) +
                              max(int(transient) for _, transient in entries))
                # A tenth of a GB is said; the machine code of a model is less than the 16 MiB that are taken for it.
                for said, planned in ((kept, everything), (least, refused("at least"))):
                    self.assertLess(abs(float(said) - planned / 1e9), 0.05 + 0.017)
                for verdict, memory in ((on_80, 80), (on_141, 141)):
                    expected = ("yes" if float(kept) <= memory else
                                f"with `--memory {memory}GB`" if float(least) <= memory else "no")
                    self.assertEqual(verdict, expected)


if __name__ == "__main__":
    unittest.main()
