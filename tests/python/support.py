# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of the Python tools share."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools"
TOKENIZER = ROOT / "data" / "tokenizer"
sys.path.insert(0, str(TOOLS))

from chatdata.sources import Conversation, HeldOut  # noqa: E402, F401
from chatdata.template import ChatTemplate  # noqa: E402
from chatdata.tokenfiles import read_manifest, read_shards  # noqa: E402, F401
from chatdata.tokenizer import ChatTokenizer  # noqa: E402


def user(content, **more):
    return {"role": "user", "content": content, **more}


def assistant(content, **more):
    return {"role": "assistant", "content": content, **more}


def system(content):
    return {"role": "system", "content": content}


def conversation(*messages):
    return Conversation("chat.jsonl:7", list(messages))


def documents_in(folder):
    """(ids, mask) of every document of a token folder."""
    for ids, mask, offsets in read_shards(folder):
        for begin, end in zip(offsets, offsets[1:]):
            yield list(ids[begin:end]), list(mask[begin:end])


class TokenizerTest(unittest.TestCase):
    """Tests on the shipped tokenizer."""

    @classmethod
    def setUpClass(cls):
        cls.tokenizer = ChatTokenizer(TOKENIZER)
        cls.template = cls.tokenizer.chat_template()

    def template_from(self, source):
        return ChatTemplate(source, "test.jinja", self.tokenizer.special_tokens)

    def encode(self, *messages, template=None):
        rendered = (template or self.template).render(conversation(*messages))
        (document,) = self.tokenizer.encode_rendered([rendered])
        return document

    def decode(self, ids):
        return self.tokenizer.tokenizer.decode(list(ids), skip_special_tokens=False)

    def trained(self, document):
        """The text of every run of targets."""
        runs, run = [], []
        for token, target in zip(document.ids, document.mask):
            if target:
                run.append(token)
            elif run:
                runs.append(self.decode(run))
                run = []
        return runs + ([self.decode(run)] if run else [])


class CommandTest(unittest.TestCase):
    """Tests of whole programs, in a folder of their own."""

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = Path(self.temporary.name)

    def write_lines(self, name, *records):
        """A JSONL file; a record that is text goes in as it is."""
        path = self.folder / name
        lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return path

    def write_chats(self, name, *chats):
        return self.write_lines(name, *({"messages": list(chat)} for chat in chats))

    def tool(self, name, *arguments):
        return subprocess.run(
            [sys.executable, "-B", str(TOOLS / name), *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=self.folder,
        )

    def tokenize(self, *arguments, out="tokens", tokenizer=TOKENIZER):
        return self.tool("tokenize.py", *arguments, "--tokenizer", tokenizer, "--out", self.folder / out)

    def assert_fails(self, result, *words, code=1):
        self.assertEqual(result.returncode, code, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertNotIn("Traceback", result.stderr)

    def assert_works(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        return result
