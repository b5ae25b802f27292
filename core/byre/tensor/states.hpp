// SPDX-License-Identifier: BSL-1.0
/// The states of a tensor: the error that reports them, and the option of a resize that changes
/// them. docs/tensor-states.md has a table of all operations in all states.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>

#include <cstdint>

namespace byre::inline v0 {

/// Thrown if the state of a tensor does not allow an operation: the tensor lacks memory or a dtype,
/// its handle is empty, or it shares a storage that would become uninitialized.
class BYRE_API StateError : public Error {
 public:
  using Error::Error;
};

/// Whether a resize to fewer elements retains the memory or releases it.
enum class OnShrink : std::uint8_t { keep_memory, free_memory };

}  // namespace byre::inline v0
