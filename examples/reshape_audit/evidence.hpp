// SPDX-License-Identifier: BSL-1.0
/// Evidence: where a pipeline shows that a line of it counts. No report is looked at.
#pragma once

#include "run.hpp"

#include <cstdint>

namespace examples::reshape_audit {

class Evidence {
 public:
  /// Runs the pipeline with aliases and with copies. One thread.
  explicit Evidence(const Pipeline& pipeline);

  const Run& aliased() const noexcept { return aliased_; }
  /// Lines that show something, and those where aliases show something else than copies.
  const Lines& shown() const noexcept { return shown_; }
  const Lines& by_access() const noexcept { return by_access_; }
  /// The lines of its reshapes.
  const Lines& reshapes() const noexcept { return aliased_.reshapes; }

  /// Where aliases show something else if only the reshape at that line copies.
  Lines by_reshape(std::uint32_t line) const;
  /// Where it shows that the write at that line goes elsewhere: among aliases or among copies, not in
  /// both. So what is seen there has to do with that write, and depends on what reshape does.
  Lines by_write(std::uint32_t line) const;

 private:
  void (*pipeline_)(Journal&);
  Run aliased_;
  Run copied_;
  Lines shown_;
  Lines by_access_;
};

}  // namespace examples::reshape_audit
