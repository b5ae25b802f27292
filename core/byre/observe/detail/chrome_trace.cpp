// SPDX-License-Identifier: BSL-1.0
/// Chrome's trace format:
/// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
#include <byre/config.hpp>
#include <byre/error/detail/json_text.hpp>
#include <byre/error/error.hpp>
#include <byre/observe/detail/records.hpp>
#include <byre/observe/events.hpp>
#include <byre/system/detail/process.hpp>
#include <byre/system/page_nbytes.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace byre::inline BYRE_ABI::trace::detail {
namespace {

using byre::detail::in_quotes;
using byre::detail::member;
using byre::detail::object;
using stats::detail::Record;
using stats::detail::RecordKind;
using stats::detail::Records;

enum Track : std::uint8_t { live, pooled, copied, not_copied };
constexpr const char* track_names[] = {"live bytes", "pooled bytes", "bytes copied",
                                       "bytes not copied"};
/// A value for each track. A track is a row of the trace that shows a number of bytes over time.
using Tracks = std::array<std::int64_t, std::size(track_names)>;

/// The appearance of one kind of records in the trace.
struct Style {
  RecordKind kind;
  /// "X" is a slice in the row of a thread, "i" an instant there; "b" and "e" begin and end a span
  /// that belongs to data instead of a thread.
  const char* phase;
  const char* name;
  Tracks signs{};  ///< for each track: 1 adds the record's bytes, -1 subtracts them
  const char* line = "written_at";
  const char* other_data = "";
  const char* arrow = "";
};

constexpr Style styles[] = {
    {RecordKind::allocation, "i", "allocation", {1}},
    {RecordKind::release, "i", "release", {-1}},
    {RecordKind::clone, "X", "clone", {0, 0, 0, 1}},
    {RecordKind::copy, "X", "copy", {0, 0, 1, -1}, "written_at", "copy", "cloned"},
    {RecordKind::steal, "X", "steal"},
    {RecordKind::wait, "X", "wait for a copy", {}, "written_at", "", "waited for"},
    {RecordKind::pin, "b", "pin", {}, "pinned_at"},
    {RecordKind::pin_to_read, "b", "pin", {}, "pinned_at"},
    {RecordKind::unpin, "e", "pin"},
    {RecordKind::overlay, "X", "overlay", {0, 0, 1, -1}, "written_at", "shows_data", "cloned"},
    {RecordKind::overlay_end, "e", "overlay"},
    {RecordKind::pool_hit, "i", "pool hit", {0, -1}},
    {RecordKind::pool_miss, "i", "pool miss"},
    {RecordKind::pool_put, "", "", {0, 1}},
    {RecordKind::pool_return, "", "", {0, -1}},
};

const Style& style_of(const Record& record) noexcept {
  return *std::find_if(std::begin(styles), std::end(styles),
                       [&](const Style& each) { return each.kind == record.kind; });
}

/// The bytes that a record adds to each track.
Tracks changes_by(const Record& record) noexcept {
  const std::size_t nbytes =
      record.kind == RecordKind::overlay ? record.part_nbytes : record.nbytes;
  Tracks changes = style_of(record).signs;
  for (std::int64_t& change : changes) {
    change *= static_cast<std::int64_t>(nbytes);
  }
  if (record.kind == RecordKind::copy && record.cause != stats::CopyCause::shared &&
      record.cause != stats::CopyCause::pending) {
    changes[not_copied] = 0;  // no lazy clone has added these bytes to the track
  }
  return changes;
}

std::string if_known(const char* name, std::uint32_t number) {
  return number == 0 ? "" : member(name, number);
}

/// The lines that cloned the data, if they are known.
std::string cloned_at(const stats::detail::ClonedLines& cloners) {
  std::string lines;
  for (const auto& line : cloners) {
    if (line.count != 0 && !line_of(line.site).empty()) {
      lines += (lines.empty() ? "" : ", ") + in_quotes(line_of(line));
    }
  }
  return lines.empty() ? "" : member("cloned_at", "[" + lines + "]");
}

std::string members_of(const Record& record, const Style& style) {
  if (record.kind == RecordKind::unpin) {
    return "";
  }
  if (record.kind == RecordKind::overlay_end) {
    return member("dirty_pages", record.part_nbytes / page_nbytes) +
           member("dirty_bytes", record.part_nbytes) +
           (record.is_alive ? member("is_alive", "true") : "");
  }
  std::string members = record.kind == RecordKind::wait ? "" : member("bytes", record.nbytes);
  members += if_known("data", record.data);
  members += if_known(style.other_data, record.other_data);
  if (record.kind == RecordKind::overlay) {
    members += member("copied_bytes", record.part_nbytes);
  } else if (*style.phase == 'b') {
    members += member("to", record.kind == RecordKind::pin ? "\"write\"" : "\"read\"");
  } else if (record.kind == RecordKind::clone) {
    return members + cloned_at({{{record.site, 1}}});
  } else if (record.kind == RecordKind::wait && record.links_to.thread != 0) {
    members += member("waited_for", in_quotes("thread " + std::to_string(record.links_to.thread) +
                                              " at " + line_of(record.links_to.site)));
  }
  const std::string line = line_of(record.site);
  return members + (line.empty() ? "" : member(style.line, in_quotes(line))) +
         cloned_at(record.cloned_at);
}

class Writer {
 public:
  explicit Writer(const Records& records)
      : records_(records), begin_ns_(records.begin_ns), now_ns_(records.begin_ns) {
    write_names();
    counters_ = {records.after.live_bytes, records.after.pooled_bytes};
    for (const Record& record : records.records) {
      counters_[live] -= changes_by(record)[live];
      counters_[pooled] -= changes_by(record)[pooled];
    }
    for (std::size_t track = 0; track < counters_.size(); ++track) {
      count(track, 0);
    }
    for (const Record& record : records_.records) {
      now_ns_ = std::max(now_ns_, record.end_ns);
      write(record);
    }
  }

  std::string text() const {
    return "{\"displayTimeUnit\": \"ns\", \"otherData\": " +
           object(member("byre", in_quotes(BYRE_VERSION_STRING)) +
                  member("lost_events", records_.lost)) +
           ", \"traceEvents\": [\n" + events_ + "\n]}\n";
  }

 private:
  /// Writes an event at time `ns` in the row of `thread`. `more` contains further JSON members.
  void event(const char* phase, std::string_view name, std::int64_t ns, std::uint32_t thread,
             const std::string& more) {
    events_ += events_.empty() ? "" : ",\n";
    events_ += object(member("ph", in_quotes(phase)) + member("name", in_quotes(name)) +
                      member("ts", microseconds(ns - begin_ns_)) + process_ +
                      member("tid", thread) + more);
  }

  static std::string microseconds(std::int64_t ns) {
    return format_text("%lld.%03lld", static_cast<long long>(ns / 1000),
                       static_cast<long long>(ns % 1000))
        .chars.data();
  }
  static std::string arguments(const std::string& members) {
    return member("args", members.empty() ? "{}" : object(members));
  }

  void write_names() {
    const char* const program = system::program_name();
    event("M", "process_name", begin_ns_, 0, arguments(member("name", in_quotes(program))));
    for (const auto& thread : records_.threads) {
      const std::string name =
          std::string(thread.name.data()) + " (" + std::to_string(thread.system_id) + ")";
      event("M", "thread_name", begin_ns_, thread.number,
            arguments(member("name", in_quotes(name))));
      event("M", "thread_sort_index", begin_ns_, thread.number,
            arguments(member("sort_index", thread.number)));
    }
  }

  void slice(const Record& record, const Style& style, const std::string& members) {
    const std::string cause =
        *style.other_data == '\0' ? "" : std::string(" (") + to_string(record.cause) + ")";
    // Viewers draw arrows only between slices with a duration.
    const std::int64_t duration_ns = std::max<std::int64_t>(record.end_ns - record.begin_ns, 1);
    event("X", style.name + cause, record.begin_ns, record.thread,
          member("cat", in_quotes("byre")) + member("dur", microseconds(duration_ns)) +
              arguments(members));
    if (*style.arrow != '\0' && record.links_to.begin_ns >= begin_ns_) {
      const std::string id = member("cat", in_quotes("byre")) + member("id", ++last_arrow_);
      event("s", style.arrow, record.links_to.begin_ns, record.links_to.thread, id);
      event("f", style.arrow, record.begin_ns, record.thread, id + member("bp", in_quotes("e")));
    }
  }
  /// Omits an end if the span began before the recording.
  void span(const char* phase, const Record& record, const Style& style,
            const std::string& members) {
    int& open = open_spans_[{style.name, record.data}];
    if (*phase == 'b' || open != 0) {
      open += *phase == 'b' ? 1 : -1;
      event(phase, style.name, record.end_ns, record.thread,
            member("cat", in_quotes(style.name)) + member("id", record.data) + arguments(members));
    }
  }

  void count(std::size_t track, std::int64_t by) {
    counters_[track] += by;
    event("C", track_names[track], now_ns_, 0,
          arguments(member("bytes", std::to_string(counters_[track]))));
  }

  void write(const Record& record) {
    const Style& style = style_of(record);
    const std::string members = members_of(record, style);
    if (*style.phase == 'X') {
      slice(record, style, members);
    } else if (*style.phase == 'i') {
      event("i", style.name, record.end_ns, record.thread,
            member("cat", in_quotes("memory")) + member("s", in_quotes("t")) + arguments(members));
    } else if (*style.phase != '\0') {
      span(style.phase, record, style, members);
    }
    if (record.kind == RecordKind::overlay) {
      span("b", record, style, members);
    }
    const auto changes = changes_by(record);
    for (std::size_t track = 0; track < changes.size(); ++track) {
      if (changes[track] != 0) {
        count(track, changes[track]);
      }
    }
  }

  const Records& records_;
  const std::int64_t begin_ns_;
  std::int64_t now_ns_;  ///< time of the latest point in the tracks; it never decreases
  std::string process_ = member("pid", system::process_id());
  std::string events_;
  Tracks counters_{};
  std::map<std::pair<std::string_view, std::uint32_t>, int> open_spans_;  ///< by name and data
  std::uint64_t last_arrow_ = 0;
};

}  // namespace

std::string chrome_trace(const Records& records) {
  return Writer(records).text();
}

}  // namespace byre::inline BYRE_ABI::trace::detail
