# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same text, tokens and marks as Hugging Face transformers (run.sh --with-transformers; skipped elsewhere)."""

import importlib.util
import unittest

from support import ROOT, TOKENIZER, TokenizerTest
from chatdata.sources import read_chat


@unittest.skipUnless(importlib.util.find_spec("transformers"), "needs tools/python_env.sh --with-transformers")
class AgainstTransformers(TokenizerTest):
    def setUp(self):
        import transformers

        self.theirs = transformers.AutoTokenizer.from_pretrained(TOKENIZER)
        self.chats = list(read_chat(ROOT / "data" / "chat-sample.jsonl"))

    def test_text_and_tokens_of_the_sample(self):
        for chat in self.chats:
            rendered = self.template.render(chat)
            self.assertEqual(rendered.text, self.theirs.apply_chat_template(chat.messages, tokenize=False), chat.where)
            (document,) = self.tokenizer.encode_rendered([rendered])
            self.assertEqual(document.ids, self.theirs(rendered.text, add_special_tokens=False)["input_ids"])

    def test_generation_marks(self):
        source = (
            "{%- for m in messages %}{{- '<|im_start|>' + m.role + '\\n' }}{%- if m.role == 'assistant' %}"
            "{%- generation %}{{- m.content + '<|im_end|>' }}{%- endgeneration %}{%- else %}{{- m.content + '<|im_end|>' }}"
            "{%- endif %}{{- '\\n' }}{%- endfor %}"
        )
        template = self.template_from(source)
        for chat in self.chats[:50]:
            (document,) = self.tokenizer.encode_rendered([template.render(chat)])
            theirs = self.theirs.apply_chat_template(
                chat.messages, chat_template=source, return_dict=True, return_assistant_tokens_mask=True
            )
            self.assertEqual(document.ids, theirs["input_ids"], chat.where)
            self.assertEqual(list(document.mask), theirs["assistant_masks"], chat.where)

    def test_special_tokens(self):
        self.assertEqual(len(self.theirs), self.tokenizer.vocabulary_bound)
        self.assertEqual(self.theirs.eos_token, "<|im_end|>")
        self.assertEqual(self.theirs.pad_token, "<|endoftext|>")


if __name__ == "__main__":
    unittest.main()
