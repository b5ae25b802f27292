// SPDX-License-Identifier: BSL-1.0
/// All that core asks of an operating system. These headers contain no `#ifdef` of a system and no
/// header of a system, except windows.hpp and page_nbytes.hpp. No other file of core contains
/// either. The build chooses the sources: posix/ and linux/ for Linux, posix/ alone for other POSIX
/// systems, posix/ and wasm/ for WebAssembly, and windows/ for Windows.
///
///   header             asks the system to
///   memory.hpp         map, unmap, protect, discard, populate and advise pages; tell sizes
///   files.hpp          open, read and map files
///   replaced_file.hpp  replace a file durably
///   descriptor.hpp     own an open file that other code may close
///   process.hpp        tell ids and names, watch forks, keep a variable of each thread
///   faults.hpp         handle accesses to protected pages
///   page_map.hpp       tell which pages of a private mapping were written
///   last_error.hpp     tell why a call failed
///   numbers.hpp        read numbers independent of the locale
///   memory_files.hpp   share pages among mappings; only on systems with memory files
///   sections.hpp       Windows: memory that is mapped several times
///
/// To port byre, define these functions in one source, which may stay as plain as
/// posix/without_linux.cpp wherever a comment says what a system without the feature returns.
/// meson.build lists the sources of each system, and CMakeLists.txt reads that list.
#pragma once

#include <byre/system/detail/descriptor.hpp>
#include <byre/system/detail/faults.hpp>
#include <byre/system/detail/files.hpp>
#include <byre/system/detail/last_error.hpp>
#include <byre/system/detail/memory.hpp>
#include <byre/system/detail/numbers.hpp>
#include <byre/system/detail/page_map.hpp>
#include <byre/system/detail/process.hpp>
#include <byre/system/detail/replaced_file.hpp>
