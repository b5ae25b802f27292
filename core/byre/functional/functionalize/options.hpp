// SPDX-License-Identifier: BSL-1.0
/// What the pass removes, and how it remembers views: for a thread, in a scope.
#pragma once

#include <cstdint>

namespace byre::inline v0::functional {

enum class Remove : std::uint8_t {
  mutations,  ///< true views stay: for a backend that has them, over tensors that never change
  mutations_and_views,  ///< views become copies of what they see
};

enum class ViewPaths : std::uint8_t {
  by_backend,  ///< as its BackendTraits say
  chains,      ///< the view operators, one after the other
  strides,     ///< one view of the base by strides, however many there were
};

struct FunctionalizeOptions {
  Remove remove = Remove::mutations_and_views;
  ViewPaths paths = ViewPaths::by_backend;
};

/// Those of the thread's innermost scope.
FunctionalizeOptions functionalize_options() noexcept;

/// Aliases that this thread makes in the scope heed `options`, for as long as they live.
class FunctionalizeOptionsScope {
 public:
  explicit FunctionalizeOptionsScope(FunctionalizeOptions options) noexcept;
  FunctionalizeOptionsScope(const FunctionalizeOptionsScope&) = delete;
  FunctionalizeOptionsScope& operator=(const FunctionalizeOptionsScope&) = delete;
  ~FunctionalizeOptionsScope();

 private:
  const FunctionalizeOptions before_;
};

}  // namespace byre::inline v0::functional
