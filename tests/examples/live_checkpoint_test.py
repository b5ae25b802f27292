#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs live_checkpoint with small sizes. Reads its files according to the documented formats, restores snapshots, and
passes invalid, damaged and mismatched deltas."""
import array
import glob
import json
import os
import pathlib
import random
import re
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


def numbers_of(data):
    """Yields the numbers of a stream."""
    number = shift = 0
    for byte in data:
        number, shift = number | (byte & 127) << shift, shift + 7
        if byte < 128:
            yield number
            number = shift = 0


def read_delta(path):
    """Returns the fields, the blocks, and for each changed tile the bits that differ, by element. Requires
    --compression=0."""
    data = path.read_bytes()
    magic, *fields = struct.unpack("<8s6Q", data[:56])
    assert magic == b"BYREDEL3" and struct.unpack("<Q", data[-8:])[0] == zlib.crc32(data[:-8])
    table, tile_bytes = fields[3:5]
    tiles, tile, at = {}, 0, 56
    while at < len(data) - 8:
        streams = []
        for _ in range(5):
            nbytes, stored = struct.unpack("<2Q", data[at:at + 16])
            assert nbytes == stored
            streams.append(data[at + 16:at + 16 + nbytes])
            at += 16 + nbytes
        numbers, bits = numbers_of(streams[0]), zip(*streams[1:])
        for skipped in numbers:
            tile += skipped
            count, element, tiles[tile] = next(numbers), -1, {}
            is_whole = 4 * count == min(tile_bytes, table - tile * tile_bytes)
            for _ in range(count):
                element += 1 if is_whole else 1 + next(numbers)
                tiles[tile][element] = bytes(next(bits))
            tile += 1
    return fields, data[56:-8], tiles


def write_delta(path, fields, blocks, magic=b"BYREDEL3"):
    """Writes a delta with a correct CRC-32."""
    data = struct.pack("<8s6Q", magic, *fields) + blocks
    path.write_bytes(data + struct.pack("<Q", zlib.crc32(data)))


def difference(before, now):
    """The bits that differ, by element."""
    pairs = ((before[at:at + 4], now[at:at + 4]) for at in range(0, len(now), 4))
    return {number: bytes(map(int.__xor__, *pair)) for number, pair in enumerate(pairs) if pair[0] != pair[1]}


def stop(running):
    """Stops a process. Returns when all its threads are stopped, or when it has ended."""
    running.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, running.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)


def change_last_byte(path):
    """Changes one bit of a file."""
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


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
        modes = self.train(compression=0)
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
        changed = sum(len(read_delta(path)[2]) for path in self.files("tiles")[1:])
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


class AMemoryLimit(WithText):
    WAYS = ["no snapshots", "fork", "lazy clone", "within a budget"]

    SNAPSHOTS, ROUNDS = 4, 3

    def comparison(self, limit, dimensions=1024):
        return [f"--text={self.text}", f"--tokens={TOKENS}", f"--dimensions={dimensions}", f"--tile-rows={TILE_ROWS}",
                f"--limit={limit}"]

    def compare(self, limit):
        return run(*self.comparison(limit), "--json")

    def test_bounds_the_memory_of_snapshots_that_equal_the_training(self):
        done = self.compare(20)
        self.assertEqual(done.returncode, 0, done.stderr)
        figures = json.loads(done.stdout)
        ways = figures["ways"]
        self.assertEqual(list(ways), self.WAYS)
        extra = [ways[name]["extra memory, % of the table"] for name in self.WAYS]
        if extra[0] is not None:  # the system counts memory
            self.assertTrue(extra[0] < 5 and extra[1] > 80 and extra[2] > 80 and 5 < extra[3] <= 20, extra)
        # The ratios are ordered, and each is of two times of one round.
        median = "times that of a lazy clone"
        ratios = [[way[f"{median}, least"], way[median], way[f"{median}, most"]] for way in ways.values()]
        self.assertEqual(ratios, [sorted(ratio) for ratio in ratios])
        self.assertTrue(any(least < middle < most for least, middle, most in ratios), ratios)
        self.assertEqual((ratios[2][0], ratios[2][2]), (1, 1))
        # One stall for each snapshot, and one for each tile that is written after it.
        tiles = -(-figures["table bytes"] // (TILE_ROWS * 4096))
        events = self.SNAPSHOTS * (1 + tiles)
        self.assertEqual([way["stall events"] for way in ways.values()], [0, None, events, events])
        stalls = [way["worst stall, ms"] for way in ways.values()]
        self.assertEqual(stalls[:2], [0, None])
        self.assertTrue(min(stalls[2:]) > 0, stalls)

    def test_reports_excess_memory_apart_from_wrong_snapshots(self):
        done = run(*self.comparison(1, dimensions=64))
        self.assertIn("36 of 36 snapshots equal the table in a replay", done.stdout)
        if "n/a" in re.search("extra memory, MiB.*", done.stdout)[0]:
            self.skipTest("the system does not count memory")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Within a budget of 0.0 MiB more than the table, the process took", done.stderr)

    def test_detects_a_wrong_snapshot_of_each_way(self):
        temporary = self.scratch / "temporary"
        temporary.mkdir()
        changes = 0
        while changes < self.ROUNDS * (len(self.WAYS) - 1):  # again if a way was finished before it was stopped
            running = subprocess.Popen([*command(PROGRAM), *self.comparison(20, dimensions=256)], text=True,
                                       env={**os.environ, "TMPDIR": str(temporary)}, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            self.addCleanup(running.kill)
            changes = self.change_first_snapshots(running, temporary)
            table, said = running.communicate(timeout=120)
        self.assertEqual(running.returncode, 1)
        self.assertIn("\n27 of 36 snapshots equal the table in a replay", table)
        for way in self.WAYS[1:]:
            self.assertEqual(said.count(f"Mode {way}, snapshot 1: it differs from the model at that token"), self.ROUNDS)

    def change_first_snapshots(self, running, temporary):
        """Stops each way once its first snapshot is saved, and changes that file. Returns the number of files that were
        changed before the check, which begins after the last snapshot is saved."""
        seen, changes = set(), 0
        while running.poll() is None:
            files = map(pathlib.Path, sorted(glob.glob(f"{temporary}/*/token-*.npy")))
            first = next((file for file in files if file.parent not in seen), None)
            if first is None:
                continue
            seen.add(first.parent)
            last = f"{first.parent}/token-{self.SNAPSHOTS * int(first.stem.removeprefix('token-')):012}.*"
            stop(running)
            is_early = first.exists() and not glob.glob(last)
            if is_early:
                change_last_byte(first)
            running.send_signal(signal.SIGCONT)
            # The last file is also absent while the directory is removed, so it must appear after the change.
            while is_early and running.poll() is None and first.parent.exists():
                if glob.glob(last):
                    changes += 1
                    is_early = False
        return changes

    def test_must_be_a_percentage_and_admits_no_options_of_other_modes(self):
        for limit in (0, 101, "all"):
            self.assertEqual(self.compare(limit).returncode, 2)
        done = run("--limit=5", "--sparse=1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--limit takes no --sparse", done.stderr)


class SparseChanges(WithText):
    def test_change_elements_at_random_in_all_modes(self):
        modes = self.train(sparse=2, compression=0)
        for mode in FULL_MODES:
            self.assertEqual([path.read_bytes() for path in self.files(mode)],
                             [path.read_bytes() for path in self.files("lazy")])
            self.assertIsNone(modes[mode]["as elements, MiB"])
        elements = self.figures["table bytes"] / 4
        nbytes = changed = whole = 0
        deltas = self.files("tiles")[1:]
        for delta in deltas:
            nbytes += delta.stat().st_size
            fields, blocks, tiles = read_delta(delta)
            changed += sum(map(len, tiles.values()))
            whole += sum(min(fields[4], fields[3] - tile * fields[4]) for tile in tiles)
            self.assertTrue(all(1 < len(bits) < 100 for bits in tiles.values()))
        figures = {name: figure * len(deltas) * (1 << 20) for name, figure in modes["tiles"].items() if "MiB" in name}
        self.assertAlmostEqual(figures["each further file, MiB"], nbytes)
        self.assertAlmostEqual(modes["tiles"]["changed elements, %"], 100 * changed / elements / len(deltas))
        self.assertTrue(1.9 < modes["tiles"]["changed elements, %"] <= 2)
        # Each tile has two or three bytes for its place, and each file a header, a CRC-32 and five streams.
        places = figures["as whole tiles, MiB"] - whole
        self.assertTrue(2 <= places / len(deltas) / modes["tiles"]["tiles"] < 3)
        self.assertAlmostEqual(figures["as elements, MiB"], nbytes - (64 + 80) * len(deltas))
        self.assertAlmostEqual(figures["smaller of each tile, MiB"], figures["as elements, MiB"])
        self.assertLess(10 * nbytes, whole)
        self.assertAlmostEqual(modes["tiles"]["compression ratio"], figures["as elements, MiB"] / nbytes)
        for mode in MODES:
            self.assertGreater(modes[mode]["write each, ms"], 0)
            self.assertGreater(modes[mode]["restore each, ms"], 0)

    def test_are_smaller_with_zstd(self):
        if "(default: 1)" not in run("--help").stdout:
            self.assert_refused(2, "--compression takes a whole number from 0 to 0", *self.arguments(compression=1))
            self.skipTest("built without zstd")
        ratios = [self.train(self.scratch / str(level), mode="tiles", sparse=2, dimensions=512, compression=level)
                  ["tiles"]["compression ratio"] for level in (0, 1, 19)]
        self.assertTrue(0.99 < ratios[0] < 1 < 1.2 < ratios[1] < 1.5 and ratios[2] > 1.2, ratios)


class AWrongFile(WithText):
    def test_is_detected_by_the_replay(self):
        running = subprocess.Popen([*command(PROGRAM), *self.arguments(tokens=100000, snapshot_every=1000, mode="lazy")],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first, last = (self.output / "lazy" / f"token-{token:012}.npy" for token in (1000, 100000))
        while not first.exists():
            self.assertIsNone(running.poll())
            time.sleep(0.001)
        stop(running)
        self.assertFalse(last.exists(), "the check may already have begun")
        change_last_byte(first)
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

    def test_contain_changes_and_name_the_previous_snapshot(self):
        self.train(self.scratch / "full", mode="eager-recycled")
        full = [path.read_bytes() for path in self.files("eager-recycled", self.scratch / "full")]
        plain = self.scratch / "plain"
        self.train(plain, mode="tiles", compression=0)
        table_bytes, tile_bytes = self.figures["table bytes"], TILE_ROWS * DIMENSIONS * 4
        self.assertEqual(self.deltas[0].read_bytes(), full[0])
        previous, whole_tiles = [EVERY, zlib.crc32(full[0])], 0
        for before, now, file in zip(full, full[1:], self.files("tiles", plain)[1:]):
            before, now = before[-table_bytes:], now[-table_bytes:]
            changed = {at // tile_bytes: difference(before[at:at + tile_bytes], now[at:at + tile_bytes])
                       for at in range(0, table_bytes, tile_bytes) if before[at:at + tile_bytes] != now[at:at + tile_bytes]}
            fields, _, tiles = read_delta(file)
            for tile, elements in tiles.items():
                self.assertEqual({number: bits for number, bits in elements.items() if any(bits)}, changed[tile])
                # Rows change as a whole. A position has one byte, or two after 128 unchanged elements.
                is_whole = 5 * len(changed[tile]) >= min(tile_bytes, table_bytes - tile * tile_bytes)
                self.assertEqual(len(elements) * 4 >= min(tile_bytes, table_bytes - tile * tile_bytes), is_whole)
                whole_tiles += is_whole
            self.assertEqual(list(tiles), list(changed))
            self.assertEqual(fields[1:], [*previous, table_bytes, tile_bytes, 4])
            self.assertEqual(file.name, f"token-{fields[0]:012}.delta")
            previous = [fields[0], zlib.crc32(file.read_bytes()[:-8])]
        self.assertLess(len(tiles), 0.9 * table_bytes / tile_bytes)
        self.assertGreater(whole_tiles, 0)
        for folder, files in ("restored", self.deltas), ("plain restored", self.files("tiles", plain)):
            for file, data in zip(files, full):
                self.assertEqual(self.restore(file, self.scratch / folder).read_bytes(), data)
        self.assert_refused(1, "not overwritten", "--restore", file, "--output", self.scratch / folder)

    def test_contain_no_tiles_if_the_table_did_not_change(self):
        self.text.write_text("word")
        self.train(self.scratch / "one", mode="tiles", tokens=3, snapshot_every=1)
        self.assertEqual([file.stat().st_size for file in self.files("tiles", self.scratch / "one")[1:]], [64, 64])

    def test_that_are_changed_or_truncated_are_refused(self):
        whole = self.deltas[2].read_bytes()
        for at in (0, 7, *range(8, 64, 5), 64, len(whole) // 2, len(whole) - 1):
            self.deltas[2].write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1:])
            self.assert_not_restored({0: "does not begin with BYREDEL3", 7: "of version 7, supported is version 3"}.get(
                at, "is damaged"))
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
        self.train(self.scratch / "plain", mode="tiles", compression=0)
        self.deltas = self.files("tiles", self.scratch / "plain")[:2]
        fields, blocks, _ = read_delta(self.deltas[1])
        token, previous, identity, table, tile_bytes, element_bytes = fields
        for wrong in ([token, token, identity, table, tile_bytes, 4], [token, previous, identity, 0, tile_bytes, 4],
                      [token, previous, identity, table, 0, 4], [token, previous, identity, table + 1, tile_bytes, 4],
                      [token, previous, identity, table, tile_bytes + 2, 4]):
            write_delta(self.deltas[1], wrong, blocks)
            self.assert_not_restored("is not a delta: token")
        write_delta(self.deltas[1], [token, previous, identity, table, tile_bytes, 8], blocks)
        self.assert_not_restored("has elements of 8 bytes, supported are 4")
        write_delta(self.deltas[1], [token, previous, identity, table + 4, tile_bytes, 4], blocks)
        self.assert_not_restored(f"does not follow the snapshot of token {previous}")
        write_delta(self.deltas[1], fields, blocks, b"BYREDEL2")
        self.assert_not_restored("is a delta of version 2, supported is version 3")
        for wrong, said in ((blocks[:-1], "it ends too early"), (blocks + bytes(7), "it ends too early"),
                            (bytes([255] * 8) + blocks[8:], "bytes fit the table"),
                            (blocks[:16] + b"\xff\x7f" + blocks[18:], "is outside of the table")):
            write_delta(self.deltas[1], fields, wrong)
            self.assert_not_restored(f"{self.deltas[1]} is malformed: ")
            self.assert_not_restored(said)
        write_delta(self.deltas[1], fields, blocks)
        self.restore(self.deltas[1], self.scratch / "right")


if __name__ == "__main__":
    unittest.main(verbosity=2)
