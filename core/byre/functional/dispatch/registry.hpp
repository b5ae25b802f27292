// SPDX-License-Identifier: BSL-1.0
/// The registry maps names to operators, and keys to fallbacks: the kernels that compute operators
/// without a kernel for the key. For example:
///
///   define("scale(Tensor a, Scalar by) -> Tensor")
///       .cpu([](const Tensor& a, const Scalar& by) { return mul(a, by); });
///   define("row(Tensor(a) self, int index) -> Tensor(a)")
///       .view([](const ViewGeometry& self, std::span<const Argument> arguments) {
///         return std::vector{self.with(views::select(self.layout, 0, arguments[0].integer()))};
///       });
///
/// Unless a function says otherwise:
///
/// - Thread-safe. Lookups take no lock and may run concurrently with registration, which takes one.
/// - The first call defines the built-in operators. If it throws OutOfMemory, the next call tries
///   again.
/// - Registered operators, kernels and rules are never removed. References stay valid.
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/kernel.hpp>
#include <byre/functional/dispatch/operator.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace byre::inline BYRE_ABI::functional {

/// Registers kernels and rules of one operator, in chained calls. Each member throws DispatchError
/// if this kernel or rule is already registered, if the function is empty, or if a boxed() kernel
/// does not fit the schema, or throws OutOfMemory. After an error, nothing was registered.
class BYRE_API Definition {
 public:
  explicit Definition(Operator& op) noexcept : op_(op) {}

  const Definition& kernel(Key key, TypedKernel kernel) const;
  /// Registers a function as the CPU's kernel: see boxed() in kernel.hpp.
  template <class Function>
  const Definition& cpu(Function function) const {
    return kernel(Key::cpu, boxed(std::move(function)));
  }
  const Definition& composite(TypedKernel kernel) const;
  const Definition& meta(MetaRule rule) const;
  /// Also throws DispatchError if the operator is not pure or does not return exactly one tensor.
  const Definition& tag(Tag tag) const;
  /// Also throws DispatchError if the schema is not that of a view. The CPU needs no kernel for the
  /// operator: its fallback applies the rule.
  const Definition& view(ViewRule rule) const;

  const Operator& op() const noexcept { return op_; }

 private:
  Operator& op_;
};

/// Registers an operator. Throws DispatchError if the name is taken, or OutOfMemory. The overload
/// that takes a text also throws the errors of parse_schema().
BYRE_API Definition define(std::string_view schema);
BYRE_API Definition define(Schema schema);
/// Finds an operator, to add kernels or rules to it. Throws DispatchError if the name is unknown.
BYRE_API Definition extend(std::string_view name);

/// Finds an operator by its name with the overload, such as "add_.scalar". Lock-free. Throws
/// DispatchError, which lists similar names, if the name is unknown.
BYRE_API const Operator& find(std::string_view name);
/// Finds an operator, or returns null if the name is unknown. Lock-free.
BYRE_API const Operator* find_if_any(std::string_view name);
/// Returns all operators, sorted by name. Throws OutOfMemory. Cost: O(n log n).
BYRE_API std::vector<const Operator*> operators();

/// Registers the fallback of a key: the kernel for operators that have neither a kernel for the key
/// nor a composite kernel. Throws DispatchError if the key already has a fallback or if `fallback`
/// is empty, or throws OutOfMemory.
BYRE_API void set_fallback(Key key, Kernel fallback);
/// Returns the fallback of a key, or null. Lock-free.
BYRE_API const Kernel* fallback(Key key);

}  // namespace byre::inline BYRE_ABI::functional
