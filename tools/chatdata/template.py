# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chat templates: renders a conversation and finds which characters are trained.

The environment is the one that Hugging Face's templates are written for. Two things are ours:

* Text of messages can never act as markup. Where a message spells a special token ("<|im_end|>"), the template gets one
  private-use character in its place, which is spelled out again afterwards as ordinary text.
* `{% generation %}` ... `{% endgeneration %}` puts two further private-use characters around what it renders, so a mark
  keeps its place wherever the template moves the text (macros, set blocks, filters).
"""

import bisect
import hashlib
import json
import re
from dataclasses import dataclass

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.sandbox

from chatdata import DataError

TURN_START, TURN_END = "<|im_start|>", "<|im_end|>"
ASSISTANT_HEADER = TURN_START + "assistant\n"

# Stand-ins come from the private-use planes; where a conversation uses such characters itself, others are taken.
PRIVATE_FIRST, PRIVATE_LAST = 0xF0000, 0x10FFFD
PRIVATE = re.compile(f"[{chr(PRIVATE_FIRST)}-\U0010ffff]")


@dataclass
class Rendered:
    """A conversation as text. Spans are [begin, end) in characters of `text`, ascending, disjoint."""

    text: str
    trained: list  # spans whose tokens are targets
    literal: list  # spans where a message spells a special token: ordinary text


class GenerationMarks(jinja2.ext.Extension):
    """{% generation %} ... {% endgeneration %}: what it renders is trained."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("marked"), [], [], body).set_lineno(line)

    def marked(self, caller):
        begin, end = self.environment.generation_stand_ins
        return begin + caller() + end


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    # Not Jinja's own filter: that one escapes for HTML.
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


class ChatTemplate:
    """A template with the special tokens of its tokenizer.

    source           the template's text
    name             how messages name it
    special_tokens   spellings of the tokens that are markup
    variables        what the template may read besides the messages (bos_token, ...)
    now              a datetime, for templates that print the date; None: such a template is an error, because the same
                     input has to give the same tokens tomorrow
    """

    def __init__(self, source, name, special_tokens, variables=None, now=None):
        self.source, self.name, self.now = source, name, now
        self.sha256 = hashlib.sha256(source.encode("utf-8")).hexdigest()
        self.variables = dict(variables or {})
        self.special_tokens = sorted(special_tokens)
        self.special = any_of(self.special_tokens)
        environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[GenerationMarks, jinja2.ext.loopcontrols]
        )
        environment.filters["tojson"] = to_json
        environment.globals["raise_exception"] = self._raise_exception
        environment.globals["strftime_now"] = self._strftime_now
        self.environment = environment
        try:
            self.template = environment.from_string(source)
            self.has_marks = "generation" in block_tags(environment, source)
        except jinja2.TemplateSyntaxError as error:
            raise DataError(f"{name}:{error.lineno}: chat template: {error.message}") from None
        if not self.has_marks:
            self._require_turn_markers()

    def _require_turn_markers(self):
        missing = [
            marker
            for marker in (TURN_START, TURN_END)
            if marker not in self.source or marker not in self.special_tokens
        ]
        if missing:
            raise DataError(
                f"{self.name}: this chat template has neither {{% generation %}} marks nor the turn markers"
                f" {TURN_START} and {TURN_END} as special tokens (missing: {', '.join(missing)}), so what is to be"
                " trained is unknown. Put {% generation %} and {% endgeneration %} around what the assistant"
                " writes"
            )

    @staticmethod
    def _raise_exception(message):
        raise jinja2.TemplateError(message)

    def _strftime_now(self, form):
        if self.now is None:
            raise jinja2.TemplateError("it prints the date: give --date, so that the same input gives the same tokens")
        return self.now.strftime(form)

    def roles(self):
        """Words of the template that may be roles beyond the usual ones."""
        return set(re.findall(r"""["'](\w+)["']""", self.source))

    def render(self, conversation):
        """Renders a whole conversation, once."""
        data = {"messages": conversation.messages, **conversation.variables}
        texts = list(strings_in(data))
        first = self._free_private(texts)
        stand_ins = {token: chr(first + 2 + index) for index, token in enumerate(self.special_tokens)}
        if any(self.special.search(text) for text in texts):
            data = mapped(data, lambda text: self.special.sub(lambda match: stand_ins[match[0]], text))
        self._refuse_joined(conversation)

        self.environment.generation_stand_ins = (chr(first), chr(first + 1))
        variables = {"tools": None, "documents": None, **self.variables, **data, "add_generation_prompt": False}
        try:
            output = self.template.render(**variables)
        except jinja2.TemplateError as error:
            raise DataError(f"{conversation.where}: chat template {self.name}: {error.message}") from None
        except Exception as error:  # whatever a template's expression can raise on this data
            raise DataError(
                f"{conversation.where}: chat template {self.name} failed: {type(error).__name__}: {error}"
            ) from None

        try:
            output.encode("utf-8")
        except UnicodeEncodeError as error:
            raise DataError(
                f"{conversation.where}: the text has half a surrogate pair (\\u{ord(output[error.start]):04x}), "
                "which is no character"
            ) from None
        if self.has_marks:
            trained = None
        else:
            trained = self._assistant_turns(output, conversation)
        rendered = spelled_out(output, trained, first, self.special_tokens)
        if rendered is None:
            raise DataError(
                f"{conversation.where}: chat template {self.name} cuts what a {{% generation %}} mark encloses in two"
            )
        return rendered

    def _free_private(self, texts):
        """The first of a run of private-use characters that neither the texts nor the template use."""
        count = len(self.special_tokens) + 2
        used = {ord(char) for text in (*texts, self.source) for char in PRIVATE.findall(text)}
        for first in range(PRIVATE_FIRST, PRIVATE_LAST - count, count):
            if used.isdisjoint(range(first, first + count)):
                return first
        raise DataError(f"{self.name}: no private-use characters are left over")

    def _refuse_joined(self, conversation):
        """Templates put the parts of a content list one after the other; a special token must not come out of that."""
        for index, message in enumerate(conversation.messages):
            parts = message.get("content")
            if not isinstance(parts, list):
                continue
            texts = [part["text"] for part in parts]
            whole = self.special.findall("".join(texts))
            if whole != [token for text in texts for token in self.special.findall(text)]:
                raise DataError(
                    f"{conversation.where}: messages[{index}]: a special token is spelled across the parts of its"
                    " content"
                )

    def _assistant_turns(self, output, conversation):
        """Spans from after the header through the end marker, of every assistant turn. Text of messages has no
        special token in it at this point, so nothing that a user wrote can look like a turn."""
        spans, begin = [], output.find(ASSISTANT_HEADER)
        while begin >= 0:
            begin += len(ASSISTANT_HEADER)
            end = output.find(TURN_END, begin)
            if end < 0:
                raise DataError(
                    f"{conversation.where}: chat template {self.name} leaves an assistant turn without {TURN_END}"
                )
            spans.append((begin, end + len(TURN_END)))
            begin = output.find(ASSISTANT_HEADER, end)
        expected = sum(message["role"] == "assistant" for message in conversation.messages)
        if len(spans) != expected:
            raise DataError(
                f"{conversation.where}: {expected} assistant messages, but chat template {self.name} made {len(spans)}"
                f" turns of the form {ASSISTANT_HEADER!r} ... {TURN_END!r}; put {{% generation %}} marks into the"
                " template"
            )
        return spans


def any_of(spellings):
    """A pattern for any of these texts; of two that fit, the longer."""
    return re.compile("|".join(map(re.escape, sorted(spellings, key=lambda text: (-len(text), text)))) or "(?!)")


def block_tags(environment, source):
    """Names of the {% ... %} blocks of a template (comments and text do not count)."""
    tokens, names = environment.lex(source), []
    after_begin = False
    for _, kind, value in tokens:
        if kind == "block_begin":
            after_begin = True
        elif after_begin and kind == "name":
            names.append(value)
            after_begin = False
    return names


def strings_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from strings_in(member)
    elif isinstance(value, list):
        for member in value:
            yield from strings_in(member)


def mapped(value, change):
    """The same data with every text changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): mapped(member, change) for key, member in value.items()}
    if isinstance(value, list):
        return [mapped(member, change) for member in value]
    return value


def spelled_out(output, trained, first, special_tokens):
    """Takes the stand-ins out again. `trained` has spans in `output`, or is None: then the marks say it. None if the
    marks are not in pairs."""
    pieces, literal, marked = [], [], []
    copied = length = depth = mark_begin = 0  # `length`: of the text so far
    old_positions, new_positions = [0], [0]  # after each stand-in, in the output and in the text
    for match in re.finditer(f"[{chr(first)}-{chr(first + 1 + len(special_tokens))}]", output):
        pieces.append(output[copied : match.start()])
        length += match.start() - copied
        copied = match.end()
        code = ord(match[0]) - first
        if code == 0:
            if depth == 0:
                mark_begin = length
            depth += 1
        elif code == 1:
            depth -= 1
            if depth < 0:
                return None
            if depth == 0 and length > mark_begin:
                marked.append((mark_begin, length))
        else:
            token = special_tokens[code - 2]
            pieces.append(token)
            literal.append((length, length + len(token)))
            length += len(token)
        old_positions.append(copied)
        new_positions.append(length)
    pieces.append(output[copied:])
    if depth != 0:
        return None

    def moved(position):
        index = bisect.bisect_right(old_positions, position) - 1
        return position - old_positions[index] + new_positions[index]

    spans = marked if trained is None else [(moved(begin), moved(end)) for begin, end in trained]
    return Rendered("".join(pieces), spans, literal)
