#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compares byre with NumPy: each reads files that the other wrote, and both print arrays. The seed
of random arrays is printed; the environment variable BYRE_TEST_SEED sets it."""

import itertools
import os
import pathlib
import random
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import programs

try:
    import numpy
except ImportError:
    print("NumPy is not installed. Install python3-numpy (Debian).")
    sys.exit(77)

DTYPES = ["?", "u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8"]
SHAPES = [(), (1,), (5,), (0,), (2, 0, 3), (3, 4), (2, 3, 4), (1, 3, 1, 2), (1001,), (40, 30)]


def run(*arguments):
    return programs.run(*arguments, check=True, errors=None).stdout


def counted(shape, dtype):
    """An array whose elements are distinct if the dtype has enough values."""
    number = int(numpy.prod(shape, dtype=int))
    values = (numpy.arange(number) * 7 - number).astype(dtype)
    return (values + 1j * values[::-1] if dtype == "c8" else values).reshape(shape).astype(dtype)


def described(array):
    native = array.dtype.newbyteorder("=")
    return native, array.shape, array.astype(native).tobytes()


def of_each_dtype():
    """Arrays of all dtypes, shapes and memory orders (C and Fortran)."""
    for dtype, shape, order in itertools.product(DTYPES, SHAPES, "CF"):
        yield numpy.asarray(counted(shape, dtype), order=order)


class Files(programs.Test):
    def assert_round_trip(self, array, command):
        run(command, self.scratch / "in.npy", self.scratch / "out.npy")
        back = numpy.load(self.scratch / "out.npy")
        self.assertTrue(back.dtype.isnative)
        self.assertEqual(described(back), described(array))
        self.assertEqual(back.flags.f_contiguous, array.flags.f_contiguous)

    def test_dtypes_shapes_and_memory_orders_survive_load_and_map(self):
        for array in of_each_dtype():
            swapped = array.astype(array.dtype.newbyteorder("S"), order="A")
            for saved, command in ((array, "load"), (array, "map"), (swapped, "load")):
                numpy.save(self.scratch / "in.npy", saved)
                with self.subTest(dtype=saved.dtype, shape=saved.shape, flags=saved.flags, command=command):
                    self.assert_round_trip(saved, command)

    def test_both_byte_orders_and_npy_versions_1_to_3_round_trip(self):
        for dtype, order, endian, version in itertools.product(DTYPES, "CF", "<>", (1, 2, 3)):
            array = numpy.asarray(counted((3, 4), dtype), order=order)
            with open(self.scratch / "in.npy", "wb") as file:
                numpy.lib.format.write_array(file, array, version=(version, 0))
            with self.subTest(dtype=dtype, order=order, endian=endian, version=version):
                run("load", self.scratch / "in.npy", self.scratch / "out.npy", endian, version)
                with open(self.scratch / "out.npy", "rb") as file:
                    self.assertEqual(numpy.lib.format.read_magic(file), (version, 0))
                back = numpy.load(self.scratch / "out.npy")
                self.assertEqual(back.dtype, array.dtype.newbyteorder(endian))
                self.assertEqual(back.tolist(), array.tolist())
                self.assertEqual(back.flags.f_contiguous, order == "F")
                self.assert_round_trip(array, "map")

    def test_unsupported_dtypes_are_rejected(self):
        for array in (numpy.array(["text"]), numpy.zeros(2, "u4"), numpy.zeros(2, "c16"),
                      numpy.zeros(2, "M8[s]"), numpy.zeros(2, [("x", "f4"), ("y", "i2")]),
                      numpy.array([{}], dtype=object)):
            numpy.save(self.scratch / "in.npy", array, allow_pickle=True)
            with self.subTest(dtype=array.dtype):
                with self.assertRaises(subprocess.CalledProcessError) as refused:
                    run("load", self.scratch / "in.npy", self.scratch / "out.npy")
                self.assertIn("dtype is", refused.exception.stderr)


@unittest.skipIf(os.environ.get("BYRE_NPZ") == "0", "byre was built without libzip")
class Archives(programs.Test):
    def arrays(self):
        """Arrays of all dtypes and memory orders, arrays of the other byte order, and views."""
        found = {f"{number}/{each.dtype.str}{each.shape}": each for number, each in enumerate(of_each_dtype())}
        for dtype in DTYPES:
            found[f"swapped {dtype}"] = counted((3, 4), dtype).astype(numpy.dtype(dtype).newbyteorder("S"))
            found[f"strided {dtype}"] = counted((6, 4), dtype)[::2, 1:]
        found["zwölf"] = numpy.arange(12)
        found["large"] = numpy.arange(300_000, dtype="f4")
        return found

    def test_all_arrays_survive_load_and_map_stored_or_deflated(self):
        arrays = self.arrays()
        for save in (numpy.savez, numpy.savez_compressed):
            save(self.scratch / "in.npz", **arrays)
            for command, compression in itertools.product(("load", "map"), ("stored", "deflated")):
                with self.subTest(save=save.__name__, command=command, compression=compression):
                    run(command, self.scratch / "in.npz", self.scratch / "out.npz", compression)
                    back = dict(numpy.load(self.scratch / "out.npz"))
                    self.assertEqual(list(back), list(arrays))
                    for name, array in arrays.items():
                        self.assertTrue(back[name].dtype.isnative, name)
                        self.assertEqual(described(back[name]), described(array), name)
                    test = zipfile.ZipFile(self.scratch / "out.npz")
                    self.assertIsNone(test.testzip())
                    methods = {each.compress_type for each in test.infolist()}
                    self.assertEqual(methods, {zipfile.ZIP_STORED if compression == "stored" else zipfile.ZIP_DEFLATED})


def fixed_table():
    """Arrays that together exercise every rule of printing."""
    for dtype, shape in itertools.product(DTYPES, SHAPES):
        yield counted(shape, dtype)
    for dtype in ("f2", "f4", "f8"):
        yield numpy.array([1.0, 1000.0], dtype)
        yield numpy.array([1.0, 1001.0], dtype)
        yield numpy.array([[numpy.nan, -numpy.inf], [1.5, 22.25]], dtype)
        yield (numpy.arange(24) / 7).astype(dtype).reshape(2, 3, 4)
    for dtype in ("f4", "f8"):
        for value in (1e8, 99999999.0, 99999992.0, 123456789.0, 1e-4, 1e-5, 1e22, 16777216.0, 1e100,
                      1e-300, 2.0 ** 60):
            with numpy.errstate(over="ignore"):
                yield numpy.array([value], dtype)
                yield numpy.array([value, -value / 3], dtype)
    yield numpy.array([1.123456785, 1.5, -20.0])
    yield numpy.array([0.00011, 0.1])
    yield numpy.array([[True, False], [True, True]])
    yield numpy.array([True, True])
    yield numpy.array([-128, 127], "i1")
    yield numpy.array([-2 ** 63, 2 ** 63 - 1])
    yield numpy.array([1 + 2j, -3.25 - 0.5j, complex(numpy.nan, -numpy.inf)], "c8")
    yield numpy.array([1e10 + 1j, 1 + 1e-10j], "c8")
    yield numpy.arange(10 ** 5).reshape(10, 10, 10, 100)
    yield numpy.arange(7 * 200).reshape(200, 7) / 8
    yield numpy.arange(100) * 1.5
    yield numpy.arange(60).reshape(1, 60)
    yield numpy.zeros((3, 1, 4, 1))


def pairs_of_special_values():
    """All pairs of values with a special text, for each floating-point dtype."""
    for dtype in ("f2", "f4", "f8"):
        limits = numpy.finfo(dtype)
        special = [0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 2.5, 99.5, 1e3, 1001.0, 1e-3, 12345.678, 5e-5, float(limits.max),
                   float(limits.tiny), float(limits.eps), numpy.nan, numpy.inf, -numpy.inf]
        for values in itertools.combinations(special, 2):
            yield numpy.array(values, dtype)


def random_table(choose, count):
    for _ in range(count):
        shape = [choose.randrange(1, 6) for _ in range(choose.randrange(0, 4))]
        dtype = choose.choice(["f2", "f4", "f8", "c8"])
        scale, decimals = 10 ** choose.uniform(-6, 6), choose.randrange(0, 10)
        size = int(numpy.prod(shape, dtype=int))
        real, imaginary = ([round(choose.gauss(0, 1), decimals) * scale for _ in range(size)] for _ in range(2))
        values = numpy.array(real)
        if dtype == "c8":
            values = values.astype("c16")  # adding 1j * imaginary would lose the sign of a zero
            values.imag = imaginary
        with numpy.errstate(over="ignore"):
            yield values.astype(dtype).reshape(shape)


class Printing(programs.Test):
    def assert_printed_alike(self, arrays, threshold=1000, edge=3, precision=8, width=75):
        arrays = list(arrays)
        paths = [self.scratch / f"{number}.npy" for number in range(len(arrays))]
        for path, array in zip(paths, arrays):
            numpy.save(path, array)
        texts = run("print", threshold, edge, precision, width, *paths).split("\f")
        for array, text in zip(arrays, texts, strict=False):
            expected = numpy.array2string(array, threshold=threshold, edgeitems=edge,
                                          precision=precision, max_line_width=width)
            self.assertEqual(text, expected, f"{array.dtype} {array.ravel()[:20].tolist()}")
            if array.shape and array.size != 0 and (threshold, edge, precision, width) == (1000, 3, 8, 75):
                self.assertEqual(text, str(array))

    def test_fixed_arrays_print_as_in_numpy_with_each_option(self):
        for options in ({}, {"precision": 3}, {"precision": 0}, {"width": 20}, {"width": 3},
                        {"threshold": 3, "edge": 1}, {"threshold": 0, "edge": 2}):
            self.assert_printed_alike(fixed_table(), **options)

    def test_pairs_of_special_values_print_as_in_numpy(self):
        self.assert_printed_alike(pairs_of_special_values())
        self.assert_printed_alike(pairs_of_special_values(), precision=2)

    def test_every_29th_f16_and_powers_of_two_print_as_in_numpy(self):
        positive = numpy.arange(0x7C00, dtype="u2").view("f2")
        powers = numpy.concatenate([2.0 ** numpy.arange(-24, 16), -(2.0 ** numpy.arange(-24, 16))])
        values = numpy.concatenate([positive[::29], powers.astype("f2")])
        self.assert_printed_alike(values.reshape(-1, 1))
        self.assert_printed_alike([values], threshold=values.size)

    def test_random_arrays_print_as_in_numpy(self):
        seed = int(os.environ.get("BYRE_TEST_SEED", random.randrange(2 ** 32)))
        print(f"BYRE_TEST_SEED={seed}", flush=True)
        choose = random.Random(seed)
        self.assert_printed_alike(random_table(choose, 600))
        self.assert_printed_alike(random_table(choose, 200), precision=4, threshold=20, edge=2,
                                  width=40)


if __name__ == "__main__":
    unittest.main(verbosity=2)
