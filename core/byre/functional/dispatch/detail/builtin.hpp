// SPDX-License-Identifier: BSL-1.0
/// How the operators that come along enter the registry: at its first use, from rooms that stand
/// above it.
#pragma once

#include <byre/functional/dispatch/registry.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace byre::inline v0::functional::detail {

/// The slot for what fills the registry. functional/builtin defines it, as a constant: to link the
/// library is enough, and nothing runs when it is loaded.
using BuiltinDefinitions = void (*)();
extern const BuiltinDefinitions define_builtin_operators;

// define_builtin_operators calls these, in this order. Each stands in a room above.
void define_factories();
void define_pointwise();
void define_reductions();
void define_views();
void define_view_copies();
void define_writes();
void define_cpu_backend();
void define_graph_backend();
void define_functionalize_pass();
void define_batching();

/// The name of a variant: "view.dtype" and "_copy" make "view_copy.dtype".
inline std::string with_suffix(const std::string& name, const std::string& suffix) {
  const std::size_t end = std::min(name.find('.'), name.size());
  return name.substr(0, end) + suffix + name.substr(end);
}

/// Throws DispatchError for a boxed kernel that `op` cannot call; `what` names it, as "kernel for cpu".
void expect_fits(const TypedKernel& kernel, const Operator& op, const char* what);

/// For meta rules: the dtype of what the CPU's kernel makes of operands without elements. Throws
/// what that refuses a dtype with.
DType dtype_of_result(const Call& call);

/// The pure operator of that schema, computed by a kernel for the CPU, which stands for `op`, an
/// operator that writes, and is found by that alone. The first definition of several threads is kept.
/// Thread-safe.
const Operator& define_generated(const Operator& op, Schema schema, Kernel kernel);

}  // namespace byre::inline v0::functional::detail
