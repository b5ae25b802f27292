# SPDX-License-Identifier: BSL-1.0
"""layout.py ROOT: checks rules about includes, state, locks, installed headers, sites, licenses and lengths."""
import pathlib
import re
import sys

# The rooms (folders) of core and their parts. Each entry may include the entries before it.
ORDER = ["error", "system", "files", "sync", "observe", "memory", "checks", "cow", "pages", "storage", "ipc", "c",
         "shadow", "tensor/layout", "tensor", "tensor/elements", "tensor/print", "interop", "functional/dispatch", "functional/operators",
         "functional/backends", "functional/graph", "functional/functionalize", "functional/batching",
         "functional/builtin"]
# API headers in the folder of a room that belong to a part of the room.
OF_PARTS = {
    "tensor/layout": {"tensor/dims.hpp", "tensor/layout.hpp", "tensor/views.hpp"},
    "tensor/elements": {"tensor/elements.hpp", "tensor/scalar.hpp"},
    "tensor/print": {"tensor/print.hpp"},
}
UMBRELLAS = {"byre.h", "byre.hpp", "byre_c.hpp", "tensor.hpp", "functional.hpp"}
ABOVE_ROOMS = {"config.hpp", "byre.h"}
# Headers exempt from the rule about state: sources define and declare their state with them.
MAY_NAME_STATE = {"sync/detail/no_destructor.hpp", "sync/detail/native.hpp"}
# Files that may contain mutexes, because each mutex belongs to an object that programs do not use across a fork, is
# created anew in the child, is not locked there, or is held during forks. All other mutexes must be sync::ProcessMutex.
MAY_HAVE_MUTEXES = {
    "functional/functionalize/detail/alias.hpp",
    "functional/graph/detail/tape.hpp",
    "memory/budget.hpp",
    "pages/detail/memory_files.hpp",
    "observe/events.cpp",
    "checks/detail/access_monitor.cpp",
    "storage/tiles/snapshot_writer.cpp",
    "storage/tiles/snapshot_writer.hpp",
}
STATE = re.compile(r"^\s*(?:static|inline|(?<!extern )constinit)\s+(?!constexpr|consteval|const\b|inline|namespace)"
                   r"[^(;={]*[;={]|(?<!template )\bno_destructor<|^(?!.*\bextern\b).*\bthread_local\b")
MUTEX = re.compile(r"\b(?:\w+::)*\w*(?<!Process)(?:Mutex|_mutex|\bmutex|mutex_t)\s+\w+\s*[;{=]|"
                   r"<(?:\w+::)*\w*(?:Mutex|mutex)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]*)[">]')
# Patterns that no line of core may match, and what is wrong with such a line.
FORBIDDEN = [
    (re.compile(r"\b(verification|stress|relacy|rl::|tests?/|bench/|examples/)", re.I), "depends on core"),
    (re.compile(r"\b(volatile|atomic_thread_fence)\b"), "orders memory without the seam, hidden from checkers"),
    (re.compile(r"#\s*include\s*<iostream>"), "runs code at the start of every program"),
]
# Files that may include headers of Boost, which builds of other seams lack.
MAY_INCLUDE_BOOST = {"sync/boost.hpp", "sync/detail/locks.hpp"}
# Only the sources of the room `system` may depend on an operating system; its headers may not, but for the size of
# pages.
OF_SYSTEMS = re.compile(r"system/(?!detail/).*\.cpp|system/detail/windows\.hpp|system/page_nbytes\.hpp")
SYSTEM_MACRO = re.compile(r"\b(__linux\w*|__unix\w*|__APPLE__|__MACH__|__ANDROID__|_?WIN32|_?WIN64|_MSC_VER|"
                          r"__MINGW\w*|__CYGWIN__|__EMSCRIPTEN\w*|__wasm\w*|__wasi__|__\w*BSD__|__DragonFly__|"
                          r"__sun|__HAIKU__|__QNX\w*|__gnu_hurd__|__GLIBC\w*|_POSIX\w*|BYRE_WITHOUT_\w+)\b")
# Headers with an extension that belong to no system. All others of a system or its C library have one.
PORTABLE_HEADERS = {"byre/byre.h", "stddef.h", "stdint.h", "sanitizer/asan_interface.h",
                    "sanitizer/tsan_interface.h", "zip.h", "zlib.h"}
MAX_COLUMNS, MAX_NAME, MAX_LINES = 100, 60, {"README.md": 150, "docs": 250}
TEST_NAME = re.compile(r"TEST(?:_[FP])?\(\s*\w+,\s*(\w+)")
LICENSED = {".h", ".c", ".hpp", ".cpp", ".py", ".in", ".build", ".wrap", ".sh", ".cmake", ".css", ".sed", ".svg", ".lua"}
LICENSED_NAMES = {"dev", "run", "meson_options.txt", "CMakeLists.txt", ".clang-tidy", ".clang-format", "Doxyfile"}


def lines_of(folder):
    """Yields each line of C++ below a folder: name of the file relative to the folder, line number, and text."""
    for path in sorted([*folder.rglob("*.[hc]pp"), *folder.rglob("*.h")]):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            yield path.relative_to(folder).as_posix(), number, line


def place_of(name):
    """The entry of ORDER to which a file of core belongs, or None."""
    for part, headers in OF_PARTS.items():
        if name in headers:
            return part
    return max((place for place in ORDER if name.startswith(place + "/")), key=len, default=None)


def includes_run_one_way(core):
    for name, number, line in lines_of(core):
        if name in UMBRELLAS:
            continue
        here = place_of(name)
        if here is None:
            yield f"{name}: belongs to no entry of ORDER. Add one in {__file__}."
            continue
        found = INCLUDE.match(line)
        if found and found[1] == '"':
            yield f'{name}:{number}: "{found[2]}" is in quotes. Use angle brackets, as in <byre/...>.'
        elif found and found[2].startswith("byre/") and (target := found[2].removeprefix("byre/")) not in ABOVE_ROOMS:
            there = place_of(target)
            if there is None or ORDER.index(there) > ORDER.index(here):
                yield f"{name}:{number}: {here} may not include {target}"


def lines_of_core_are_allowed(core):
    for name, number, line in lines_of(core):
        for pattern, why in FORBIDDEN:
            if found := pattern.search(line):
                yield f"{name}:{number}: '{found[0]}' is not allowed in core: it {why}"
        code = line.split("//")[0].rstrip()
        if name not in MAY_INCLUDE_BOOST and re.search(r"<boost/|\bboost::", code):
            yield f"{name}:{number}: names Boost. Use the seam (sync/default.hpp), or a lock of sync/detail/mutex.hpp."
        if not OF_SYSTEMS.fullmatch(name):
            if found := SYSTEM_MACRO.search(code):
                yield f"{name}:{number}: {found[0]} is of a system. Move the code to a source of the room system."
            found = INCLUDE.match(line)
            if found and (found[2] == "csignal" or found[2].endswith(".h") and found[2] not in PORTABLE_HEADERS):
                yield f"{name}:{number}: <{found[2]}> is of a system. Call a function of system/detail instead."
        if name.endswith(".hpp") and name not in MAY_NAME_STATE and STATE.search(code):
            yield f"{name}:{number}: state in a header has a copy in each library. Define it in a source."
        if not name.startswith(("sync/", "error/")) and name not in MAY_HAVE_MUTEXES and MUTEX.search(code):
            yield f"{name}:{number}: this mutex may be locked in a child of a fork. Make it a sync::ProcessMutex."


def namespaces_are_named_by_config(core):
    """Without config.hpp, the macro would be the name of another namespace, and definitions would not be found."""
    texts = {path: path.read_text() for path in sorted(core.rglob("*.[hc]pp"))}
    for path, text in texts.items():
        if "inline BYRE_ABI" in text and "#include <byre/" not in text:
            yield f"{path}: uses BYRE_ABI. Include <byre/config.hpp>."


def listed(core, variable):
    """The headers that the meson.build files of the rooms add to a variable."""
    return {str((build.parent / name).relative_to(core)) for build in core.rglob("meson.build")
            for files in re.findall(rf"\b{variable} \+= files\((.*?)\)", build.read_text(), re.S)
            for name in re.findall(r"'([^']+)'", files)}


def needed_headers_are_installed(core):
    included = {}
    for name, _, line in lines_of(core):
        if found := INCLUDE.match(line):
            included.setdefault(name, set()).add(found[2].removeprefix("byre/"))
    headers = {path.relative_to(core).as_posix() for end in ("h", "hpp") for path in core.rglob("*." + end)}
    api = {name for name in headers if "detail" not in name.split("/")}
    needed, left = set(), set(api)
    while left:
        needed |= left
        left = set().union(*(included.get(name, set()) & headers for name in left)) - needed
    for variable, wanted in {"byre_api_headers": api, "byre_detail_headers": needed - api}.items():
        there = listed(core, variable)
        yield from (f"{name}: add it to {variable} in the meson.build of its room" for name in sorted(wanted - there))
        yield from (f"{name}: remove it from {variable}" for name in sorted(there - wanted))


def scenarios_include_only_core(root):
    folder = root / "verification/scenarios"
    for name, number, line in lines_of(folder):
        if (found := INCLUDE.match(line)) and "/" in found[2]:
            ships = found[1] == "<" and found[2].startswith("byre/") and (root / "core" / found[2]).is_file()
            if not ships and found[2] != "../search.hpp":
                yield f"scenarios/{name}:{number}: includes {found[2]}, allowed are headers of core and search.hpp"


def every_table_of_sites_yields_mutants(root):
    mutants = (root / "verification/relacy/mutation.cpp").read_text()
    for name, number, line in lines_of(root / "core/byre"):
        found = re.search(r"SiteTable<[^>]*>\s+(\w+)\{", line)
        if found and not re.search(rf"\b{found[1]}\b", mutants):
            yield f"{name}:{number}: {found[1]} is missing in verification/relacy/mutation.cpp. Add it to the tables."


def files_below(folder):
    """Yields the files below a folder, except those that were built or fetched."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            is_built = path.name in {".git", "__pycache__"} or (path / "meson-private").exists()
            is_fetched = folder.name == "subprojects" and path.name != "packagefiles"
            if not is_built and not is_fetched:
                yield from files_below(path)
        else:
            yield path


def every_file_names_its_license(root):
    for path in files_below(root):
        if path.suffix in LICENSED or path.name in LICENSED_NAMES:
            if not re.search(r"SPDX-License-Identifier: BSL-1\.0(?: \*/| -->)?$", path.read_text()[:300], re.M):
                yield f"{path}: lacks a line with SPDX-License-Identifier at its start"


def lines_and_test_names_are_short(root):
    for path in files_below(root):
        if path.suffix in {".hpp", ".cpp", ".h", ".c"}:
            text = path.read_text()
            for number, line in enumerate(text.splitlines(), 1):
                if len(line) > MAX_COLUMNS:
                    yield f"{path}:{number}: has {len(line)} columns, allowed are {MAX_COLUMNS}. Wrap the line."
            for name in TEST_NAME.findall(text):
                if len(name) > MAX_NAME:
                    yield f"{path}: {name} has {len(name)} characters, allowed are {MAX_NAME}. Shorten the name."


def pages_are_short(root):
    for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        count, most = len(path.read_text().splitlines()), MAX_LINES.get(path.name, MAX_LINES["docs"])
        if count > most:
            yield f"{path}: has {count} lines, allowed are {most}. Shorten or split the page."


def main(root):
    root = pathlib.Path(root)
    core = root / "core/byre"
    complaints = [*includes_run_one_way(core), *lines_of_core_are_allowed(core),
                  *namespaces_are_named_by_config(core), *needed_headers_are_installed(core),
                  *scenarios_include_only_core(root), *every_table_of_sites_yields_mutants(root),
                  *every_file_names_its_license(root), *lines_and_test_names_are_short(root), *pages_are_short(root)]
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
