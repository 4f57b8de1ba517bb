# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which documents are held out: a matter of the data and the seed alone."""

import unittest

from support import HeldOut
from chatdata import DataError
from chatdata.sources import Text

TEXTS = [Text(f"a.txt:{number}", f"text {number}") for number in range(1000)]


def held(split, items):
    return [item.text for item in items if split.holds(item)]


class HeldOutTest(unittest.TestCase):
    def test_the_choice_never_changes(self):
        """Written out: a change of the hash would silently move documents between training and evaluation."""
        self.assertEqual(held(HeldOut.by_count(3, TEXTS[:50], seed=0), TEXTS[:50]), ["text 3", "text 34", "text 42"])

    def test_fraction(self):
        chosen = held(HeldOut.by_fraction(0.1, seed=0), TEXTS)
        self.assertTrue(70 <= len(chosen) <= 130, len(chosen))

    def test_other_documents_move_nothing(self):
        split = HeldOut.by_fraction(0.2, seed=3)
        self.assertEqual(
            [text for text in held(split, TEXTS) if text in {item.text for item in TEXTS[::3]}], held(split, TEXTS[::3])
        )

    def test_a_larger_fraction_holds_the_smaller(self):
        self.assertLess(set(held(HeldOut.by_fraction(0.1, 0), TEXTS)), set(held(HeldOut.by_fraction(0.2, 0), TEXTS)))

    def test_count_is_exact_and_the_order_does_not_matter(self):
        split = HeldOut.by_count(17, TEXTS, seed=1)
        self.assertEqual(len(held(split, TEXTS)), 17)
        self.assertEqual(split, HeldOut.by_count(17, TEXTS[::-1], seed=1))

    def test_copies_stay_together(self):
        twice = TEXTS[:20] + [Text("b.txt:1", item.text) for item in TEXTS[:20]]
        split = HeldOut.by_count(5, twice, seed=0)
        chosen = held(split, twice)
        self.assertEqual((len(chosen), len(set(chosen))), (10, 5))

    def test_the_seed_matters(self):
        self.assertNotEqual(held(HeldOut.by_count(20, TEXTS, 0), TEXTS), held(HeldOut.by_count(20, TEXTS, 1), TEXTS))

    def test_more_than_there_are(self):
        with self.assertRaisesRegex(DataError, "only 20 distinct"):
            HeldOut.by_count(21, TEXTS[:20] * 2, 0)

    def test_nothing(self):
        self.assertEqual(held(HeldOut.nothing(), TEXTS), [])


if __name__ == "__main__":
    unittest.main()
