// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/detail/batch_level.hpp>

#include <utility>

namespace byre::inline v0::functional::detail {
namespace {

thread_local BatchLevel level_of_thread = 0;

}  // namespace

BatchLevel batch_level_of_thread() noexcept {
  return level_of_thread;
}

BatchLevelScope::BatchLevelScope(BatchLevel level) noexcept
    : before_(std::exchange(level_of_thread, level)) {}

BatchLevelScope::~BatchLevelScope() {
  level_of_thread = before_;
}

}  // namespace byre::inline v0::functional::detail
