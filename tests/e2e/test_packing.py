# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Documents that share a row do not know of each other (docs/failures.md 1-3, 11, 15)."""
import unittest

import support
import tensors

LENGTHS = [1, 2, 3, 63, 64, 65, 127, 128, 129]


class Packing(support.TestCase):
    def test_packed_equals_alone(self):
        """All documents in one row, and each in a row of its own: one loss, the same gradients. The second is also N
        micro-batches of one row against one of N documents."""
        for case in support.CASES:
            with self.subTest(case):
                vocab = support.vocabulary(case)
                documents = support.random_documents(7, LENGTHS, vocab)
                together, alone = self.work / f"{case}-together", self.work / f"{case}-alone"
                support.write_packed(together, [documents], sum(LENGTHS), vocab)
                support.write_packed(alone, [[document] for document in documents], 129, vocab)
                program = self.build(case, f"{sum(LENGTHS)},129", name=case)
                row_run, row = self.train(case, program, together, f"{case}-row", "--steps", 1)
                rows_run, rows = self.train(case, program, alone, f"{case}-rows", "--steps", 1, "--micro-batches",
                                            len(documents))
                loss, expected = (support.metrics(path)[0]["loss"] for path in (rows_run, row_run))
                self.assertLessEqual(abs(loss - expected) / expected, 1e-6)
                self.assert_gradients_close(rows, row)

    def test_documents_do_not_leak(self):
        """Another document in the middle of the row changes no bit of the others' hidden states, nor of the gradients
        that reach them."""
        for case in support.CASES:
            with self.subTest(case):
                vocab = support.vocabulary(case)
                documents = support.random_documents(3, [65, 130, 3, 64], vocab)
                changed = list(documents)
                changed[1] = (support.random_documents(99, [130], vocab)[0][0], documents[1][1])
                program = self.build(case, "270", name=case)
                sides = []
                for name, row in (("before", documents), ("after", changed)):
                    packed, hidden = self.work / f"{case}-{name}", self.work / f"{case}-{name}-hidden"
                    support.write_packed(packed, [row], 270, vocab)
                    support.run("qrun", "eval", "--program", program, "--data", packed, "--weights",
                                support.GOLDEN / case, "--dump-hidden", hidden, "--poison")
                    _, gradients = self.train(case, program, packed, f"{case}-{name}-run", "--steps", 1)
                    states = tensors.read(hidden / "row-00000.safetensors")
                    self.assertEqual(set(states), {key for key in gradients if key.startswith("hidden.")})
                    sides.append([(f"{kind} {key}", *side[key][1:]) for kind, side in (("state", states), ("gradient", gradients))
                                  for key in states])
                for (name, shape, before), (_, _, after) in zip(*sides):
                    self.assertEqual(shape[0], 270)
                    begin, end = 65 * shape[1], 195 * shape[1]
                    self.assertEqual(before[:begin], after[:begin], name)
                    self.assertEqual(before[end:], after[end:], name)
                    self.assertNotEqual(before[begin:end], after[begin:end], name)

    def test_rows_and_micro_batches(self):
        """One batch as one step of two rows in two different buckets, and as one row: the same gradients."""
        case = "tiny_tied"
        vocab = support.vocabulary(case)
        documents = support.random_documents(5, [100, 30, 60], vocab)
        one, two = self.work / "one", self.work / "two"
        support.write_packed(one, [documents], 190, vocab)
        support.write_packed(two, [documents[:1], documents[1:]], 100, vocab)
        program = self.build(case, "190,100x1x100x100,96x2x64x96")
        _, row = self.train(case, program, one, "row", "--steps", 1)
        _, rows = self.train(case, program, two, "rows", "--steps", 1, "--micro-batches", 2)
        self.assert_gradients_close(rows, row)


if __name__ == "__main__":
    unittest.main()
