// SPDX-License-Identifier: BSL-1.0
/// RandomArguments: random sizes, axes and dtypes, and random constants (arguments other than
/// tensors) for any operator.
#pragma once

#include <byre/functional/dispatch/operator.hpp>
#include <byre/tensor/dims.hpp>
#include <byre/tensor/view_geometry.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/random.hpp"

namespace byre::test {

using Constants = std::vector<functional::Constant>;

/// Draws mostly valid arguments, and sometimes arguments that the operator rejects.
class RandomArguments : public Random {
 public:
  using Random::Random;

  std::int64_t number(std::int64_t least, std::int64_t most) { return Random::number(least, most); }
  /// An axis, positive or negative; rarely out of range.
  std::int64_t axis(std::size_t ndim);
  /// All axes in a random order.
  Dims axes(std::size_t ndim);
  /// Sizes of `numel` elements; one size may be -1.
  Dims sizes_of(std::int64_t numel);
  DType dtype();
  Scalar scalar();

  /// Constant arguments of `op` for a first tensor with the geometry `self`. They are drawn by the
  /// names and types of the parameters, so that most new operators need no code here.
  Constants constants(const functional::Operator& op, const ViewGeometry& self);

 private:
  Constants strided(const ViewGeometry& self);
  Dims expanded(const Dims& sizes);
  Dims parts_of(std::int64_t length);
  /// A bound of a slice, in most cases within the dimension.
  std::int64_t bound(std::int64_t least, std::int64_t most);
  functional::Constant constant(const functional::Operator& op,
                                const functional::Parameter& parameter, const ViewGeometry& self);

  // State of constants(), because the constants of one call depend on each other.
  std::int64_t axis_ = 0;
  std::int64_t length_ = 0;  ///< the size along axis_
  std::int64_t start_ = 0;
};

/// The stem of an operator's name: "slice" for "slice_copy" and "slice_scatter", "squeeze.axis" for
/// "squeeze_.axis", "add" for "add_" and "add.out". Operators of one stem take the same constants.
std::string stem_of(std::string_view op);

}  // namespace byre::test
