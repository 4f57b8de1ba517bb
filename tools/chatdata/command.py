# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The work of tools/tokenize.py: options, the walk over the input, the summary."""

import contextlib
import datetime
from dataclasses import dataclass
from pathlib import Path

from chatdata import DataError
from chatdata.sources import HeldOut, read_all
from chatdata.tokenfiles import TokenWriter
from chatdata.tokenizer import ChatTokenizer

BATCH_DOCUMENTS, BATCH_CHARACTERS = 256, 4_000_000  # what is in memory at a time


def add_options(parser):
    parser.add_argument(
        "inputs", nargs="+", metavar="FILE", help="chat JSONL, or with --text plain text; read in this order"
    )
    parser.add_argument(
        "--tokenizer", required=True, metavar="DIR", help="folder with tokenizer.json and tokenizer_config.json"
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="token folder to make; must not exist or be empty")
    parser.add_argument(
        "--text", action="store_true", help="the files are plain text: one document a file, all of it trained"
    )
    parser.add_argument(
        "--separator",
        metavar="LINE",
        help="with --text: documents end at lines that are LINE ('': blank lines; write --separator=--- with the sign)",
    )
    parser.add_argument(
        "--end-token",
        default="<|endoftext|>",
        metavar="TOKEN",
        help="with --text: ends each document (default %(default)s)",
    )
    parser.add_argument("--eval-out", metavar="DIR", help="token folder for the held-out documents")
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--eval-fraction",
        type=float,
        metavar="F",
        help="hold out about this part of the documents, each by its own hash",
    )
    size.add_argument("--eval-count", type=int, metavar="N", help="hold out N documents (and copies of them)")
    parser.add_argument("--seed", type=int, default=0, help="other documents are held out (default %(default)s)")
    parser.add_argument("--template", metavar="FILE", help="chat template instead of the tokenizer's own")
    parser.add_argument(
        "--template-key",
        action="append",
        default=[],
        metavar="KEY",
        help="key of a line that the template may read besides 'messages' (tools, enable_thinking, ...)",
    )
    parser.add_argument(
        "--date", type=datetime.datetime.fromisoformat, metavar="YYYY-MM-DD", help="for templates that print the date"
    )
    parser.add_argument(
        "--special-text",
        choices=("literal", "error"),
        default="literal",
        help="what to do where a text spells a special token: keep it as ordinary text (default), or stop",
    )
    parser.add_argument(
        "--shard-tokens", type=int, default=16 << 20, metavar="N", help="tokens a shard (default %(default)s)"
    )


def check_options(options, usage_error):
    """What argparse cannot say."""
    if options.separator is not None and not options.text:
        usage_error("--separator goes with --text")
    if options.text and (options.template or options.template_key):
        usage_error("--text uses no chat template")
    held_out = options.eval_fraction is not None or options.eval_count is not None
    if held_out != (options.eval_out is not None):
        usage_error("--eval-out goes with --eval-fraction or --eval-count")
    if options.eval_fraction is not None and not 0 < options.eval_fraction < 1:
        usage_error(f"--eval-fraction {options.eval_fraction}: expected a number between 0 and 1")
    if options.eval_count is not None and options.eval_count < 1:
        usage_error(f"--eval-count {options.eval_count}: expected 1 or more")
    if options.shard_tokens < 1:
        usage_error(f"--shard-tokens {options.shard_tokens}: expected 1 or more")
    if options.eval_out is not None and Path(options.eval_out).resolve() == Path(options.out).resolve():
        usage_error("--out and --eval-out are the same folder")


@dataclass
class Tally:
    """How often something happened, and where first."""

    what: str
    count: int = 0
    first: str = ""

    def add(self, where):
        self.count += 1
        self.first = self.first or where

    def __str__(self):
        return f"{self.count:,} {self.what} (first: {self.first})"


class Encoder:
    """Items to documents, in batches; keeps count of what is left out."""

    def __init__(self, options):
        self.options = options
        self.tokenizer = ChatTokenizer(options.tokenizer)
        self.template = None if options.text else self.tokenizer.chat_template(options.template, options.date)
        self.end_token_id = self.tokenizer.token_id(options.end_token) if options.text else None
        self.empty = Tally("empty")
        self.untrained = Tally("without a trained token")
        self.literal = Tally("spell a special token, kept as ordinary text")

    def documents(self, items):
        """(held out?, document) for (held out?, item)."""
        batch, characters = [], 0
        for held_out, item in items:
            if not (item.text if self.options.text else item.messages):
                self.empty.add(item.where)
                continue
            content = self._prepared(item)
            batch.append((held_out, item.where, content))
            characters += len(content if self.options.text else content.text)
            if len(batch) == BATCH_DOCUMENTS or characters >= BATCH_CHARACTERS:
                yield from self._encoded(batch)
                batch, characters = [], 0
        yield from self._encoded(batch)

    def _prepared(self, item):
        if self.options.text:
            content = item.text
            spelled = self.tokenizer.special.search(content)
        else:
            content = self.template.render(item)
            spelled = content.literal
        if spelled:
            if self.options.special_text == "error":
                begin, end = spelled.span() if self.options.text else spelled[0]
                text = content if self.options.text else content.text
                raise DataError(
                    f"{item.where}: the text spells the special token {text[begin:end]} (--special-text=literal keeps"
                    " it as ordinary text)"
                )
            self.literal.add(item.where)
        return content

    def _encoded(self, batch):
        contents = [content for _, _, content in batch]
        if self.options.text:
            documents = self.tokenizer.encode_texts(contents, self.end_token_id)
        else:
            documents = self.tokenizer.encode_rendered(contents)
        for (held_out, where, _), document in zip(batch, documents):
            if 1 in document.mask:
                yield held_out, document
            else:
                self.untrained.add(where)  # no document sees another one: it could teach nothing


def run(options, usage_error):
    check_options(options, usage_error)
    encoder = Encoder(options)
    extra_roles = () if options.text else encoder.template.roles()

    def items():
        return read_all(options.inputs, options.text, options.separator, options.template_key, extra_roles)

    if options.eval_fraction is not None:
        split = HeldOut.by_fraction(options.eval_fraction, options.seed)
    elif options.eval_count is not None:
        split = HeldOut.by_count(options.eval_count, items(), options.seed)
    else:
        split = HeldOut.nothing()

    with contextlib.ExitStack() as stack:
        writers = {}
        for held_out, out in ((False, options.out), (True, options.eval_out)):
            if out is not None:
                writers[held_out] = stack.enter_context(
                    TokenWriter(
                        out,
                        encoder.tokenizer.sha256,
                        "" if options.text else encoder.template.sha256,
                        encoder.tokenizer.vocabulary_bound,
                        options.shard_tokens,
                    )
                )
        for held_out, document in encoder.documents((split.holds(item), item) for item in items()):
            writers[held_out].add(document)
        for held_out, writer in writers.items():
            if not writer.has_documents():
                raise DataError(
                    f"no document with a trained token {'is held out' if held_out else 'for ' + str(writer.out)}"
                    + "".join(f"; {tally}" for tally in (encoder.empty, encoder.untrained) if tally.count)
                )
        for writer in writers.values():
            print_summary(writer.out, writer.finish())
    for tally in (encoder.empty, encoder.untrained):
        if tally.count:
            print(f"left out: {tally}")
    if encoder.literal.count:
        print(f"note: {encoder.literal}")


def counted(count, thing):
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def print_summary(out, manifest):
    tokens, trained = manifest["tokens"], manifest["trained_tokens"]
    print(
        f"{out}: {counted(manifest['documents'], 'document')}, {counted(tokens, 'token')}, {trained:,} trained"
        f" ({100 * trained / tokens:.1f} %), shards: {len(manifest['shards'])}"
    )
