# SPDX-License-Identifier: BSL-1.0
"""symbols.py CORE C_NAMES LIBRARY...: checks the symbols of the shared libraries, the core first.

- The libraries export exactly the names that headers of CORE declare with BYRE_API. API headers declare everything that
  they do not define with BYRE_API.
- C_NAMES lists the functions of the C interface, so a name does not appear or disappear unnoticed.
- Statics work in a child of a fork and with an exhausted heap.
- One process can load many copies of a library.
"""
import ctypes
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COPIES = 64
# Symbols in read-only memory, data, zeroed data, and text. Weak symbols are inline functions, which compilers may omit,
# and type information of exceptions, which must be exported.
STRONG = set("RDBT")
TYPE = "typeinfo for "
# The handler of warnings is in error/, which cannot use sync::no_destructor. It is constructed at load time.
MAY_BE_GUARDED = r"byre::\w+::detail::warning_handler\(\)::|boost::"


def symbols_of(library, *options):
    return subprocess.run(["nm", "--demangle", *options, library], check=True, text=True,
                          capture_output=True).stdout.splitlines()


def without_arguments(name):
    while (shorter := re.sub(r"<[^<>]*>", "", name)) != name:
        name = shorter
    return name


def as_declared(name):
    """The name of a symbol without template arguments, parameters, and the inline namespace of the version."""
    name = re.sub(r"::v0(_standard|_single_thread)?\b", "", name).removeprefix(TYPE)
    if found := re.match(r"(.*\boperator(?:\(\)|[^\w\s(]+|\s[\w:*& ]+))\(", name):
        return found[1]
    return re.split(r"\(|\[abi", without_arguments(name), maxsplit=1)[0].split(" ")[-1]


def exported(library, kinds=STRONG):
    for line in symbols_of(library, "--dynamic", "--defined-only"):
        _address, kind, name = line.split(maxsplit=2)
        if kind in kinds or name.startswith(TYPE + "byre::"):
            yield as_declared(name), name


def declarations(text):
    """Yields each declaration at namespace or class scope: enclosing heads, its head, and whether a body follows."""
    text = re.sub(r"//[^\n]*|^\s*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    enclosing, begin, depth = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if depth == 0 and char in "{};":
            head = re.sub(r"^(public|protected|private)\s*:\s*", "", " ".join(text[begin:at].split()))
            begin = at + 1
            if head and char != "}" and all(re.search(r"\b(namespace|class|struct)\b", each) for each in enclosing):
                yield enclosing[:], head, char == "{"
            if char == "{":
                enclosing.append(head)
            elif char == "}" and enclosing:
                enclosing.pop()


def name_of(head):
    """The name of the class, function or variable that a head declares."""
    if found := re.search(r"\b(?:class|struct) (?:BYRE_API )?([\w:]+)", head):
        return found[1]
    head = re.sub(r"\[\[.*?\]\]", "", head)
    function = re.search(r"(\boperator ?(?:\(\)|[^\s\w(]+|(?<= )[\w:]+)|~?\w+)(?:<[\w:]+>)? ?\(", head)
    return (function or re.search(r"([\w:]+)(?: =.*)?$", without_arguments(head)))[1]


def qualified(enclosing, head):
    names = []
    for each in enclosing:
        if found := re.match(r"(?:inline )?namespace ([\w:]+)", each.replace("::inline BYRE_ABI", "")):
            names.append(found[1])
        else:
            names.append(name_of(each))
    return "::".join([*names, name_of(head)])


# Arguments of templates that are exported. They have no functions of their own.
SEAMS = {"byre::sync::Boost", "byre::sync::Standard", "byre::sync::SingleThread"}


def wrong_exports(core, libraries):
    there = {name: symbol for library in libraries for name, symbol in exported(library)}
    declared = {}
    for header in sorted(pathlib.Path(core).rglob("*.hpp")):
        is_api = "detail" not in header.relative_to(core).parts
        for enclosing, head, has_body in declarations(header.read_text()):
            in_detail = any(re.match(r"namespace .*detail", each) for each in enclosing)
            if "BYRE_API" in head and qualified(enclosing, head) not in SEAMS:
                declared[qualified(enclosing, head)] = is_api and not in_detail
            elif is_api and re.match(r"class .*: public .*(Error|Argument)$", head):
                yield f"{header}: {head}\n    is an exception that other libraries cannot catch. Declare it BYRE_API."
            elif is_api and not in_detail and not has_body and not any(
                    re.search(r"template|BYRE_API", each) for each in enclosing):
                is_function = re.search(r"[\w)\]] ~?\w+ ?\(|\boperator\b|^(explicit )?\w+\(", head)
                is_other = re.search(r"= ?(default|delete|0)$|^(using|friend|template|static_assert|typedef|enum)\b|"
                                     r"\bconstexpr\b|\bstd::function<", head)
                if is_function and not is_other:
                    yield f"{header}: {head}\n    is declared in an API header without BYRE_API"
    for name, symbol in sorted(there.items()):
        scopes = ["::".join(name.split("::")[:count]) for count in range(2, name.count("::") + 2)]
        if name.startswith("byre::") and not any(scope in declared for scope in scopes):
            yield f"{symbol}\n    is exported, but no header declares it with BYRE_API. Hide it."
    # Instantiated templates are weak symbols.
    instantiated = {name for library in libraries for name, _ in exported(library, "W")}
    for name, is_api in declared.items():
        if is_api and not any(each == name or each.startswith(name + "::") for each in [*there, *instantiated]):
            yield f"{name}\n    is BYRE_API, but no library exports it"


def wrong_names_of_c(core, library, listed):
    """Compares three sets of functions: the list, the declarations in byre.h, and the exports of the core."""
    names = {
        listed: set(pathlib.Path(listed).read_text().split()),
        "byre.h": set(re.findall(r"^BYRE_C_API [^;(]*?\b(byre_\w+)\(", (pathlib.Path(core) / "byre.h").read_text(), re.M)),
        library: {name for name, _ in exported(library, "T") if not name.startswith("byre::") and "byre" in name},
    }
    for name in sorted(set.union(*names.values())):
        for place in names:
            if name not in names[place]:
                yield f"{name}\n    is missing in {place}. A name of the C interface must not disappear after a release."


def wrong_statics(library):
    """Yields statics of functions that are initialized on first use, and thread-local objects with destructors.

    Such a static has a guard. If another thread forks during the initialization, the child waits forever. The destructor
    of such an object is registered on the heap, and the program ends if the heap is exhausted."""
    symbols = "\n".join(symbols_of(library))
    if "byre::" not in symbols:
        yield f"{library}: contains no symbol of byre, so this test checks nothing"
    for name in re.findall(r"guard variable for (.*)", symbols):
        if not re.match(MAY_BE_GUARDED, name):
            yield f"{name} is a static that is initialized on first use. Use sync::no_destructor."
    if "__cxa_thread_atexit" in symbols:
        yield f"{library}: a thread-local object has a destructor. Use sync::detail::AtThreadEnd."


def copies_not_loaded(library):
    with tempfile.TemporaryDirectory(prefix="byre-copies-") as folder:
        for number in range(COPIES):
            try:
                ctypes.CDLL(shutil.copy(library, f"{folder}/libcopy{number}.so"))
            except OSError as error:
                yield f"cannot load copy {number + 1} of {COPIES}: {error}"
                return


def main(core, c_names, *libraries):
    complaints = [*wrong_exports(core, libraries), *wrong_names_of_c(core, libraries[0], c_names)]
    for library in libraries:
        complaints += [*wrong_statics(library), *copies_not_loaded(library)]
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
