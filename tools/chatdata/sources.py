# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads conversations and texts, one at a time, and says which of them are held out.

An item is whatever becomes one document: a conversation of a JSONL file, or a text. Nothing here knows a tokenizer, so
what is held out depends on the data and the seed alone.
"""

import hashlib
import heapq
import json
from dataclasses import dataclass, field
from pathlib import Path

from chatdata import DataError

STANDARD_ROLES = ("system", "user", "assistant", "tool")


@dataclass
class Conversation:
    where: str  # file:line
    messages: list
    variables: dict = field(default_factory=dict)  # further keys of the line that the template may read

    def content_key(self):
        return json.dumps([self.messages, self.variables], sort_keys=True)


@dataclass
class Text:
    where: str  # file:line of its first line
    text: str

    def content_key(self):
        return json.dumps(self.text)


def lines_of(path):
    """(number, text, line end) of every line. Only line feeds end a line."""
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    raise DataError(
                        f"{path}:{number}: not UTF-8: {error.reason} at byte {error.start} of the line"
                    ) from None
                yield (number, text[:-1], "\n") if text.endswith("\n") else (number, text, "")
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None


def read_chat(path, variable_keys=(), extra_roles=()):
    """The conversations of a JSONL file: `messages`, and of the other keys only `variable_keys`."""
    for number, line, _ in lines_of(path):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise DataError(f"{where}: not JSON: {error.msg} at column {error.colno}") from None
        except (ValueError, RecursionError) as error:
            raise DataError(f"{where}: not JSON that can be read: {error}") from None
        if not isinstance(record, dict):
            raise DataError(f"{where}: expected an object with 'messages', got {kind_of(record)}")
        if "messages" not in record:
            keys = ", ".join(map(repr, record)) or "none"
            raise DataError(f"{where}: no 'messages' (keys: {keys})")
        check_messages(record["messages"], where, extra_roles)
        yield Conversation(where, record["messages"], {key: record[key] for key in variable_keys if key in record})


def check_messages(messages, where, extra_roles):
    if not isinstance(messages, list):
        raise DataError(f"{where}: 'messages' must be a list, got {kind_of(messages)}")
    for index, message in enumerate(messages):
        what = f"{where}: messages[{index}]"
        if not isinstance(message, dict):
            raise DataError(f"{what} must be an object, got {kind_of(message)}")
        role = message.get("role")
        if not isinstance(role, str):
            raise DataError(
                f"{what} has no 'role'" if role is None else f"{what}: 'role' must be text, got {kind_of(role)}"
            )
        if role not in STANDARD_ROLES and role not in extra_roles:
            raise DataError(f"{what}: unknown role '{role}' (expected one of {', '.join(STANDARD_ROLES)})")
        content = message.get("content")
        if content is None and not (role == "assistant" and message.get("tool_calls")):
            raise DataError(f"{what} (role {role}) has no 'content'")
        if not isinstance(content, (str, list, type(None))):
            raise DataError(f"{what}: 'content' must be text or a list of parts, got {kind_of(content)}")
        if isinstance(content, list):
            check_parts(content, what)


def check_parts(parts, what):
    for index, part in enumerate(parts):
        if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str):
            raise DataError(
                f'{what}: content[{index}] must be {{"type": "text", "text": ...}}: only text can be trained'
            )


def kind_of(value):
    """What JSON calls the type of a value."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def read_text(path, separator=None):
    """The texts of a file: all of it as it is, or what stands between lines equal to `separator` ('': blank lines)."""
    if separator is None:
        yield Text(f"{path}:1", "".join(line + end for _, line, end in lines_of(path)))
        return
    first, lines = 1, []
    for number, line, _ in lines_of(path):
        if line.strip() == separator:
            yield Text(f"{path}:{first}", "\n".join(lines))
            first, lines = number + 1, []
        else:
            lines.append(line)
    if lines:
        yield Text(f"{path}:{first}", "\n".join(lines))


def digest_of(item, seed):
    """64 bits that decide whether an item is held out; copies of an item have the same."""
    return int.from_bytes(
        hashlib.sha256(f"{seed}\n{item.content_key()}".encode("utf-8", "surrogatepass")).digest()[:8], "big"
    )


@dataclass(frozen=True)
class HeldOut:
    """Which items are held out: those with a digest below a bound. It is fixed before anything is tokenized; an item
    stays on its side when others come or go (by fraction), and its copies are always on the same side."""

    seed: int
    bound: int  # digests below it are held out

    def holds(self, item):
        return self.bound > 0 and digest_of(item, self.seed) < self.bound

    @staticmethod
    def nothing():
        return HeldOut(0, 0)

    @staticmethod
    def by_fraction(fraction, seed):
        return HeldOut(seed, int(fraction * 2**64))

    @staticmethod
    def by_count(count, items, seed):
        """The `count` distinct items with the smallest digests. Reads all items once, remembers `count`."""
        largest_first, chosen = [], set()
        for item in items:
            digest = digest_of(item, seed)
            if digest in chosen or (len(chosen) == count and digest > -largest_first[0]):
                continue
            chosen.add(digest)
            if len(largest_first) < count:
                heapq.heappush(largest_first, -digest)
            else:
                chosen.remove(-heapq.heappushpop(largest_first, -digest))
        if len(chosen) < count:
            raise DataError(f"--eval-count {count}: the input has only {len(chosen)} distinct documents")
        return HeldOut(seed, max(chosen) + 1)


def read_all(paths, as_text, separator=None, variable_keys=(), extra_roles=()):
    for path in map(Path, paths):
        if as_text:
            yield from read_text(path, separator)
        else:
            yield from read_chat(path, variable_keys, extra_roles)
