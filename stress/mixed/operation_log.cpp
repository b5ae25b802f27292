// SPDX-License-Identifier: BSL-1.0
#include "operation_log.hpp"

#include <sstream>

namespace byre::stress {

std::vector<std::string> OperationLog::lines(std::size_t slots) const {
  std::vector<std::string> lines;
  for (const Entry& entry : last_) {
    const Decision& decision = entry.decision;
    std::ostringstream line;
    line << '#' << entry.number << ' ' << name_of(decision.operation) << ", slot "
         << decision.slot % slots << ", other " << decision.other << ", choice " << std::hex
         << decision.choice << std::dec << ", " << decision.nbytes << " bytes";
    if (decision.fault) {
      line << ", fault " << name_of(*decision.fault) << " after " << decision.fault_after;
    }
    line << ": " << entry.how;
    lines.push_back(line.str());
  }
  return lines;
}

}  // namespace byre::stress
