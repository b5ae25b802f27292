// SPDX-License-Identifier: BSL-1.0
/// Sight: what a tensor of the pass saw last at the end of its path.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>

#include <cstdint>

namespace byre::inline v0::functional {

/// Of one tensor, at a fixed address. Its alias's lock guards it, where there is an alias: views that go
/// through what this sees begin at it.
struct Sight {
  AnyTensor value;  ///< null: nothing was seen, or the alias's base, which alone holds that
  std::uint64_t generation = 0;  ///< of the alias, then
  bool is_written = false;       ///< an operator returned it: its strides may be any
};

}  // namespace byre::inline v0::functional
