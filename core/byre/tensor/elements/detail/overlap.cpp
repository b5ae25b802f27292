// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/detail/operands.hpp>
#include <byre/tensor/elements/detail/overlap.hpp>

#include <limits>
#include <numeric>

namespace byre::inline BYRE_ABI::detail {
namespace {

/// The dimensions of a view that have more than one element. Strides are in bytes.
struct Steps {
  Dims sizes;
  Dims strides;

  explicit Steps(const Extent& extent) {
    for (std::size_t axis = 0; axis < extent.layout.ndim(); ++axis) {
      if (extent.layout.sizes[axis] != 1) {
        sizes.push_back(extent.layout.sizes[axis]);
        strides.push_back(extent.layout.strides[axis] * extent.itemsize);
      }
    }
  }

  /// The number of bytes from the first element to the end of the last, within the dimensions with
  /// strides less than `limit`.
  std::int64_t spanned_below(std::int64_t limit, std::int64_t itemsize) const {
    std::int64_t nbytes = itemsize;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      nbytes += strides[axis] < limit ? (sizes[axis] - 1) * strides[axis] : 0;
    }
    return nbytes;
  }

  /// The greatest common divisor of the strides of `limit` or more; 0 if all strides are less.
  std::int64_t period_from(std::int64_t limit) const {
    std::int64_t period = 0;
    for (const std::int64_t stride : strides) {
      period = stride < limit ? period : std::gcd(period, stride);
    }
    return period;
  }

  friend bool operator==(const Steps&, const Steps&) = default;
};

/// Divides memory into periods. The length of a period is the greatest common divisor of all
/// strides of `limit` or more. The dimensions of a view with smaller strides span one range of
/// bytes, at the same place in every period. Returns whether the ranges of the two views are
/// disjoint.
bool use_disjoint_ranges(const Extent& a, const Steps& a_steps, const Extent& b,
                         const Steps& b_steps, std::int64_t limit) {
  const std::int64_t period = std::gcd(a_steps.period_from(limit), b_steps.period_from(limit));
  if (period == 0) {
    return false;  // each view is a single range, and the caller has compared these ranges
  }
  const auto distance = static_cast<std::int64_t>(b.first - a.first) % period;
  const std::int64_t behind_a = distance < 0 ? distance + period : distance;
  return behind_a >= a_steps.spanned_below(limit, a.itemsize) &&
         period - behind_a >= b_steps.spanned_below(limit, b.itemsize);
}

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

}  // namespace

Overlap overlap_of(const Extent& a, const Extent& b) {
  if (a.layout.numel() == 0 || b.layout.numel() == 0) {
    return Overlap::none;
  }
  const Steps a_steps(a);
  const Steps b_steps(b);
  const auto a_end =
      a.first + static_cast<std::uint64_t>(a_steps.spanned_below(no_limit, a.itemsize));
  const auto b_end =
      b.first + static_cast<std::uint64_t>(b_steps.spanned_below(no_limit, b.itemsize));
  if (a_end <= b.first || b_end <= a.first) {
    return Overlap::none;
  }
  if (a.first == b.first && a.itemsize == b.itemsize && a_steps == b_steps) {
    return Overlap::same;
  }
  for (const Steps* steps : {&a_steps, &b_steps}) {
    for (const std::int64_t stride : steps->strides) {
      if (stride != 0 && use_disjoint_ranges(a, a_steps, b, b_steps, stride)) {
        return Overlap::none;
      }
    }
  }
  return Overlap::partial;
}

void expect_distinct_elements(const Tensor& output, const char* operation) {
  if (may_overlap_itself(output.layout())) {
    throw ShapeError(format_text(
        "%s: elements of the written tensor share memory: sizes %s, strides %s, as after expand() "
        "or "
        "as_strided(). Call clone() on it first.",
        operation, to_string(output.sizes()).c_str(), to_string(output.strides()).c_str()));
  }
}

Overlap expect_no_partial_overlap(const Tensor& output, const Tensor& input, const Layout& expanded,
                                  const char* operation) {
  if (output.numel() == 0 || output.device() != input.device() ||
      (!output.aliases(input) && output.storage().shares_data_with(input.storage()))) {
    return Overlap::none;  // lazy clones share data, but a write gives the output its own data
  }
  const auto extent_of = [](const Tensor& tensor, const Layout& layout) {
    return Extent{reinterpret_cast<std::uintptr_t>(ElementAccess::to_read(tensor)), layout,
                  static_cast<std::int64_t>(tensor.itemsize())};
  };
  const Overlap overlap =
      overlap_of(extent_of(output, output.layout()), extent_of(input, expanded));
  if (overlap == Overlap::partial) {
    throw ShapeError(format_text(
        "%s: an operand of sizes %s and strides %s partially overlaps the written tensor, of sizes "
        "%s and strides %s, and would be read after the write. Call clone() on the operand first.",
        operation, to_string(input.sizes()).c_str(), to_string(input.strides()).c_str(),
        to_string(output.sizes()).c_str(), to_string(output.strides()).c_str()));
  }
  return overlap;
}

}  // namespace byre::inline BYRE_ABI::detail
