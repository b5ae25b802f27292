// SPDX-License-Identifier: BSL-1.0
#include "outcome.hpp"

#include <cmath>
#include <cstring>

namespace byre::test {
namespace {

/// Floating-point numbers of which `exponent` is all ones and anything else one, are NaN.
template <class Bits>
void unify_nans(std::string& elements, Bits exponent, Bits mantissa) {
  for (std::size_t at = 0; at + sizeof(Bits) <= elements.size(); at += sizeof(Bits)) {
    Bits bits = 0;
    std::memcpy(&bits, elements.data() + at, sizeof bits);
    if ((bits & exponent) == exponent && (bits & mantissa) != 0) {
      bits = static_cast<Bits>(exponent | mantissa);
      std::memcpy(elements.data() + at, &bits, sizeof bits);
    }
  }
}

std::string text_of(const Seen& seen) {
  return std::string(byre::name_of(seen.dtype)) + byre::to_string(seen.layout.sizes) +
         " of strides " + byre::to_string(seen.layout.strides) + " at " +
         std::to_string(seen.layout.offset) + " of " + std::to_string(seen.storage_nbytes) +
         " bytes, the same as " + std::to_string(seen.same_as) + ", aliasing " +
         std::to_string(seen.aliases);
}

/// Strides that say something.
Layout essential(Layout layout) {
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    if (layout.sizes[axis] <= 1 || layout.numel() == 0) {
      layout.strides[axis] = 0;
    }
  }
  return layout;
}

std::string difference(const Seen& expected, const Seen& found) {
  if (expected.dtype != found.dtype || essential(expected.layout) != essential(found.layout) ||
      expected.storage_nbytes != found.storage_nbytes || expected.same_as != found.same_as ||
      expected.aliases != found.aliases) {
    return "is " + text_of(found) + "\n  and should be " + text_of(expected);
  }
  return expected.elements == found.elements ? "" : "has other elements";
}

}  // namespace

std::string elements_of(const Tensor& tensor) {
  const Tensor packed = tensor.contiguous();
  std::string elements(packed.nbytes(), '\0');
  if (!elements.empty()) {
    std::memcpy(elements.data(), packed.raw_data(), elements.size());
  }
  switch (packed.dtype()) {
    case DType::f16:
      unify_nans<std::uint16_t>(elements, 0x7c00, 0x3ff);
      break;
    case DType::bf16:
      unify_nans<std::uint16_t>(elements, 0x7f80, 0x7f);
      break;
    case DType::f32:
    case DType::complex64:
      unify_nans<std::uint32_t>(elements, 0x7f800000, 0x7fffff);
      break;
    case DType::f64:
      unify_nans<std::uint64_t>(elements, 0x7ff0000000000000, 0xfffffffffffff);
      break;
    default:
      break;
  }
  return elements;
}

std::vector<Seen> all_seen(const Tensors& tensors) {
  std::vector<Seen> all;
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    const Tensor& tensor = to_cpu(tensors[index]);
    Seen seen{
        tensor.dtype(), tensor.layout(), tensor.storage().nbytes(), elements_of(tensor), 0, 0};
    while (tensors[seen.same_as] != tensors[index]) {
      ++seen.same_as;
    }
    while (seen.aliases < index && !to_cpu(tensors[seen.aliases]).aliases(tensor)) {
      ++seen.aliases;
    }
    all.push_back(std::move(seen));
  }
  return all;
}

std::string difference(const Outcome& expected, const Outcome& found) {
  if (!found.failure.empty() || !expected.failure.empty()) {
    return "it failed: " + found.failure + expected.failure;
  }
  if (expected.trace.happened != found.trace.happened) {
    return "it does " + found.trace.happened + " and not " + expected.trace.happened + "\n" +
           (found.trace.said.empty() ? "  refusing nothing\n" : found.trace.said) + "and not\n" +
           (expected.trace.said.empty() ? "  refusing nothing\n" : expected.trace.said);
  }
  for (std::size_t index = 0; index < expected.tensors.size(); ++index) {
    const std::string text = difference(expected.tensors[index], found.tensors.at(index));
    if (!text.empty()) {
      return "tensor " + std::to_string(index) + ", counting outputs first, " + text;
    }
  }
  return {};
}

}  // namespace byre::test
