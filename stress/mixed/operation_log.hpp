// SPDX-License-Identifier: BSL-1.0
/// The last operations of a thread, for the report of a failure.
#pragma once

#include <boost/circular_buffer.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "decision.hpp"

namespace byre::stress {

/// Written by its thread. Read while that is held, has ended or hangs.
class OperationLog {
 public:
  /// An operation begins.
  void begin(const Decision& decision) { last_.push_back({begun_++, decision, "under way"}); }
  /// It ended so: a literal.
  void end(const char* how) noexcept { last_.back().how = how; }

  /// Oldest first, one line each. `slots`: how many the thread has.
  std::vector<std::string> lines(std::size_t slots) const;

 private:
  struct Entry {
    std::uint64_t number;
    Decision decision;
    const char* how;
  };

  boost::circular_buffer<Entry> last_{8};
  std::uint64_t begun_ = 0;
};

}  // namespace byre::stress
