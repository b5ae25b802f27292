#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Has byre read .safetensors files that another writer wrote, and another reader read what byre wrote. Both are
below, made from the description of the format. Test names are sentences."""

import itertools
import json
import math
import pathlib
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import programs

# Of struct. A BF16 is the integer that has its bits, as struct has no such number, and a C64 two numbers.
CODES = {"BOOL": "?", "U8": "B", "I8": "b", "I16": "h", "I32": "i", "I64": "q", "F16": "e", "BF16": "H",
         "F32": "f", "F64": "d", "C64": "ff"}
SHAPES = [(), (1,), (5,), (0,), (2, 0, 3), (3, 4), (2, 3, 4), (1, 3, 1, 2), (1001,)]


def written(tensors, metadata=None, padding=0):
    """A file of {name: (dtype, shape, values)}, in that order, as its bytes."""
    header, data = {} if metadata is None else {"__metadata__": metadata}, b""
    for name, (dtype, shape, values) in tensors.items():
        packed = struct.pack("<" + CODES[dtype] * math.prod(shape), *values)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode() + b" " * padding
    return struct.pack("<Q", len(text)) + text + data


def read(file):
    """The same the other way round, and where in the file the data of each begin."""
    length, = struct.unpack_from("<Q", file)
    header = json.loads(file[8:8 + length])
    metadata, tensors, begins = header.pop("__metadata__", None), {}, {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = struct.unpack("<" + CODES[entry["dtype"]] * math.prod(entry["shape"]),
                               file[8 + length + begin:8 + length + end])
        tensors[name] = (entry["dtype"], tuple(entry["shape"]), values)
        begins[name] = 8 + length + begin
    return tensors, metadata, begins


def counted(dtype, shape):
    """Values that are all different, where there are that many."""
    count = math.prod(shape) * len(CODES[dtype])
    if dtype == "BOOL":
        return tuple(number % 3 == 0 for number in range(count))
    return tuple(number * 7 % 113 for number in range(count))


class Models(programs.Test):
    def through_byre(self, command, file):
        (self.scratch / "in.safetensors").write_bytes(file)
        programs.run("model", command, self.scratch / "in.safetensors", self.scratch / "out.safetensors",
                     check=True, errors=None)
        return read((self.scratch / "out.safetensors").read_bytes())

    def test_of_every_dtype_and_shape_come_back_loaded_or_mapped_whatever_is_aligned(self):
        tensors = {f"layer.{dtype}.{shape}": (dtype, shape, counted(dtype, shape))
                   for dtype, shape in itertools.product(CODES, SHAPES)}
        sizes = {dtype: struct.calcsize("<" + code) for dtype, code in CODES.items()}
        for command, padding in itertools.product(("load", "map"), (0, 1, 2, 3, 4, 8)):
            with self.subTest(command=command, padding=padding):
                found, metadata, begins = self.through_byre(command, written(tensors, padding=padding))
                self.assertEqual(found, tensors)
                self.assertIsNone(metadata)
                self.assertEqual({name for name in begins if begins[name] % sizes[found[name][0]]}, set())
                self.assertEqual(begins[min(begins, key=begins.get)] % 64, 0)

    def test_keep_their_names_and_metadata(self):
        tensors = {name: ("U8", (1,), (number,))
                   for number, name in enumerate(("", "a.b", "\"\\/\b\n\t", "\u00e4\u20ac", "\U0001f404", "\x00"))}
        metadata = {"format": "pt", "\u00e4": "\U0001f404\n", "": ""}
        for command in ("load", "map"):
            with self.subTest(command=command):
                found, kept, _ = self.through_byre(command, written(tensors, metadata))
                self.assertEqual(found, tensors)
                self.assertEqual(list(kept.items()), list(metadata.items()))

    def test_without_tensors_are_read_and_written(self):
        for metadata in (None, {"format": "pt"}):
            self.assertEqual(self.through_byre("map", written({}, metadata)), ({}, metadata, {}))

    def test_of_unsupported_dtypes_are_skipped(self):
        tensors = {"bias": ("F32", (2,), (1.0, 2.0)), "weight": ("I16", (1,), (1,))}
        file = written(tensors).replace(b'"I16"', b'"U16"')
        del tensors["weight"]
        for command in ("load", "map"):
            with self.subTest(command=command):
                self.assertEqual(self.through_byre(command, file)[0], tensors)


if __name__ == "__main__":
    unittest.main(verbosity=2)
