// SPDX-License-Identifier: BSL-1.0
/// RandomArguments: random sizes, axes and dtypes, and with them the constants that any operator takes.
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

/// Mostly arguments that an operator takes, and now and then arguments that it refuses.
class RandomArguments : public Random {
 public:
  using Random::Random;

  std::int64_t number(std::int64_t least, std::int64_t most) { return Random::number(least, most); }
  /// An axis, counted from either end; rarely one that is out of range.
  std::int64_t axis(std::size_t ndim);
  /// All axes in a random order.
  Dims axes(std::size_t ndim);
  /// Sizes of `numel` elements; one size may be -1.
  Dims sizes_of(std::int64_t numel);
  DType dtype();
  Scalar scalar();

  /// The arguments of `op` behind its tensors, the first of which is like `self`. Depends on the names and types of
  /// the parameters, so that most new operators need nothing here.
  Constants constants(const functional::Operator& op, const ViewGeometry& self);

 private:
  Constants strided(const ViewGeometry& self);
  Dims expanded(const Dims& sizes);
  Dims parts_of(std::int64_t length);
  /// Rarely one that is beyond the dimension.
  std::int64_t bound(std::int64_t least, std::int64_t most);
  functional::Constant constant(const functional::Operator& op,
                                const functional::Parameter& parameter, const ViewGeometry& self);

  // Constants of one call depend on each other.
  std::int64_t axis_ = 0;
  std::int64_t length_ = 0;  ///< the size along axis_
  std::int64_t start_ = 0;
};

/// "slice" for "slice_copy" and "slice_scatter", "squeeze.axis" for "squeeze_.axis", "add" for "add_" and "add.out":
/// operators of one stem take the same constants.
std::string stem_of(std::string_view op);

}  // namespace byre::test
