# SPDX-License-Identifier: BSL-1.0
"""Draws a summary with gnuplot: medians over the rounds with their quartiles, on logarithmic axes."""

import math
import shutil
import subprocess
from typing import NamedTuple

from measures import RAW_COPIES, SIZES

# Contender: title in the legend, color, point type.
STYLES = {
    "byre": ("byre", "#0072b2", 7),
    "shared_ptr": ("std::shared\\\\_ptr", "#d55e00", 5),
    "eager": ("eager copy", "#e69f00", 9),
    "copy_first": ("copy-first", "#cc79a7", 11),
    "floor": ("floor: two atomic steps", "#000000", 1),
    "memcpy_warm": ("floor: memcpy, warm", "#000000", 1),
    "raw_best": ("floor: best raw copy", "#000000", 1),
    "queue": ("a queue of all updates", "#d55e00", 5),
    "plain": ("without the pass", "#000000", 1),
    "chains": ("the pass, by chains", "#0072b2", 7),
    "strides": ("the pass, by strides", "#56b4e9", 6),
    "paged": ("in pages", "#0072b2", 7),
    "tiles": ("in tiles of 64 KiB", "#009e73", 9),
    "ordinary": ("in ordinary memory", "#d55e00", 5),
}
# Contenders whose benchmarks have other names. If there are several, the one with the smallest median is drawn.
BENCHMARKS_OF = {"raw_best": RAW_COPIES, "ordinary": ["byre"]}

TIMES = """set ytics ("1 ns" 1, "10 ns" 10, "100 ns" 100, "1 µs" 1e3, "10 µs" 1e4, "100 µs" 1e5, \\
           "1 ms" 1e6, "10 ms" 1e7, "100 ms" 1e8, "1 s" 1e9)
"""
SIZE_AXES = TIMES + """set xrange [32:1e9]
set xtics ("64 B" 64, "4 KiB" 4096, "256 KiB" 262144, "16 MiB" 16777216, "256 MiB" 268435456)
set xlabel "size of the buffer"
set ylabel "time per operation"
"""
PART_AXES = TIMES + """set xrange [1e-3:130]
set xlabel "part of all pages that is written, %"
set ylabel "time of a clone, the writes and the drop"
"""
COUNT_AXES = 'set xlabel "{}"\nset ylabel "{}"\n'

# Maps each x to the part of a benchmark's name that denotes it.
AT_SIZES = dict(zip([64, 4 << 10, 256 << 10, 16 << 20, 256 << 20], SIZES))
AT_COUNTS = {count: count for count in [1, 64, 100, 1000, 1024, 4096, 10000, 100000]}
AT_PARTS = {pages / 65536 * 100: pages for pages in [1, 16, 256, 4096, 16384, 65536]}


class Panel(NamedTuple):
    title: str
    axes: str
    xs: dict
    name: str  # format of a benchmark's name: {0} is the contender, {1} the part of the name for x
    contenders: list
    counter: str = "ns"
    marks_break_even: bool = False  # marks where each contender's cost reaches the cost of the last contender


PICTURES = {
    "operations": ("1200,900", "copy-on-write compared with hand-written alternatives", [
        Panel("Lazy clone + drop", SIZE_AXES, AT_SIZES, "clone_drop/{}/{}/recycled",
              ["floor", "byre", "shared_ptr", "eager"]),
        Panel("Write when shared, recycled memory", SIZE_AXES, AT_SIZES, "write_shared/{}/{}/recycled",
              ["memcpy_warm", "byre", "shared_ptr"]),
        Panel("Write when shared, fresh memory", SIZE_AXES, AT_SIZES, "write_shared/{}/{}/fresh",
              ["raw_best", "byre", "shared_ptr"]),
        Panel("Two writers at once, recycled memory", SIZE_AXES, AT_SIZES, "writers_2/{}/{}/recycled",
              ["byre", "copy_first", "shared_ptr"])]),
    "functionalize": ("1200,900", "cost of the functionalize pass", [
        Panel("Memory of unused updates", COUNT_AXES.format("updates", "bytes"), AT_COUNTS,
              "functional_updates_{1}/{0}/64B/recycled", ["queue", "plain", "chains", "strides"], "bytes"),
        Panel("Write to the base, then use of a view", COUNT_AXES.format("depth of the view", "ns"), AT_COUNTS,
              "functional_use_{1}/{0}/64B/recycled", ["chains", "strides"]),
        Panel("Write to the base, then use of all views of a chain", COUNT_AXES.format("views", "ns per view"),
              AT_COUNTS, "functional_use_all_{1}/{0}/64B/recycled", ["chains", "strides"]),
        Panel("Write to one output of an unbind", COUNT_AXES.format("parts", "ns per part"), AT_COUNTS,
              "functional_unbind_{1}/{0}/64B/recycled", ["plain", "chains", "strides"])]),
    "pages": ("800,560", "a partial write to 256 MiB of shared data", [
        Panel("", PART_AXES, AT_PARTS, "pages_{1}/{0}/256MiB/recycled", ["paged", "tiles", "ordinary"],
              marks_break_even=True)]),
}


def spreads(figures, panel, contender):
    """Maps each x at which the contender was measured to its lower quartile, median and upper quartile."""
    names = BENCHMARKS_OF.get(contender, [contender])
    found = {x: figures.best([panel.name.format(name, at) for name in names], panel.counter)
             for x, at in panel.xs.items()}
    return {x: spread for x, spread in found.items() if spread and spread[1] > 0}


def break_even(rows, others):
    """The x beyond which `others` cost less than `rows`, or None if that x is not between two measured x."""
    over = [(x, rows[x][1] / others[x][1]) for x in sorted(rows.keys() & others.keys())]
    for (less, low), (more, high) in zip(over, over[1:]):
        if low < 1 <= high:  # interpolates on logarithmic axes
            return less * (more / less) ** (math.log(1 / low) / math.log(high / low))
    return None


def plotted(figures, panel):
    """The data and the gnuplot commands of a panel, or an empty list if nothing was measured."""
    lines = {contender: spreads(figures, panel, contender) for contender in panel.contenders}
    data, plots, marks = [], [], f'set title "{panel.title}"\n' if panel.title else ""
    for number, (contender, rows) in enumerate(lines.items()):
        legend, colour, point = STYLES[contender]
        if rows:
            name, dash = f"${contender}", "dt 2" if "floor" in legend else "dt 1"
            rows_text = [f"{x} {median} {low} {high}" for x, (low, median, high) in rows.items()]
            data += [f"{name} << EOD", *rows_text, "EOD"]
            plots.append(f'{name} using 1:2 with lines {dash} lw 1.5 lc rgb "{colour}" notitle')
            plots.append(f'{name} using 1:2:3:4 with yerrorbars lw 1.2 lc rgb "{colour}" pt {point} ps 0.8 '
                         f'title "{legend}"')
        if panel.marks_break_even and (x := break_even(rows, lines[panel.contenders[-1]])) is not None:
            place = f"{x}, graph {0.1 + number / 10} offset -1,0"
            marks += (f"set arrow from {x}, graph 0 to {x}, graph 1 nohead dt 2\n"
                      f'set label "break-even {legend}: {x:.2g} %" right at {place}\n')
    return [*data, panel.axes + marks + "plot " + ", \\\n     ".join(plots)] if plots else []


def draw(name, figures, output):
    """Writes a picture. Returns None, or the reason for a failure."""
    size, title, panels = PICTURES[name]
    commands = [line for panel in panels for line in plotted(figures, panel)]
    if not commands:
        return "there is nothing to draw"
    gnuplot = shutil.which("gnuplot")
    if gnuplot is None:
        return "gnuplot is missing (Debian: apt-get install gnuplot-nox)"
    head = (f'set terminal svg size {size} font "sans,13" background "#ffffff"\nset output "{output}"\n'
            'set logscale xy\nset grid xtics ytics lc rgb "#dddddd"\n'
            'set key top left reverse Left samplen 2 font ",11"\n'
            f'set {"multiplot layout 2,2" if panels[1:] else ""} title "byre: {title}\\n'
            f'{{/*0.8 median and quartiles of {figures.about["rounds"]} rounds}}"')
    run = subprocess.run([gnuplot], input="\n".join([head, *commands, ""]), text=True, capture_output=True, check=False)
    return None if run.returncode == 0 else f"gnuplot failed: {run.stderr.strip()}"
