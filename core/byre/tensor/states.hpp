// SPDX-License-Identifier: BSL-1.0
/// The states of a tensor: what is refused in them, and how a resize may lead to them. The table is
/// docs/tensor-states.md.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>

#include <cstdint>

namespace byre::inline v0 {

/// The state of a tensor does not allow an operation: the tensor has no memory or no dtype yet, or it
/// shares a storage that would become uninitialized. docs/tensor-states.md has the table.
class BYRE_API StateError : public Error {
 public:
  using Error::Error;
};

/// What a resize to fewer elements does with memory that is no longer needed.
enum class OnShrink : std::uint8_t { keep_memory, free_memory };

}  // namespace byre::inline v0
