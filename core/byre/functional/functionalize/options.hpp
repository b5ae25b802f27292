// SPDX-License-Identifier: BSL-1.0
/// What the pass makes of views, and how it remembers them: for a thread, in a scope.
#pragma once

#include <byre/config.hpp>
#include <cstdint>

namespace byre::inline v0::functional {

enum class ViewPaths : std::uint8_t {
  by_backend,  ///< as its BackendTraits say
  chains,      ///< the view operators, one after the other
  strides,     ///< one view of the base by strides, however many there were
};

struct FunctionalizeOptions {
  /// Views are computed by view operators again, for a backend that has views of tensors that never
  /// change; else by copies of what they see.
  bool reapply_views = false;
  ViewPaths paths = ViewPaths::by_backend;
};

/// Those of the thread's innermost scope.
BYRE_API FunctionalizeOptions functionalize_options() noexcept;

/// Aliases that this thread makes in the scope have these options, for as long as they live.
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
