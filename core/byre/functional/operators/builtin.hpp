// SPDX-License-Identifier: BSL-1.0
/// The operators that come along: those of byre/tensor, and what the passes make of them.
#pragma once

#include <byre/functional/dispatch/registry.hpp>

#include <string_view>
#include <vector>

namespace byre::inline v0::functional {

/// For kernels that find they cannot serve: throws DispatchError, as a call does that finds none.
[[noreturn]] void refuse_missing_kernel(const Operator& op, Key key);

/// The meta data of what a pure operator returns: by its rule, or, where it has none, by computing on
/// zeros, on the CPU. Throws whatever the kernel throws for such operands.
std::vector<TensorMeta> meta_of_results(const Call& call);

namespace detail {

/// The pure operator of that schema, which a kernel of the CPU's computes, that stands for `op`, which
/// writes; the one there is, where another thread came first. Throws DispatchError for one of another
/// schema. Thread-safe.
const Operator& define_derived(const Operator& op, Schema schema, Kernel kernel);

// While the registry is filled, before anything is found in it.
Definition define_builtin(std::string_view schema);
void set_builtin_fallback(Key key, Kernel fallback);
const Operator& builtin(std::string_view name);
Definition extend_builtin(std::string_view name);

/// All of them; each of the others defines those of one kind.
void define_builtin_operators();
void define_factories();
void define_pointwise();
void define_reductions();
void define_views();
void define_view_copies();
void define_writes();

/// The dtype of what the CPU kernel makes of operands without elements: what refuses a dtype refuses.
DType dtype_of_result(const Call& call);

}  // namespace detail
}  // namespace byre::inline v0::functional
