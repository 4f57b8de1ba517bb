# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Token folders on disk (docs/data.md): written whole or not at all, the same bytes for the same documents."""

import hashlib
import json
import os
import shutil
import struct
import sys
import tempfile
from array import array
from pathlib import Path

from chatdata import DataError

SCHEMA_VERSION = 1
ITEM_BYTES = {"U8": 1, "I32": 4, "I64": 8}


def safetensors_bytes(tensors):
    """`tensors`: (name, type, buffer of little-endian values), one-dimensional, in file order."""
    header, parts, offset = {}, [], 0
    for name, kind, values in tensors:
        data = bytes(values)
        header[name] = {
            "dtype": kind,
            "shape": [len(data) // ITEM_BYTES[kind]],
            "data_offsets": [offset, offset + len(data)],
        }
        parts.append(data)
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *parts])


def little_endian(values):
    if sys.byteorder == "big":
        values = array(values.typecode, values)
        values.byteswap()
    return values.tobytes()


class TokenWriter:
    """Collects documents and writes shards of `shard_tokens` tokens or a little more into a folder beside `out`;
    `finish` gives the folder its name. As a context it removes what was not finished."""

    def __init__(self, out, tokenizer_sha256, template_sha256, vocabulary_bound, shard_tokens):
        self.out = Path(out)
        self.shard_tokens = shard_tokens
        self.manifest = {
            "schema_version": SCHEMA_VERSION,
            "kind": "tokens",
            "vocabulary_bound": vocabulary_bound,
            "tokenizer_sha256": tokenizer_sha256,
            "template_sha256": template_sha256,
            "documents": 0,
            "tokens": 0,
            "trained_tokens": 0,
            "shards": [],
        }
        self._clear()
        require_free(self.out)
        try:
            self.out.parent.mkdir(parents=True, exist_ok=True)
            self.folder = Path(tempfile.mkdtemp(prefix=f".{self.out.name}.", dir=self.out.parent))
            os.chmod(self.folder, 0o777 & ~current_umask())
        except OSError as error:
            raise DataError(f"{self.out}: cannot be made: {error.strerror}") from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _clear(self):
        self.ids, self.mask, self.offsets = array("i"), bytearray(), array("q", [0])

    def add(self, document):
        self.ids.extend(document.ids)
        self.mask += document.mask
        self.offsets.append(len(self.ids))
        if len(self.ids) >= self.shard_tokens:
            self._write_shard()

    def has_documents(self):
        return len(self.ids) > 0 or self.manifest["documents"] > 0

    def _write_shard(self):
        counts = {"documents": len(self.offsets) - 1, "tokens": len(self.ids), "trained_tokens": sum(self.mask)}
        name = f"shard-{len(self.manifest['shards']):05d}.safetensors"
        content = safetensors_bytes(
            [
                ("doc_offsets", "I64", little_endian(self.offsets)),
                ("input_ids", "I32", little_endian(self.ids)),
                ("loss_mask", "U8", self.mask),
            ]
        )
        write_durably(self.folder / name, content)
        self.manifest["shards"].append({"file": name, "sha256": hashlib.sha256(content).hexdigest(), **counts})
        for key, count in counts.items():
            self.manifest[key] += count
        self._clear()

    def finish(self):
        """Writes the manifest and gives the folder its name; returns the manifest."""
        if len(self.ids):
            self._write_shard()
        write_durably(self.folder / "manifest.json", (json.dumps(self.manifest, indent=2) + "\n").encode())
        require_free(self.out)
        try:
            os.rename(self.folder, self.out)  # replaces an empty folder
        except OSError as error:
            raise DataError(f"{self.out}: cannot be made: {error.strerror}") from None
        self.folder = None
        return self.manifest


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def require_free(path):
    """Refuses to write over anything."""
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise DataError(f"{path}: exists and is not a folder")
    if path.is_dir() and any(path.iterdir()):
        raise DataError(f"{path}: not empty; name another folder, or remove it first")


def write_durably(path, content):
    try:
        with open(path, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None


def read_manifest(folder):
    path = Path(folder) / "manifest.json"
    try:
        manifest = json.loads(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not JSON: {error}") from None
    version = manifest.get("schema_version") if isinstance(manifest, dict) else None
    if version != SCHEMA_VERSION:
        raise DataError(f"{path}: schema_version is {version}, this program reads {SCHEMA_VERSION}")
    return manifest


def read_shards(folder):
    """(ids, mask, doc_offsets) of each shard of a token or packed folder, checked against the manifest's sums."""
    for entry in read_manifest(folder)["shards"]:
        path = Path(folder) / entry["file"]
        try:
            content = path.read_bytes()
        except OSError as error:
            raise DataError(f"{path}: {error.strerror}") from None
        if hashlib.sha256(content).hexdigest() != entry["sha256"]:
            raise DataError(f"{path}: SHA-256 differs from the manifest's")
        (header_bytes,) = struct.unpack_from("<Q", content)
        header = json.loads(content[8 : 8 + header_bytes])
        arrays = []
        for name, kind, code in (("input_ids", "I32", "i"), ("loss_mask", "U8", "B"), ("doc_offsets", "I64", "q")):
            tensor = header.get(name)
            if tensor is None or tensor["dtype"] != kind:
                raise DataError(f"{path}: no tensor {name} of type {kind}")
            begin, end = tensor["data_offsets"]
            values = array(code, content[8 + header_bytes + begin : 8 + header_bytes + end])
            if sys.byteorder == "big":
                values.byteswap()
            arrays.append(values)
        yield tuple(arrays)
