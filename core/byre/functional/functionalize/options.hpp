// SPDX-License-Identifier: BSL-1.0
/// Options of the functionalize pass: how it represents views, and how it replays them, which is to
/// compute a view from its base again after a write. A scope sets the options of its thread.
/// Nothing in this header throws. Cost: O(1).
#pragma once

#include <byre/config.hpp>
#include <cstdint>

namespace byre::inline BYRE_ABI::functional {

/// How the pass computes a view from its base.
enum class ViewPaths : std::uint8_t {
  by_backend,  ///< chosen by BackendTraits
  chains,      ///< the view operators, in order
  strides,     ///< one strided view of the base, also for views of views
};

struct FunctionalizeOptions {
  /// If true, the pass replays views by view operators. This requires a backend that supports views
  /// of its tensors, which never change. If false, the pass replays views by operators that copy
  /// the viewed elements, such as select_copy.
  bool reapply_views = false;
  ViewPaths paths = ViewPaths::by_backend;
};

/// Returns the options of the thread's innermost scope.
BYRE_API FunctionalizeOptions functionalize_options() noexcept;

/// Sets the options of the aliases that this thread creates as long as the scope lives. An alias is
/// the state that a base and its views share; its options never change. Scopes nest; each must be
/// destroyed on its thread.
class BYRE_API FunctionalizeOptionsScope {
 public:
  explicit FunctionalizeOptionsScope(FunctionalizeOptions options) noexcept;
  FunctionalizeOptionsScope(const FunctionalizeOptionsScope&) = delete;
  FunctionalizeOptionsScope& operator=(const FunctionalizeOptionsScope&) = delete;
  ~FunctionalizeOptionsScope();

 private:
  const FunctionalizeOptions before_;
};

}  // namespace byre::inline BYRE_ABI::functional
