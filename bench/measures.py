# SPDX-License-Identifier: BSL-1.0
"""The measures of report.py. A measure is the figure of one benchmark, or the ratio of two figures, and may have an
upper bound."""

from collections import namedtuple

Measure = namedtuple("Measure", "title over under bound counter unit")

SIZES = ["64B", "4KiB", "256KiB", "16MiB", "256MiB"]
RAW_COPIES = ["raw_small", "raw_small_populated", "raw_huge", "raw_huge_populated", "raw_huge_stepwise",
              "raw_huge_upwards"]


def measures(title, over, under=(), at="64B", memory="recycled", counter="ns"):
    """Yields a measure for each size in `at`. A size may carry a bound: "64B 4KiB<=1.3".

    `over` is "operation/contender". `under`, the denominator of a ratio, is either such a name, or contenders of
    `over`'s operation; the contender with the smallest median is used."""
    operation = over.split("/")[0]
    unders = [under] if isinstance(under, str) else under
    unit = "ratio" if unders else counter
    for size, _, bound in (each.partition("<=") for each in at.split()):
        where = f"/{size}/{memory}"
        yield Measure(f"{title}, {size}" if " " in at else title, over + where,
                      [(name if "/" in name else f"{operation}/{name}") + where for name in unders],
                      float(bound) if bound else None, counter, unit)


def unique_data():
    yield from measures("read access / raw pointer", "read/byre", "raw", "64B<=1.25 4KiB<=1.25 256KiB<=1.25")
    yield from measures("write access to unique data / raw pointer", "write_alone/byre", "raw",
                        "64B<=1.3 4KiB<=1.3 256KiB<=1.3")
    # docs/costs.md explains the cost of a write.
    yield from measures("write access to unique data / count checked by hand", "write_alone/byre", "floor",
                        "64B<=1.05 4KiB<=1.05")
    yield from measures("raw pointer and two additions / raw pointer", "write_alone/raw_adds", "raw", "64B 4KiB")
    # The two times are equal within the precision of the clock.
    yield from measures("steal / write access to unique data", "steal/byre", "byre_alone", "64B<=1.05 4KiB<=1.05")
    yield from measures("steal / raw pointer", "steal/byre", "raw", "64B 4KiB")
    for contender, handle in [("byre", "Buffer"), ("storage", "Storage")]:
        yield from measures(f"memory per {handle} clone", f"memory_per_clone/{contender}", at="64B<=40",
                            counter="bytes")


def shared_data():
    for contender, bound in [("floor", "<=1.35"), ("shared_ptr", "<=0.8"), ("eager", "")]:
        yield from measures(f"lazy clone + drop / {contender}", "clone_drop/byre", contender,
                            " ".join(size + bound for size in SIZES))
    yield from measures("write when shared / shared_ptr", "write_shared/byre", "shared_ptr", "64B<=1.0 4KiB<=1.15")
    yield from measures("write when shared / warm memcpy, recycled", "write_shared/byre", "memcpy_warm",
                        "256KiB 16MiB<=1.05 256MiB<=1.05")
    yield from measures("write when shared / best raw copy, fresh", "write_shared/byre", RAW_COPIES,
                        "256KiB 16MiB<=1.1 256MiB<=1.1", "fresh")


def writers():
    yield from measures("two writers at once / copy-first, recycled", "writers_2/byre", "copy_first",
                        "64B 4KiB 256KiB 16MiB<=0.7 256MiB<=0.7")
    yield from measures("two writers at once / copy-first, fresh", "writers_2/byre", "copy_first",
                        "256KiB 16MiB<=0.7 256MiB<=0.7", "fresh")
    yield from measures("eight writers at once / copy-first", "writers_8/byre", "copy_first", "64B 16MiB")


def atomic_places():
    # "at most 0.333" is three times the throughput.
    for contender, alone, by_two in [("clone", "<=2.2", ""), ("floor", "", ""), ("atomic_shared_ptr", "", "<=0.333"),
                                     ("mutex", "", ""), ("shared_mutex", "", "")]:
        title = "load from an AtomicBuffer + drop"
        yield from measures(f"{title} / {contender}", "atomic_load/byre", contender, "64B" + alone)
        yield from measures(f"{title}, two threads at once / {contender}", "atomic_load_2/byre", contender,
                            "64B" + by_two)
    yield from measures("check of a kept load / atomic_shared_ptr", "atomic_load/kept", "atomic_shared_ptr")
    yield from measures("check of a kept load, two threads at once / atomic_shared_ptr", "atomic_load_2/kept",
                        "atomic_shared_ptr")
    for contender in ("atomic_shared_ptr", "mutex", "shared_mutex"):
        yield from measures(f"load + drop, while a thread stores / {contender}", "atomic_load_stored/byre", contender)
    for contender in ("byre", "atomic_shared_ptr", "mutex", "shared_mutex"):
        alone = f"atomic_tail/{contender}"
        yield from measures(f"99.9th percentile of load + drop, {contender}", alone, at="1GiB")
        yield from measures(f"99.9th percentile while a thread stores 1 GiB / alone, {contender}",
                            f"atomic_tail_stored/{contender}", alone, "1GiB<=2.0" if contender == "byre" else "1GiB")
    yield from measures("99.9th percentile while a thread fills and stores 1 GiB / alone, byre", "atomic_tail_filled/byre",
                        "atomic_tail/byre", "1GiB<=2.0")


def seams():
    for title, operation in [("lazy clone + drop", "clone_drop"), ("write access to unique data", "write_alone"),
                             ("write when shared", "write_shared"), ("wait and wake", "wait_and_wake")]:
        yield from measures(f"{title}, sync::Standard / sync::Boost", f"seam_{operation}/standard", "boost", "64B<=1.05")
        # Boost's condition variables take a second lock, for interruptions.
        bound = "" if operation == "wait_and_wake" else "<=1.05"
        yield from measures(f"{title}, sync::Boost / sync::Standard", f"seam_{operation}/boost", "standard", "64B" + bound)


def c_interface():
    # A storage and tiles are written by a call, a buffer by an inline test of the share word.
    for handle, contender, under, clone, write in [("buffer", "c", "byre", 1.1, 1.1),
                                                   ("storage", "c_storage", "storage", 1.1, 3.5),
                                                   ("tiled buffer", "c_tiles", "tiles", 1.7, 1.8)]:
        for title, operation, sizes, bound in [("lazy clone + drop", "clone_drop", "64B 4KiB", clone),
                                               ("write access to unique data", "write_alone", "64B 4KiB", write),
                                               ("clone, write when shared + drop", "write_shared", "64B 4KiB 256KiB",
                                                1.1)]:
            yield from measures(f"{title}, a {handle} in C / C++", f"c_{operation}/{contender}", under,
                                " ".join(f"{size}<={bound}" for size in sizes.split()))


def pages_and_tiles():
    for count, bound in [(1, "<=40e3"), (16, "<=100e3"), (256, "<=1.3e6"), (4096, ""), (16384, ""), (65536, "")]:
        for contender, where in [("paged", "in pages"), ("tiles", "in tiles"), ("byre", "in ordinary memory")]:
            yield from measures(f"clone, write of {count} pages and drop, {where}", f"pages_{count}/{contender}",
                                at="256MiB" + (bound if contender == "paged" else ""))
    yield from measures("stream of reads, an overlay / ordinary memory", "pages_stream/paged", "byre", "256MiB<=1.05")
    for count in (1, 256, 4096):
        yield from measures(f"writable clone and write of {count} pages, in pages / ordinary memory",
                            f"pages_writable_{count}/paged", "byre", "256MiB")
    yield from measures("16 pages between snapshots, pages / ordinary memory", "pages_snapshots/paged", "byre",
                        "256MiB")
    yield from measures("2 threads at once, 16 pages each", "pages_threads_2/paged", at="256MiB")
    yield from measures("16 pages, among 20000 overlays", "pages_among_20000/paged", at="256MiB")
    yield from measures("16 pages, with a thread that reads", "pages_beside/paged", at="256MiB")
    yield from measures("reads of other memory during repeated writes of 16 pages / during writes in place",
                        "pages_read_beside/paged", "byre", "256MiB")
    yield from measures("lazy clone + drop of 1 GiB, in tiles / a Buffer", "tiles_clone_drop/tiles", "byre",
                        "1GiB<=1.5")
    yield from measures("clone, write of one byte and drop of 1 GiB, in tiles", "tiles_write_1/tiles", at="1GiB<=30e3")
    yield from measures("clone, write of one byte and drop of 1 GiB, in a Buffer", "tiles_write_1/byre", at="1GiB")
    yield from measures("stream of reads, tiles / a Buffer", "tiles_read/tiles", "byre", "1GiB")
    yield from measures("64 KiB appended to a clone / written into plain memory", "tiles_append/tiles", "plain",
                        "1GiB")
    for count in (1, 16, 256):  # the bound is 1% of a table with 16 bytes for each tile
        yield from measures(f"memory of a clone that changed {count} tiles, without the tiles",
                            f"tiles_memory_{count}/tiles", at="1GiB<=2622" if count == 1 else "1GiB", counter="bytes")


def tensors():
    # The two times are equal within the precision of the clock.
    yield from measures("reshape / view + lazy clone", "tensor_reshape/byre", "view_and_clone",
                        "64B<=1.05 16MiB<=1.05")
    for contender, tensor in [("copy", "a tensor in copy mode"), ("warn", "a tensor in warn mode, not reshaped"),
                            ("tracked", "a reshaped tensor, tracked")]:
        yield from measures(f"read of {tensor}", f"tensor_read/{contender}")
        yield from measures(f"write of {tensor}", f"tensor_write/{contender}")


def functionalize():
    for paths in ("chains", "strides"):
        yield from measures(f"row += 1 by {paths} / without the pass", f"functional_add_row/{paths}", "plain", "4KiB")
        yield from measures(f"one element of an input written by {paths} / without the pass",
                            f"functional_write_element/{paths}", "plain", "4KiB 16MiB")
        yield from measures(f"write of 64 parts by {paths} / without the pass, per part",
                            f"functional_unbind_64/{paths}", "plain")
        yield from measures(f"memory of unused updates by {paths} / queue",
                            f"functional_updates_100000/{paths}", "queue", "64B<=0.1", counter="bytes")
        for count in (1, 64, 1024, 4096):
            yield from measures(f"write and use of a view of depth {count} by {paths}",
                                f"functional_use_{count}/{paths}")
            yield from measures(f"use of all {count} views of a chain by {paths}, per view",
                                f"functional_use_all_{count}/{paths}")
            yield from measures(f"write of {count} parts by {paths}, per part", f"functional_unbind_{count}/{paths}")
        for count in (1024, 4096):  # the cost per part is constant, except for cache misses
            yield from measures(f"write of {count} parts by {paths} / 64, per part",
                                f"functional_unbind_{count}/{paths}", f"functional_unbind_64/{paths}", "64B<=1.5")
    for count in (1024, 4096):
        yield from measures(f"use of all {count} views of a chain / of 64, per view",
                            f"functional_use_all_{count}/chains", "functional_use_all_64/chains", "64B<=1.5")
    for count in (1, 64, 1024, 4096):
        yield from measures(f"write of {count} parts without the pass, per part", f"functional_unbind_{count}/plain")


MEASURES = [*unique_data(), *shared_data(), *writers(), *atomic_places(), *seams(), *c_interface(), *pages_and_tiles(),
            *tensors(), *functionalize()]
