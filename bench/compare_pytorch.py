#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compares the speed of byre's element-wise operations and sums with PyTorch's.

Each library uses one thread, and both run alternately. A time is the median over the rounds. A ratio is byre's time
divided by PyTorch's within a round; the table shows its median and its middle half. The script first checks that both
libraries compute equal results."""
import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

try:
    import torch
except ImportError:
    torch = None

SIDE = 2048
# Operation, dtype, rows, columns, and the largest allowed ratio, or None if the ratio is only shown.
MEASURES = [
    *(("transposed_contiguous", dtype, SIDE, SIDE, 1.2) for dtype in ("f32", "f64", "f16", "u8")),
    *(("transposed_copy", dtype, SIDE, SIDE, 1.2) for dtype in ("f32", "f64", "f16", "u8")),
    ("transposed_copy", "f32", SIDE - 1, SIDE + 1, 1.2),
    ("transposed_to_f32", "f64", SIDE, SIDE, 1.2),
    ("transposed_to_f32", "i32", SIDE, SIDE, 1.2),
    *(("add_number_in_place", dtype, rows, columns, 1.3)
      for dtype in ("f32", "f64", "i64") for rows, columns in ((1, 1 << 16), (SIDE, SIDE))),
    ("add_row_in_place", "f32", SIDE, SIDE, None),
    ("add", "f32", SIDE, SIDE, None),
    ("add_transposed", "f32", SIDE, SIDE, None),
    *(("sum", dtype, rows, columns, 1.3)
      for dtype in ("f32", "f64", "i64") for rows, columns in ((1, 1 << 16), (SIDE, SIDE))),
    ("sum_of_rows", "f32", SIDE, SIDE, None),
    ("sum_of_columns", "f32", SIDE, SIDE, None),
    ("sum_of_columns", "f32", 4, SIDE * SIDE // 4, None),
    *(("exp", dtype, rows, columns, 1.3)
      for dtype in ("f32", "f64") for rows, columns in ((1, 1 << 16), (SIDE, SIDE))),
]


class PyTorch:
    """PyTorch's versions of the operations of byre-compare-pytorch."""

    def __init__(self, operation, dtype, rows, columns):
        dtypes = {"u8": torch.uint8, "i32": torch.int32, "i64": torch.int64, "f16": torch.float16,
                  "f32": torch.float32, "f64": torch.float64}
        a = self.operand(dtypes[dtype], rows, columns)
        to = self.operand(torch.float32 if operation == "transposed_to_f32" else dtypes[dtype], columns, rows)
        self.run_once = {
            "transposed_contiguous": lambda: a.t().contiguous(),
            "transposed_copy": lambda: to.copy_(a.t()),
            "transposed_to_f32": lambda: to.copy_(a.t()),
            "add_number_in_place": lambda: a.add_(0),
            "add_row_in_place": lambda: a.add_(to.view(-1)[:columns]),
            "add": lambda: torch.add(a, a),
            "add_transposed": lambda: torch.add(a.t(), to),
            "sum": a.sum,
            "sum_of_columns": lambda: a.sum(0),
            "sum_of_rows": lambda: a.sum(1),
            "exp": a.exp,
        }[operation]

    @staticmethod
    def operand(dtype, rows, columns):
        numbers = torch.arange(rows * columns).remainder(100).to(torch.float32) / 8
        return numbers.to(dtype).view(rows, columns)

    def check(self):
        return self.run_once().to(torch.float64).sum().item()

    def run(self, times):
        result = None  # released after the next result exists, as in byre's program
        start = time.perf_counter_ns()
        for _ in range(times):
            result = self.run_once()
        taken = time.perf_counter_ns() - start
        del result
        return taken / times


class Byre:
    """A running byre-compare-pytorch."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        try:
            print(line, file=self.process.stdin, flush=True)
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            sys.exit(f"compare_pytorch.py: byre's program ended at the command '{line}'. See its message above.")
        return answer.strip()

    def run(self, times):
        return float(self.ask(f"run {times}"))


def measure(byre, measured, rounds):
    operation, dtype, rows, columns, bound = measured
    name = f"{operation} {dtype} {rows}x{columns}"
    pytorch = PyTorch(operation, dtype, rows, columns)
    byre.ask(f"set {operation} {dtype} {rows} {columns}")
    ours, theirs = float(byre.ask("check")), pytorch.check()
    if abs(ours - theirs) > 1e-5 * max(abs(theirs), 1.0):
        sys.exit(f"compare_pytorch.py: {name}: results differ: the sum of the elements is {ours} in byre and "
                 f"{theirs} in PyTorch, so the times are not comparable.")
    # A run takes about two milliseconds, so that the clock and the Python loop do not matter.
    times = max(1, round(2e6 / min(byre.run(3), pytorch.run(3))))
    pairs = []
    for number in range(rounds):
        turns = [byre, pytorch] if number % 2 == 0 else [pytorch, byre]
        taken = {turn: turn.run(times) for turn in turns}
        pairs.append((taken[byre], taken[pytorch]))
    ratios = [ours / theirs for ours, theirs in pairs]
    low, ratio, high = statistics.quantiles(ratios, n=4) if rounds > 1 else ratios * 3
    return {"name": name, "byre_us": statistics.median(pair[0] for pair in pairs) / 1e3,
            "pytorch_us": statistics.median(pair[1] for pair in pairs) / 1e3,
            "ratio": ratio, "ratio_low": low, "ratio_high": high, "bound": bound}


def report(row):
    held = "" if row["bound"] is None else f"{row['bound']:.1f}" + (" missed" if row["ratio"] > row["bound"] else "")
    spread = f"{row['ratio_low']:.2f}-{row['ratio_high']:.2f}"
    print(f"{row['name']:<40}{row['byre_us']:>11.1f}{row['pytorch_us']:>11.1f}{row['ratio']:>7.2f}  "
          f"{spread:<12}{held}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="The exit status is 1 if a measurement fails or a ratio is too large.")
    parser.add_argument("program", nargs="?", default="build/bench/byre-compare-pytorch",
                        help="the program byre-compare-pytorch (default: %(default)s)")
    parser.add_argument("--filter", default="", metavar="TEXT", help="run only measures whose names contain TEXT")
    parser.add_argument("--rounds", type=int, default=15, metavar="N",
                        help="number of rounds, at least 1 (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds must be at least 1, not {options.rounds}")
    if torch is None:
        sys.exit(f"compare_pytorch.py: {sys.executable} cannot import PyTorch. Install it (Debian: apt-get install "
                 "python3-torch), or use a Python that has it.")
    if not Path(options.program).is_file():
        sys.exit(f"compare_pytorch.py: {options.program} not found. Build it: ./dev build bench/byre-compare-pytorch")
    selected = [each for each in MEASURES
                if options.filter in f"{each[0]} {each[1]} {each[2]}x{each[3]}"]
    if not selected:
        sys.exit(f"compare_pytorch.py: no measure contains '{options.filter}' in its name. Change --filter.")
    torch.set_num_threads(1)
    byre = Byre(options.program)
    print(f"PyTorch {torch.__version__}, one thread each, medians of {options.rounds} rounds")
    print(f"{'':<40}{'byre us':>11}{'PyTorch us':>11}{'ratio':>7}  {'middle half':<12}at most")
    rows = []
    for each in selected:
        rows.append(measure(byre, each, options.rounds))
        report(rows[-1])
    if options.json:
        Path(options.json).write_text(json.dumps({"pytorch": torch.__version__, "rounds": options.rounds,
                                                  "measures": rows}, indent=1) + "\n")
    sys.exit(any(row["bound"] is not None and row["ratio"] > row["bound"] for row in rows))


main()
