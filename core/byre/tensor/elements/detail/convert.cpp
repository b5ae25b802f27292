// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/elements/detail/convert.hpp>

#include <algorithm>
#include <cstring>

namespace byre::inline BYRE_ABI::detail {
namespace {

template <class To, class From>
void convert_dense(To* to, const From* from, std::int64_t length) {
  if constexpr (std::is_same_v<To, From> && !std::is_same_v<From, bool>) {
    std::memmove(to, from, static_cast<std::size_t>(length) * sizeof(To));
  } else {
    for (std::int64_t i = 0; i < length; ++i) {
      to[i] = converted<To>(loaded(from[i]));
    }
  }
}

template <class To, class From>
void convert_row(std::byte* to, std::int64_t to_stride, const std::byte* from,
                 std::int64_t from_stride, std::int64_t length) {
  const auto* const source = reinterpret_cast<const From*>(from);
  auto* const target = reinterpret_cast<To*>(to);
  if (to_stride == sizeof(To) && from_stride == sizeof(From)) {
    convert_dense(target, source, length);
  } else if (to_stride == sizeof(To) && from_stride == 0) {
    std::fill_n(target, length, converted<To>(loaded(*source)));
  } else {
    for (; length > 0; --length, to += to_stride, from += from_stride) {
      *reinterpret_cast<To*>(to) = converted<To>(loaded(*reinterpret_cast<const From*>(from)));
    }
  }
}

}  // namespace

ConvertRow conversion(DType to, DType from, const char* operation) {
  return visit(to, operation, [&]<class To>() {
    return visit(from, operation,
                 [&]<class From>() -> ConvertRow { return &convert_row<To, From>; });
  });
}

}  // namespace byre::inline BYRE_ABI::detail
