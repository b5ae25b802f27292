// SPDX-License-Identifier: BSL-1.0
/// The registry: operators by name, their kernels by key, and a fallback for each key. All
/// thread-safe; to look takes no lock, beside whoever registers. Whoever comes first defines the
/// operators that come along: without the memory for those, that call throws OutOfMemory, and the
/// next one tries again.
///
///   define("scale(Tensor a, Scalar by) -> Tensor")
///       .cpu([](const Tensor& a, const Scalar& by) { return mul(a, by); });
///   define("row(Tensor(a) self, int index) -> Tensor(a)")
///       .view([](const ViewGeometry& self, std::span<const Argument> arguments) {
///         return std::vector{self.with(views::select(self.layout, 0, arguments[0].integer()))};
///       });
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/kernel.hpp>
#include <byre/functional/dispatch/operator.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace byre::inline v0::functional {

/// What is said of an operator, one after the other. Each throws DispatchError for what was said
/// before, for what has no function, and for a boxed() kernel that takes or returns other than the schema
/// says; OutOfMemory. Nothing is registered then.
class BYRE_API Definition {
 public:
  explicit Definition(Operator& op) noexcept : op_(op) {}

  const Definition& kernel(Key key, TypedKernel kernel) const;
  /// Of a function of what the schema names: see kernel.hpp.
  template <class Function>
  const Definition& cpu(Function function) const {
    return kernel(Key::cpu, boxed(std::move(function)));
  }
  const Definition& composite(TypedKernel kernel) const;
  const Definition& meta(MetaRule rule) const;
  /// Throws DispatchError for an operator that is not pure or does not return one tensor.
  const Definition& tag(Tag tag) const;
  /// For an operator whose schema is a view's: the kernels of backends that have views are derived.
  const Definition& view(ViewRule rule) const;

  const Operator& op() const noexcept { return op_; }

 private:
  Operator& op_;
};

/// A new operator. Throws SyntaxError, SchemaError, and DispatchError if there is one of that name.
BYRE_API Definition define(std::string_view schema);
BYRE_API Definition define(Schema schema);
/// One there is already, to add kernels for another key. Throws DispatchError.
BYRE_API Definition extend(std::string_view name);

/// By its name and overload: "add_.scalar". Stays valid. Lock-free. Throws DispatchError, which
/// names those that are near.
BYRE_API const Operator& find(std::string_view name);
/// The same, or null.
BYRE_API const Operator* find_if_any(std::string_view name);
/// All there are, by name.
BYRE_API std::vector<const Operator*> operators();

/// What a key does with operators that have no kernel for it. Throws DispatchError if it has one, and for
/// what has no function.
BYRE_API void set_fallback(Key key, Kernel fallback);
/// That, or null. Lock-free.
BYRE_API const Kernel* fallback(Key key);

}  // namespace byre::inline v0::functional
