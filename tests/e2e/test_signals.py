# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A run that is asked to stop ends after its step and leaves a checkpoint that loads; asked twice, it ends at once."""
import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import unittest

import support

CASE = "tiny_tied"


class Signals(support.TestCase):
    def setUp(self):
        super().setUp()
        self.program, self.data = self.build(CASE, "64"), self.work / "packed"
        documents = [support.random_documents(row, [40, 24], support.vocabulary(CASE)) for row in range(4)]
        support.write_packed(self.data, documents, 64, support.vocabulary(CASE))

    def command(self, out, *options):
        arguments = [
            "train", "--program", self.program, "--data", self.data, "--weights", support.GOLDEN / CASE, "--out",
            self.work / out
        ]
        return [str(support.BIN / "qrun"), *map(str, [*arguments, *options])]

    def start(self, out, *options):
        """A long run whose first step is done."""
        run = subprocess.Popen(self.command(out, "--steps", 1000000, *options), stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        self.addCleanup(run.stdout.close)
        for line in run.stdout:
            if line.startswith("step "):
                return run
        self.fail("no step was run")

    def test_one_signal_exports(self):
        for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(stop.name):
                run = self.start(stop.name, "--eval-data", self.data)
                run.send_signal(stop)
                output, _ = run.communicate(timeout=60)
                self.assertEqual(run.returncode, 0, output)
                self.assertRegex(output, r"stopped after step \d+ of 1000000")
                self.assertNotIn("held-out", output)
                support.run("qrun", "eval", "--program", self.program, "--data", self.data, "--weights",
                            self.work / stop.name / "checkpoint")

    def test_signal_during_matrix_products(self):
        """A handler must not run inside of a product: its stack pointer may be in the heap."""
        for repeat in range(12):
            run = self.start(f"run{repeat}", "--micro-batches", 4)
            run.send_signal(signal.SIGINT)
            output, _ = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 0, output[-500:])

    def test_second_signal_ends_at_once(self):
        run = self.start("twice")
        run.send_signal(signal.SIGSTOP)
        run.send_signal(signal.SIGINT)
        run.send_signal(signal.SIGTERM)
        run.send_signal(signal.SIGCONT)
        run.communicate(timeout=60)
        self.assertIn(run.returncode, (-signal.SIGINT, -signal.SIGTERM))
        self.assertFalse((self.work / "twice" / "checkpoint").exists())

    def test_nobody_reads_the_output(self):
        """`qrun train | head -1`: the run goes on and exports; so it does where the output has no space left."""
        for out, stdout in (("pipe", subprocess.PIPE), ("full", open("/dev/full", "w"))):
            with self.subTest(out):
                run = subprocess.Popen(self.command(out, "--steps", 40), stdout=stdout, stderr=subprocess.PIPE,
                                       text=True)
                if run.stdout:
                    run.stdout.readline()
                    run.stdout.close()
                else:
                    stdout.close()
                _, errors = run.communicate(timeout=60)
                self.assertEqual(run.returncode, 0, errors)
                self.assertIn("standard output: not all could be written", errors)
                self.assertEqual(len(support.metrics(self.work / out)), 40)
                self.assertTrue((self.work / out / "checkpoint" / "model.safetensors").exists())

    def test_progress_bar_fits_the_terminal(self):
        for columns in (30, 80):
            with self.subTest(columns):
                child, terminal = pty.fork()
                if child == 0:
                    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
                    command = self.command(f"terminal{columns}", "--steps", 3)
                    os.execv(command[0], command)
                output = b""
                while True:
                    try:
                        piece = os.read(terminal, 65536)
                    except OSError:  # the other end is closed
                        break
                    if not piece:
                        break
                    output += piece
                os.close(terminal)
                self.assertEqual(os.waitpid(child, 0)[1], 0, output)
                bars = [
                    bar for bar in output.decode().replace("\r", "\n").replace("\x1b[K", "").split("\n")
                    if bar.startswith("[")
                ]
                self.assertEqual(len(bars), 3, output)
                self.assertTrue(all(len(bar) < columns for bar in bars), bars)


if __name__ == "__main__":
    unittest.main()
