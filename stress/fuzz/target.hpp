// SPDX-License-Identifier: BSL-1.0
/// What every fuzz target provides and may use. One source implements target_name and
/// LLVMFuzzerTestOneInput; libFuzzer, or replay.cpp where there is none, brings the main program. For
/// one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../programs/choices.hpp"
#include "../programs/trace.hpp"

/// libFuzzer's entry: runs one input, and aborts if something is wrong. Returns 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t nbytes);

namespace byre::fuzz {

using programs::Choices;
using programs::fail;
using programs::program_name;
using programs::trace;

/// "storages"
extern const char* const target_name;

}  // namespace byre::fuzz
