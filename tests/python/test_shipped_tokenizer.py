# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tokenizer in data/tokenizer is what tools/train_tokenizer.py makes, and loses nothing."""

import json
import unittest

from support import ROOT, TOKENIZER, ChatTokenizer, CommandTest
from chatdata.sources import read_chat

SAMPLE = ROOT / "data" / "chat-sample.jsonl"


class ShippedTokenizer(CommandTest):
    def test_it_can_be_made_again(self):
        self.assert_works(self.tool("train_tokenizer.py", SAMPLE, "--out", self.folder))
        for name in ("tokenizer.json", "tokenizer_config.json"):
            self.assertEqual((self.folder / name).read_bytes(), (TOKENIZER / name).read_bytes(), name)

    def test_text_comes_back(self):
        tokenizer = ChatTokenizer(TOKENIZER).tokenizer
        texts = [message["content"] for chat in read_chat(SAMPLE) for message in chat.messages]
        texts += ["", "\r\n\t x  \n\n  y", "日本語 ᚠᛇᚻ 🙂‍↔️", "".join(map(chr, range(1, 300)))]
        decoded = tokenizer.decode_batch([encoding.ids for encoding in tokenizer.encode_batch(texts)])
        for text, again in zip(texts, decoded):
            self.assertEqual(tokenizer.normalizer.normalize_str(text), again)

    def test_digits_are_single(self):
        self.assertEqual(ChatTokenizer(TOKENIZER).tokenizer.encode("2048").tokens, list("2048"))

    def test_generation_ends_with_known_tokens(self):
        config = json.loads((TOKENIZER / "generation_config.json").read_text())
        tokenizer = ChatTokenizer(TOKENIZER)
        self.assertEqual(
            config["eos_token_id"], [tokenizer.token_id("<|im_end|>"), tokenizer.token_id("<|endoftext|>")]
        )
        self.assertEqual(config["pad_token_id"], tokenizer.token_id("<|endoftext|>"))


if __name__ == "__main__":
    unittest.main()
