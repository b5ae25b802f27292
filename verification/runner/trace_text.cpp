// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <cstdio>
#include <string>

#include "../relacy/trace.hpp"
#include "job.hpp"

namespace byre::verification {
namespace {

/// "cow/share_word.hpp:120": from the last two folders on.
std::string place(CallSite where) {
  std::string file = where.file;
  if (const std::size_t slash = file.rfind('/'); slash != std::string::npos && slash != 0) {
    const std::size_t before = file.rfind('/', slash - 1);
    file = file.substr(before == std::string::npos ? 0 : before + 1);
  }
  return file + ':' + std::to_string(where.line);
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string step_text(const TraceEntry& entry) {
  return std::string(entry.object.data()) + ' ' + entry.text.data();
}

}  // namespace

std::string trace_text(unsigned threads) {
  std::size_t column_width = 0;
  for (const TraceEntry& entry : trace) {
    column_width = std::max(column_width, step_text(entry).size() + 2);
  }
  std::string text = "  step  ";
  for (unsigned thread = 0; thread < threads; ++thread) {
    text += padded("thread " + std::to_string(thread), column_width);
  }
  text += "site\n";
  bool begun = false;
  unsigned number = 0;
  std::string last;
  for (const TraceEntry& entry : trace) {
    begun = begun || entry.thread != Trace::set_up;
    if (!begun) {
      continue;  // the set-up, the same in every execution
    }
    const bool is_after = entry.thread == Trace::set_up;
    std::string row(std::size_t{is_after ? 0 : entry.thread} * column_width, ' ');
    row += (is_after ? "afterwards: " : "") + step_text(entry) + "  ";
    row = padded(row, threads * column_width);
    if (entry.site != nullptr) {
      row += std::string(entry.site->name) + ", ";
    }
    row += place(entry.where);
    if (entry.site == nullptr && row == last) {
      continue;  // the next field of one object
    }
    char label[16];
    std::snprintf(label, sizeof label, "  %4u  ", ++number);
    text += label + row + '\n';
    last = row;
  }
  return text;
}

}  // namespace byre::verification
