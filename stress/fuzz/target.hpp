// SPDX-License-Identifier: BSL-1.0
/// The interface of a fuzz target, and the names that all targets use. The source of a target
/// defines target_name and LLVMFuzzerTestOneInput. libFuzzer provides main(), or replay.cpp if
/// there is no libFuzzer. Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../programs/choices.hpp"
#include "../programs/trace.hpp"

/// The entry point of libFuzzer: runs one input, and aborts on an error. Returns 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t nbytes);

namespace byre::fuzz {

using programs::Choices;
using programs::fail;
using programs::program_name;
using programs::trace;

/// The name of the target, such as "storages".
extern const char* const target_name;

}  // namespace byre::fuzz
