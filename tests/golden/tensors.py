# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Safetensors in plain Python, for tests: tensors as flat arrays of numbers."""
import array
import json
import struct

SIZES = {"F32": 4, "BF16": 2, "F64": 8, "I32": 4, "I64": 8, "U8": 1}
CODES = {"F32": "f", "F64": "d", "I32": "i", "I64": "q", "U8": "B"}


def read(path):
    """All tensors of a file: name -> (dtype, shape, array). bf16 comes as f32 numbers."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        raw = data[begin:end]
        if entry["dtype"] == "BF16":
            halves = array.array("H", raw)
            values = array.array("f", array.array("I", (half << 16 for half in halves)).tobytes())
        else:
            values = array.array(CODES[entry["dtype"]], raw)
        tensors[name] = (entry["dtype"], entry["shape"], values)
    return tensors


def write(path, tensors):
    """tensors: name -> (dtype, shape, array), written in order."""
    header, offset = {}, 0
    for name, (dtype, shape, values) in tensors.items():
        size = len(values) * values.itemsize
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, values in tensors.values():
            file.write(values.tobytes())


def relative_error(actual, expected):
    """Norm of the difference over the norm of `expected`, two sequences of numbers of one length."""
    assert len(actual) == len(expected), f"{len(actual)} numbers against {len(expected)}"
    difference = sum((a - e) ** 2 for a, e in zip(actual, expected)) ** 0.5
    return difference / max(sum(e * e for e in expected) ** 0.5, 1e-300)
