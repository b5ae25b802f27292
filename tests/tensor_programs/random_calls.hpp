// SPDX-License-Identifier: BSL-1.0
/// RandomCalls: random calls of every pure operator, which none of them refuses: what any backend has to compute as the
/// CPU does, a graph to record, and a meta rule to foretell.
#pragma once

#include <byre/functional.hpp>

#include <string>
#include <vector>

#include "arguments.hpp"

namespace byre::test {

/// Compares dtypes, sizes, and elements bit by bit.
bool are_same(const Tensor& a, const Tensor& b);

class RandomCalls : public RandomArguments {
 public:
  using RandomArguments::RandomArguments;

  /// The pure operators that have a meta rule and take tensors. Tests' own, named "test_...", are left out.
  static std::vector<std::string> names();
  /// Those that make a tensor of numbers too.
  static std::vector<std::string> all_names();
  functional::Arguments arguments_of(const std::string& name);

  /// From 0 on rarely.
  Dims sizes(std::int64_t least, std::int64_t most);
  /// Small whole elements other than 0, so that all sums are exact.
  Tensor elements(const Dims& sizes, DType dtype);
  functional::Argument tensor(const Dims& sizes, DType dtype) {
    return functional::from_cpu(elements(sizes, dtype));
  }

 private:
  std::int64_t size() { return number(0, 15) == 0 ? 0 : number(1, 4); }
  /// Sizes that broadcast to these.
  Dims broadcastable(const Dims& to);
  functional::Arguments any_arguments_of(const functional::Operator& op);
  functional::Arguments factors();
};

}  // namespace byre::test
