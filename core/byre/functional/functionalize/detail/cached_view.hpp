// SPDX-License-Identifier: BSL-1.0
/// CachedView: the value that a tensor of the pass held when it was used last.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>

#include <cstdint>

namespace byre::inline v0::functional {

/// A member of one tensor, at a fixed address. The lock of the tensor's alias guards it, if there
/// is an alias: other tensors replay their views from this value.
struct CachedView {
  AnyTensor value = {};  ///< null: none yet, or that of the base, which the alias alone holds
  std::uint64_t generation = 0;  ///< of the alias, when the value was computed
  bool is_written = false;       ///< an operator returned it
  bool has_own_strides = false;  ///< the same, or replayed from such: they are not the path's
  /// The value that the tensor was made from, until the tensor's alias is written. Only writes change
  /// it, so reads need no lock.
  AnyTensor initial = {};
};

}  // namespace byre::inline v0::functional
