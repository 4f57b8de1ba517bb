# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What gpu_check.py takes from the words of compute-sanitizer and of cuda-conformance, without a GPU: each is a script that
says them."""
import os
import pathlib
import tempfile
import unittest

import gpu_check

CLEAN = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"
WRITE = """========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at qrt::device::writePastTheEnd(qrt::device::FaultParams)+0x60
=========     by thread (32,0,0) in block (0,0,0)
=========
[  PASSED  ] 1 test.
========= ERROR SUMMARY: 1 error
"""
RACE = """========= Error: Race reported between Write access at {0}+0x80
=========     and Read access at {0}+0x90 [64 hazards]
=========
[  PASSED  ] 1 test.
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
OURS = RACE.format("qrt::device::readWithoutBarrier(qrt::device::FaultParams)")
LIBRARY = RACE.format("nvjet_sm90_tst_64x64_64x13_2x4_h_bz_NTT")


class Sanitizer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tree = gpu_check.Tree(self.folder, self.folder, 1)
        self.tree.programs.mkdir()
        (self.tree.programs / "tiny.qprog").touch()
        self.tree.environment["PATH"] = f"{self.folder}:{os.environ['PATH']}"

    def says(self, words, code):
        script = self.folder / "compute-sanitizer"
        (self.folder / "words").write_text(words)
        script.write_text(f'#!/bin/sh\ncat "{self.folder}/words"\nexit {code}\n')
        script.chmod(0o755)

    def step(self, tool, words, code, end="checkpoint: x\n"):
        self.says(words + end, code)
        return gpu_check.sanitizer(self.tree, tool, "tiny")

    def fault(self, tool, words, code):
        self.says(words, code)
        return gpu_check.planted_fault(self.tree, tool, gpu_check.SANITIZERS[tool])

    def test_a_clean_step(self):
        self.assertEqual(self.step("memcheck", CLEAN, 0), "tiny")
        self.assertEqual(self.step("racecheck", CLEAN.replace("ERROR", "RACECHECK"), 0), "tiny")

    def test_hazards_within_the_library_are_its_own(self):
        self.assertEqual(self.step("racecheck", LIBRARY, 9), "tiny")
        self.assertRaisesRegex(gpu_check.Failed, r"Write access at qrt::device(.|\n)*64 hazards", self.step, "racecheck",
                               LIBRARY + OURS, 9)

    def test_an_error_anywhere_counts(self):
        self.assertRaisesRegex(gpu_check.Failed, "Invalid __global__ write", self.step, "memcheck", WRITE, 9)

    def test_a_step_that_failed_or_was_not_looked_at(self):
        self.assertRaisesRegex(gpu_check.Failed, "exit code 1", self.step, "memcheck", CLEAN, 1)
        self.assertRaisesRegex(gpu_check.Failed, "says nothing", self.step, "initcheck", "", 0)
        self.assertRaisesRegex(gpu_check.Failed, "did not end", self.step, "memcheck", CLEAN, 0, end="")

    def test_hazards_of_the_library_do_not_hide_a_step_that_failed(self):
        for broken in ("Target application returned an error", "Internal Sanitizer Error: it failed to handle an exception."):
            self.assertRaisesRegex(gpu_check.Failed, broken[:20], self.step, "racecheck", f"========= {broken}\n" + LIBRARY, 9)

    def test_a_tool_that_is_not_there(self):
        self.assertRaisesRegex(gpu_check.Failed, "compute-sanitizer cannot be run: No such file",
                               lambda: gpu_check.sanitizer(self.tree, "memcheck", "tiny"))

    def test_a_planted_fault_is_reported_by_name(self):
        self.assertEqual(self.fault("memcheck", WRITE, 9), "writePastTheEnd is reported")
        self.assertEqual(self.fault("racecheck", OURS, 9), "readWithoutBarrier is reported")

    def test_a_silent_tool_has_not_looked(self):
        passed = "[  PASSED  ] 1 test.\n"
        self.assertRaisesRegex(gpu_check.Failed, "did not report", self.fault, "memcheck", CLEAN + passed, 0)
        self.assertRaisesRegex(gpu_check.Failed, "did not report", self.fault, "racecheck", LIBRARY, 9)
        self.assertRaisesRegex(gpu_check.Failed, "did not report", self.fault, "memcheck",
                               WRITE.replace("writePast", "writeAt"), 9)

    def test_a_fault_that_was_not_run(self):
        self.assertRaisesRegex(gpu_check.Failed, "not launched", self.fault, "memcheck",
                               CLEAN + "[  PASSED  ] 0 tests.\n", 0)


class FirstLook(unittest.TestCase):
    def look(self, words, code):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "bin").mkdir()
            script = folder / "bin" / "cuda-conformance"
            script.write_text(f"#!/bin/sh\necho '{words}'\nexit {code}\n")
            script.chmod(0o755)
            gpu_check.Tree(folder, folder, 1).first_look()

    def test_a_device_that_opens(self):
        self.look("[  PASSED  ] 1 test.", 0)

    def test_one_line_says_why_it_does_not(self):
        self.assertRaisesRegex(gpu_check.Failed, "^the NVIDIA driver cannot be opened: libcuda.so.1$", self.look,
                               "Note: Google Test filter = Device.Opens\nerror: the NVIDIA driver cannot be opened: libcuda.so.1", 1)

    def test_what_says_nothing_is_shown_whole(self):
        self.assertRaisesRegex(gpu_check.Failed, "exit code 139(.|\n)*Segmentation", self.look, "Segmentation fault", 139)


if __name__ == "__main__":
    unittest.main()
