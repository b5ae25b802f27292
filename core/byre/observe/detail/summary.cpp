// SPDX-License-Identifier: BSL-1.0
#include <byre/error/call_site.hpp>
#include <byre/observe/detail/records.hpp>
#include <byre/observe/events.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace byre::inline BYRE_ABI::trace::detail {
namespace {

using stats::detail::Record;
using stats::detail::RecordKind;
using stats::detail::SiteId;

struct Sum {
  std::uint64_t count = 0;
  std::uint64_t nbytes = 0;

  void add(std::uint64_t bytes) noexcept {
    ++count;
    nbytes += bytes;
  }
};

/// "1 copy of 12 bytes", "3 copies of 36 bytes"
std::string counted(const Sum& sum, const char* one, const char* many) {
  return std::to_string(sum.count) + " " + (sum.count == 1 ? one : many) + " of " +
         std::to_string(sum.nbytes) + " bytes";
}

/// The cause of a copy, the line that wrote, and the lines that cloned the copied data.
std::string reason_of(const Record& record) {
  std::string text = std::string(" (") + to_string(record.cause) + ")";
  if (const std::string line = line_of(record.site); !line.empty()) {
    text += "\n  written at " + line;
  }
  std::set<SiteId> cloners;
  for (const auto& line : record.cloned_at) {
    cloners.insert(line.site);
  }
  for (const SiteId cloner : cloners) {
    if (const std::string line = line_of(cloner); !line.empty()) {
      text += "\n  cloned at " + line;
    }
  }
  return text;
}

}  // namespace

std::string line_of(SiteId site) {
  const CallSite at = stats::detail::site_at(site);
  return at.line == 0 ? "" : std::string(at.file) + ":" + std::to_string(at.line);
}

std::string line_of(const stats::detail::ClonedAt& line) {
  return line_of(line.site) +
         (line.count == 1 ? "" : " (" + std::to_string(line.count) + " times)");
}

std::string summary_of(const stats::detail::Records& records) {
  std::map<RecordKind, Sum> sums;
  std::map<std::pair<RecordKind, std::string>, Sum> copies;
  std::int64_t waited_ns = 0;
  std::size_t dirty_nbytes = 0;
  for (const Record& record : records.records) {
    sums[record.kind].add(record.nbytes);
    if (record.kind == RecordKind::copy || record.kind == RecordKind::overlay) {
      copies[{record.kind, reason_of(record)}].add(record.nbytes);
    }
    waited_ns += record.kind == RecordKind::wait ? record.end_ns - record.begin_ns : 0;
    dirty_nbytes += record.kind == RecordKind::overlay_end ? record.part_nbytes : 0;
  }

  std::string text =
      "byre: trace: " + counted(sums[RecordKind::clone], "lazy clone", "lazy clones") + ", " +
      counted(sums[RecordKind::copy], "copy", "copies") + ", " +
      counted(sums[RecordKind::steal], "steal", "steals") + "; " +
      std::to_string(sums[RecordKind::wait].count) + " waits for copies, " +
      std::to_string(waited_ns / 1000) + " us in all; " +
      std::to_string(sums[RecordKind::pin].count + sums[RecordKind::pin_to_read].count) +
      " pins; " + counted(sums[RecordKind::overlay], "overlay", "overlays") + ", " +
      std::to_string(dirty_nbytes) + " bytes written in them; pool: " +
      counted(sums[RecordKind::pool_hit], "reused block", "reused blocks") + ", " +
      counted(sums[RecordKind::pool_miss], "new block", "new blocks") + ".";
  if (records.lost != 0) {
    text += " " + std::to_string(records.lost) + " events were lost.";
  }
  text += "\n";

  std::vector<std::pair<decltype(copies)::key_type, Sum>> sorted(copies.begin(), copies.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& left, const auto& right) {
    return left.second.nbytes > right.second.nbytes;
  });
  std::size_t number = 0;
  for (const auto& [reason, sum] : sorted) {
    const auto& [kind, cause_and_lines] = reason;
    text += "\n" + std::to_string(++number) + ". " +
            (kind == RecordKind::copy ? counted(sum, "copy", "copies")
                                      : counted(sum, "overlay", "overlays")) +
            cause_and_lines + "\n";
  }
  return text;
}

}  // namespace byre::inline BYRE_ABI::trace::detail
