// SPDX-License-Identifier: BSL-1.0
/// Defines the built-in operators in dependency order: see dispatch/detail/builtin.hpp.
#include <byre/functional/dispatch/detail/builtin.hpp>

namespace byre::inline BYRE_ABI::functional {
namespace {

void define_all() {
  detail::define_factories();
  detail::define_pointwise();
  detail::define_reductions();
  detail::define_views();
  detail::define_view_copies();
  detail::define_writes();
  detail::define_cpu_backend();
  detail::define_graph_backend();
  detail::define_functionalize_pass();
  detail::define_batching();
}

}  // namespace

constinit const detail::BuiltinDefinitions detail::define_builtin_operators = define_all;

}  // namespace byre::inline BYRE_ABI::functional
