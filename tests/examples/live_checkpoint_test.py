#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs live_checkpoint with small sizes. Reads its files according to the documented formats, restores snapshots, and
passes invalid, damaged and mismatched deltas."""
import array
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from built_program import command
from programs import PROGRAM, Test, run

TOKENS, EVERY, DIMENSIONS, TILE_ROWS = 9000, 1500, 32, 16
SNAPSHOTS = TOKENS // EVERY
FULL_MODES = ["eager-fresh", "eager-recycled", "lazy", "pages"]
MODES = [*FULL_MODES, "tiles"]


def write_text(path, seed=1):
    """Writes a text in which each part has its own words, as documents have, and some common words."""
    choose = random.Random(seed)
    words = [f"common{choose.randrange(50)}" if choose.random() < 0.3 else f"word{at // 2 + choose.randrange(20)}"
             for at in range(TOKENS)]
    path.write_text(" ".join(words) + "\n")


def read_delta(path):
    """Returns the header's fields, and the tiles by index."""
    data = path.read_bytes()
    magic, token, previous, identity, table, tile_bytes, count = struct.unpack("<8s6Q", data[:56])
    assert magic == b"BYREDEL2" and struct.unpack("<Q", data[-8:])[0] == zlib.crc32(data[:-8])
    tiles, at = {}, 56 + 8 * count
    for number in struct.unpack(f"<{count}Q", data[56:at]):
        nbytes = min(tile_bytes, table - number * tile_bytes)
        tiles[number], at = data[at:at + nbytes], at + nbytes
    assert at == len(data) - 8
    return [token, previous, identity, table, tile_bytes], tiles


def write_delta(path, fields, tiles, numbers=None):
    """Writes a delta with these fields and a correct CRC-32."""
    numbers = list(tiles) if numbers is None else numbers
    data = struct.pack(f"<8s6Q{len(numbers)}Q", b"BYREDEL2", *fields, len(numbers), *numbers) + b"".join(tiles.values())
    path.write_bytes(data + struct.pack("<Q", zlib.crc32(data)))


class WithText(Test):
    def setUp(self):
        super().setUp()
        self.text, self.output = self.scratch / "text", self.scratch / "output"
        write_text(self.text)

    def arguments(self, output=None, **changes):
        options = {"text": self.text, "tokens": TOKENS, "snapshot_every": EVERY, "dimensions": DIMENSIONS,
                   "tile_rows": TILE_ROWS, "output": output or self.output, **changes}
        return [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]

    def train(self, output=None, **changes):
        done = run(*self.arguments(output, **changes), "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.figures = json.loads(done.stdout)
        self.assertEqual(self.figures["faults"], [])
        return self.figures["modes"]

    def files(self, mode, output=None):
        return sorted(((output or self.output) / mode).iterdir())


class AllModes(WithText):
    def test_all_modes_write_equal_snapshots(self):
        modes = self.train()
        self.assertEqual(list(modes), MODES)
        whole = [path.read_bytes() for path in self.files("eager-fresh")]
        self.assertEqual(len(set(whole)), SNAPSHOTS)
        for mode in FULL_MODES:
            self.assertEqual([path.name for path in self.files(mode)],
                             [f"token-{token:012}.npy" for token in range(EVERY, TOKENS + 1, EVERY)])
            self.assertEqual([path.read_bytes() for path in self.files(mode)], whole)
        self.assertEqual(list(self.output.rglob("*.part")), [])
        # Reads the values as the format specifies.
        rows = self.figures["rows"]
        (length,) = struct.unpack("<H", whole[-1][8:10])
        self.assertIn(f"'shape': ({rows}, {DIMENSIONS})", whole[-1][10:10 + length].decode())
        values = array.array("f", whole[-1][10 + length:])
        self.assertEqual(len(values), rows * DIMENSIONS)
        self.assertTrue(all(abs(value) < 100 for value in values) and any(values[-DIMENSIONS:]))
        # Lazy modes copy less than eager modes, and mode tiles copies exactly the tiles of the deltas.
        eager = SNAPSHOTS * modes["lazy"]["tiles"]
        changed = sum(len(read_delta(path)[1]) for path in self.files("tiles")[1:])
        self.assertLess(changed, SNAPSHOTS * modes["tiles"]["tiles"])
        self.assertEqual(modes["tiles"]["stall events"], SNAPSHOTS + changed)
        if modes["lazy"]["copies"] is not None:
            self.assertEqual(modes["eager-fresh"]["copies"], eager)
            self.assertLess(modes["lazy"]["copies"], eager)
            self.assertEqual(modes["tiles"]["copies"], changed)
            self.assertLess(modes["pages"]["copied, MiB"], modes["eager-fresh"]["copied, MiB"])

    def test_any_tile_size_works_and_files_are_not_overwritten(self):
        for rows in (1, 7, 1000000):
            self.train(self.scratch / str(rows), mode="lazy", tile_rows=rows)
        self.assert_refused_run("not overwritten", self.scratch / "1", mode="lazy")

    def test_mode_pages_stalls_once_for_each_written_page(self):
        self.text.write_text("one two")
        tokens, row_bytes = 6, 4 * 65536
        pages = self.train(mode="pages", tokens=tokens, snapshot_every=1, dimensions=65536)["pages"]
        # One stall for each snapshot, and one for each page after every snapshot but the last.
        per_snapshot = 2 * row_bytes // os.sysconf("SC_PAGESIZE")
        self.assertEqual(pages["stall events"], tokens + (tokens - 1) * per_snapshot)
        if pages["copies"] is not None:
            self.assertTrue(0 < pages["overlays"] + pages["copies"] < tokens)

    def assert_refused_run(self, said, output, **changes):
        done = run(*self.arguments(output, **changes))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(said, done.stderr)

    def test_no_files_remain_after_an_interrupt_or_a_write_error(self):
        def limit_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        done = run(*self.arguments(), preexec_fn=limit_files)
        self.assertEqual(done.returncode, 1)
        self.assertIn("File too large", done.stderr)
        self.assertEqual([path for path in self.output.rglob("*") if path.is_file()], [])
        temporary = self.scratch / "temporary"
        temporary.mkdir()
        running = subprocess.Popen(
            [*command(PROGRAM), f"--text={self.text}", "--tokens=100000000", "--snapshot-every=1000"],
            env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.DEVNULL)
        while not list(temporary.iterdir()):
            self.assertIsNone(running.poll())
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        self.assertEqual(running.wait(timeout=60), 128 + signal.SIGINT)
        self.assertEqual(list(temporary.iterdir()), [])


class AWrongFile(WithText):
    def test_is_detected_by_the_replay(self):
        running = subprocess.Popen([*command(PROGRAM), *self.arguments(tokens=100000, snapshot_every=1000, mode="lazy")],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first, last = (self.output / "lazy" / f"token-{token:012}.npy" for token in (1000, 100000))
        while not first.exists():
            self.assertIsNone(running.poll())
            time.sleep(0.001)
        running.send_signal(signal.SIGSTOP)
        self.assertFalse(last.exists(), "the check may already have begun")
        wrong = bytearray(first.read_bytes())
        wrong[-1] ^= 1
        first.write_bytes(wrong)
        running.send_signal(signal.SIGCONT)
        table, said = running.communicate(timeout=120)
        self.assertEqual(running.returncode, 1)
        self.assertIn("Mode lazy, snapshot 1: it differs from the model at that token", said)
        self.assertIn("99 of 100 snapshots equal the table in a replay", table)


class Deltas(WithText):
    def setUp(self):
        super().setUp()
        self.train(mode="tiles")
        self.deltas = self.files("tiles")

    def restore(self, file, output):
        done = run("--restore", file, "--output", output)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (output / file.name).with_suffix(".npy")

    def assert_not_restored(self, said, file=None):
        """Expects that restoring `file` fails. The default is the last file, which depends on all other files."""
        restored = self.scratch / "restored"
        self.assert_refused(1, said, "--restore", file or self.deltas[-1], "--output", restored)
        self.assertFalse(restored.exists() and list(restored.iterdir()))

    def test_contain_changed_tiles_and_name_the_previous_snapshot(self):
        self.train(self.scratch / "full", mode="eager-recycled")
        full = [path.read_bytes() for path in self.files("eager-recycled", self.scratch / "full")]
        table_bytes, tile_bytes = self.figures["table bytes"], TILE_ROWS * DIMENSIONS * 4
        self.assertEqual(self.deltas[0].read_bytes(), full[0])
        previous = [EVERY, zlib.crc32(full[0])]
        for before, now, file in zip(full, full[1:], self.deltas[1:]):
            before, now = before[-table_bytes:], now[-table_bytes:]
            changed = {at // tile_bytes: now[at:at + tile_bytes] for at in range(0, table_bytes, tile_bytes)
                       if before[at:at + tile_bytes] != now[at:at + tile_bytes]}
            fields, tiles = read_delta(file)
            self.assertEqual(tiles, changed)
            self.assertEqual(fields[1:], [*previous, table_bytes, tile_bytes])
            self.assertEqual(file.name, f"token-{fields[0]:012}.delta")
            previous = [fields[0], zlib.crc32(file.read_bytes()[:-8])]
        self.assertLess(len(tiles), 0.9 * table_bytes / tile_bytes)
        for file, data in zip(self.deltas, full):
            self.assertEqual(self.restore(file, self.scratch / "restored").read_bytes(), data)
        self.assert_refused(1, "not overwritten", "--restore", file, "--output", self.scratch / "restored")

    def test_contain_no_tiles_if_the_table_did_not_change(self):
        self.text.write_text("word")
        self.train(self.scratch / "one", mode="tiles", tokens=3, snapshot_every=1)
        self.assertEqual([file.stat().st_size for file in self.files("tiles", self.scratch / "one")[1:]], [64, 64])

    def test_that_are_changed_or_truncated_are_refused(self):
        whole = self.deltas[2].read_bytes()
        for at in (0, *range(8, 64, 5), 64, len(whole) // 2, len(whole) - 1):
            self.deltas[2].write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1:])
            self.assert_not_restored("does not begin with BYREDEL2" if at < 8 else "is damaged")
        for changed in (b"", whole[:63], whole[:100], whole[:-1], whole + b"\0"):
            self.deltas[2].write_bytes(changed)
            self.assert_not_restored(self.deltas[2].name)

    def test_that_are_missing_or_of_another_run_are_refused(self):
        whole = self.deltas[2].read_bytes()
        shutil.copy(self.deltas[3], self.deltas[2])
        self.assert_not_restored("has a wrong name: it is the delta of token 6000")
        self.deltas[2].unlink()
        self.assert_not_restored("Cannot read")
        write_text(self.text, seed=2)
        other = self.scratch / "other"
        self.train(other, mode="tiles")
        shutil.copy(self.files("tiles", other)[2], self.deltas[2])
        self.assert_not_restored("does not follow the snapshot of token 3000")
        self.deltas[2].write_bytes(whole)
        first = self.deltas[0].read_bytes()
        self.deltas[0].write_bytes(first[:-1] + bytes([first[-1] ^ 1]))
        self.assert_not_restored("does not follow the snapshot of token 1500")
        self.deltas[0].write_bytes(b"text")
        self.assert_not_restored(self.deltas[0].name)

    def test_that_are_inconsistent_are_refused_despite_their_checksum(self):
        fields, tiles = read_delta(self.deltas[1])
        numbers = list(tiles)
        token, previous, identity, table, tile_bytes = fields
        for wrong, order in (([token, previous, identity, table, 0], numbers), ([token, token, identity, table, tile_bytes], numbers),
                             ([token, previous, identity, 0, tile_bytes], numbers),
                             (fields, [numbers[1], numbers[0], *numbers[2:]]), (fields, [numbers[0], *numbers[:-1]]),
                             (fields, [*numbers[:-1], 2**60]), (fields, numbers[:-1])):
            write_delta(self.deltas[1], wrong, tiles, order)
            self.assert_not_restored("is not a delta", self.deltas[1])
        write_delta(self.deltas[1], [token, previous, identity, table + 4, tile_bytes], tiles)
        self.assert_not_restored("", self.deltas[1])
        write_delta(self.deltas[1], fields, tiles)
        self.restore(self.deltas[1], self.scratch / "right")


if __name__ == "__main__":
    unittest.main(verbosity=2)
