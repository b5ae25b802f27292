// SPDX-License-Identifier: BSL-1.0
/// Journal: what a run of a pipeline saw, and at which lines.
#pragma once

#include <byre/tensor.hpp>
#include <cstdint>
#include <vector>

namespace examples::reshape_audit {

struct Seen {
  std::uint32_t line;
  std::vector<double> elements;

  friend bool operator==(const Seen&, const Seen&) = default;
};

class Journal {
 public:
  /// Reads the tensor at the caller's line.
  void saw(const byre::Tensor& tensor, byre::CallSite site = byre::CallSite::current());

  /// In the order of the run.
  const std::vector<Seen>& all() const noexcept { return seen_; }

 private:
  std::vector<Seen> seen_;
};

}  // namespace examples::reshape_audit
