#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Reads the deltas that live_checkpoint writes by the description of their format alone, has snapshots restored,
and gives it deltas that are damaged or of something else."""

import json
import pathlib
import shutil
import signal
import struct
import subprocess
import time
import unittest
import zlib

from live_checkpoint_runs import DIMENSIONS, WithText, write_text
from built import command
from programs import PROGRAM, run

# Training goes back to words of 4,096 tokens before, so that it leaves some alone in the end.
TOKENS, EVERY, TILE_ROWS = 9000, 1500, 16
HEADER = struct.Struct("<8sIIQQIIQQQ")
FIELDS = ("magic", "version", "crc32", "token", "previous_token", "previous_crc32", "zero", "table_bytes",
          "tile_bytes", "count")


def read_delta(path):
    """Its header by field, and its tiles by number."""
    data = path.read_bytes()
    header = dict(zip(FIELDS, HEADER.unpack(data[:HEADER.size])))
    numbers = struct.unpack(f"<{header['count']}Q", data[64:64 + 8 * header["count"]])
    tiles, at = {}, 64 + 8 * header["count"]
    for number in numbers:
        nbytes = min(header["tile_bytes"], header["table_bytes"] - number * header["tile_bytes"])
        tiles[number] = data[at:at + nbytes]
        at += nbytes
    assert at == len(data), (at, len(data))
    return header, tiles


def sealed(header, rest):
    """A delta with these fields and the CRC-32 that it ought to have."""
    after = HEADER.pack(*(header[field] for field in FIELDS))[16:] + rest
    return HEADER.pack(*({**header, "crc32": zlib.crc32(after)}[field] for field in FIELDS))[:16] + after


class Deltas(WithText):
    def setUp(self):
        super().setUp()
        write_text(self.text, words=TOKENS)
        self.output = self.scratch / "output"
        self.figures = self.train("tiles", self.output)
        self.files = [pathlib.Path(one["file"]) for one in self.figures["runs"][0]["snapshots"]]

    def train(self, mode, output, **changes):
        arguments = {"tokens": TOKENS, "snapshot_every": EVERY, "tile_rows": TILE_ROWS, "mode": mode, **changes}
        done = run(*self.small_but(**arguments), "--output", output, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        figures = json.loads(done.stdout)
        self.assertIs(figures["verified"], True)
        return figures

    def full_files(self):
        """Of the same snapshots, by a mode that does not write deltas."""
        figures = self.train("eager-recycled", self.scratch / "full")
        return [pathlib.Path(one["file"]).read_bytes() for one in figures["runs"][0]["snapshots"]]

    def restore(self, file, output):
        done = run("--restore", file, "--output", output)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_not_restored(self, said, file):
        restored = self.scratch / "restored"
        self.assert_refused(1, said, "--restore", file, "--output", restored)
        self.assertFalse(restored.exists() and list(restored.iterdir()))


class WrittenDeltas(Deltas):
    def test_the_first_file_is_full_and_each_other_has_the_tiles_that_changed(self):
        full = self.full_files()
        table_bytes = self.figures["table"]["bytes"]
        tile_bytes = self.figures["runs"][0]["tile_bytes"]
        self.assertEqual(self.files[0].read_bytes(), full[0])
        for before, now, file in zip(full, full[1:], self.files[1:]):
            before, now = before[-table_bytes:], now[-table_bytes:]
            changed = {at // tile_bytes: now[at:at + tile_bytes] for at in range(0, table_bytes, tile_bytes)
                       if before[at:at + tile_bytes] != now[at:at + tile_bytes]}
            _, tiles = read_delta(file)
            self.assertEqual(tiles, changed)
            self.assertEqual(list(tiles), sorted(tiles))
        self.assertLess(len(tiles), 0.9 * self.figures["runs"][0]["tiles"])

    def test_a_delta_has_a_header_a_number_for_each_tile_and_their_bytes(self):
        one = self.figures["runs"][0]
        table = self.figures["table"]
        for snapshot, file in zip(one["snapshots"][1:], self.files[1:]):
            header, tiles = read_delta(file)
            self.assertEqual(snapshot["kind"], "delta")
            self.assertEqual(snapshot["tiles"], len(tiles))
            self.assertEqual(snapshot["bytes"], 64 + 8 * len(tiles) + sum(map(len, tiles.values())))
            self.assertEqual(snapshot["bytes"], file.stat().st_size)
            self.assertEqual(header["tile_bytes"], TILE_ROWS * DIMENSIONS * 4)
            self.assertEqual(header["table_bytes"], table["bytes"])
        self.assertEqual(one["written_bytes"], sum(file.stat().st_size for file in self.files))

    def test_a_delta_names_the_snapshot_before_and_has_its_own_checksum(self):
        previous = (EVERY, zlib.crc32(self.files[0].read_bytes()))
        for snapshot, file in zip(self.figures["runs"][0]["snapshots"][1:], self.files[1:]):
            header, _ = read_delta(file)
            self.assertEqual((header["magic"], header["version"], header["zero"]), (b"BYREDELT", 1, 0))
            self.assertEqual(header["crc32"], zlib.crc32(file.read_bytes()[16:]))
            self.assertEqual(snapshot["crc32"], f"{header['crc32']:08x}")
            self.assertEqual((header["previous_token"], header["previous_crc32"]), previous)
            previous = (header["token"], header["crc32"])
            self.assertEqual(header["token"], snapshot["token"])
            self.assertEqual(file.name, f"token-{header['token']:012}.delta")

    def test_a_tile_is_copied_and_timed_once_between_two_snapshots(self):
        one = self.figures["runs"][0]
        changed = sum(snapshot["tiles"] for snapshot in one["snapshots"][1:])
        self.assertEqual(one["stall"]["events"], len(self.files) + changed)
        if one["copying"] is not None:
            self.assertEqual(one["copying"]["copies"], changed)

    def test_a_table_that_did_not_change_makes_a_delta_without_tiles(self):
        self.text.write_text("word")
        one = self.train("tiles", self.scratch / "one", tokens=3, snapshot_every=1)["runs"][0]
        self.assertEqual([(s["tiles"], s["bytes"]) for s in one["snapshots"][1:]], [(0, 64)] * 2)

    def test_full_files_come_as_often_as_is_said(self):
        for every, kinds in ((1, ["full"] * 6), (2, ["full", "delta"] * 3),
                             (4, ["full", "delta", "delta", "delta", "full", "delta"])):
            figures = self.train("tiles", self.scratch / f"every{every}", full_every=every)
            snapshots = figures["runs"][0]["snapshots"]
            self.assertEqual([snapshot["kind"] for snapshot in snapshots], kinds)
            self.restore(snapshots[-1]["file"], self.scratch / f"restored{every}")


class ARunWithAWrongFile(WithText):
    def test_says_which_it_is_and_keeps_it(self):
        output = self.scratch / "output"
        running = subprocess.Popen(
            [*command(PROGRAM), *self.small_but(tokens=200000, snapshot_every=1000, mode="lazy"), "--output",
             str(output)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first, last = (output / "lazy" / f"token-{token:012}.npy" for token in (1000, 200000))
        beside = pathlib.Path(f"{first}.crc32")
        while not beside.exists():
            self.assertIsNone(running.poll())
            time.sleep(0.001)
        running.send_signal(signal.SIGSTOP)
        self.assertFalse(last.exists(), "too late to change a file that is not checked yet")
        whole = first.read_bytes()
        wrong = whole[:-1] + bytes([whole[-1] ^ 1])
        first.write_bytes(wrong)
        beside.write_text(f"{zlib.crc32(wrong):08x}  {first.name}\n")
        running.send_signal(signal.SIGCONT)
        table, said = running.communicate(timeout=120)
        self.assertEqual(running.returncode, 1)
        self.assertIn("snapshot 1 at token 1000: restored it has the CRC-32", said)
        self.assertIn("1 of 200 snapshots are WRONG", table)


class RestoredSnapshots(Deltas):
    def test_are_the_full_files_with_their_checksums_beside_them(self):
        restored = self.scratch / "restored"
        for file, full in zip(self.files, self.full_files()):
            said = self.restore(file, restored)
            npy = restored / file.with_suffix(".npy").name
            self.assertEqual(npy.read_bytes(), full)
            crc32 = f"{zlib.crc32(full):08x}"
            self.assertIn(f"{npy}: {len(full) / 2 ** 20:.1f} MiB, CRC-32 {crc32}", said)
            self.assertEqual(pathlib.Path(f"{npy}.crc32").read_text(), f"{crc32}  {npy.name}\n")

    def test_beside_their_deltas_are_not_taken_for_them(self):
        self.restore(self.files[2], self.files[2].parent)
        self.restore(self.files[3], self.scratch / "restored")

    def test_do_not_need_files_of_before_the_full_one_or_of_later(self):
        figures = self.train("tiles", self.scratch / "often", full_every=3)
        files = [pathlib.Path(one["file"]) for one in figures["runs"][0]["snapshots"]]
        for file in (*files[:3], files[5]):
            file.unlink()
        self.restore(files[4], self.scratch / "restored")

    def test_do_not_overwrite_a_file(self):
        self.restore(self.files[1], self.scratch / "restored")
        self.assert_refused(1, "not overwritten", "--restore", self.files[1], "--output",
                            self.scratch / "restored")

    def test_need_a_place_to_go_to(self):
        self.assert_refused(2, "--output", "--restore", self.files[1])
        self.assert_refused(1, str(self.text), "--restore", self.files[1], "--output", self.text / "below")


class WrongDeltas(Deltas):
    """The last file is to be restored, which goes back to the first."""

    def assert_last_is_refused(self, said):
        self.assert_not_restored(said, self.files[-1])

    def test_with_a_changed_byte_are_refused_wherever_it_is(self):
        whole = self.files[2].read_bytes()
        for at, said in ((0, "does not begin as one"), (8, "is a delta of version"), (12, "damaged"),
                         *((at, "damaged") for at in range(16, 64, 5)),
                         (64, "damaged"), (len(whole) // 2, "damaged"), (len(whole) - 1, "damaged")):
            self.files[2].write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1:])
            self.assert_last_is_refused(said)
        self.assert_last_is_refused(self.files[2].name)

    def test_that_are_cut_short_or_too_long_are_refused(self):
        whole = self.files[2].read_bytes()
        for length in (0, 7, 63):
            self.files[2].write_bytes(whole[:length])
            self.assert_last_is_refused("does not begin as one")
        for length in (64, 65, 100, len(whole) - 1):
            self.files[2].write_bytes(whole[:length])
            self.assert_last_is_refused("damaged or cut short")
        self.files[2].write_bytes(whole + b"\0")
        self.assert_last_is_refused("damaged or cut short")

    def test_that_are_missing_are_named_with_what_needs_them(self):
        name = self.files[2].name
        self.files[2].unlink()
        self.assert_last_is_refused(name)
        self.assert_last_is_refused(str(self.files[3]))
        self.assert_last_is_refused("since token 4500")
        self.assert_not_restored(f"Cannot open {self.files[2]}", self.files[2])
        self.restore(self.files[1], self.scratch / "earlier")

    def test_in_each_others_places_are_refused(self):
        whole = self.files[2].read_bytes()
        shutil.copy(self.files[3], self.files[2])
        self.assert_last_is_refused("the delta of token 6000 under another name")
        self.files[2].write_bytes(whole)
        self.files[3].write_bytes(whole)
        self.assert_last_is_refused("the delta of token 4500 under another name")

    def test_of_another_run_are_refused(self):
        other = self.scratch / "other"
        self.train("tiles", other, seed=2)
        for index, said in ((2, "another snapshot of token 3000"), (0, "another snapshot of token 1500")):
            copied = self.scratch / f"mixed{index}"
            shutil.copytree(self.files[0].parent, copied)
            for file in other.glob(f"*/{self.files[index].name}*"):
                shutil.copy(file, copied)
            self.assert_not_restored(said, copied / self.files[-1].name)

    def test_that_make_no_sense_are_refused_though_their_checksum_is_right(self):
        header, tiles = read_delta(self.files[1])
        first, second = list(tiles)[:2]
        numbers = struct.pack(f"<{len(tiles)}Q", *tiles)
        bytes_of_tiles = b"".join(tiles.values())
        everything = numbers + bytes_of_tiles
        count = self.figures["runs"][0]["tiles"]
        for changes, rest, said in (
                ({"tile_bytes": 0}, everything, "make no sense"),
                ({"count": count + 1}, everything, "make no sense"),
                ({"count": 2 ** 64 - 1}, everything, "make no sense"),
                ({"count": count, "tile_bytes": 2 ** 63}, everything, "make no sense"),
                ({"count": 2}, numbers[:8], "make no sense"),
                ({"previous_token": header["token"]}, everything, "make no sense"),
                ({}, struct.pack("<Q", second) + numbers[8:] + bytes_of_tiles, "not in its place"),
                ({}, numbers[8:16] + numbers[:8] + numbers[16:] + bytes_of_tiles, "not in its place"),
                ({}, numbers[:-8] + struct.pack("<Q", count) + bytes_of_tiles, "not in its place"),
                ({}, everything[:-1], "are there"),
                ({}, everything + b"\0", "are there"),
                ({"table_bytes": header["table_bytes"] + header["tile_bytes"]}, everything, "another snapshot"),
                ({"version": 2}, everything, "version 2, and this program reads version 1")):
            self.files[1].write_bytes(sealed({**header, **changes}, rest))
            self.assert_not_restored(said, self.files[1])
        self.assertLess(first, second)

    def test_need_a_full_file_that_is_what_is_said_beside_it(self):
        whole = self.files[0].read_bytes()
        self.files[0].write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        self.assert_last_is_refused("beside it says")
        self.assert_not_restored("beside it says", self.files[0])
        self.files[0].write_bytes(whole)
        pathlib.Path(f"{self.files[0]}.crc32").unlink()
        self.assert_last_is_refused("beside it says nothing")
        self.files[0].write_bytes(b"text")
        pathlib.Path(f"{self.files[0]}.crc32").write_text(f"{zlib.crc32(b'text'):08x}")
        self.assert_last_is_refused(self.files[0].name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
