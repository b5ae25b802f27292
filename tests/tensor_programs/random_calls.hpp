// SPDX-License-Identifier: BSL-1.0
/// RandomCalls: random calls of every pure operator, with valid arguments. Tests compare a backend
/// with the CPU, record the calls in a graph, and compare meta rules with the results.
#pragma once

#include <byre/functional.hpp>

#include <string>
#include <vector>

#include "arguments.hpp"

namespace byre::test {

/// True if dtypes and sizes are equal, and the elements are equal bit by bit.
bool are_same(const Tensor& a, const Tensor& b);

class RandomCalls : public RandomArguments {
 public:
  using RandomArguments::RandomArguments;

  /// The pure operators that have a meta rule and a tensor as first parameter, except for operators
  /// of tests, "test_...".
  static std::vector<std::string> names();
  /// names(), and the operators that create tensors from numbers.
  static std::vector<std::string> all_names();
  functional::Arguments arguments_of(const std::string& name);

  /// `least` to `most` random sizes, rarely 0.
  Dims sizes(std::int64_t least, std::int64_t most);
  /// A tensor of small integers other than 0, so that all sums are exact.
  Tensor elements(const Dims& sizes, DType dtype);
  functional::Argument tensor(const Dims& sizes, DType dtype) {
    return functional::from_cpu(elements(sizes, dtype));
  }

 private:
  std::int64_t size() { return number(0, 15) == 0 ? 0 : number(1, 4); }
  /// Random sizes that broadcast to `to`.
  Dims broadcastable(const Dims& to);
  functional::Arguments any_arguments_of(const functional::Operator& op);
  functional::Arguments factors();
};

}  // namespace byre::test
