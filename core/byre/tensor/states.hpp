// SPDX-License-Identifier: BSL-1.0
/// Errors and options for the states of a tensor, which may lack memory or a dtype (see Tensor).
/// docs/tensor-states.md has a table of all operations in all states.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI {

/// Thrown if the state of a tensor does not allow an operation: the handle is empty, the tensor
/// lacks memory or a dtype, or the operation would take away memory that other tensors share.
class BYRE_API StateError : public Error {
 public:
  using Error::Error;
};

/// Whether Tensor::resize() to fewer elements retains or releases the memory.
enum class OnShrink : std::uint8_t { keep_memory, free_memory };

}  // namespace byre::inline BYRE_ABI
