// SPDX-License-Identifier: BSL-1.0
#include "reports.hpp"

extern "C" [[gnu::visibility("default")]] void report_into(Reported* reported) {
  *reported = reshape_and_report();
}

extern "C" [[gnu::visibility("default")]] void end(Reported* reported) {
  *reported = {};
}
