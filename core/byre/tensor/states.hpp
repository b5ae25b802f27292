// SPDX-License-Identifier: BSL-1.0
/// The states of a tensor: what is refused in them, and how a resize may lead to them. The table is
/// docs/tensor-states.md.
#pragma once

#include <byre/error/error.hpp>

#include <cstdint>

namespace byre::inline v0 {

/// An operation that the state of a tensor does not allow: it has no memory yet, or no dtype, or
/// shares what would become uninitialized. docs/tensor-states.md has the table.
class StateError : public Error {
 public:
  using Error::Error;
};

/// What a resize to fewer elements does with memory that is no longer needed.
enum class OnShrink : std::uint8_t { keep_memory, free_memory };

}  // namespace byre::inline v0
