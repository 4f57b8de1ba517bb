# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tools/tokenize.py as a program: files in, folders out, errors."""

import hashlib
import json
import shutil
import struct
import unittest

from support import ROOT, TOKENIZER, ChatTokenizer, CommandTest, assistant, documents_in, read_manifest, user

CHAT = (user("hello"), assistant("good day"))
OTHER = (user("what is it?"), assistant("a test"), user("ok"), assistant("yes"))


class Output(CommandTest):
    def test_the_files_are_as_described(self):
        chats = self.write_chats("chat.jsonl", CHAT, OTHER)
        self.assert_works(self.tokenize(chats))
        manifest = read_manifest(self.folder / "tokens")
        content = (self.folder / "tokens" / "shard-00000.safetensors").read_bytes()
        (header_bytes,) = struct.unpack_from("<Q", content)
        header = json.loads(content[8 : 8 + header_bytes])
        count, documents = manifest["tokens"], manifest["documents"]
        self.assertEqual(documents, 2)
        self.assertEqual(
            header,
            {
                "doc_offsets": {"dtype": "I64", "shape": [3], "data_offsets": [0, 24]},
                "input_ids": {"dtype": "I32", "shape": [count], "data_offsets": [24, 24 + 4 * count]},
                "loss_mask": {"dtype": "U8", "shape": [count], "data_offsets": [24 + 4 * count, 24 + 5 * count]},
            },
        )
        self.assertEqual(header_bytes % 8, 0)
        self.assertEqual(len(content), 8 + header_bytes + 24 + 5 * count)
        self.assertEqual(
            manifest,
            {
                "schema_version": 1,
                "kind": "tokens",
                "vocabulary_bound": 2048,
                "tokenizer_sha256": hashlib.sha256((TOKENIZER / "tokenizer.json").read_bytes()).hexdigest(),
                "template_sha256": hashlib.sha256((TOKENIZER / "chat_template.jinja").read_bytes()).hexdigest(),
                "documents": 2,
                "tokens": count,
                "trained_tokens": sum(content[-count:]),
                "shards": [
                    {
                        "file": "shard-00000.safetensors",
                        "sha256": hashlib.sha256(content).hexdigest(),
                        "documents": 2,
                        "tokens": count,
                        "trained_tokens": sum(content[-count:]),
                    }
                ],
            },
        )

    def test_two_runs_give_the_same_bytes(self):
        for out in ("one", "two"):
            self.assert_works(
                self.tokenize(
                    ROOT / "data" / "chat-sample.jsonl",
                    "--eval-count",
                    40,
                    "--eval-out",
                    self.folder / f"{out}-eval",
                    out=out,
                )
            )
        for name in ("manifest.json", "shard-00000.safetensors"):
            for kind in ("", "-eval"):
                self.assertEqual(
                    (self.folder / f"one{kind}" / name).read_bytes(), (self.folder / f"two{kind}" / name).read_bytes()
                )
        self.assertEqual(read_manifest(self.folder / "one-eval")["documents"], 40)
        self.assertEqual(read_manifest(self.folder / "one")["documents"], 435)

    def test_shards_hold_whole_documents(self):
        chats = self.write_chats("chat.jsonl", *([CHAT, OTHER] * 10))
        self.assert_works(self.tokenize(chats, out="whole"))
        self.assert_works(self.tokenize(chats, "--shard-tokens", 50, out="parts"))
        self.assertGreater(len(read_manifest(self.folder / "parts")["shards"]), 5)
        self.assertEqual(list(documents_in(self.folder / "parts")), list(documents_in(self.folder / "whole")))
        for key in ("documents", "tokens", "trained_tokens"):
            self.assertEqual(read_manifest(self.folder / "parts")[key], read_manifest(self.folder / "whole")[key])

    def test_held_out_documents_are_in_one_folder_only(self):
        chats = self.write_chats(
            "chat.jsonl", *([user(f"question {number}"), assistant("answer")] for number in range(30))
        )
        self.assert_works(self.tokenize(chats, out="all"))
        self.assert_works(self.tokenize(chats, "--eval-fraction", 0.3, "--eval-out", self.folder / "eval", "--seed", 5))
        both = [list(documents_in(self.folder / name)) for name in ("tokens", "eval")]
        self.assertTrue(all(both))
        self.assertEqual(sorted(both[0] + both[1]), sorted(documents_in(self.folder / "all")))

    def test_other_keys_are_ignored(self):
        more = self.write_lines(
            "more.jsonl", {"id": 3, "messages": list(CHAT), "tools": [{"name": "x"}]}, "", {"messages": list(OTHER)}
        )
        plain = self.write_chats("plain.jsonl", CHAT, OTHER)
        self.assert_works(self.tokenize(more, out="more"))
        self.assert_works(self.tokenize(plain, out="plain"))
        self.assertEqual(list(documents_in(self.folder / "more")), list(documents_in(self.folder / "plain")))

    def test_a_key_for_the_template(self):
        template = self.folder / "t.jinja"
        template.write_text("{{ topic }}{% generation %}{{ messages[0].content }}{% endgeneration %}")
        chats = self.write_lines("chat.jsonl", {"messages": list(CHAT), "topic": "on tests: "})
        self.assert_works(self.tokenize(chats, "--template", template, "--template-key", "topic"))
        ((ids, _),) = documents_in(self.folder / "tokens")
        self.assertEqual(ChatTokenizer(TOKENIZER).tokenizer.decode(ids), "on tests: hello")

    def test_what_is_left_out_is_counted(self):
        chats = self.write_chats("chat.jsonl", CHAT, [], [user("no answer")], [user("none")])
        result = self.assert_works(self.tokenize(chats))
        self.assertIn(f"left out: 1 empty (first: {chats}:2)", result.stdout)
        self.assertIn(f"left out: 2 without a trained token (first: {chats}:3)", result.stdout)
        self.assertEqual(read_manifest(self.folder / "tokens")["documents"], 1)

    def test_literal_markers_are_reported_or_refused(self):
        chats = self.write_chats("chat.jsonl", CHAT, [user("<|im_start|>assistant\n"), assistant("b")])
        result = self.assert_works(self.tokenize(chats))
        self.assertIn(f"note: 1 spell a special token, kept as ordinary text (first: {chats}:2)", result.stdout)
        self.assert_fails(
            self.tokenize(chats, "--special-text", "error", out="other"),
            f"{chats}:2: the text spells the special token <|im_start|>",
        )

    def test_a_template_in_the_config(self):
        folder = self.folder / "tokenizer"
        shutil.copytree(TOKENIZER, folder)
        source = (folder / "chat_template.jinja").read_text()
        (folder / "chat_template.jinja").unlink()
        config = json.loads((folder / "tokenizer_config.json").read_text())
        chats = self.write_chats("chat.jsonl", CHAT, OTHER)
        self.assert_works(self.tokenize(chats, out="beside"))
        for name, value in (
            ("text", source),
            ("list", [{"name": "rag", "template": "x"}, {"name": "default", "template": source}]),
        ):
            (folder / "tokenizer_config.json").write_text(json.dumps({**config, "chat_template": value}))
            self.assert_works(self.tokenize(chats, tokenizer=folder, out=name))
            self.assertEqual(
                (self.folder / name / "shard-00000.safetensors").read_bytes(),
                (self.folder / "beside" / "shard-00000.safetensors").read_bytes(),
            )
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
        self.assert_fails(self.tokenize(chats, tokenizer=folder, out="none"), "no 'chat_template'")


class PlainText(CommandTest):
    def documents(self, *arguments):
        self.assert_works(self.tokenize(*arguments, "--text"))
        return list(documents_in(self.folder / "tokens"))

    def test_a_file_is_a_document(self):
        tokenizer = ChatTokenizer(TOKENIZER)
        path = self.folder / "a.txt"
        path.write_text("One line.\n\nAnother, with ü.\n", encoding="utf-8")
        ((ids, mask),) = self.documents(path)
        self.assertEqual(
            tokenizer.tokenizer.decode(ids, skip_special_tokens=False), "One line.\n\nAnother, with ü.\n<|endoftext|>"
        )
        self.assertEqual(mask, [0] + [1] * (len(ids) - 1))
        self.assertEqual(read_manifest(self.folder / "tokens")["template_sha256"], "")

    def test_separators(self):
        tokenizer = ChatTokenizer(TOKENIZER)
        path = self.folder / "a.txt"
        path.write_text("a\nb\n---\n\nc\n---\n---\nd", encoding="utf-8")
        texts = [tokenizer.tokenizer.decode(ids) for ids, _ in self.documents(path, "--separator=---")]
        self.assertEqual(texts, ["a\nb", "\nc", "d"])

    def test_blank_lines(self):
        path = self.folder / "a.txt"
        path.write_text("a\nb\n\nc\n \n\nd\n", encoding="utf-8")
        self.assertEqual(len(self.documents(path, "--separator", "")), 3)

    def test_a_spelled_token_is_text(self):
        path = self.folder / "a.txt"
        path.write_text("the end: <|endoftext|>\n", encoding="utf-8")
        ((ids, _),) = self.documents(path)
        self.assertEqual(ids.count(2043), 1)


class Errors(CommandTest):
    def test_lines(self):
        cases = (
            ('{"messages": [', "not JSON"),
            ("[" * 100_000, "not JSON that can be read"),
            ("[1]", "expected an object with 'messages', got a list"),
            ('{"conversations": [], "id": 1}', "no 'messages' (keys: 'conversations', 'id')"),
            ('{"messages": {}}', "'messages' must be a list, got an object"),
            ('{"messages": ["hi"]}', "messages[0] must be an object, got text"),
            ('{"messages": [{"content": "x"}]}', "messages[0] has no 'role'"),
            ('{"messages": [{"role": 4, "content": "x"}]}', "'role' must be text, got a number"),
            (
                '{"messages": [{"role": "gpt", "content": "x"}]}',
                "unknown role 'gpt' (expected one of system, user, assistant, tool)",
            ),
            (
                '{"messages": [{"role": "user", "content": "x"}, {"role": "assistant"}]}',
                "messages[1] (role assistant) has no 'content'",
            ),
            (
                '{"messages": [{"role": "user", "content": true}]}',
                "'content' must be text or a list of parts, got true or false",
            ),
            ('{"messages": [{"role": "user", "content": [{"type": "image", "image": "x"}]}]}', "content[0] must be"),
            (
                '{"messages": [{"role": "tool", "content": "x"}]}',
                "this template has the roles system, user and assistant, not tool",
            ),
            ('{"messages": [{"role": "user", "content": "\\ud800"}]}', "half a surrogate pair"),
        )
        for number, (line, words) in enumerate(cases):
            with self.subTest(words):
                path = self.write_lines(f"{number}.jsonl", {"messages": list(CHAT)}, line)
                self.assert_fails(self.tokenize(path), f"{path}:2: ", words)
                self.assertEqual([entry.name for entry in self.folder.iterdir() if entry.is_dir()], [])

    def test_not_utf8(self):
        path = self.folder / "chat.jsonl"
        path.write_bytes(b'\n{"messages": "\xff"}\n')
        self.assert_fails(self.tokenize(path), f"{path}:2: not UTF-8: invalid start byte at byte 14")

    def test_files(self):
        chats = self.write_chats("chat.jsonl", CHAT)
        self.assert_fails(self.tokenize(self.folder / "none.jsonl"), "none.jsonl: No such file")
        self.assert_fails(self.tokenize(chats, tokenizer=self.folder), "tokenizer.json: No such file")
        (self.folder / "tokenizer.json").write_text("{}")
        self.assert_fails(self.tokenize(chats, tokenizer=self.folder), "tokenizer.json: not a tokenizer")

    def test_nothing_is_overwritten(self):
        chats = self.write_chats("chat.jsonl", CHAT)
        (self.folder / "tokens").mkdir()
        self.assert_works(self.tokenize(chats))
        before = (self.folder / "tokens" / "manifest.json").read_bytes()
        self.assert_fails(self.tokenize(chats), "tokens: not empty")
        self.assertEqual((self.folder / "tokens" / "manifest.json").read_bytes(), before)

    def test_nothing_to_train(self):
        chats = self.write_chats("chat.jsonl", [], [user("a")])
        self.assert_fails(
            self.tokenize(chats), "no document with a trained token", "1 empty", "1 without a trained token"
        )
        self.assertFalse((self.folder / "tokens").exists())

    def test_nothing_held_out(self):
        chats = self.write_chats("chat.jsonl", CHAT)
        self.assert_fails(
            self.tokenize(chats, "--eval-fraction", 1e-9, "--eval-out", self.folder / "eval"), "is held out"
        )
        self.assertFalse((self.folder / "tokens").exists())

    def test_a_template_without_marks(self):
        chats = self.write_chats("chat.jsonl", CHAT)
        template = self.folder / "plain.jinja"
        template.write_text("{{ messages }}")
        self.assert_fails(self.tokenize(chats, "--template", template), "plain.jinja: this chat template has neither")

    def test_usage(self):
        chats = self.write_chats("chat.jsonl", CHAT)
        for arguments in (
            ["--eval-out", "x"],
            ["--eval-count", 3],
            ["--separator", "x"],
            ["--text", "--template", "x"],
            ["--eval-fraction", 2, "--eval-out", "x"],
            ["--eval-count", 0, "--eval-out", "x"],
            ["--shard-tokens", 0],
            ["--eval-count", 1, "--eval-out", self.folder / "tokens"],
        ):
            with self.subTest(arguments):
                self.assert_fails(self.tokenize(chats, *arguments), "error: ", code=2)


if __name__ == "__main__":
    unittest.main()
