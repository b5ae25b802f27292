// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/functionalize/options.hpp>

namespace byre::inline v0::functional {
namespace {

thread_local FunctionalizeOptions options_of_thread;

}  // namespace

FunctionalizeOptions functionalize_options() noexcept {
  return options_of_thread;
}

FunctionalizeOptionsScope::FunctionalizeOptionsScope(FunctionalizeOptions options) noexcept
    : before_(options_of_thread) {
  options_of_thread = options;
}

FunctionalizeOptionsScope::~FunctionalizeOptionsScope() {
  options_of_thread = before_;
}

}  // namespace byre::inline v0::functional
