// SPDX-License-Identifier: BSL-1.0
/// What every fuzz target provides and may use. One source implements target_name and
/// LLVMFuzzerTestOneInput; libFuzzer, or replay.cpp where there is none, brings the main program. For
/// one thread.
#pragma once

#include <cstddef>
#include <cstdint>

/// libFuzzer's entry: runs one input, and aborts if something is wrong. Returns 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t nbytes);

namespace byre::fuzz {

/// "storages"
extern const char* const target_name;

/// As this program was called: "fuzz_storages", or "replay_storages".
const char* program_name() noexcept;

/// Ends the program, which the fuzzer takes for a finding and keeps the input of.
[[noreturn, gnu::format(printf, 1, 2)]] void fail(const char* format, ...) noexcept;

/// Prints a step to stderr, if the environment has BYRE_FUZZ_TRACE.
[[gnu::format(printf, 1, 2)]] void trace(const char* format, ...) noexcept;

}  // namespace byre::fuzz
