// SPDX-License-Identifier: BSL-1.0
/// Outcome: what can be told of a program once it is done.
#pragma once

#include "tensor_programs/program.hpp"

namespace byre::test {

/// All there is to see of a tensor.
struct Seen {
  DType dtype = DType::uninitialized;
  Layout layout;
  std::size_t storage_nbytes = 0;
  std::string elements;
  std::size_t same_as = 0;  ///< the first tensor of the outcome that is this very one
  std::size_t aliases = 0;  ///< the first that shares its storage
};

/// Of the outputs, then of all tensors that were there before, inputs and those that were none.
struct Outcome {
  Trace trace;
  std::vector<Seen> tensors;
  std::string failure;  ///< of the run itself
};

/// In order, all NaNs alike.
std::string elements_of(const Tensor& tensor);

std::vector<Seen> all_seen(const Tensors& tensors);

/// What differs, or nothing.
std::string difference(const Outcome& expected, const Outcome& found);

}  // namespace byre::test
