# SPDX-License-Identifier: BSL-1.0
"""Draws what report.py measured, with gnuplot, both axes logarithmic, the median over the rounds with its
quartiles: time per operation over size, and what the functionalize pass costs over how much there is of
it."""

import math
import shutil
import subprocess

from measures import RAW_COPIES, SIZES

NBYTES = {"64B": 64, "4KiB": 4 << 10, "256KiB": 256 << 10, "16MiB": 16 << 20, "256MiB": 256 << 20}

# Contender: title in the legend, colour, point.
LOOKS = {
    "byre": ("byre", "#0072b2", 7),
    "shared_ptr": ("std::shared\\\\_ptr", "#d55e00", 5),
    "eager": ("eager copy", "#e69f00", 9),
    "copy_first": ("copy-first", "#cc79a7", 11),
    "floor": ("floor: two atomic steps", "#000000", 1),
    "memcpy_warm": ("floor: memcpy, warm", "#000000", 1),
    "raw_best": ("floor: best raw copy", "#000000", 1),
}

PANELS = [
    ("Lazy clone + drop", "clone_drop", "recycled",
     ["floor", "byre", "shared_ptr", "eager"]),
    ("Write when shared, recycled memory", "write_shared", "recycled",
     ["memcpy_warm", "byre", "shared_ptr"]),
    ("Write when shared, fresh memory", "write_shared", "fresh",
     ["raw_best", "byre", "shared_ptr"]),
    ("Two writers at once, recycled memory", "writers_2", "recycled",
     ["byre", "copy_first", "shared_ptr"]),
]

HEAD = """
set terminal svg size 1200,900 font "sans,13" background "#ffffff"
set output "{output}"
set logscale xy
set xrange [32:1e9]
set xtics ("64 B" 64, "4 KiB" 4096, "256 KiB" 262144, "16 MiB" 16777216, "256 MiB" 268435456)
set ytics ("1 ns" 1, "10 ns" 10, "100 ns" 100, "1 µs" 1e3, "10 µs" 1e4, "100 µs" 1e5, \\
           "1 ms" 1e6, "10 ms" 1e7, "100 ms" 1e8, "1 s" 1e9)
set xlabel "size of the buffer"
set ylabel "time per operation"
set grid xtics ytics lc rgb "#dddddd"
set key top left reverse Left samplen 2 font ",11"
set multiplot layout 2,2 title "byre: copy-on-write against what else one would write\\n\
{{/*0.8 median and quartiles of {rounds} rounds}}"
"""


def rows_of(figures, operation, contender, memory):
    for size in SIZES:
        if contender == "raw_best":
            name = figures.best([f"{operation}/{way}/{size}/{memory}" for way in RAW_COPIES],
                                "ns")
        else:
            name = f"{operation}/{contender}/{size}/{memory}"
        spread = figures.spread(name) if name else None
        if spread and spread[1] > 0:
            low, median, high = spread
            yield f"{NBYTES[size]} {median} {low} {high}"


def script(figures, output, rounds):
    blocks, panels = [], []
    for number, (title, operation, memory, contenders) in enumerate(PANELS):
        plots = []
        for contender in contenders:
            rows = list(rows_of(figures, operation, contender, memory))
            if not rows:
                continue
            block = f"$panel{number}_{contender}"
            blocks.append("\n".join([f"{block} << EOD", *rows, "EOD"]))
            name, colour, point = LOOKS[contender]
            style = f'lc rgb "{colour}" pt {point} ps 0.8'
            dash = "dt 2" if "floor" in name else "dt 1"
            plots.append(f'{block} using 1:2 with lines {dash} lw 1.5 lc rgb "{colour}" notitle')
            plots.append(f'{block} using 1:2:3:4 with yerrorbars lw 1.2 {style} title "{name}"')
        if plots:
            panels.append(f'set title "{title}"\nplot ' + ", \\\n     ".join(plots))
    if not panels:
        return None
    return "\n".join([*blocks, HEAD.format(output=output, rounds=rounds), *panels,
                      "unset multiplot", ""])


# Title, what is counted, the axis, the benchmarks' names before the count, their counter.
COUNTED_PANELS = [
    ("Memory kept of updates that nobody uses", "updates", "bytes", "functional_updates_",
     "bytes_kept", ["queue", "plain", "chains", "strides"]),
    ("Write to the base, then use of a view", "depth of the view", "ns", "functional_use_", "use_ns",
     ["chains", "strides"]),
    ("Write to the base, then use of all views of a chain", "views", "ns per view",
     "functional_use_all_", "ns", ["chains", "strides"]),
    ("Write of one of the parts of an unbind", "parts", "ns per part", "functional_unbind_", "ns",
     ["plain", "chains", "strides"]),
]

COUNTED_LOOKS = {
    "queue": ("a queue of all updates", "#d55e00", 5),
    "plain": ("without the pass", "#000000", 1),
    "chains": ("the pass, by chains", "#0072b2", 7),
    "strides": ("the pass, by strides", "#56b4e9", 6),
}

COUNTED_HEAD = """
set terminal svg size 1200,900 font "sans,13" background "#ffffff"
set output "{output}"
set logscale xy
set grid xtics ytics lc rgb "#dddddd"
set key top left reverse Left samplen 2 font ",11"
set multiplot layout 2,2 title "byre: what the functionalize pass costs\\n\
{{/*0.8 median and quartiles of {rounds} rounds}}"
"""


def script_of_counts(figures, output, rounds):
    blocks, panels = [], []
    for number, (title, counted, axis, stem, counter, contenders) in enumerate(COUNTED_PANELS):
        plots = []
        for contender in contenders:
            rows = []
            for count in [1, 64, 100, 1000, 1024, 4096, 10000, 100000]:
                spread = figures.spread(f"{stem}{count}/{contender}/64B/recycled", counter)
                if spread and spread[1] > 0:
                    rows.append(f"{count} {spread[1]} {spread[0]} {spread[2]}")
            if not rows:
                continue
            block = f"$counted{number}_{contender}"
            blocks.append("\n".join([f"{block} << EOD", *rows, "EOD"]))
            name, colour, point = COUNTED_LOOKS[contender]
            style = f'lc rgb "{colour}" pt {point} ps 0.8'
            plots.append(f'{block} using 1:2 with lines lw 1.5 lc rgb "{colour}" notitle')
            plots.append(f'{block} using 1:2:3:4 with yerrorbars lw 1.2 {style} title "{name}"')
        if plots:
            panels.append(f'set title "{title}"\nset xlabel "{counted}"\nset ylabel "{axis}"\nplot '
                          + ", \\\n     ".join(plots))
    if not panels:
        return None
    return "\n".join([*blocks, COUNTED_HEAD.format(output=output, rounds=rounds), *panels,
                      "unset multiplot", ""])


PAGES = 65536
PAGES_HEAD = """
set terminal svg size 800,560 font "sans,13" background "#ffffff"
set output "{output}"
set logscale xy
set xrange [1e-3:130]
set xlabel "part of all pages that is written, %"
set ylabel "clone, write and drop, ms"
set grid xtics ytics lc rgb "#dddddd"
set key top left reverse Left samplen 2 font ",11"
set title "byre: 256 MiB, shared, of which a part is written\\n\
{{/*0.8 median and quartiles of {rounds} rounds}}"
"""
PAGES_LOOKS = {"paged": ("in pages", "#0072b2", 7), "tiles": ("in tiles of 64 KiB", "#009e73", 9),
               "byre": ("in ordinary memory", "#d55e00", 5)}


def break_even(medians, contender):
    """The number of pages from which on a copy of all costs less; medians by contender and count. None if
    it is not between two that were measured."""
    counts = sorted(set(medians[contender]) & set(medians["byre"]))
    over = [(count, medians[contender][count] / medians["byre"][count]) for count in counts]
    for (less, low), (more, high) in zip(over, over[1:]):
        if low < 1 <= high:  # on the line between them, both axes logarithmic
            return less * (more / less) ** (math.log(1 / low) / math.log(high / low))
    return None


def script_of_pages(figures, output, rounds):
    blocks, plots, medians = [], [], {}
    for contender, (name, colour, point) in PAGES_LOOKS.items():
        spreads = {count: figures.spread(f"pages_{count}/{contender}/256MiB/recycled")
                   for count in [1, 16, 256, 4096, 16384, PAGES]}
        spreads = {count: spread for count, spread in spreads.items() if spread}
        medians[contender] = {count: spread[1] for count, spread in spreads.items()}
        if not spreads:
            continue
        rows = [f"{count / PAGES * 100} {median / 1e6} {low / 1e6} {high / 1e6}"
                for count, (low, median, high) in spreads.items()]
        blocks.append("\n".join([f"$pages_{contender} << EOD", *rows, "EOD"]))
        plots.append(f'$pages_{contender} using 1:2 with lines lw 1.5 lc rgb "{colour}" notitle')
        plots.append(f'$pages_{contender} using 1:2:3:4 with yerrorbars lw 1.2 lc rgb "{colour}" '
                     f'pt {point} ps 0.8 title "{name}"')
    if not plots:
        return None
    lines = []
    for height, contender in [(0.1, "paged"), (0.2, "tiles")]:
        if (pages := break_even(medians, contender)) is not None:
            part = pages / PAGES * 100
            name = PAGES_LOOKS[contender][0]
            lines += [f"set arrow from {part}, graph 0 to {part}, graph 1 nohead dt 2",
                      f'set label "break-even {name}: {part:.2g} %" right at {part}, graph {height} offset -1,0']
    return "\n".join([*blocks, PAGES_HEAD.format(output=output, rounds=rounds), *lines,
                      "plot " + ", \\\n     ".join(plots), ""])


def draw_pages(figures, output, rounds):
    """What a write to a part of large shared data costs, with the break-even."""
    return run_gnuplot(script_of_pages(figures, output, rounds))


def draw(figures, output, rounds):
    """Writes the SVG of operations over sizes. Returns what stood in the way, or None."""
    return run_gnuplot(script(figures, output, rounds))


def draw_counts(figures, output, rounds):
    """The same of the functionalize pass, over counts."""
    return run_gnuplot(script_of_counts(figures, output, rounds))


def run_gnuplot(text):
    if text is None:
        return "there is nothing to draw"
    gnuplot = shutil.which("gnuplot")
    if gnuplot is None:
        return "gnuplot is missing (Debian: apt-get install gnuplot-nox)"
    run = subprocess.run([gnuplot], input=text, text=True, capture_output=True, check=False)
    return None if run.returncode == 0 else f"gnuplot failed: {run.stderr.strip()}"
