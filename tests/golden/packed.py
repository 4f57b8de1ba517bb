# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packed data made by hand, for tests (docs/data.md)."""
import array
import hashlib
import json
import pathlib

import tensors


def write(directory, rows, row_length, vocab):
    """Packed data of one shard; `rows` are lists of documents (ids, mask). Returns each row's (tokens, documents, longest, trained).
    Without a row length it is token data, of all the documents."""
    ids, mask, doc_offsets, row_offsets, shapes = array.array("i"), array.array("B"), [0], [0], []
    for row in rows:
        for document_ids, document_mask in row:
            ids.extend(document_ids)
            mask.extend(document_mask)
            doc_offsets.append(len(ids))
        row_offsets.append(len(doc_offsets) - 1)
        lengths = [len(document[0]) for document in row]
        shapes.append([sum(lengths), len(row), max(lengths), sum(sum(document[1]) for document in row)])
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True)
    shard = directory / "shard-00000.safetensors"
    contents = {
        "doc_offsets": ("I64", [len(doc_offsets)], array.array("q", doc_offsets)),
        "row_offsets": ("I64", [len(row_offsets)], array.array("q", row_offsets)),
        "input_ids": ("I32", [len(ids)], ids),
        "loss_mask": ("U8", [len(ids)], mask),
    }
    if row_length is None:
        del contents["row_offsets"]
    tensors.write(shard, contents)
    counts = dict(documents=len(doc_offsets) - 1, tokens=len(ids), trained_tokens=sum(mask))
    entry = dict(counts, file=shard.name, sha256=hashlib.sha256(shard.read_bytes()).hexdigest())
    manifest = dict(counts, schema_version=1, kind="tokens", vocabulary_bound=vocab, tokenizer_sha256="0" * 64,
                    template_sha256="0" * 64, shards=[entry])
    if row_length is not None:
        entry["rows"] = shapes
        manifest.update(kind="packed", row_length=row_length, rows=len(rows), slots=row_length * len(rows))
    (directory / "manifest.json").write_text(json.dumps(manifest))
    return shapes
