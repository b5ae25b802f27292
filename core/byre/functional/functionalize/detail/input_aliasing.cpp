// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/functionalize/detail/functional_tensor.hpp>
#include <byre/functional/functionalize/detail/input_aliasing.hpp>

#include <algorithm>
#include <utility>

namespace byre::inline v0::functional {
namespace {

thread_local const detail::RunningInputs* innermost_of_thread = nullptr;

/// Tensors on either side of a tracked reshape are of two view families, of which one base would make
/// one.
void expect_one_family(const AnyTensor& a, const AnyTensor& b) {
  const CpuTensor* const first = a.as<CpuTensor>();
  const CpuTensor* const second = b.as<CpuTensor>();
  if (first != nullptr && second != nullptr && !first->value.is_of_view_family(second->value)) {
    throw FunctionalizeError(format_text(
        "inputs of sizes %s and %s share a storage by a reshape that is tracked, in warn or error "
        "mode: a write to one of them would not be reported to the other. Functionalize programs "
        "in mode copy.",
        byre::to_string(a.sizes()).c_str(), byre::to_string(b.sizes()).c_str()));
  }
}

/// Whether the tensor is all of its memory, in order, so that a base can have its sizes. Strides
/// along which there is one element or none are no matter to memory, but to views.
bool is_all_there_is(const Tensor& tensor) {
  return tensor.layout() == contiguous_layout(tensor.sizes(), "functionalize") &&
         tensor.nbytes() == tensor.storage().nbytes();
}

/// All elements of a storage, in order.
ViewGeometry all_of(const Tensor& tensor, const TensorMeta& meta) {
  ViewGeometry geometry = ViewGeometry::of_all(meta.sizes, meta.dtype);
  geometry.storage_nbytes = tensor.storage().nbytes();
  return geometry;
}

/// Whether somebody else has a handle to the storage of some of the inputs.
bool has_other_handles(const Tensor& tensor, const Tensors& inputs) {
  Tensors counted;
  for (const AnyTensor& input : inputs) {
    const CpuTensor* const other = input.as<CpuTensor>();
    if (other != nullptr && other->value.aliases(tensor) &&
        std::find(counted.begin(), counted.end(), input) == counted.end()) {
      counted.push_back(input);
      if (other->value.handle_count() > 1) {
        return true;
      }
    }
  }
  return tensor.storage().handle_count() > counted.size();
}

/// One dtype for a storage that is seen as several: bytes.
DType common_dtype(DType a, DType b) {
  if (a == b) {
    return a;
  }
  if (a == DType::boolean || b == DType::boolean) {
    throw FunctionalizeError(format_text(
        "inputs that share a storage are of %s and %s: bools have no bytes to be seen as. clone() "
        "one of them.",
        byre::name_of(a), byre::name_of(b)));
  }
  return DType::u8;
}

}  // namespace

InputAliasing::InputAliasing(const Tensors& inputs) {
  std::vector<std::size_t> sharing;  // how many inputs are of each base
  std::vector<DType> dtypes;
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    if (inputs[input].as<FunctionalTensor>() != nullptr) {
      throw FunctionalizeError(format_text(
          "input %zu is a tensor of the pass: a program that is captured, or functionalized for a "
          "backend, computes elements, which are not there yet. Call the function itself.",
          input));
    }
    std::size_t base = 0;
    while (base < bases_.size() && !share_memory(inputs[bases_[base].input], inputs[input])) {
      ++base;
    }
    if (base == bases_.size()) {
      bases_.push_back({{inputs[input].sizes(), inputs[input].dtype()},
                        input,
                        inputs[input].as<CpuTensor>() != nullptr,
                        false});
      sharing.push_back(0);
      dtypes.push_back(inputs[input].dtype());
    }
    if (inputs[input] != inputs[bases_[base].input]) {
      expect_one_family(inputs[bases_[base].input], inputs[input]);
    }
    dtypes[base] = common_dtype(dtypes[base], inputs[input].dtype());
    sharing[base] += inputs[input] == inputs[bases_[base].input] && sharing[base] != 0 ? 0U : 1U;
    base_of_.push_back(base);
    first_same_.push_back(static_cast<std::size_t>(
        std::find(inputs.begin(), inputs.end(), inputs[input]) - inputs.begin()));
    is_all_in_memory_ = is_all_in_memory_ && inputs[input].as<CpuTensor>() != nullptr;
  }
  for (std::size_t base = 0; base < bases_.size(); ++base) {
    const CpuTensor* const tensor = inputs[bases_[base].input].as<CpuTensor>();
    bases_[base].is_seen_elsewhere = tensor != nullptr && has_other_handles(tensor->value, inputs);
    if (tensor != nullptr && (sharing[base] > 1 || !is_all_there_is(tensor->value))) {
      const auto size = static_cast<std::int64_t>(byre::itemsize(dtypes[base]));
      const auto nbytes = static_cast<std::int64_t>(tensor->value.storage().nbytes());
      bases_[base].meta = {{nbytes / size}, dtypes[base]};
    }
  }
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    const TensorMeta& of = bases_[base_of_[input]].meta;
    ViewGeometry geometry = ViewGeometry::of_all(of.sizes, of.dtype);
    if (const CpuTensor* const tensor = inputs[input].as<CpuTensor>()) {
      if (of.sizes != tensor->sizes() || of.dtype != tensor->dtype() ||
          !is_all_there_is(tensor->value)) {
        geometry = {tensor->value.layout(), tensor->dtype(), geometry.storage_nbytes};
      }
    }
    geometries_.push_back(std::move(geometry));
  }
}

AnyTensor InputAliasing::value(std::size_t base, const Tensors& inputs) const {
  const AnyTensor& input = inputs[bases_[base].input];
  const CpuTensor* const tensor = input.as<CpuTensor>();
  return tensor == nullptr
             ? input
             : from_cpu(view_of(tensor->value, all_of(tensor->value, meta(base))).lazy_clone());
}

Tensors InputAliasing::values(const Tensors& inputs) const {
  Tensors values;
  for (std::size_t base = 0; base < bases_.size(); ++base) {
    values.push_back(value(base, inputs));
  }
  return values;
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

}  // namespace byre::inline v0::functional
