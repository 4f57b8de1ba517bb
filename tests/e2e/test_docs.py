# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/reading-a-dump.md is true: its commands run as they stand, one after the other, and what it shows as output (or
as a dump) is there, up to blanks and what it leaves out with `...`."""
import os
import subprocess
import unittest

import support

PAGE = support.ROOT / "docs" / "reading-a-dump.md"


def read_page():
    """Its commands, and what it shows in fences as (first line's number, lines)."""
    commands, shown, fence = [], [], None
    for number, line in enumerate(PAGE.read_text().splitlines(), 1):
        if line.startswith("```"):
            if fence is not None:
                shown.append(fence)
            fence = (number + 1, []) if fence is None else None
        elif fence is not None:
            fence[1].append(line)
        elif line.startswith("    "):
            commands.append(line.strip())
    return commands, shown


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
        output = ""
        for command in commands[2:]:
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            # 127: there is no such program. 2: no such option. Errors that the page shows end with 1.
            self.assertIn(done.returncode, (0, 1), f"{command}\n{done.stdout}")
            output += done.stdout
        output += "".join(path.read_text() for path in sorted(folder.glob("*.mlir")))
        output = " ".join(output.split())
        for begin, lines in shown:
            for number, line in enumerate(lines, begin):
                if "epoch" in line or "_ms" in line:
                    continue  # times, and losses of another processor
                for piece in line.split("..."):
                    piece = " ".join(piece.split())
                    self.assertTrue(piece in output, f"{PAGE.name}:{number}: neither printed nor in a dump: {piece}")


if __name__ == "__main__":
    unittest.main()
