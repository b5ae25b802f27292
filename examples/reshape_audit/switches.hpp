// SPDX-License-Identifier: BSL-1.0
/// Switches: what the audit changes at one line of a pipeline, to see what comes of it. switches.py puts
/// them into a copy of the pipelines that is compiled: people write none of this.
#pragma once

#include <byre/tensor.hpp>
#include <cstdint>
#include <optional>
#include <set>

namespace examples::reshape_audit {

using Lines = std::set<std::uint32_t>;

/// What is changed; 0 for nothing.
struct Switched {
  std::uint32_t reshape = 0;  ///< a line whose reshape copies, whatever the mode
  std::uint32_t write = 0;    ///< a line whose write goes to a clone that nobody else has
};

/// While it lives, lines of pipelines are switched like this. One at a time, on one thread.
class [[nodiscard]] SwitchScope {
 public:
  explicit SwitchScope(const Switched& switched);
  ~SwitchScope();
  SwitchScope(const SwitchScope&) = delete;
  SwitchScope& operator=(const SwitchScope&) = delete;

  /// Those by which the program came that reshape.
  static const Lines& reshapes() noexcept;
};

/// Where a reshape is: given in place of its call site, it makes that copy which is switched.
class AtThisLine {
 public:
  explicit AtThisLine(byre::CallSite site = byre::CallSite::current());
  operator byre::CallSite() const noexcept { return site_; }

 private:
  byre::CallSite site_;
  std::optional<byre::shadow::ReshapeModeScope> copies_;
};

/// What this line writes: the tensor, or in place of it the clone.
byre::Tensor& written(byre::Tensor& tensor, byre::CallSite site = byre::CallSite::current());

}  // namespace examples::reshape_audit
