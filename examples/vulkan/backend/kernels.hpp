// SPDX-License-Identifier: BSL-1.0
/// What the kernels have in common: operands on the device, results, and the one shader that computes from element to
/// element or moves elements.
#pragma once

#include <algorithm>
#include <array>
#include <byre/functional/dispatch/call.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "vulkan/backend/shaders.hpp"
#include "vulkan/backend/vulkan_tensor.hpp"
#include "vulkan/device/queue.hpp"

namespace examples::vulkan {

// For vulkan_backend().
void define_copies();
void define_pointwise();
void define_reductions();

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
  select,
};

/// The elements of an operand that a result of some sizes is computed of, or where that result is.
struct Place {
  /// Of elements.glsl: those of byre::DType, and values that are in no memory.
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

template <class Number>
constexpr std::uint32_t word(Number number) noexcept {
  return static_cast<std::uint32_t>(number);
}

/// As many groups as `count` things take, `each` in one; at most the groups that every device has.
constexpr std::uint32_t groups_for(std::int64_t count, std::int64_t each = 1) noexcept {
  return word(std::clamp<std::int64_t>((count + each - 1) / each, 1, 65535));
}

/// Parameters as shaders read them.
template <class Words>
std::span<const std::byte> bytes_of(const Words& words) {
  return std::as_bytes(std::span(words));
}

}  // namespace examples::vulkan
