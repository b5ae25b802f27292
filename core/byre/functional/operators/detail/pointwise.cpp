// SPDX-License-Identifier: BSL-1.0
/// Defines pointwise operators: pure, in place, and out= variants.
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/functional/dispatch/detail/functional_variant.hpp>
#include <byre/functional/operators/detail/operators.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/tensor/detail/operands.hpp>
#include <byre/tensor/elements.hpp>

#include <string>

namespace byre::inline BYRE_ABI::functional {
namespace {

using Binary = Tensor (*)(const Tensor&, const Tensor&, CallSite);
using BinaryInPlace = Tensor (*)(Tensor, const Tensor&, CallSite);
using WithScalar = Tensor (*)(const Tensor&, const Scalar&, CallSite);
using WithScalarInPlace = Tensor (*)(Tensor, const Scalar&, CallSite);
using Unary = Tensor (*)(const Tensor&, CallSite);
using UnaryInPlace = Tensor (*)(Tensor, CallSite);

/// Meta rule for operands that broadcast.
std::vector<TensorMeta> meta_of_pointwise(const Call& call) {
  Dims sizes;
  for (const Argument& argument : call.arguments) {
    argument.for_each_tensor([&](const AnyTensor& tensor) {
      sizes = byre::detail::broadcast_sizes(sizes, tensor.sizes(), call.op.name().c_str());
    });
  }
  return {{std::move(sizes), detail::dtype_of_result(call)}};
}

struct CopyOperator {
  const Operator& copy = find("copy_");
};

bool supports_writes(Key key) {
  return sync::no_destructor<CopyOperator>().copy.kernel(key) != nullptr;
}

/// Resizes `out` and copies the result to it. Restores the sizes of `out` if this throws.
void resize_and_copy(const AnyTensor& out, const AnyTensor& result) {
  const Dims before = out.sizes();
  try {
    functional::call("resize_", {out, result.sizes()});
    functional::call("copy_", {out, result});
  } catch (...) {
    functional::call("resize_", {out, before});
    throw;
  }
}

/// Computes an out= variant by its functional variant, on any backend.
Tensors compute_into_out(const Call& call) {
  const Key key = keys_of(call.arguments).highest();
  if (const Kernel* const others = fallback(key); others != nullptr && !supports_writes(key)) {
    return (*others)(call);  // so that the error names the called operator, not copy_
  }
  const AnyTensor out = call.arguments.back().tensor();
  const auto operands = call.arguments.first(call.arguments.size() - 1);
  const Operator& functional_variant = detail::functional_variant_of(call.op);
  detail::write_result_to_out(call.op, out, dispatch(functional_variant, operands).front());
  return {};
}

void define_out(const std::string& name, const std::string& parameters) {
  define(name + ".out(" + parameters + ", *, Tensor(a!) out) -> Tensor(a!)")
      .composite(compute_into_out);
}

/// Defines a binary operator, its out= variant, and the variants in place if `write` and
/// `write_scalar` are given.
void define_binary(const std::string& name, Binary pure, WithScalar with_scalar,
                   BinaryInPlace write = nullptr, WithScalarInPlace write_scalar = nullptr) {
  define(name + "(Tensor a, Tensor b) -> Tensor")
      .cpu([pure](const Tensor& a, const Tensor& b) { return pure(a, b, CallSite::current()); })
      .meta(meta_of_pointwise)
      .tag(Tag::pointwise);
  define(name + ".scalar(Tensor a, Scalar b) -> Tensor")
      .cpu([with_scalar](const Tensor& a, const Scalar& b) {
        return with_scalar(a, b, CallSite::current());
      })
      .meta(meta_of_pointwise)
      .tag(Tag::pointwise);
  define_out(name, "Tensor a, Tensor b");
  if (write == nullptr) {
    return;
  }
  define(name + "_(Tensor(a!) self, Tensor other) -> Tensor(a!)")
      .cpu([write](Tensor& self, const Tensor& other) { write(self, other, CallSite::current()); });
  define(name + "_.scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)")
      .cpu([write_scalar](Tensor& self, const Scalar& other) {
        write_scalar(self, other, CallSite::current());
      });
}

void define_unary(const std::string& name, Unary pure, UnaryInPlace write) {
  define(name + "(Tensor a) -> Tensor")
      .cpu([pure](const Tensor& a) { return pure(a, CallSite::current()); })
      .meta(meta_of_pointwise)
      .tag(Tag::pointwise);
  define(name + "_(Tensor(a!) self) -> Tensor(a!)").cpu([write](Tensor& self) {
    write(self, CallSite::current());
  });
  define_out(name, "Tensor a");
}

}  // namespace

void detail::write_result_to_out(const Operator& op, const AnyTensor& out,
                                 const AnyTensor& result) {
  byre::detail::expect_category_holds(out.dtype(), result.dtype(), op.name().c_str());
  if (out.sizes() == result.sizes()) {
    functional::call("copy_", {out, result});
    return;
  }
  if (out.numel() != 0) {
    throw ShapeError(format_text(
        "%s: the result has sizes %s, out has %s. Pass an out of the result's sizes, or an empty "
        "one.",
        op.name().c_str(), byre::to_string(result.sizes()).c_str(),
        byre::to_string(out.sizes()).c_str()));
  }
  resize_and_copy(out, result);
}

void detail::define_pointwise() {
  define_binary("add", byre::add, byre::add, byre::add_, byre::add_);
  define_binary("sub", byre::sub, byre::sub, byre::sub_, byre::sub_);
  define_binary("mul", byre::mul, byre::mul, byre::mul_, byre::mul_);
  define_binary("div", byre::div, byre::div, byre::div_, byre::div_);
  define_binary("eq", byre::eq, byre::eq);
  define_binary("ge", byre::ge, byre::ge);
  define_unary("neg", byre::neg, byre::neg_);
  define_unary("relu", byre::relu, byre::relu_);
  define_unary("exp", byre::exp, byre::exp_);
  define("where(Tensor condition, Tensor a, Tensor b) -> Tensor")
      .cpu([](const Tensor& condition, const Tensor& a, const Tensor& b) {
        return byre::where(condition, a, b);
      })
      .meta(meta_of_pointwise)
      .tag(Tag::pointwise);
  define_out("where", "Tensor condition, Tensor a, Tensor b");
  define_out("sum", "Tensor a");
  define_out("matmul", "Tensor a, Tensor b");
  define_out("cat", "Tensor[] tensors, Axis axis=0");
}

}  // namespace byre::inline BYRE_ABI::functional
