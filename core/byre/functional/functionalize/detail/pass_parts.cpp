// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/functionalize/detail/input_aliasing.hpp>
#include <byre/functional/functionalize/detail/pass_parts.hpp>
#include <byre/tensor/detail/operands.hpp>
#include <byre/tensor/elements/detail/overlap.hpp>

#include <algorithm>
#include <utility>

namespace byre::inline v0::functional {
namespace {

thread_local const detail::RunningInputs* innermost_of_thread = nullptr;

bool broadcasts_to(const Dims& sizes, const Dims& operand) noexcept {
  const std::size_t added = sizes.size() - std::min(sizes.size(), operand.size());
  bool fits = operand.size() <= sizes.size();
  for (std::size_t axis = 0; fits && axis < operand.size(); ++axis) {
    fits = operand[axis] == 1 || operand[axis] == sizes[added + axis];
  }
  return fits;
}

/// Where elements lie in their base.
byre::detail::Extent extent_of(const ViewGeometry& geometry, const Layout& layout) {
  const auto itemsize = static_cast<std::int64_t>(byre::itemsize(geometry.dtype));
  return {static_cast<std::uint64_t>(layout.offset * itemsize), layout, itemsize};
}

}  // namespace

AnyTensor detail::functional(const AnyTensor& tensor) {
  if (tensor.as<FunctionalTensor>() != nullptr) {
    return tensor;
  }
  expect_captured_apart(tensor);
  // As an input is: a view of all of its storage.
  const Tensors captured{tensor};
  const InputAliasing aliasing(captured);
  const auto alias = make_counted<Alias>(aliasing.value(0, captured), functionalize_options(),
                                         tensor.batch_level());
  alias->set_captured(tensor);
  return make_counted<FunctionalTensor>(alias, ViewPath(aliasing.meta(0), aliasing.geometry(0)));
}

void detail::expect_takes_batch(const FunctionalTensor& written, const AnyTensor& value,
                                const char* operation) {
  expect_takes_batch(written, value.batch_level(), operation);
}

void detail::expect_takes_batch(const FunctionalTensor& written, BatchLevel level,
                                const char* operation) {
  if (level > written.writable_level()) {
    throw DispatchError(format_text(
        "%s: what is written is another for each of a batch, and the tensor that is written, %s%s, "
        "is one for all of it: vmap() was given no axis for it, or its function captures it. Give "
        "it a batch, or return the result.",
        operation, byre::name_of(written.dtype()), byre::to_string(written.sizes()).c_str()));
  }
}

void detail::expect_captured_apart(const AnyTensor& tensor) {
  if (const AnyTensor* const input = RunningInputs::find_sharing(tensor)) {
    throw FunctionalizeError(format_text(
        "the function captures a tensor, %s, that shares memory with an input, %s: "
        "what it writes to the input is not there yet. Use the input, or capture a clone().",
        describe(tensor).c_str(), describe(*input).c_str()));
  }
}

void detail::expect_written_apart_from_running(const AnyTensor& tensor, const char* operation) {
  if (const AnyTensor* const input = RunningInputs::find_sharing(tensor)) {
    throw DispatchError(format_text(
        "%s: the function wrote to a tensor, %s, that shares memory with an input, %s, of the "
        "vmap() or the program it runs in, which did not change with it. clone() one of them.",
        operation, describe(tensor).c_str(), describe(*input).c_str()));
  }
}

detail::RunningInputs::RunningInputs(const Tensors& inputs) noexcept
    : inputs_(inputs), before_(std::exchange(innermost_of_thread, this)) {}

detail::RunningInputs::~RunningInputs() {
  innermost_of_thread = before_;
}

const AnyTensor* detail::RunningInputs::find_sharing(const AnyTensor& tensor) noexcept {
  const CpuTensor* const sought = tensor.as<CpuTensor>();
  for (const RunningInputs* running = innermost_of_thread; sought != nullptr && running != nullptr;
       running = running->before_) {
    for (const AnyTensor& input : running->inputs_) {
      const CpuTensor* const given = input.as<CpuTensor>();
      if (given != nullptr && given->value.aliases(sought->value)) {
        return &input;
      }
    }
  }
  return nullptr;
}

void detail::expect_not_captured(const Call& call, std::size_t index) {
  const AnyTensor& tensor = call.arguments[index].tensor();
  if (tensor.as<FunctionalTensor>() == nullptr) {
    throw FunctionalizeError(format_text(
        "%s: the tensor that is changed, %s, was not made in the function, nor given to it: nobody "
        "would see the change. Make it an input, or change an alias() of it.",
        call.op.name().c_str(), describe(tensor).c_str()));
  }
}

FunctionalTensor& detail::target_of(const Call& call, std::size_t index) {
  Argument& argument = call.arguments[index];
  argument = functional(argument.tensor());
  return *argument.tensor().as<FunctionalTensor>();
}

AnyTensor detail::redispatch_for_one(const char* name, Arguments values) {
  const ExcludeKeys pass(Key::functionalize);
  return call_for_one(name, std::move(values));
}

AnyTensor detail::redispatch_on_backend_of(const FunctionalTensor& target, const char* name,
                                           Arguments values) {
  const KeySet keys = target.backend();
  const IncludeKeys backend(is_backend(keys.highest()) ? keys : KeySet());
  return redispatch_for_one(name, std::move(values));
}

byre::detail::Overlap detail::overlap_in_alias(const FunctionalTensor& a,
                                               const FunctionalTensor& b) {
  if (&a == &b) {
    return byre::detail::Overlap::same;
  }
  const auto alias = a.alias_if_any();
  if (alias == nullptr || alias != b.alias_if_any()) {
    return byre::detail::Overlap::none;
  }
  const ViewGeometry& one = a.path().geometry();
  const ViewGeometry& other = b.path().geometry();
  return byre::detail::overlap_of(extent_of(one, one.layout), extent_of(other, other.layout));
}

void detail::expect_no_partial_overlap(FunctionalTensor& written, const AnyTensor& read,
                                       const char* operation) {
  auto* const other = read.as<FunctionalTensor>();
  const auto alias = written.alias_if_any();
  if (other == nullptr || other == &written || alias == nullptr || alias != other->alias_if_any()) {
    return;
  }
  const ViewGeometry& to = written.path().geometry();
  const ViewGeometry& from = other->path().geometry();
  if (!broadcasts_to(to.layout.sizes, from.layout.sizes)) {
    return;  // no operand from element to element: it is read as a whole, before anything is written
  }
  const Dims& sizes = to.layout.sizes;
  if (byre::detail::overlap_of(extent_of(to, to.layout),
                               extent_of(from, views::expand(from.layout, sizes))) ==
      byre::detail::Overlap::partial) {
    throw ShapeError(format_text(
        "%s: an operand of sizes %s and strides %s overlaps the tensor that is written, of sizes "
        "%s and strides %s, in part. clone() the operand first.",
        operation, byre::to_string(from.layout.sizes).c_str(),
        byre::to_string(from.layout.strides).c_str(), byre::to_string(to.layout.sizes).c_str(),
        byre::to_string(to.layout.strides).c_str()));
  }
}

}  // namespace byre::inline v0::functional
