// SPDX-License-Identifier: BSL-1.0
/// Which vmap() this thread is in. Below the functionalize pass, which has to know for whom a
/// tensor is made.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>

namespace byre::inline v0::functional::detail {

/// Of the innermost vmap() whose function this thread is in; 0 in none.
BatchLevel batch_level_of_thread() noexcept;

/// This thread is in the function of that vmap(), for as long as this lives.
class BatchLevelScope {
 public:
  explicit BatchLevelScope(BatchLevel level) noexcept;
  BatchLevelScope(const BatchLevelScope&) = delete;
  BatchLevelScope& operator=(const BatchLevelScope&) = delete;
  ~BatchLevelScope();

 private:
  const BatchLevel before_;
};

}  // namespace byre::inline v0::functional::detail
