# SPDX-License-Identifier: BSL-1.0
"""Rules about which file may say what: layout.py ROOT RULE prints who breaks it.

A rule is a function from the root of the repository to the complaints, one line each.
"""
import os
import pathlib
import re
import sys

# Each room stands on those before it; beside them `error`, which any may use.
ROOMS = ["system", "files", "sync", "observe", "memory", "checks", "cow", "pages", "storage"]
ROOMS += ["shadow", "tensor", "interop", "functional"]
MAY_INCLUDE = {room: {"error", *ROOMS[: at + 1]} for at, room in enumerate(ROOMS)}
MAY_INCLUDE |= {"error": {"error"}}
# In a room of several parts each stands on those before it. A part is a folder, "" what is in none, and
# has the API headers named here, which are at the room's top.
PARTS = {
    "tensor": {
        "layout": {"dims.hpp", "layout.hpp", "views.hpp"},
        "": set(),
        "elements": {"elements.hpp", "scalar.hpp"},
        "print": {"print.hpp"},
    },
    "functional": {
        "dispatch": set(),
        "operators": set(),
        "backends": set(),
        "graph": set(),
        "functionalize": set(),
        "batching": set(),
        "builtin": set(),
    },
}
UMBRELLAS = ["byre.hpp", "tensor.hpp", "functional.hpp"]
GENERATED = {"config.hpp"}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<][^">]*[">])')


def core_files(root):
    core = root / "core" / "byre"
    return [(path, path.relative_to(core)) for path in sorted(core.rglob("*.[hc]pp"))]


def lines_matching(root, pattern):
    for path, name in core_files(root):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if found := pattern.search(line):
                yield name, number, found


def rooms_include_only_rooms_below_them(root):
    for path, name in core_files(root):
        room = name.parts[0]
        if len(name.parts) == 1:
            if str(name) not in UMBRELLAS:
                yield f"{name}: only {', '.join(UMBRELLAS)} stand outside the rooms"
            continue
        if room not in MAY_INCLUDE:
            yield f"{name}: there is no room '{room}'; add it, in order, to {__file__}"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            target = found[1][1:-1]
            if found[1][0] == '"':
                yield f'{name}:{number}: "{target}" is included as <byre/...> is, in angle brackets'
            elif target.startswith("byre/"):
                to = target.split("/")[1]
                if to not in MAY_INCLUDE[room] and to not in GENERATED:
                    yield f"{name}:{number}: {room} may not include {target}"


def part_of(name):
    """The part of its room that a file of core is in, by its name below core/byre."""
    room, *folders, file = name.split("/")
    for part, headers in PARTS[room].items():
        if file in headers and not folders:
            return part
    return folders[0] if folders and folders[0] != "detail" else ""


def parts_of_rooms_include_only_parts_below_them(root):
    for path, name in core_files(root):
        if name.parts[0] not in PARTS:
            continue
        order = list(PARTS[name.parts[0]])
        part = part_of(str(name))
        if part not in order:
            yield f"{name}: there is no part '{part}'; add it, in order, to {__file__}"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            target = found[1][1:-1].removeprefix("byre/") if found else ""
            if target.startswith(name.parts[0] + "/") and part_of(target) in order:
                if order.index(part_of(target)) > order.index(part):
                    yield f"{name}:{number}: '{part}' may not include {target}, of '{part_of(target)}'"


def core_names_nothing_that_stands_on_it(root):
    outside = re.compile(r"\b(verification|stress|relacy|rl::|tests?/|bench/|examples/)", re.I)
    for name, number, found in lines_matching(root, outside):
        yield f"{name}:{number}: names '{found[0]}'"


def core_leaves_ordering_to_the_seam(root):
    unseen = re.compile(r"\b(volatile|atomic_thread_fence)\b")
    for name, number, found in lines_matching(root, unseen):
        yield f"{name}:{number}: {found[0]}, which no checker of the seam would see"


def headers_listed(root, variable):
    """The headers that the rooms' meson.build files add to `variable`, by name within core/byre."""
    core = root / "core/byre"
    for build in sorted(core.rglob("meson.build")):
        for files in re.findall(rf"\b{variable} \+= files\((.*?)\)", build.read_text(), re.S):
            for name in re.findall(r"'([^']+)'", files):
                yield str((build.parent / name).relative_to(core))


def headers_included(root, name):
    path = root / "core/byre" / name
    for line in path.read_text().splitlines() if path.is_file() else []:
        if found := INCLUDE.match(line):
            target = found[1][1:-1].removeprefix("byre/")
            if (root / "core/byre" / target).is_file():
                yield target


def what_is_api_is_seen_and_only_what_it_needs_is_installed(root):
    api = list(headers_listed(root, "byre_api_headers"))
    detail = list(headers_listed(root, "byre_detail_headers"))
    needed, left = set(api), list(api)
    while left:
        for name in headers_included(root, left.pop()):
            if name not in needed:
                needed.add(name)
                left.append(name)
    for path, name in core_files(root):
        if name.suffix != ".hpp":
            continue
        if re.search(r"#\s*include\s*<iostream>", path.read_text()):
            yield f"{name}: includes <iostream>, which runs code in every program at its start"
        listed = {"byre_api_headers": str(name) in api, "byre_detail_headers": str(name) in detail}
        if "detail" in name.parts:
            wanted = "byre_detail_headers" if str(name) in needed else None
        else:
            wanted = "byre_api_headers"
        for variable, is_listed in listed.items():
            if is_listed and variable != wanted:
                yield f"{name}: is listed in {variable}; no API header needs it" \
                    if wanted is None else f"{name}: is listed in {variable}, not in {wanted}"
        if wanted and not listed[wanted]:
            yield f"{name}: is not listed in {wanted}, in the meson.build of its room"


# What sources define their state with, and where its declarations are.
MAY_NAME_STATE = ("sync/detail/no_destructor.hpp", "sync/boost.hpp")


def state_of_the_process_is_defined_in_a_source(root):
    # A variable, not a function, that is neither constant nor only declared.
    variable = r"\s+(?!constexpr|consteval|const\b|inline|namespace)[^(;={]*[;={]"
    state = re.compile(rf"^\s*(?:static|inline|(?<!extern )constinit){variable}|(?<!template )\bno_destructor<|"
                       r"^(?!.*\bextern\b).*\bthread_local\b")
    for path, name in core_files(root):
        if name.suffix == ".hpp" and str(name) not in MAY_NAME_STATE:
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if state.search(line.split("//")[0].rstrip()):
                    yield f"{name}:{number}: each library that includes this has a copy of its own"


# Mutexes of one object, which one thread uses at a time or which a program promises not to use over a fork;
# those that are made anew in the child, and those that whoever has them holds over forks. All others are sync::ProcessMutex.
MAY_HAVE_MUTEXES = (
    "functional/functionalize/detail/alias.hpp",
    "functional/functionalize/detail/functional_tensor.hpp",
    "functional/graph/detail/tape.hpp",
    "pages/detail/memory_files.hpp",
    "observe/events.cpp",
    "checks/detail/access_monitor.cpp",
)


def locks_of_the_process_are_held_over_forks(root):
    mutex = re.compile(r"\b(?:\w+::)*\w*(?<!Process)(?:Mutex|_mutex|\bmutex|mutex_t)\s+\w+\s*[;{=]|"
                       r"<(?:\w+::)*\w*(?:Mutex|mutex)\b")
    for path, name in core_files(root):
        if name.parts[0] not in ("sync", "error") and str(name) not in MAY_HAVE_MUTEXES:
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if mutex.search(line.split("//")[0]):
                    yield f"{name}:{number}: is a sync::ProcessMutex, or a child of a fork may find it locked"


def scenarios_check_what_ships(root):
    verification = root / "verification"
    scenarios = verification / "scenarios"
    for path in sorted(scenarios.rglob("*.[hc]pp")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            target = found[1][1:-1]
            place = f"{path.relative_to(root)}:{number}"
            if found[1][0] == '"':
                named = (path.parent / target).resolve()
                if named.parent != scenarios.resolve() and named != (verification / "search.hpp").resolve():
                    yield f'{place}: "{target}" is neither a scenario nor search.hpp'
            elif target.startswith("byre/") and not (root / "core" / target).is_file():
                yield f"{place}: <{target}> is no header of core"
            elif "/" in target and not target.startswith("byre/"):
                yield f"{place}: <{target}> is neither core's nor the standard's"


def every_table_of_sites_yields_mutants(root):
    table = re.compile(r"SiteTable<[^>]*>\s+(\w+)\{")
    mutants = (root / "verification/relacy/mutation.cpp").read_text()
    for name, number, found in lines_matching(root, table):
        if not re.search(rf"\b{found[1]}\b", mutants):
            yield f"{name}:{number}: {found[1]} is not among the tables in verification/relacy/mutation.cpp"


def every_file_names_its_license(root):
    kinds = (".hpp", ".cpp", ".py", ".in", ".build", ".wrap", ".sh", ".cmake", ".clang-format",
             ".css", ".sed", ".svg")
    names = ("dev", "run", "meson_options.txt", "CMakeLists.txt", ".clang-tidy", ".editorconfig",
             "Doxyfile")
    for folder, folders, files in os.walk(root):
        here = pathlib.Path(folder)
        fetched = here == root / "subprojects"
        folders[:] = sorted(
            name
            for name in folders
            if name not in (".git", "__pycache__")
            and not (here / name / "meson-private").exists()
            and (not fetched or name == "packagefiles")
        )
        for name in sorted(files):
            path = here / name
            if name.endswith(kinds) or name in names:
                if "SPDX-License-Identifier: BSL-1.0" not in path.read_text()[:300]:
                    yield f"{path.relative_to(root)}: no SPDX-License-Identifier at its start"


RULES = [
    rooms_include_only_rooms_below_them,
    parts_of_rooms_include_only_parts_below_them,
    core_names_nothing_that_stands_on_it,
    core_leaves_ordering_to_the_seam,
    what_is_api_is_seen_and_only_what_it_needs_is_installed,
    state_of_the_process_is_defined_in_a_source,
    locks_of_the_process_are_held_over_forks,
    scenarios_check_what_ships,
    every_table_of_sites_yields_mutants,
    every_file_names_its_license,
]


def main(root, rule):
    rule = {function.__name__: function for function in RULES}[rule]
    complaints = list(rule(pathlib.Path(root)))
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
