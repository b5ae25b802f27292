# SPDX-License-Identifier: BSL-1.0
"""exports.py SYMBOLS OBJDUMP CORE DLL...: the DLLs export what headers of CORE declare with BYRE_API, and names of no
other library. SYMBOLS is the folder of symbols.py, which compares the names."""
import re
import subprocess
import sys


def printed_by(*command, text=None):
    return subprocess.run(command, input=text, text=True, capture_output=True, check=True).stdout


def names_in(objdump, library):
    printed = printed_by(objdump, "-p", library)
    table = printed[printed.index("[Ordinal/Name Pointer] Table"):]
    return re.findall(r"^\s*\[\s*\d+\](?: \+base\[\s*\d+\]\s+[0-9a-f]+)? (\S+)$", table, re.M)


def main(folder, objdump, core, *libraries):
    sys.path.insert(0, folder)
    import symbols

    names = {library: names_in(objdump, library) for library in libraries}
    complaints = [f"{library}: exports {name}, which is of another library"
                  for library in libraries for name in names[library] if "byre" not in name]
    demangled = {library: printed_by("c++filt", text="\n".join(names[library])).splitlines() for library in libraries}
    symbols.exported = lambda library, kinds=None: ((symbols.as_declared(name), name) for name in demangled[library]
                                                    if name.startswith(("byre::", "typeinfo for byre::")))
    # This build has no .npz files.
    complaints += [found for found in symbols.wrong_exports(core, libraries) if not re.match(r"byre::\w+_npz\n", found)]
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
