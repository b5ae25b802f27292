// SPDX-License-Identifier: BSL-1.0
/// Connects the registry to the built-in operators. The first use of the registry defines the
/// operators through a constant function pointer, because the folders that define operators include
/// the registry, and the registry must not include these folders.
#pragma once

#include <byre/functional/dispatch/registry.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace byre::inline BYRE_ABI::functional::detail {

/// Defines the built-in operators. functional/builtin sets this constant, so it suffices to link
/// the library, and no code runs when the library is loaded.
using BuiltinDefinitions = void (*)();
extern const BuiltinDefinitions define_builtin_operators;

// define_builtin_operators calls these in this order. Each is defined in another folder of
// functional/.
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

/// Returns the name of a variant: "view.dtype" and "_copy" make "view_copy.dtype".
inline std::string with_suffix(const std::string& name, const std::string& suffix) {
  const std::size_t end = std::min(name.find('.'), name.size());
  return name.substr(0, end) + suffix + name.substr(end);
}

/// Throws DispatchError if a boxed kernel does not fit the schema of `op`. `what` names the kernel,
/// such as "kernel for cpu".
void expect_fits(const TypedKernel& kernel, const Operator& op, const char* what);

/// For meta rules: returns the result dtype of the CPU's kernel, computed on operands without
/// elements. Throws the kernel's error for an unsupported dtype.
DType dtype_of_result(const Call& call);

/// Registers a generated functional variant of `op` with a kernel for the CPU. The variant is found
/// only through `op`, not by name. If several threads call this, the first definition is used.
/// Thread-safe.
const Operator& define_generated(const Operator& op, Schema schema, Kernel kernel);

}  // namespace byre::inline BYRE_ABI::functional::detail
