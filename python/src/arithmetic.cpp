// SPDX-License-Identifier: BSL-1.0
#include "arithmetic.hpp"

#include <byre/tensor/elements/detail/overlap.hpp>

#include <algorithm>

namespace byre::inline v0::python {
namespace {

/// The size along the axis that is `from_last` from the last, 1 where there is none.
std::int64_t size_from_last(const Tensor& tensor, std::size_t from_last) noexcept {
  const Dims& sizes = tensor.sizes();
  return from_last < sizes.size() ? sizes[sizes.size() - 1 - from_last] : 1;
}

bool broadcasts_to(const Tensor& source, const Tensor& target) noexcept {
  for (std::size_t axis = 0; axis < source.ndim(); ++axis) {
    const std::int64_t size = size_from_last(source, axis);
    if (size != 1 && size != size_from_last(target, axis)) {
      return false;
    }
  }
  return source.ndim() <= target.ndim();
}

byre::detail::Extent extent_of(const Tensor& tensor, const Layout& layout) {
  return {reinterpret_cast<std::uintptr_t>(tensor.raw_data()), layout,
          static_cast<std::int64_t>(tensor.itemsize())};
}

/// Whether an element would be read after it was written, which the operation refuses.
bool is_written_under(const Tensor& source, const Tensor& written) {
  return source.numel() != 0 && broadcasts_to(source, written) &&
         byre::detail::overlap_of(
             extent_of(written, written.layout()),
             extent_of(source, views::expand(source.layout(), written.sizes()))) ==
             byre::detail::Overlap::partial;
}

}  // namespace

std::size_t nbytes_of_broadcast(const Tensor& a, const Tensor& b) noexcept {
  std::size_t nbytes = std::max(a.itemsize(), b.itemsize());
  for (std::size_t axis = 0; axis < std::max(a.ndim(), b.ndim()); ++axis) {
    const auto size =
        static_cast<std::size_t>(std::max(size_from_last(a, axis), size_from_last(b, axis)));
    if (__builtin_mul_overflow(nbytes, size, &nbytes)) {
      return most_nbytes_under_gil + 1;
    }
  }
  return nbytes;
}

Tensor readable_while_written(const Tensor& source, const Tensor& written, const CopyRule& rule,
                              const char* operation) {
  if (!is_written_under(source, written)) {
    return source;
  }
  rule.before_copy(source, operation, "as it is written while it is read");
  return source.clone();
}

}  // namespace byre::inline v0::python
