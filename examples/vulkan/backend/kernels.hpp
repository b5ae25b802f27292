// SPDX-License-Identifier: BSL-1.0
/// Shared parts of the kernels: operands on the device, results, the compiled shaders, and the one shader that
/// computes from element to element or moves elements.
#pragma once

#include <algorithm>
#include <array>
#include <byre/functional/dispatch/call.hpp>
#include <byre/tensor/promotion.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vulkan/backend/vulkan_tensor.hpp"
#include "vulkan/device/queue.hpp"

namespace examples::vulkan {

// For vulkan_backend().
void define_copies();
void define_arithmetic();

template <class Compute>
void define_kernel(const std::string& name, Compute compute) {
  byre::functional::extend(name).kernel(VulkanTensor::key,
                                        [compute](const byre::functional::Call& call) {
                                          return byre::functional::Tensors{compute(call)};
                                        });
}

/// The tensors of a call's arguments, on the device: those of the CPU are copied there.
class Operands {
 public:
  explicit Operands(const byre::functional::Call& call);
  VulkanTensor& operator[](std::size_t index) const { return *all_[index]; }
  std::size_t size() const noexcept { return all_.size(); }
  /// A handle to it.
  byre::functional::AnyTensor handle(std::size_t index) const {
    return VulkanTensorPtr(all_[index]);
  }
  /// Whether the call has its only handle, so that it may be written in place.
  bool is_sole(std::size_t index) const;

 private:
  std::vector<VulkanTensor*> all_;
  byre::functional::Tensors copied_;
};

/// With memory of indeterminate contents.
VulkanTensorPtr made_on_device(byre::Dims sizes, byre::DType dtype);
/// The same bytes, shared lazily, as a tensor of as many.
VulkanTensorPtr lazy_clone(const VulkanTensor& tensor);
VulkanTensorPtr lazy_clone(const VulkanTensor& tensor, byre::Dims sizes, byre::DType dtype);

/// All bytes of a tensor that has elements.
Use use_of(const VulkanTensor& tensor, Use::Kind kind);

/// The numbers a shader computes with: DOMAIN of elements.glsl.
enum class Domain : std::uint8_t { integer, single, twofold, complex };

constexpr Domain domain_of(byre::DType dtype) noexcept {
  return dtype == byre::DType::complex64 ? Domain::complex
         : dtype == byre::DType::f64     ? Domain::twofold
         : dtype <= byre::DType::i64     ? Domain::integer
                                         : Domain::single;
}

/// The dtype of a domain's values.
constexpr byre::DType dtype_of(Domain domain) noexcept {
  return domain == Domain::complex   ? byre::DType::complex64
         : domain == Domain::twofold ? byre::DType::f64
         : domain == Domain::integer ? byre::DType::i64
                                     : byre::DType::f32;
}

using Words = std::vector<std::uint32_t>;

/// Dispatches a shader of ../shaders for that domain and those constants, by their ids; `doubles` says that it reads or
/// writes f64. Throws VulkanError, also on a device without f64, OutOfMemory. Thread-safe.
void dispatch(std::string_view shader, Domain domain, bool doubles, const Words& constants,
              std::span<const Use> uses, const Words& parameters,
              const std::array<std::uint32_t, 3>& groups);

/// Of pointwise.comp, in its order.
enum class Operation : std::uint32_t {
  copy,
  add,
  subtract,
  multiply,
  divide,
  equal,
  greater_or_equal,
  negate,
  rectify,
  exponentiate,
  select
};

/// The elements of an operand that a result of some sizes is computed of, or where that result is.
struct Place {
  /// Types of elements.glsl beside those of byre::DType: values that are in no memory.
  static constexpr std::uint32_t number = 11;
  static constexpr std::uint32_t counted = 12;

  Use use{nullptr, 0, Use::read};
  std::uint32_t type = number;
  std::int64_t offset = 0;
  byre::Dims strides{};  ///< in elements, also negative
};

/// All of a contiguous tensor, broadcast to `sizes`.
Place place_of(const VulkanTensor& tensor, const byre::Dims& sizes);
/// A tensor seen through a layout.
Place place_of(const VulkanTensor& tensor, const byre::Layout& layout);

/// The bits of a number as a value of a domain.
using Bits = std::array<std::uint32_t, 2>;
Bits bits_of(const byre::Scalar& number, byre::DType dtype, Domain domain, const char* operation);

/// A dimension, or several that are one to all operands.
struct Dimension {
  std::int64_t size = 1;
  std::array<std::int64_t, 4> strides{};  ///< of each operand
};

/// The innermost first, and at least one. Dimensions that follow each other in all memory are one. No strides are 0.
std::vector<Dimension> merged(const byre::Dims& sizes, const std::array<byre::Dims, 4>& strides);

/// One dispatch; none if the result has no elements.
struct Pointwise {
  Operation operation = Operation::copy;
  Domain domain = Domain::integer;
  byre::Dims sizes;
  std::array<Place, 4> places{};  ///< the result, a, b, condition
  Bits number{};
};
void run(const Pointwise& pointwise);

/// Elements of one dtype are copied as they are, others converted.
void run_copy(Place to, Place from, const byre::Dims& sizes);
/// A tensor whose elements are all this number of the domain of its dtype.
VulkanTensorPtr filled(const byre::functional::TensorMeta& meta, Bits number = {});

/// Counted from the end if it is negative.
inline std::size_t axis_of(std::int64_t axis, const byre::Dims& sizes) noexcept {
  return static_cast<std::size_t>(axis < 0 ? axis + std::ssize(sizes) : axis);
}

template <class Number>
constexpr std::uint32_t word(Number number) noexcept {
  return static_cast<std::uint32_t>(number);
}

/// As many groups as `count` things take, `each` in one; at most the groups that every device has.
constexpr std::uint32_t groups_for(std::int64_t count, std::int64_t each = 1) noexcept {
  return word(std::clamp<std::int64_t>((count + each - 1) / each, 1, 65535));
}

}  // namespace examples::vulkan
