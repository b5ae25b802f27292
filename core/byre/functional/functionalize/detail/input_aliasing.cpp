// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/functionalize/detail/functional_tensor.hpp>
#include <byre/functional/functionalize/detail/input_aliasing.hpp>

#include <algorithm>
#include <utility>

namespace byre::inline BYRE_ABI::functional {
namespace {

thread_local const detail::RunningInputs* innermost_of_thread = nullptr;

/// A tracked reshape splits a storage into two view families. A common base would merge the
/// families.
void expect_one_family(const AnyTensor& a, const AnyTensor& b) {
  const CpuTensor* const first = a.as<CpuTensor>();
  const CpuTensor* const second = b.as<CpuTensor>();
  if (first != nullptr && second != nullptr && !first->value.is_of_view_family(second->value)) {
    throw FunctionalizeError(format_text(
        "inputs of sizes %s and %s share a storage through a tracked reshape, in mode warn or "
        "error: writes between them would go unreported. Use reshape mode copy.",
        byre::to_string(a.sizes()).c_str(), byre::to_string(b.sizes()).c_str()));
  }
}

/// Whether the tensor covers its storage in row-major order, so that a base can have the tensor's
/// sizes. All strides are compared, also those of dimensions of size 0 or 1: they do not affect
/// which memory is accessed, but they affect later views.
bool fills_its_storage(const Tensor& tensor) {
  return tensor.layout() == contiguous_layout(tensor.sizes(), "functionalize") &&
         tensor.nbytes() == tensor.storage().nbytes();
}

/// Returns the geometry of a base with sizes and dtype `meta` that covers the tensor's storage.
ViewGeometry geometry_of_storage(const Tensor& tensor, const TensorMeta& meta) {
  ViewGeometry geometry = ViewGeometry::of_all(meta.sizes, meta.dtype);
  geometry.storage_nbytes = tensor.storage().nbytes();
  return geometry;
}

/// Whether the storage of `tensor` has handles other than those of the inputs.
bool has_handles_outside(const Tensor& tensor, const Tensors& inputs) {
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

/// Returns the base's dtype for a storage that one input views with dtype `a` and another with
/// dtype `b`: u8 if the dtypes differ.
DType common_dtype(DType a, DType b) {
  if (a == b) {
    return a;
  }
  if (a == DType::boolean || b == DType::boolean) {
    throw FunctionalizeError(
        format_text("inputs of %s and %s share a storage: bool cannot share one with another "
                    "dtype. Call clone() on one of them.",
                    byre::name_of(a), byre::name_of(b)));
  }
  return DType::u8;
}

}  // namespace

InputAliasing::InputAliasing(const Tensors& inputs) {
  std::vector<bool> is_shared;  // indexed by base: true if several inputs view it
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    const AnyTensor& given = inputs[input];
    if (given.as<FunctionalTensor>() != nullptr) {
      throw FunctionalizeError(
          format_text("input %zu is a tensor of the pass, without elements: a captured program and "
                      "functionalize_on() need elements. Call the function itself.",
                      input));
    }
    const auto known = std::ranges::find_if(
        bases_, [&](const Base& base) { return share_memory(inputs[base.input], given); });
    const auto base = static_cast<std::size_t>(known - bases_.begin());
    if (known == bases_.end()) {
      const bool is_in_memory = given.as<CpuTensor>() != nullptr;
      is_all_in_memory_ = is_all_in_memory_ && is_in_memory;
      bases_.push_back({{given.sizes(), given.dtype()}, input, is_in_memory, false});
      is_shared.push_back(false);
    } else if (given != inputs[known->input]) {
      expect_one_family(inputs[known->input], given);
      known->meta.dtype = common_dtype(known->meta.dtype, given.dtype());
      is_shared[base] = true;
    }
    base_of_.push_back(base);
    first_occurrence_.push_back(
        static_cast<std::size_t>(std::ranges::find(inputs, given) - inputs.begin()));
  }
  for (std::size_t base = 0; base < bases_.size(); ++base) {
    TensorMeta& whole = bases_[base].meta;
    const CpuTensor* const tensor = inputs[bases_[base].input].as<CpuTensor>();
    bases_[base].has_outside_views =
        tensor != nullptr && has_handles_outside(tensor->value, inputs);
    if (tensor != nullptr && (is_shared[base] || !fills_its_storage(tensor->value))) {
      whole.sizes = {static_cast<std::int64_t>(tensor->value.storage().nbytes() /
                                               byre::itemsize(whole.dtype))};
    }
  }
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    const TensorMeta& of = meta(base_of_[input]);
    ViewGeometry geometry = ViewGeometry::of_all(of.sizes, of.dtype);
    if (const CpuTensor* const tensor = inputs[input].as<CpuTensor>()) {
      geometry = {tensor->value.layout(), tensor->dtype(), geometry.storage_nbytes};
    }
    geometries_.push_back(std::move(geometry));
  }
}

AnyTensor InputAliasing::value(std::size_t base, const Tensors& inputs) const {
  const AnyTensor& input = inputs[bases_[base].input];
  const CpuTensor* const tensor = input.as<CpuTensor>();
  return tensor == nullptr
             ? input
             : from_cpu(view_of(tensor->value, geometry_of_storage(tensor->value, meta(base)))
                            .lazy_clone());
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

void detail::expect_captured_shares_no_input(const AnyTensor& tensor) {
  if (const AnyTensor* const input = RunningInputs::find_sharing(tensor)) {
    throw FunctionalizeError(
        format_text("cannot read a captured tensor, %s: it shares memory with an input, %s, that "
                    "has pending writes. Use the input, or capture a clone().",
                    describe(tensor).c_str(), describe(*input).c_str()));
  }
}

void detail::expect_written_shares_no_running_input(const AnyTensor& tensor,
                                                    const char* operation) {
  if (const AnyTensor* const input = RunningInputs::find_sharing(tensor)) {
    throw DispatchError(
        format_text("%s: cannot write %s: it shares memory with %s, an input of the enclosing "
                    "vmap() or program, which would miss the write. Call clone() on one of them.",
                    operation, describe(tensor).c_str(), describe(*input).c_str()));
  }
}

}  // namespace byre::inline BYRE_ABI::functional
