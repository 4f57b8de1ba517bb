# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A tokenizer folder as Hugging Face writes it: tokenizer.json, tokenizer_config.json, perhaps chat_template.jinja."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import tokenizers

from chatdata import DataError
from chatdata.template import ChatTemplate, any_of


@dataclass
class Document:
    ids: list
    mask: bytearray  # 1: a target


class ChatTokenizer:
    def __init__(self, folder):
        self.folder = Path(folder)
        path = self.folder / "tokenizer.json"
        content = read_bytes(path)
        self.sha256 = hashlib.sha256(content).hexdigest()
        self.tokenizer = self._load(path, content)
        # The same, but special tokens are ordinary text to it.
        self.literal_tokenizer = self._load(path, content)
        self.literal_tokenizer.encode_special_tokens = True
        added = self.tokenizer.get_added_tokens_decoder()
        self.special_tokens = {token.content: number for number, token in added.items() if token.special}
        self.special = any_of(self.special_tokens)
        self.vocabulary_bound = max(self.tokenizer.get_vocab(with_added_tokens=True).values(), default=-1) + 1

    @staticmethod
    def _load(path, content):
        try:
            tokenizer = tokenizers.Tokenizer.from_buffer(content)
        except Exception as error:  # the library raises plain Exception and ValueError
            raise DataError(f"{path}: not a tokenizer: {error}") from None
        tokenizer.no_padding()
        tokenizer.no_truncation()
        # Post-processors add tokens (never wanted here) and may trim spaces off the offsets, which would leave tokens
        # of spaces without a place.
        tokenizer.post_processor = tokenizers.processors.ByteLevel(trim_offsets=False)
        return tokenizer

    def chat_template(self, override=None, now=None):
        """The template: `override`, a file, before chat_template.jinja, before tokenizer_config.json."""
        config_path = self.folder / "tokenizer_config.json"
        config = read_config(config_path)
        beside = self.folder / "chat_template.jinja"
        if override is not None or beside.exists():
            path = Path(override or beside)
            try:
                source, name = read_bytes(path).decode("utf-8"), str(path)
            except UnicodeDecodeError as error:
                raise DataError(f"{path}: not UTF-8 at byte {error.start}") from None
        else:
            source, name = template_of_config(config, config_path), str(config_path)
        variables = {}
        for key in ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"):
            token = config.get(key)
            token = token.get("content") if isinstance(token, dict) else token
            if isinstance(token, str):
                variables[key] = token
        return ChatTemplate(source, name, self.special_tokens, variables, now)

    def token_id(self, token):
        number = self.tokenizer.token_to_id(token)
        if number is None:
            raise DataError(f"{self.folder / 'tokenizer.json'}: no token {token!r}")
        return number

    def encode_rendered(self, batch):
        """Documents of rendered conversations: a token is a target if all its characters are in a trained span."""
        plain = [rendered for rendered in batch if not rendered.literal]
        encodings = iter(self.tokenizer.encode_batch([rendered.text for rendered in plain], add_special_tokens=False))
        documents = []
        for rendered in batch:
            if rendered.literal:
                ids, offsets = self._encode_around(rendered)
            else:
                encoding = next(encodings)
                ids, offsets = encoding.ids, encoding.offsets
            documents.append(Document(ids, target_mask(offsets, rendered.trained)))
        return documents

    def _encode_around(self, rendered):
        """Ids and offsets of a text in which some special tokens are only text: real ones are encoded one by one, what
        stands between them as ordinary text throughout."""
        ids, offsets, text = [], [], rendered.text

        def encode_text(begin, end):
            encoding = self.literal_tokenizer.encode(text[begin:end], add_special_tokens=False)
            ids.extend(encoding.ids)
            offsets.extend((first + begin, last + begin) for first, last in encoding.offsets)

        text_begin = between_begin = 0
        for between_end, after in [*rendered.literal, (len(text), len(text))]:
            for match in self.special.finditer(text, between_begin, between_end):
                encode_text(text_begin, match.start())
                ids.append(self.special_tokens[match[0]])
                offsets.append(match.span())
                text_begin = match.end()
            between_begin = after
        encode_text(text_begin, len(text))
        return ids, offsets

    def encode_texts(self, texts, end_token_id):
        """Documents of plain texts, in which no special token is recognised: all is trained, an end token included."""
        documents = []
        for encoding in self.literal_tokenizer.encode_batch(texts, add_special_tokens=False):
            ids = encoding.ids + [end_token_id]
            documents.append(Document(ids, bytearray([0]) + bytearray([1]) * (len(ids) - 1)))
        return documents


def target_mask(offsets, spans):
    """1 for tokens that lie in one of the spans (ascending, disjoint). The first token is never a target: nothing
    predicts it."""
    mask = bytearray(len(offsets))
    following = iter(spans)
    begin, end = next(following, (None, None))
    for index, (first, last) in enumerate(offsets):
        while begin is not None and first >= end:
            begin, end = next(following, (None, None))
        if begin is None:
            break
        if begin <= first and last <= end and index > 0:
            mask[index] = 1
    return mask


def template_of_config(config, path):
    source = config.get("chat_template")
    if isinstance(source, list):  # several, by name
        named = {entry.get("name"): entry.get("template") for entry in source if isinstance(entry, dict)}
        if "default" not in named:
            raise DataError(f"{path}: several chat templates ({', '.join(map(str, named))}), but none called 'default'")
        source = named["default"]
    if source is None:
        raise DataError(f"{path}: no 'chat_template', and no chat_template.jinja beside it")
    if not isinstance(source, str):
        raise DataError(f"{path}: 'chat_template' must be text")
    return source


def read_config(path):
    if not path.exists():
        return {}
    try:
        config = json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not JSON: {error}") from None
    if not isinstance(config, dict):
        raise DataError(f"{path}: expected an object")
    return config


def read_bytes(path):
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None
