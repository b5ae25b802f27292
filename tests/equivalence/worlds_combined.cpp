// SPDX-License-Identifier: BSL-1.0
/// What is computed of two tensors, element by element.
#include <functional>

#include "worlds.hpp"

namespace byre::test {
namespace {

/// Of what is computed of the two, but for its memory; nothing if they do not fit.
std::optional<Worlds::Tensor> result_of(Operation operation, const Worlds::Tensor& self,
                                        const Worlds::Tensor& other) {
  Dims sizes(self.layout.sizes);
  const Dims& right = other.layout.sizes;
  const bool multiplies = operation == Operation::matmul;
  const bool masks = operation == Operation::mask;
  const bool is_of_bool = self.type.dtype == DType::boolean;
  if (multiplies ? sizes.size() != 2 || right.size() != 2 || sizes[1] != right[0]
                 : sizes != right || sizes.empty()) {
    return std::nullopt;
  }
  if (masks ? !is_of_bool || other.type.dtype == DType::boolean
            : self.type.dtype != other.type.dtype || (multiplies && is_of_bool)) {
    return std::nullopt;
  }
  if (multiplies) {
    sizes[1] = right[1];
  } else if (operation == Operation::cat) {
    sizes[0] *= 2;
  }
  return Worlds::Tensor{
      .layout = contiguous_layout(sizes, ""),
      .type = {operation == Operation::equal ? DType::boolean : other.type.dtype}};
}

constexpr auto masked = [](std::int64_t condition, std::int64_t value) {
  return condition != 0 ? value : 0;
};
/// Wraps around.
constexpr auto plus_product = [](std::int64_t total, std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(total) +
                                   static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
};

}  // namespace

/// A new tensor of two operands, which are read one after the other.
std::optional<Worlds::Tensor> Worlds::combined(const Tensor& self, const Statement& statement) {
  const auto found = tensors_.find(statement.other);
  if (found == tensors_.end() || found->second.family == nullptr ||
      found->second.type.is_on_device || self.type.is_on_device) {
    return std::nullopt;
  }
  const Tensor& other = found->second;
  const auto result = result_of(statement.operation, self, other);
  if (!result) {
    return std::nullopt;
  }
  access(self, Kind::carried);
  access(other, Kind::carried);
  const Elements a = elements_of(self, self.places);
  const Elements b = elements_of(other, other.places);
  const auto inner = static_cast<std::size_t>(self.layout.sizes.back());
  const auto columns = static_cast<std::size_t>(other.layout.sizes.back());
  Elements made(static_cast<std::size_t>(result->layout.numel()));
  for (std::size_t index = 0; index < made.size(); ++index) {
    Element& element = made[index];
    switch (statement.operation) {
      case Operation::cat:
        element = index < a.size() ? a[index] : b[index - a.size()];
        break;
      case Operation::where:
        element = index % 2 == 0 ? a[index] : b[index];
        break;
      case Operation::equal:
        element = computed(std::equal_to(), a[index], b[index]);
        break;
      case Operation::mask:
        element = computed(masked, a[index], b[index]);
        break;
      default:
        for (std::size_t k = 0; k < inner; ++k) {
          element = computed(plus_product, element, a[index / columns * inner + k],
                             b[k * columns + index % columns]);
        }
    }
  }
  return new_tensor(result->layout, result->type, made);
}

}  // namespace byre::test
