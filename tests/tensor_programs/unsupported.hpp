// SPDX-License-Identifier: BSL-1.0
/// What the pass does not promise, and programs therefore do not do: to write what they captured,
/// which it refuses, and other bytes than 0 and 1 to bools.
#pragma once

#include <set>

#include "program.hpp"

namespace byre::test {

/// Follows a program step by step.
class Unsupported {
 public:
  explicit Unsupported(const std::vector<Ref>& captured)
      : captured_(captured.begin(), captured.end()) {}

  /// Whether the step, whose operands are among `values`, does something that is not supported.
  bool is_done_by(const Step& step, const Values& values) const;
  /// The step was done.
  void follow(const Step& step, const Values& values);

  /// What was captured, and views of that.
  bool is_captured(Ref ref) const { return captured_.contains(ref); }
  /// Views of bools as another dtype.
  bool is_of_bools(Ref ref) const { return of_bools_.contains(ref); }

 private:
  std::set<Ref> captured_;
  std::set<Ref> of_bools_;
};

}  // namespace byre::test
