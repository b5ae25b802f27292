// SPDX-License-Identifier: BSL-1.0
/// RandomCalls: random calls of every pure operator, with valid arguments. Tests use the calls to
/// compare a backend with the CPU, to record graphs, and to compare meta rules with the results.
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

  /// The names of the pure operators with a meta rule and a tensor as the first parameter, except
  /// for operators that tests define ("test_...").
  static std::vector<std::string> names();
  /// names(), and also the names of the operators that create tensors from numbers.
  static std::vector<std::string> all_names();
  /// Arguments that the operator accepts on the CPU.
  functional::Arguments arguments_of(const std::string& name);

  /// Random sizes of a tensor with `least` to `most` dimensions. A size is rarely 0.
  Dims sizes(std::int64_t least, std::int64_t most);
  /// A tensor of small random integers, so that all sums are exact. Elements are 0 only in tensors
  /// of bool.
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
