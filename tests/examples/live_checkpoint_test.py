#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs live_checkpoint small, reads what it wrote with nothing but the standard library, and gives
it what it cannot use. Test names are sentences; no test looks at a time."""

import ast
import array
import gzip
import json
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest
import zlib

from live_checkpoint_runs import DIMENSIONS, EVERY, TILE_ROWS, TOKENS, WithText
from programs import PROGRAM, run

MODES = ["eager-fresh", "eager-recycled", "lazy", "pages", "tiles"]
FULL_MODES = MODES[:-1]  # all files of which are full


def read_npy(path):
    """The shape and the values of a .npy file, by the format's own description."""
    data = path.read_bytes()
    assert data[:6] == b"\x93NUMPY", data[:6]
    assert data[6:8] == b"\x01\x00", data[6:8]
    (length,) = struct.unpack("<H", data[8:10])
    assert (10 + length) % 64 == 0 and data[10 + length - 1:10 + length] == b"\n"
    header = ast.literal_eval(data[10:10 + length].decode("ascii"))
    assert header["descr"] == ("<f4" if sys.byteorder == "little" else ">f4"), header
    assert header["fortran_order"] is False and set(header) == {"descr", "fortran_order", "shape"}
    return header["shape"], array.array("f", data[10 + length:])


class AWholeRun(WithText):
    def setUp(self):
        super().setUp()
        self.output = self.scratch / "output"
        self.run_all()

    def run_all(self):
        figures = self.scratch / "figures.json"
        done = run(*self.small, "--output", self.output, "--json", figures)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.table = done.stdout
        self.figures = json.loads(figures.read_text())
        self.runs = {one["mode"]: one for one in self.figures["runs"]}

    def test_all_snapshots_of_all_modes_are_checked_and_right(self):
        self.assertEqual(list(self.runs), MODES)
        self.assertIs(self.figures["verified"], True)
        for one in self.runs.values():
            tokens = [snapshot["token"] for snapshot in one["snapshots"]]
            self.assertEqual(tokens, list(range(EVERY, TOKENS + 1, EVERY)))
        snapshots = len(MODES) * TOKENS // EVERY
        self.assertIn(f"All {snapshots} snapshots are the table as it was", self.table)

    def test_the_table_has_a_column_for_each_mode_and_fits_into_a_screen(self):
        lines = self.table.strip("\n").splitlines()
        self.assertEqual(lines[0].split(), MODES)
        self.assertLessEqual(max(map(len, lines)), 100)
        self.assertLessEqual(len(lines), 22)

    def test_files_have_the_checksums_that_are_beside_them_and_in_the_figures(self):
        for one in self.runs.values():
            for snapshot in one["snapshots"]:
                if snapshot["kind"] == "delta":
                    continue  # has its own inside
                path = pathlib.Path(snapshot["file"])
                crc32 = f"{zlib.crc32(path.read_bytes()):08x}"
                beside = pathlib.Path(f"{path}.crc32").read_text()
                self.assertEqual(snapshot["crc32"], crc32)
                self.assertEqual(beside, f"{crc32}  {path.name}\n")

    def test_all_modes_wrote_the_same_and_training_went_on(self):
        checksums = {mode: [s["crc32"] for s in one["snapshots"]] for mode, one in self.runs.items()}
        for mode in FULL_MODES:
            self.assertEqual(checksums[mode], checksums["eager-fresh"])
        self.assertEqual(checksums["tiles"][0], checksums["eager-fresh"][0])
        self.assertEqual(len(set(checksums["eager-fresh"])), TOKENS // EVERY)

    def test_full_files_are_of_all_tiles_and_their_bytes_are_counted(self):
        for mode in FULL_MODES:
            for snapshot in self.runs[mode]["snapshots"]:
                self.assertEqual(snapshot["kind"], "full")
                self.assertEqual(snapshot["bytes"], pathlib.Path(snapshot["file"]).stat().st_size)
                self.assertEqual(snapshot["tiles"], self.runs[mode]["tiles"])
            self.assertEqual(self.runs[mode]["written_bytes"],
                             sum(s["bytes"] for s in self.runs[mode]["snapshots"]))

    def test_a_file_has_the_header_the_shape_and_the_values_of_a_table(self):
        rows = len((self.output / "words.txt").read_text().splitlines())
        self.assertEqual(self.figures["table"]["rows"], rows)
        path = pathlib.Path(self.runs["lazy"]["snapshots"][-1]["file"])
        shape, values = read_npy(path)
        self.assertEqual(shape, (rows, DIMENSIONS))
        self.assertEqual(len(values), rows * DIMENSIONS)
        self.assertTrue(all(abs(value) < 100 for value in values))
        self.assertTrue(any(value != 0 for value in values[-DIMENSIONS:]))

    def test_tiles_have_the_rows_that_were_asked_for_and_pages_are_of_all(self):
        rows = self.figures["table"]["rows"]
        for mode, one in self.runs.items():
            tile_rows = rows if mode == "pages" else TILE_ROWS
            self.assertEqual(one["tile_rows"], tile_rows)
            self.assertEqual(one["tile_bytes"], 4 * DIMENSIONS * tile_rows)
            self.assertEqual(one["tiles"], -(-rows // tile_rows))

    def test_nothing_unfinished_is_left(self):
        self.assertEqual(list(self.output.rglob("*.part")), [])

    def test_lazy_clones_copy_fewer_bytes_than_eager_ones(self):
        copying = {mode: one["copying"] for mode, one in self.runs.items()}
        if copying["lazy"] is None:
            self.skipTest("byre was built without stats")
        tiles = self.runs["lazy"]
        eager = TOKENS // EVERY * tiles["tiles"] * tiles["tile_bytes"]
        self.assertEqual(copying["eager-fresh"]["bytes_copied"], eager)
        self.assertEqual(copying["eager-recycled"]["bytes_copied"], eager)
        self.assertLess(copying["lazy"]["bytes_copied"], eager)
        self.assertEqual(copying["lazy"]["bytes_copied"] + copying["lazy"]["bytes_elided"], eager)
        for mode in ("pages", "tiles"):
            self.assertLess(copying[mode]["bytes_copied"], eager)
            self.assertEqual(copying[mode]["bytes_copied"] + copying[mode]["bytes_elided"],
                             TOKENS // EVERY * self.figures["table"]["bytes"])
            self.assertEqual(copying[mode]["lazy_clones"], TOKENS // EVERY)

    def test_files_of_an_earlier_run_are_not_overwritten(self):
        again = run(*self.small, "--output", self.output)
        self.assertEqual(again.returncode, 1)
        self.assertIn("not overwritten", again.stderr)


class Choices(WithText):
    def test_json_takes_the_place_of_the_table(self):
        done = run(*self.small, "--json", "--mode", "lazy")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([one["mode"] for one in json.loads(done.stdout)["runs"]], ["lazy"])

    def test_the_seed_decides_what_is_written(self):
        def checksums(seed):
            done = run(*self.small, "--json", "--mode", "eager-recycled", "--seed", seed)
            return [s["crc32"] for s in json.loads(done.stdout)["runs"][0]["snapshots"]]
        self.assertEqual(checksums(1), checksums(1))
        self.assertNotEqual(checksums(1), checksums(2))

    def test_tiles_of_a_tiled_buffer_are_smaller_unless_it_is_said(self):
        done = run("--text", self.text, "--tokens", 3000, "--dimensions", 100, "--json")
        sizes = {one["mode"]: one["tile_bytes"] for one in json.loads(done.stdout)["runs"]}
        for mode, least in (("eager-recycled", 65536), ("lazy", 65536), ("tiles", 16384)):
            self.assertEqual(sizes[mode], -(-least // 400) * 400)

    def test_one_snapshot_may_wait_and_tiles_may_be_small_or_uneven(self):
        for rows in (1, 7, 1000000):
            done = run(*self.small_but(tile_rows=rows, queue=1, mode="lazy"))
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_table_in_pages_is_made_the_trainings_own_page_by_page(self):
        self.text.write_text("one two")
        tokens, row_bytes = 6, 4 * 65536
        done = run(*self.small_but(mode="pages", tokens=tokens, snapshot_every=1, dimensions=65536), "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        one = json.loads(done.stdout)["runs"][0]
        pages = 2 * row_bytes // os.sysconf("SC_PAGESIZE")
        # One event for each snapshot, and after all but the last one for each page.
        self.assertEqual(one["stall"]["events"], tokens + (tokens - 1) * pages)
        if one["copying"] is not None:
            made = one["copying"]["overlays"] + one["copying"]["copies"]
            self.assertGreater(made, 0)
            self.assertLess(made, tokens)
        if sys.platform == "linux":
            self.assertGreaterEqual(one["page_faults"], pages)

    def test_the_temporary_directory_is_removed_unless_it_is_to_be_kept(self):
        temporary = self.scratch / "temporary"
        temporary.mkdir()
        environment = {**os.environ, "TMPDIR": str(temporary)}
        self.assertEqual(run(*self.small, "--mode", "lazy", env=environment).returncode, 0)
        self.assertEqual(list(temporary.iterdir()), [])
        kept = run(*self.small, "--mode", "lazy", "--keep", env=environment)
        self.assertIn(str(temporary), kept.stderr)
        self.assertEqual(len(list(temporary.rglob("*.npy"))), TOKENS // EVERY)

    def test_an_interrupted_run_leaves_nothing(self):
        temporary = self.scratch / "temporary"
        temporary.mkdir()
        running = subprocess.Popen(
            [PROGRAM, *self.small_but(tokens=100000000, snapshot_every=100000000)],
            env={**os.environ, "TMPDIR": str(temporary)}, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        while not list(temporary.iterdir()):
            self.assertIsNone(running.poll())
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 128 + signal.SIGINT)
        self.assertIn("interrupted", said)
        self.assertEqual(list(temporary.iterdir()), [])

    def test_output_that_is_no_terminal_gets_plain_lines(self):
        done = run(*self.small, "--mode", "lazy")
        self.assertNotIn("\r", done.stderr)
        self.assertNotIn("\033", done.stdout + done.stderr)
        self.assertIn("train lazy: 6000 tokens", done.stderr)

    def test_help_names_every_option_and_says_what_a_stall_is(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        for name in ("text", "tokens", "snapshot-every", "dimensions", "tile-rows", "seed", "mode",
                     "queue", "output", "keep", "json", "full-every", "restore"):
            self.assertIn(f"--{name}", done.stdout)
        self.assertIn("A stall is", done.stdout)


class Text(WithText):
    def figures_of(self, path):
        done = run("--text", path, "--tokens", 3000, "--dimensions", 4, "--mode", "lazy", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["text"]

    def test_binary_and_compressed_files_are_passed_over(self):
        directory = self.scratch / "mixed"
        (directory / "below").mkdir(parents=True)
        shutil.copy(self.text, directory / "below" / "some.txt")
        (directory / "a.gz").write_bytes(gzip.compress(b"words " * 100))
        (directory / "b.bin").write_bytes(bytes(range(256)))
        (directory / "c.txt").symlink_to(self.text)
        figures = self.figures_of(directory)
        self.assertEqual((figures["files"], figures["files_not_text"]), (1, 2))

    def test_a_short_text_starts_over(self):
        short = self.scratch / "short"
        short.write_text("one two, Two THREE")
        self.assertEqual(self.figures_of(short)["tokens"], 4)

    def test_a_text_of_one_word_is_a_text(self):
        one = self.scratch / "one"
        one.write_text("word")
        self.assertEqual(self.figures_of(one)["tokens"], 1)


class WrongInput(WithText):
    def test_a_missing_path_is_named(self):
        self.assert_refused(2, "/no/such/text", "--text", "/no/such/text")

    def test_no_text_is_said_to_be_missing(self):
        empty = self.scratch / "empty"
        empty.mkdir()
        self.assert_refused(2, "No text found", "--text", empty)
        (empty / "nothing").touch()
        self.assert_refused(2, "No text found", "--text", empty)
        (empty / "binary").write_bytes(b"\0\1\2")
        self.assert_refused(2, "1 are binary", "--text", empty)

    def test_what_is_no_file_is_not_read(self):
        self.assert_refused(1, "neither a file nor a directory", "--text", "/dev/zero")

    def test_numbers_that_make_no_sense_are_refused(self):
        for option, value in (("tokens", "0"), ("tokens", "-1"), ("tokens", "many"),
                              ("tokens", "99999999999999999999999"), ("dimensions", "0"),
                              ("dimensions", "1e3"), ("dimensions", "4294967297"),
                              ("tile-rows", "0"), ("snapshot-every", "0"), ("full-every", "0"), ("queue", "0"),
                              ("queue", "65"), ("seed", "-1"), ("seed", "")):
            self.assert_refused(2, f"--{option}", f"--text={self.text}", f"--{option}={value}")

    def test_a_run_without_snapshots_is_refused(self):
        self.assert_refused(2, "there would be no snapshot", "--text", self.text, "--tokens", 10,
                            "--snapshot-every", 11)

    def test_a_table_or_snapshots_beyond_the_machine_are_refused_before_training(self):
        many = self.scratch / "many"
        many.write_text(" ".join(f"w{number}" for number in range(2000000)))
        self.assert_refused(2, "Give fewer --dimensions", "--text", many, "--tokens", 2000000,
                            "--dimensions", 65536)
        self.assert_refused(1, "free", "--text", self.text, "--tokens", 1000000000,
                            "--snapshot-every", 1, "--dimensions", 1024)

    def test_unknown_options_modes_and_stray_words_are_refused(self):
        self.assert_refused(2, "--nonsense", "--nonsense")
        self.assert_refused(2, "--token", "--token", "5")
        self.assert_refused(2, "lazily", "--mode", "lazily")
        self.assert_refused(2, "usage", "stray")
        self.assert_refused(2, "one file", "--json", "one", "two")

    def test_output_that_cannot_be_written_is_refused_before_training(self):
        inside_a_file = self.text / "output"
        self.assert_refused(1, str(inside_a_file), *self.small, "--output", inside_a_file)
        self.assert_refused(1, str(self.text), *self.small, "--output", self.text)
        self.assert_refused(1, "figures.json", *self.small, "--json", "/no/such/figures.json")
        self.assert_refused(1, "temporary files", *self.small,
                            env={**os.environ, "TMPDIR": "/no/such/directory"})

    def test_a_full_disk_on_the_writer_thread_ends_the_run(self):
        def limit_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        output = self.scratch / "output"
        self.assert_refused(1, "File too large", *self.small, "--output", output,
                            preexec_fn=limit_files)
        self.assertEqual([path for path in output.rglob("*") if path.is_file()], [])

    def test_a_full_standard_output_is_an_error(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, *self.small, "--mode", "lazy"], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=120)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output", done.stderr)


class ATrace(WithText):
    # The writer may be done with a snapshot before training writes again, but not with each of so many.
    many = {"snapshot_every": EVERY // 10}

    def setUp(self):
        super().setUp()
        self.trace = self.scratch / "trace.json"

    def run_traced(self, mode, **options):
        figures = self.scratch / "figures.json"
        done = run(*self.small_but(mode=mode, trace=self.trace, json=figures, **options))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"The trace is in {self.trace}.", done.stderr)
        self.events = json.loads(self.trace.read_text())["traceEvents"]
        return json.loads(figures.read_text())["runs"][0]["copying"]

    def named(self, phase, name):
        return [event for event in self.events if (event["ph"], event["name"]) == (phase, name)]

    def test_a_trace_has_each_copy_that_was_counted_with_its_lines(self):
        counted = self.run_traced("lazy", **self.many)
        copies = self.named("X", "copy (shared)")
        self.assertEqual(len(copies), counted["copies"])
        self.assertEqual(self.named("C", "bytes copied")[-1]["args"]["bytes"], counted["bytes_copied"])
        for copy in copies:
            self.assertRegex(copy["args"]["written_at"], r"storage_table\.[ch]pp:\d+( \(\d+ times\))?$")
            self.assertRegex(copy["args"]["cloned_at"][0], r"storage_table\.[ch]pp:\d+( \(\d+ times\))?$")

    def test_tiles_and_pages_are_in_a_trace_too(self):
        counted = self.run_traced("tiles", **self.many)
        copies = self.named("X", "copy (shared)")
        self.assertEqual(len(copies), counted["copies"])
        self.assertRegex(copies[0]["args"]["cloned_at"][0], r"tiled_table\.[ch]pp:\d+( \(\d+ times\))?$")
        self.run_traced("pages", dimensions=1024)
        overlays = self.named("X", "overlay (shared)") + self.named("X", "overlay (pending)")
        self.assertEqual(len(overlays), len(self.named("b", "overlay")))
        self.assertEqual(len(overlays), len(self.named("e", "overlay")))

    def test_rows_of_a_trace_are_the_two_threads_and_slices_of_a_row_nest(self):
        self.run_traced("lazy", **self.many)
        rows = {event["tid"]: event["args"]["name"] for event in self.named("M", "thread_name")}
        self.assertEqual(len(rows), 2)
        self.assertEqual(sum(name.startswith("snapshot writer (") for name in rows.values()), 1)
        for row in rows:
            open_until = []
            slices = [(event["ts"], -event["dur"]) for event in self.events
                      if event["ph"] == "X" and event["tid"] == row]
            for begin, minus in sorted(slices):
                while open_until and open_until[-1] <= begin:
                    open_until.pop()
                if open_until:
                    self.assertLessEqual(begin - minus, open_until[-1] + 0.002)
                open_until.append(begin - minus)

    def test_every_arrow_of_a_trace_has_both_ends_in_slices(self):
        self.run_traced("lazy", **self.many)
        slices = {}
        for event in self.events:
            if event["ph"] == "X":
                slices.setdefault(event["tid"], []).append((event["ts"], event["ts"] + event["dur"]))
        starts = {event["id"]: event for event in self.events if event["ph"] == "s"}
        ends = {event["id"]: event for event in self.events if event["ph"] == "f"}
        self.assertGreater(len(starts), 0)
        self.assertEqual(set(starts), set(ends))
        for event in [*starts.values(), *ends.values()]:
            self.assertTrue(any(begin <= event["ts"] < end for begin, end in slices[event["tid"]]), event)

    def test_a_trace_that_cannot_be_written_is_refused_before_training(self):
        done = run(*self.small_but(trace=self.scratch / "none" / "trace.json"))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("none/trace.json", done.stderr)
        done = run("--restore", self.text, "--output", self.scratch, "--trace", self.trace)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--trace records training", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
