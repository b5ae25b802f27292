// SPDX-License-Identifier: BSL-1.0
/// The CPU's fallback: computes views by their view rules, and operators that apply a view in
/// place, such as transpose_, by the rule of that view.
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/detail/builtin.hpp>

namespace byre::inline BYRE_ABI::functional {
namespace {

Tensors views_of(const Operator& op, std::span<Argument> arguments) {
  const Tensor& self = to_cpu(arguments.front().tensor());
  Tensors views;
  for (const ViewGeometry& geometry : (*op.view())(geometry_of(self), arguments.subspan(1))) {
    views.push_back(from_cpu(view_of(self, geometry)));
  }
  return views;
}

Tensors compute_by_view_rule(const Call& call) {
  if (call.op.view() != nullptr) {
    return views_of(call.op, call.arguments);
  }
  if (const Operator* const view = call.op.view_variant()) {
    Tensor seen = to_cpu(views_of(*view, call.arguments).front());
    to_cpu(call.arguments.front().tensor()) = std::move(seen);
    return {};
  }
  refuse_missing_kernel(call.op, Key::cpu);
}

}  // namespace

void detail::define_cpu_backend() {
  set_fallback(Key::cpu, compute_by_view_rule);
}

}  // namespace byre::inline BYRE_ABI::functional
