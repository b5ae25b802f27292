// SPDX-License-Identifier: BSL-1.0
/// Options of the functionalize pass, which a scope sets for its thread: how views are represented
/// and replayed. Nothing here throws. Cost: O(1).
#pragma once

#include <byre/config.hpp>
#include <cstdint>

namespace byre::inline v0::functional {

enum class ViewPaths : std::uint8_t {
  by_backend,  ///< chosen by BackendTraits
  chains,      ///< the view operators, in order
  strides,     ///< one strided view of the base, at any depth
};

struct FunctionalizeOptions {
  /// Replays views with view operators, for backends that have views of tensors that never change.
  /// Otherwise views are replayed with copies of the viewed elements.
  bool reapply_views = false;
  ViewPaths paths = ViewPaths::by_backend;
};

/// Returns the options of the thread's innermost scope.
BYRE_API FunctionalizeOptions functionalize_options() noexcept;

/// Sets the options of the aliases that this thread creates as long as the scope lives. An alias
/// keeps its options. Scopes nest; each must be destroyed on its thread.
class BYRE_API FunctionalizeOptionsScope {
 public:
  explicit FunctionalizeOptionsScope(FunctionalizeOptions options) noexcept;
  FunctionalizeOptionsScope(const FunctionalizeOptionsScope&) = delete;
  FunctionalizeOptionsScope& operator=(const FunctionalizeOptionsScope&) = delete;
  ~FunctionalizeOptionsScope();

 private:
  const FunctionalizeOptions before_;
};

}  // namespace byre::inline v0::functional
