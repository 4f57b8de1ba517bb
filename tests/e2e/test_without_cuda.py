# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which folders the build takes for CUDA toolkit 13, and what it is without one: a qrun that says so.

$QCC_CMAKE is cmake, $QCC_WITHOUT_CUDA_BIN the folder with a qrun built without CUDA (the test build-without-cuda).
"""
import ctypes
import os
import pathlib
import subprocess
import unittest

import support

CASE = "tiny_tied"


class FindToolkit(support.TestCase):
    def toolkit(self, name, version, library="lib/libnvrtc.so.13"):
        """A folder that looks like a toolkit."""
        folder = self.work / name
        for path, text in (("include/cuda.h", f"#define CUDA_VERSION {version}\n"), (library, "")):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        return folder

    def find(self, toolkit):
        """What cmake says and sets for this QCC_CUDA_TOOLKIT."""
        script = self.work / "find.cmake"
        script.write_text(f'include("{support.ROOT}/cmake/CudaToolkit.cmake")\n'
                          'message(STATUS "found: ${QCC_CUDA_INCLUDE} ${QCC_CUDA_LIBRARIES}")\n')
        done = subprocess.run([os.environ["QCC_CMAKE"], f"-DQCC_CUDA_TOOLKIT={toolkit}",
                               f"-DPROJECT_SOURCE_DIR={self.work}", "-P", script],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, " ".join(done.stdout.split())

    def assert_found(self, toolkit, folder, libraries="lib"):
        code, output = self.find(toolkit)
        self.assertEqual(code, 0, output)
        self.assertIn(f"CUDA backend: with CUDA 13.0 of {folder}", output)
        self.assertIn(f"found: {folder}/include {folder}/{libraries}", output)

    def assert_refused(self, toolkit, reason):
        code, output = self.find(toolkit)
        self.assertEqual(code, 1, output)
        self.assertIn(f"QCC_CUDA_TOOLKIT: expected the folder of CUDA toolkit 13, or OFF: {toolkit} {reason}", output)

    def test_named(self):
        self.assert_found(*[self.toolkit("a", 13000)] * 2)
        self.assert_found(*[self.toolkit("b", 13000, "lib64/libnvrtc.so.13")] * 2, libraries="lib64")

    def test_wheels(self):
        self.assert_found("", self.toolkit(".cuda/nvidia/cu13", 13000))

    def test_refused(self):
        self.assert_refused(self.work / "nowhere", "has no include/cuda.h")
        self.assert_refused(self.toolkit("old", 12090), "has CUDA 12.9, not 13")
        self.assert_refused(self.toolkit("part", 13000, "lib/libcudart.so.13"), "has no lib/libnvrtc.so.13")

    def test_off(self):
        code, output = self.find("OFF")
        self.assertEqual(code, 0, output)
        self.assertIn("CUDA backend: left out, QCC_CUDA_TOOLKIT is OFF", output)
        self.assertTrue(output.endswith("found:"), output)


@unittest.skipUnless("QCC_WITHOUT_CUDA_BIN" in os.environ, "there is no NVRTC to build a program with")
class WithoutCuda(support.TestCase):
    def setUp(self):
        super().setUp()
        self.qrun = pathlib.Path(os.environ["QCC_WITHOUT_CUDA_BIN"]) / "qrun"
        self.packed, vocabulary = self.work / "packed", support.vocabulary(CASE)
        support.write_packed(self.packed, [support.random_documents(2, [64], vocabulary)], 64, vocabulary)

    def test_qrun_says_so(self):
        program = self.build(CASE, "64", "--target", "sm_90a")
        for command, *options in (["train", "--out", self.work / "run", "--steps", 1], ["eval"], ["profile"],
                                  ["calibrate", "--out", self.work / "machine.json"]):
            with self.subTest(command=command):
                self.assert_fails(1, r"model\.qprog is compiled for sm_90a, but this qrun was built without the CUDA "
                                     r"backend: with CUDA toolkit 13, or what `tools/setup\.sh --cuda` installs of it, configure "
                                     r"and build it again\n",
                                  self.qrun, command, "--program", program, "--data", self.packed, "--weights",
                                  support.GOLDEN / CASE, *options)
        self.assertFalse((self.work / "machine.json").exists())

    def test_no_driver(self):
        """A qrun with the backend, on a machine without a GPU."""
        try:
            ctypes.CDLL("libcuda.so.1")
        except OSError:
            pass
        else:
            self.skipTest("there is a driver")
        self.assert_fails(1, r"error: \S+model\.qprog is compiled for sm_90a: the NVIDIA driver \(release 580 or later\) "
                             r"cannot be opened: libcuda", "qrun", "eval", "--program",
                          self.build(CASE, "64", "--target", "sm_90a"), "--data", self.packed, "--weights",
                          support.GOLDEN / CASE)

    def test_options_of_the_cpu(self):
        """With a program for a GPU they are refused."""
        program = self.build(CASE, "64", "--target", "sm_90a")
        for option, value in (("--threads", 2), ("--bf16-products", "widened")):
            with self.subTest(option):
                self.assert_fails(2, rf"error: {option}: only programs for the CPU take it, \S+model\.qprog is compiled for "
                                     r"sm_90a\n", self.qrun, "eval", "--program", program, "--data", self.packed,
                                  "--weights", support.GOLDEN / CASE, option, value)

    def test_a_program_for_the_cpu_runs(self):
        machine = self.work / "machine.json"
        support.run(self.qrun, "calibrate", "--program", self.build(CASE, "64"), "--data", self.packed, "--scratch",
                    "--seconds", 0.1, "--out", machine)
        self.assertTrue(machine.exists())


if __name__ == "__main__":
    unittest.main()
