// SPDX-License-Identifier: BSL-1.0
/// Shared code of the kernels: operands on the device, results, dispatches of the compiled shaders,
/// and the shader that computes element by element or moves elements.
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

// Called once by vulkan_backend().
void define_copies();
void define_arithmetic();

template <class Compute>
void define_kernel(const std::string& name, Compute compute) {
  byre::functional::extend(name).kernel(VulkanTensor::key,
                                        [compute](const byre::functional::Call& call) {
                                          return byre::functional::Tensors{compute(call)};
                                        });
}

/// The tensors among a call's arguments. Tensors of the CPU are copied to the device.
class Operands {
 public:
  explicit Operands(const byre::functional::Call& call);
  VulkanTensor& operator[](std::size_t index) const { return *all_[index]; }
  std::size_t size() const noexcept { return all_.size(); }
  /// A new handle to operand `index`.
  byre::functional::AnyTensor handle(std::size_t index) const {
    return VulkanTensorPtr(all_[index]);
  }
  /// Whether the call has the only handle to operand `index`. If so, the operand may be written in
  /// place.
  bool is_sole(std::size_t index) const;

 private:
  std::vector<VulkanTensor*> all_;
  byre::functional::Tensors copied_;
};

/// A tensor with indeterminate contents.
VulkanTensorPtr empty_on_device(byre::Dims sizes, byre::DType dtype);
/// A lazy clone of `tensor`. The second overload requires that a tensor of `sizes` and `dtype` has
/// as many bytes as `tensor`.
VulkanTensorPtr lazy_clone(const VulkanTensor& tensor);
VulkanTensorPtr lazy_clone(const VulkanTensor& tensor, byre::Dims sizes, byre::DType dtype);

/// An access to all bytes of `tensor`, which must not be empty.
Use use_of(const VulkanTensor& tensor, Use::Kind kind);

/// The type of number that a shader computes with: DOMAIN of elements.glsl.
enum class Domain : std::uint8_t { integer, f32, f64, complex64 };

constexpr Domain domain_of(byre::DType dtype) noexcept {
  return dtype == byre::DType::complex64 ? Domain::complex64
         : dtype == byre::DType::f64     ? Domain::f64
         : dtype <= byre::DType::i64     ? Domain::integer
                                         : Domain::f32;
}

/// The dtype of a domain's values.
constexpr byre::DType dtype_of(Domain domain) noexcept {
  return domain == Domain::complex64 ? byre::DType::complex64
         : domain == Domain::f64     ? byre::DType::f64
         : domain == Domain::integer ? byre::DType::i64
                                     : byre::DType::f32;
}

using Words = std::vector<std::uint32_t>;

/// Dispatches a shader of ../shaders, compiled for a domain and with `constants` indexed by their
/// ids. Outside of the domain f64, `doubles` must be true if the shader reads or writes f64. Throws
/// OutOfMemory; VulkanError if a call fails, or if f64 is needed but not supported. Thread-safe.
void dispatch(std::string_view shader, Domain domain, bool doubles, const Words& constants,
              std::span<const Use> uses, const Words& parameters,
              const std::array<std::uint32_t, 3>& groups);

/// The operations of pointwise.comp, in its order.
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

/// Where the elements of an operand, or of the result, are in memory.
struct Place {
  /// Types of elements.glsl in addition to those of byre::DType: the number of a Pointwise, and the
  /// index of the element. Their values are not in memory.
  static constexpr std::uint32_t number = 11;
  static constexpr std::uint32_t element_index = 12;

  Use use{nullptr, 0, Use::read};
  std::uint32_t type = number;
  std::int64_t offset = 0;
  byre::Dims strides{};  ///< in elements; may be negative
};

/// The place of the elements of a contiguous tensor that is broadcast to `sizes`.
Place place_of(const VulkanTensor& tensor, const byre::Dims& sizes);
/// The place of the elements that `layout` selects.
Place place_of(const VulkanTensor& tensor, const byre::Layout& layout);

/// The bits of one value in the dtype of a domain.
using Bits = std::array<std::uint32_t, 2>;
Bits bits_of(const byre::Scalar& number, byre::DType dtype, Domain domain, const char* operation);

/// One dimension, or several dimensions that were merged to one.
struct Dimension {
  std::int64_t size = 1;
  std::array<std::int64_t, 4> strides{};  ///< the stride in each operand
};

/// Merges adjacent dimensions if they are contiguous with each other in all operands. Returns at
/// least one dimension, innermost first. Empty strides count as strides of 0.
std::vector<Dimension> merged(const byre::Dims& sizes, const std::array<byre::Dims, 4>& strides);

/// An operation that works element by element. run() records one dispatch, or nothing if the result
/// is empty.
struct Pointwise {
  Operation operation = Operation::copy;
  Domain domain = Domain::integer;
  byre::Dims sizes;
  std::array<Place, 4> places{};  ///< the result, a, b, condition
  Bits number{};
};
void run(const Pointwise& pointwise);

/// Copies elements, and converts them if the dtypes differ.
void run_copy(Place to, Place from, const byre::Dims& sizes);
/// A tensor whose elements all are `number`, a value of the domain of its dtype.
VulkanTensorPtr filled(const byre::functional::TensorMeta& meta, Bits number = {});

/// The index of an axis, which counts from the end if it is negative.
inline std::size_t axis_of(std::int64_t axis, const byre::Dims& sizes) noexcept {
  return static_cast<std::size_t>(axis < 0 ? axis + std::ssize(sizes) : axis);
}

template <class Number>
constexpr std::uint32_t word(Number number) noexcept {
  return static_cast<std::uint32_t>(number);
}

/// The number of groups for `count` items with `each` items per group, at most the number that
/// every device supports.
constexpr std::uint32_t groups_for(std::int64_t count, std::int64_t each = 1) noexcept {
  return word(std::clamp<std::int64_t>((count + each - 1) / each, 1, 65535));
}

}  // namespace examples::vulkan
