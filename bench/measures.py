# SPDX-License-Identifier: BSL-1.0
"""What report.py compares: which figure over which, and the bound to reach.

A figure is found by its benchmark, operation/contender/size/memory, and one of its counters. Where a
measure is over several benchmarks, the one with the least median counts.
"""

import operator
import statistics
from collections import namedtuple

Measure = namedtuple("Measure", "title over under bound counter unit")
Result = namedtuple("Result", "title unit median low high least most rounds bound reached disturbed "
                    "over under")

SMALL = ["64B", "4KiB"]
LARGE = ["16MiB", "256MiB"]
SIZES = ["64B", "4KiB", "256KiB", "16MiB", "256MiB"]
RAW_COPIES = ["raw_small", "raw_small_populated", "raw_huge", "raw_huge_populated",
              "raw_huge_stepwise", "raw_huge_upwards"]


def ratio(title, operation, size, memory, over, under, bound=None, counter="ns"):
    unders = [under] if isinstance(under, str) else under
    return Measure(f"{title}, {size}", f"{operation}/{over}/{size}/{memory}",
                   [f"{operation}/{name}/{size}/{memory}" for name in unders], bound, counter,
                   "ratio")


def difference(title, operation, size, over, under, bound=None):
    """In nanoseconds."""
    return Measure(f"{title}, {size}", f"{operation}/{over}/{size}/recycled",
                   [f"{operation}/{under}/{size}/recycled"], bound, "ns", "ns")


def access():
    for size in ["64B", "4KiB", "256KiB"]:
        yield ratio("read access / raw pointer", "read", size, "recycled", "byre", "raw", 1.25)
    for size in ["64B", "4KiB", "256KiB"]:
        yield ratio("write access when alone / raw pointer", "write_alone", size, "recycled",
                    "byre", "raw", 1.3)
    for size in SMALL:
        # docs/costs.md says why it costs that.
        yield ratio("write access when alone / count checked by hand", "write_alone", size,
                    "recycled", "byre", "floor", 1.05)
        yield ratio("raw pointer and two additions / raw pointer", "write_alone", size,
                    "recycled", "raw_adds", "raw")
    for size in SMALL:
        # No dearer: equal, as far as the clock tells.
        yield ratio("steal / write access when alone", "steal", size, "recycled", "byre",
                    "byre_alone", 1.05)
        yield ratio("steal / raw pointer", "steal", size, "recycled", "byre", "raw")


def clones():
    for size in SIZES:
        yield ratio("lazy clone + drop / floor", "clone_drop", size, "recycled", "byre", "floor",
                    1.35)
    for size in SIZES:
        yield ratio("lazy clone + drop / shared_ptr", "clone_drop", size, "recycled", "byre",
                    "shared_ptr", 0.8)
    for size in SIZES:
        yield ratio("lazy clone + drop / eager", "clone_drop", size, "recycled", "byre", "eager")


def allocations():
    for size in SIZES:
        yield ratio("allocate + drop of an idle block / malloc + free", "allocate_drop", size,
                    "recycled", "byre", "malloc")


def writes():
    for size, bound in [("64B", 1.0), ("4KiB", 1.15)]:
        yield ratio("write when shared / shared_ptr", "write_shared", size, "recycled", "byre",
                    "shared_ptr", bound)
    for size in SMALL:
        yield ratio("clone + write / shared_ptr", "clone_write", size, "recycled", "byre",
                    "shared_ptr", 1.05)
    for size in SMALL:
        yield ratio("clone + write / eager", "clone_write", size, "recycled", "byre", "eager")
    for size in ["256KiB"] + LARGE:
        yield ratio("write when shared / warm memcpy, recycled", "write_shared", size, "recycled",
                    "byre", "memcpy_warm", 1.05 if size in LARGE else None)
    for size in ["256KiB"] + LARGE:
        yield ratio("write when shared / best raw copy, fresh", "write_shared", size, "fresh",
                    "byre", RAW_COPIES, 1.1 if size in LARGE else None)


def writers():
    for memory in ["recycled", "fresh"]:
        for size in ["256KiB"] + LARGE:
            yield ratio(f"two writers at once / copy-first, {memory}", "writers_2", size, memory,
                        "byre", "copy_first", 0.7 if size in LARGE else None)
    for memory in ["recycled", "fresh"]:
        for size in LARGE:
            yield ratio(f"two writers at once / copy-first, {memory}, processor time", "writers_2",
                        size, memory, "byre", "copy_first", counter="cpu_ns")
    for size in SMALL:
        yield ratio("two writers at once / copy-first", "writers_2", size, "recycled", "byre",
                    "copy_first")
    for size in ["64B", "16MiB"]:
        yield ratio("eight writers at once / copy-first", "writers_8", size, "recycled", "byre",
                    "copy_first")


def tensors():
    # The bound is over an object of three words and a count of its own, which handles share as they
    # share a tensor, made of malloc's memory. Of the same three words on the stack there is no bound.
    yield ratio("view + drop / three words, two counts", "tensor_view", "64B", "recycled", "byre",
                "three_words", 1.0)
    yield ratio("view + drop / the same by value", "tensor_view", "64B", "recycled", "byre",
                "by_value")
    yield ratio("view + drop / floor", "tensor_view", "64B", "recycled", "byre", "floor")
    for size in SIZES:
        # No dearer: equal, as far as the clock tells.
        yield ratio("reshape / view + lazy clone", "tensor_reshape", size, "recycled", "byre",
                    "view_and_clone", 1.05)
    for operation, title in [("tensor_add", "add, new result"),
                             ("tensor_add_in_place", "add in place")]:
        for size in ["4KiB", "256KiB", "16MiB"]:
            # 0.9 of the loop's speed.
            yield ratio(f"{title} / loop by hand", operation, size, "recycled", "byre", "loop",
                        1.11 if size == "16MiB" else None)


def tracked():
    for operation, title in [("tensor_read", "read"), ("tensor_write", "write")]:
        # Nothing: as much as the clock tells apart.
        yield difference(f"{title} in copy mode - untracked", operation, "64B", "copy", "plain", 0.3)
        yield difference(f"{title} in warn mode, not reshaped - untracked", operation, "64B", "warn",
                         "plain", 1.0)
        yield difference(f"{title} of a reshaped tensor, tracked - untracked", operation, "64B",
                         "tracked", "plain")
    yield difference("write of one element, tracked, each at another line - at one line",
                     "tensor_set", "64B", "tracked_lines", "tracked")


def loops():
    # A mutex of the storage's own is one address less to look up.
    for size in ["64B", "256KiB"]:
        yield ratio("ask in a loop, alone / mutex + materialize", "loop_asks_1", size, "recycled", "byre",
                    "mutex", 2.5)
    for operation, title in [("loop_asks_2", "ask in a loop of two threads"),
                             ("loop_copies_2", "a loop of two threads that copies")]:
        for size in ["64B", "256KiB"]:
            yield ratio(f"{title} / mutex + materialize", operation, size, "recycled", "byre", "mutex")


def of_two(title, over, under, bound=None, counter="ns"):
    """Of two operations: what one costs by its number, say, over another number."""
    return Measure(title, f"{over}/64B/recycled", [f"{under}/64B/recycled"], bound, counter, "ratio")


def series(title, over, counter="ns"):
    """One of several figures, in nanoseconds, that are to be seen together."""
    return Measure(title, f"{over}/64B/recycled", [], None, counter, "ns")


def functional():
    for paths in ["chains", "strides"]:
        yield ratio(f"row += 1 by {paths} / without the pass", "functional_add_row", "4KiB",
                    "recycled", paths, "plain")
        yield of_two(f"write of 64 parts by {paths} / without the pass, per part",
                     f"functional_unbind_64/{paths}", "functional_unbind_64/plain")
        yield of_two(f"memory kept of updates without a use by {paths} / queue",
                     f"functional_updates/{paths}", "functional_updates/queue", 0.1, "bytes_kept")
        yield ratio(f"one element of an input written by {paths} / without the pass",
                    "functional_write_element", "16MiB", "recycled", paths, "plain")
    for count in [1024, 4096]:
        # Linear: as much per view, and per part, as far as caches let it.
        yield of_two(f"use of a view of depth {count} / 64, per view",
                     f"functional_use_{count}/chains", "functional_use_64/chains", 1.5)
        yield of_two(f"use of all {count} views of a chain / of 64, per view",
                     f"functional_use_all_{count}/chains", "functional_use_all_64/chains", 1.5)
        for paths in ["chains", "strides"]:
            yield of_two(f"write of {count} parts by {paths} / 64, per part",
                         f"functional_unbind_{count}/{paths}", f"functional_unbind_64/{paths}", 1.5)
    for count in [1, 64, 1024, 4096]:
        for paths in ["chains", "strides"]:
            yield series(f"write and use of a view of depth {count} by {paths}",
                         f"functional_use_{count}/{paths}", "use_ns")
            yield series(f"use of all {count} views of a chain by {paths}, per view",
                         f"functional_use_all_{count}/{paths}")
    for count in [1, 64, 1024, 4096]:
        for paths in ["chains", "strides", "plain"]:
            how = "without the pass" if paths == "plain" else f"by {paths}"
            yield series(f"write of {count} parts {how}, per part",
                         f"functional_unbind_{count}/{paths}")
    # By strides a view is as near as any other.
    yield of_two("use of a view of depth 64, by strides / chains", "functional_use_64/strides",
                 "functional_use_64/chains")


def of_pages(title, operation, contender, bound=None):
    """Of 256 MiB in pages, in nanoseconds."""
    return Measure(title, f"{operation}/{contender}/256MiB/recycled", [], bound, "ns", "ns")


def pages():
    for count, bound in [(1, 40e3), (16, 100e3), (256, 1.3e6), (4096, None), (16384, None),
                         (65536, None)]:
        for contender, where in [("paged", "in pages"), ("tiles", "in tiles"), ("byre", "in ordinary memory")]:
            yield of_pages(f"clone, write of {count} pages and drop, {where}", f"pages_{count}", contender,
                           bound if contender == "paged" else None)
    yield ratio("stream of reads, an overlay / ordinary memory", "pages_stream", "256MiB", "recycled",
                "paged", "byre", 1.05)
    for count in (1, 256, 4096):
        yield ratio(f"writable clone and write of {count} pages, in pages / ordinary memory",
                    f"pages_writable_{count}", "256MiB", "recycled", "paged", "byre")
    yield ratio("16 pages between snapshots, pages / ordinary memory", "pages_snapshots", "256MiB",
                "recycled", "paged", "byre")
    for count in [1, 2]:
        yield of_pages(f"{count} threads at once, 16 pages each", f"pages_threads_{count}", "paged")
    for count in [0, 1000, 20000]:
        yield of_pages(f"16 pages, among {count} overlays", f"pages_among_{count}", "paged")
    yield of_pages("16 pages, beside a thread that reads", "pages_beside", "paged")
    yield ratio("reads of other memory, beside 16 pages again and again / beside writes in place",
                "pages_read_beside", "256MiB", "recycled", "paged", "byre")


def of_tiles(title, operation, bound=None, over="tiles", under=(), counter="ns", unit="ns"):
    """Of 1 GiB."""
    return Measure(title, f"{operation}/{over}/1GiB/recycled",
                   [f"{operation}/{name}/1GiB/recycled" for name in under], bound, counter, unit)


def tiles():
    yield of_tiles("lazy clone + drop of 1 GiB, in tiles / a Buffer", "tiles_clone_drop", 1.5, under=["byre"],
                   unit="ratio")
    for contender, where in [("tiles", "in tiles"), ("byre", "in a Buffer")]:
        yield of_tiles(f"clone, write of one byte and drop of 1 GiB, {where}", "tiles_write_1",
                       30e3 if contender == "tiles" else None, over=contender)
    yield of_tiles("stream of reads, tiles / a Buffer", "tiles_read", under=["byre"], unit="ratio")
    yield of_tiles("64 KiB appended to a clone / written into plain memory", "tiles_append", under=["plain"],
                   unit="ratio")
    for count in [1, 16, 256]:
        yield of_tiles(f"memory of a clone that changed {count} tiles, beside them", f"tiles_memory_{count}",
                       counter="bytes", unit="bytes")
        yield of_tiles(f"memory of a clone that changed {count} tiles, beside them / the table",
                       f"tiles_memory_{count}", 0.01 if count == 1 else None, counter="of_table", unit="ratio")


RATIOS = [*access(), *clones(), *allocations(), *writes(), *writers(), *tensors(), *tracked(), *pages(), *tiles(),
          *loops(), *functional()]
MEMORY = [Measure("memory per Buffer clone", "memory_per_clone/byre/64B/recycled", [], 40,
                  "bytes_per_clone", "bytes"),
          Measure("memory per Storage clone", "memory_per_clone/storage/64B/recycled", [], 40,
                  "bytes_per_clone", "bytes")]
EXACT_COPIES = ["byre"]


def quartiles(values):
    """Lower quartile, median, upper quartile."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    return tuple(statistics.quantiles(values, n=4, method="inclusive"))


def least(names, spread_of):
    """The name with the least median, or None."""
    spreads = {name: spread_of(name) for name in names}
    medians = {name: spread[1] for name, spread in spreads.items() if spread}
    return min(medians, key=medians.get) if medians else None


class Figures:
    """The counters of every benchmark, by round."""

    def __init__(self, document):
        self.rounds = {}
        self.stats_enabled = document.get("context", {}).get("byre_stats") == "enabled"
        for run in document["benchmarks"]:
            if run.get("run_type") == "iteration" and not run.get("error_occurred"):
                name = "/".join(run["name"].split("/")[:4])
                self.rounds.setdefault(name, {})[run["repetition_index"]] = run

    def values(self, name, counter):
        """By round. Rounds in which the machine left contenders no undisturbed burst are left out,
        unless all are such."""
        runs = {index: run for index, run in self.rounds.get(name, {}).items() if counter in run}
        kept = {index: run for index, run in runs.items() if run.get("bursts_kept") != 0}
        return {index: run[counter] for index, run in (kept or runs).items()}

    def is_disturbed(self, name):
        """Whether no round had an undisturbed burst."""
        runs = self.rounds.get(name, {}).values()
        return bool(runs) and all(run.get("bursts_kept") == 0 for run in runs)

    def spread(self, name, counter="ns"):
        """Lower quartile, median, upper quartile over the rounds, or None."""
        values = list(self.values(name, counter).values())
        return quartiles(values) if values else None

    def best(self, names, counter):
        return least(names, lambda name: self.spread(name, counter))


def evaluate_one(measure, figures):
    over = figures.values(measure.over, measure.counter)
    under_name = figures.best(measure.under, measure.counter)
    if measure.under:
        under = figures.values(under_name, measure.counter)
        compare = operator.sub if measure.unit == "ns" else operator.truediv
        values = [compare(over[index], under[index]) for index in over if under.get(index)]
        if not values and over and under:  # no round was undisturbed for both
            values = [compare(statistics.median(over.values()), statistics.median(under.values()))]
    else:
        values = list(over.values())
    if not values:
        return None
    low, median, high = quartiles(values)
    # To the digits that are shown, so that 1.300 within 1.3 does not read as missed.
    reached = None if measure.bound is None else round(median, 3) <= measure.bound
    return Result(measure.title, measure.unit, median, low, high,
                  min(values), max(values), len(values), measure.bound, reached,
                  figures.is_disturbed(measure.over) or figures.is_disturbed(under_name),
                  measure.over, under_name)


def evaluate(figures):
    """All measures that the run has figures for."""
    results = [evaluate_one(measure, figures) for measure in RATIOS + MEMORY]
    return [result for result in results if result is not None]


def copy_counts(figures):
    """(benchmark, writers, least and most copies per burst, whether they have to be exact)."""
    for name in figures.rounds:
        operation, contender = name.split("/")[:2]
        counts = list(figures.values(name, "copies_per_burst").values())
        if operation.startswith("writers_") and counts:
            exact = contender in EXACT_COPIES and figures.stats_enabled
            yield name, int(operation.split("_")[1]), min(counts), max(counts), exact
