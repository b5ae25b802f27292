# SPDX-License-Identifier: BSL-1.0
"""Prints lists that libzip's own build derives from its files.

usage: generate.py sources lib/CMakeLists.txt
       generate.py errors lib/zip.h
"""
import pathlib
import re
import sys


def sources(text):
    """The sources for all systems, and the sources for POSIX systems."""
    names = re.findall(r"^  (zip_\S+\.c)$", text[text.index("add_library(zip"):], re.M)
    return "\n".join(names + ["zip_mkstempm.c", "zip_source_file_stdio_named.c", "zip_random_unix.c"])


def errors(text):
    found = re.findall(r"#define ZIP_ER_[A-Z_]+ \d+ +/\* ([NSZ]) ([-0-9a-zA-Z ']*?) *\*/", text)
    kinds = {"N": "ZIP_ET_NONE", "S": "ZIP_ET_SYS", "Z": "ZIP_ET_ZLIB"}
    return "\n".join([
        '#include "zipint.h"', "const char * const _zip_err_str[] = {",
        *(f'    "{said}",' for _, said in found), "};",
        f"const int _zip_nerr_str = {len(found)};", "const int _zip_err_type[] = {",
        *(f"    {kinds[kind]}," for kind, _ in found), "};"])


print({"sources": sources, "errors": errors}[sys.argv[1]](pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")))
