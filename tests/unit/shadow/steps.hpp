// SPDX-License-Identifier: BSL-1.0
/// The numbered steps of a pipeline. The numbers stand in for lines in call sites and reports.
#pragma once

#include <byre/tensor.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <vector>

namespace byre::test {

using StepNumbers = std::set<std::uint32_t>;

/// One run of a pipeline: what it saw, and one step that may be changed to find out whether it matters.
class Steps {
 public:
  struct Changes {
    std::uint32_t reshape = 0;  ///< copies, in every mode
    std::uint32_t write = 0;    ///< goes to a clone that nothing else uses
    /// All reshapes are written as advised for a program that is meant to alias (view) or to copy
    /// (reshape and clone).
    std::optional<shadow::ReshapeMode> rewritten{};
  };
  struct Seen {
    std::uint32_t step;
    std::vector<double> elements;
    friend bool operator==(const Seen&, const Seen&) = default;
  };

  Steps(const char* name, const Changes& changes) : name_(name), changes_(changes) {}

  CallSite at(std::uint32_t step) const { return {name_, step}; }
  Tensor reshape(std::uint32_t step, const Tensor& tensor, const Dims& sizes);
  void reshape_(std::uint32_t step, Tensor& tensor, const Dims& sizes);
  /// The tensor that the step writes.
  Tensor& written(std::uint32_t step, Tensor& tensor);
  void see(std::uint32_t step, const Tensor& tensor);

  const std::vector<Seen>& seen() const { return seen_; }
  const StepNumbers& reshapes() const { return reshapes_; }

 private:
  const char* name_;
  Changes changes_;
  std::vector<Seen> seen_{};
  StepNumbers reshapes_{};
  std::deque<Tensor> clones_{};  // pointers to their data may be kept
};

}  // namespace byre::test
