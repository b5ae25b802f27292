// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/accessor.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/print.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "interpret.hpp"
#include "worlds.hpp"

namespace byre::test {
namespace {

using Values = std::vector<std::int64_t>;

/// In row-major order. `first` is the first element of the tensor.
template <class T>
Values values_at(const T* first, const Layout& layout) {
  Values values;
  for (const std::size_t place : places_of(layout)) {
    values.push_back(first[static_cast<std::int64_t>(place) - layout.offset]);
  }
  return values;
}

/// Of a tensor that nobody watches.
Values values_of(const Tensor& tensor) {
  const Layout& layout = tensor.layout();
  if (!tensor.device().is_cpu()) {
    return values_of(tensor.to(Device::cpu()));
  }
  return tensor.dtype() == DType::boolean ? values_at(tensor.data<bool>(), layout)
         : tensor.dtype() == DType::i32   ? values_at(tensor.data<std::int32_t>(), layout)
                                          : values_at(tensor.data<std::int64_t>(), layout);
}

/// The numbers of a printed tensor; of True and False, 1 and 0.
Values numbers_in(std::string text) {
  std::ranges::replace(text, 'T', '1');
  std::ranges::replace(text, 'F', '0');
  std::ranges::replace_if(
      text, [](char c) { return c == '[' || c == ']' || (c >= 'a' && c <= 'z'); }, ' ');
  Values numbers;
  const char* next = text.c_str();
  for (char* end = nullptr;; next = end) {
    const std::int64_t number = std::strtoll(next, &end, 10);
    if (end == next) {
      return numbers;
    }
    numbers.push_back(number);
  }
}

template <class T>
Values by_indices(const Tensor& tensor, CallSite site) {
  if (tensor.ndim() == 0) {
    return {tensor.at<T>({}, site)};
  }
  Values values;
  for (const Tensor& part : tensor.unbind()) {
    const Values inner = by_indices<T>(part, site);
    values.insert(values.end(), inner.begin(), inner.end());
  }
  return values;
}

template <class T>
Values by_accessor(const Tensor& tensor, CallSite site) {
  const Tensor flat = tensor.ndim() == 0 ? tensor.unsqueeze(0) : tensor;
  Values values;
  if (flat.ndim() == 1) {
    const auto elements = accessor<T, 1>(flat, site);
    for (std::int64_t index = 0; index < elements.size(0); ++index) {
      values.push_back(elements(index));
    }
    return values;
  }
  for (const Tensor& part : flat.unbind()) {
    const Values inner = by_accessor<T>(part, site);
    values.insert(values.end(), inner.begin(), inner.end());
  }
  return values;
}

Values by_copy(const Tensor& tensor, CallSite site) {
  Tensor copied = Tensor::empty(tensor.sizes(), DType::i64);
  return values_of(copy_(copied, tensor, site));
}

template <class T>
Values read_elements(const Tensor& tensor, std::int64_t way, CallSite site) {
  switch (way) {
    case 0:
      return values_at(tensor.data<T>(site), tensor.layout());
    case 1:
      return values_at(static_cast<const T*>(tensor.raw_data(site)), tensor.layout());
    case way_by_indices:
      return by_indices<T>(tensor, site);
    default:
      return by_accessor<T>(tensor, site);
  }
}

}  // namespace

std::vector<std::int64_t> read_all(const Tensor& tensor, std::int64_t wanted, CallSite site) {
  const bool is_of_bool = tensor.dtype() == DType::boolean;
  const std::int64_t way = possible_way(wanted, !tensor.device().is_cpu(), is_of_bool);
  switch (way) {
    case 0:
    case 1:
    case way_by_indices:
    case way_by_accessor:
      return is_of_bool                     ? read_elements<bool>(tensor, way, site)
             : tensor.dtype() == DType::i32 ? read_elements<std::int32_t>(tensor, way, site)
                                            : read_elements<std::int64_t>(tensor, way, site);
    case way_by_text:
      return numbers_in(to_string(tensor, {}, site));
    case 5:
      return by_copy(tensor, site);
    case 6:
      return values_of(tensor.clone(site));
    case way_by_lazy_clone:
      return values_of(tensor.lazy_clone(site));
    case way_by_contiguous:
      return values_of(tensor.contiguous(site));
    case way_by_to:
      return values_of(tensor.to(Device::cpu(), site));
    case 10:
      return values_of(add(tensor, 0, site));
    case way_by_negation:
      return values_of(neg(neg(tensor, site)));
    case way_by_sum:
      return values_of(sum(tensor, Dims{}, false, site));
    default:
      return values_of(where(Tensor::of<bool>({}, {true}), tensor, 0, site));
  }
}

}  // namespace byre::test
