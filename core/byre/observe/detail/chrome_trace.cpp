// SPDX-License-Identifier: BSL-1.0
/// Chrome's trace format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
#include <byre/config.hpp>
#include <byre/error/detail/json_text.hpp>
#include <byre/error/error.hpp>
#include <byre/observe/detail/shown.hpp>
#include <byre/observe/events.hpp>
#include <byre/system/page_nbytes.hpp>

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <map>
#include <string_view>

namespace byre::inline v0::trace::detail {
namespace {

using byre::detail::in_quotes;
using byre::detail::member;
using byre::detail::object;
using stats::detail::Record;
using stats::detail::RecordKind;
using stats::detail::Records;

std::string name_of_program() {
#if defined(__GLIBC__)
  return program_invocation_short_name;
#else
  return "program";
#endif
}

bool is_unshared(const Record& record) noexcept {
  return record.cause == stats::CopyCause::shared || record.cause == stats::CopyCause::pending;
}

/// Those that are known.
std::string lines_of(const stats::detail::ClonedLines& cloned_at) {
  std::string lines;
  for (const auto& line : cloned_at) {
    if (line.count != 0 && !line_of(line.site).empty()) {
      lines += (lines.empty() ? "" : ", ") + in_quotes(line_of(line));
    }
  }
  return lines.empty() ? "" : member("cloned_at", "[" + lines + "]");
}
std::string cloned_at(const Record& record) {
  return lines_of(record.cloned_at);
}

std::int64_t change_of_live(const Record& record) noexcept {
  const auto nbytes = static_cast<std::int64_t>(record.nbytes);
  return record.kind == RecordKind::allocation ? nbytes
         : record.kind == RecordKind::release  ? -nbytes
                                               : 0;
}
std::int64_t change_of_pooled(const Record& record) noexcept {
  const auto nbytes = static_cast<std::int64_t>(record.nbytes);
  switch (record.kind) {
    case RecordKind::pool_put:
      return nbytes;
    case RecordKind::pool_hit:
    case RecordKind::pool_return:
      return -nbytes;
    default:
      return 0;
  }
}

/// What all slices have.
std::string arguments_of(const Record& record) {
  std::string arguments = member("bytes", record.nbytes);
  if (record.data != 0) {
    arguments += member("data", record.data);
  }
  return arguments;
}

std::string written_at(const Record& record) {
  const std::string line = line_of(record.site);
  return line.empty() ? "" : member("written_at", in_quotes(line));
}

class Writer {
 public:
  Writer(const Records& records, const stats::Counters& after)
      : records_(records), begin_ns_(records.begin_ns), now_ns_(records.begin_ns) {
    write_names();
    stats::Counters before = after;
    for (const Record& record : records.records) {
      before.live_bytes -= change_of_live(record);
      before.pooled_bytes -= change_of_pooled(record);
    }
    count("live bytes", before.live_bytes);
    count("pooled bytes", before.pooled_bytes);
    count("bytes copied", std::int64_t{0});
    count("bytes not copied", std::int64_t{0});
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
  /// An event of a phase, at a time, in a row. `more` are members.
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
    event("M", "process_name", begin_ns_, 0,
          arguments(member("name", in_quotes(name_of_program()))));
    for (const auto& thread : records_.threads) {
      const std::string name =
          std::string(thread.name.data()) + " (" + std::to_string(thread.system_id) + ")";
      event("M", "thread_name", begin_ns_, thread.number,
            arguments(member("name", in_quotes(name))));
      event("M", "thread_sort_index", begin_ns_, thread.number,
            arguments(member("sort_index", thread.number)));
    }
  }

  void slice(const Record& record, std::string_view name, const std::string& members) {
    // Arrows are drawn between slices that last.
    const std::int64_t duration_ns = std::max<std::int64_t>(record.end_ns - record.begin_ns, 1);
    event("X", name, record.begin_ns, record.thread,
          member("cat", in_quotes("byre")) + member("dur", microseconds(duration_ns)) +
              arguments(members));
  }
  void instant(const Record& record, std::string_view name) {
    event("i", name, record.end_ns, record.thread,
          member("cat", in_quotes("memory")) + member("s", in_quotes("t")) +
              arguments(arguments_of(record)));
  }
  /// The begin ("b") or end ("e") of what belongs to data, and to no thread.
  void span(const char* phase, const Record& record, const char* name, const std::string& members) {
    event(phase, name, record.end_ns, record.thread,
          member("cat", in_quotes(name)) + member("id", record.data) + arguments(members));
  }
  void arrow_to(const Record& record, const char* name) {
    if (record.links_to.ns < begin_ns_) {
      return;
    }
    const std::string id = member("cat", in_quotes("byre")) + member("id", ++last_arrow_);
    event("s", name, record.links_to.ns, record.links_to.thread, id);
    event("f", name, record.begin_ns, record.thread, id + member("bp", in_quotes("e")));
  }

  void count(const char* counter, std::int64_t by) {
    std::int64_t& value = counters_[counter];
    value += by;
    event("C", counter, now_ns_, 0, arguments(member("bytes", std::to_string(value))));
  }
  void count(const char* counter, std::size_t by) { count(counter, static_cast<std::int64_t>(by)); }

  void write(const Record& record);
  void write_copy(const Record& record);
  void write_overlay(const Record& record);
  void write_overlay_end(const Record& record);
  void write_pin(const Record& record, const char* to);

  const Records& records_;
  const std::int64_t begin_ns_;
  std::int64_t now_ns_;  ///< of counters, whose records have one order
  std::string process_ = member("pid", static_cast<std::uint64_t>(::getpid()));
  std::string events_;
  std::map<std::string_view, std::int64_t> counters_;
  std::map<std::uint32_t, std::uint32_t> open_pins_;  ///< of data
  std::map<std::uint32_t, bool> open_overlays_;
  std::uint64_t last_arrow_ = 0;
};

void Writer::write_copy(const Record& record) {
  slice(record, std::string("copy (") + to_string(record.cause) + ")",
        arguments_of(record) + (record.other_data == 0 ? "" : member("copy", record.other_data)) +
            written_at(record) + cloned_at(record));
  arrow_to(record, "cloned");
  count("bytes copied", record.nbytes);
  if (is_unshared(record)) {
    count("bytes not copied", -static_cast<std::int64_t>(record.nbytes));
  }
}

void Writer::write_overlay(const Record& record) {
  const std::string members =
      arguments_of(record) +
      (record.other_data == 0 ? "" : member("shows_data", record.other_data)) +
      member("copied_bytes", record.part_nbytes) + written_at(record) + cloned_at(record);
  slice(record, std::string("overlay (") + to_string(record.cause) + ")", members);
  arrow_to(record, "cloned");
  span("b", record, "overlay", members);
  open_overlays_[record.data] = true;
  if (record.part_nbytes != 0) {
    count("bytes copied", record.part_nbytes);
    count("bytes not copied", -static_cast<std::int64_t>(record.part_nbytes));
  }
}

void Writer::write_overlay_end(const Record& record) {
  if (open_overlays_.erase(record.data) != 0) {
    span("e", record, "overlay",
         member("dirty_pages", record.part_nbytes / page_nbytes) +
             member("dirty_bytes", record.part_nbytes) +
             (record.is_alive ? member("is_alive", "true") : ""));
  }
}

void Writer::write_pin(const Record& record, const char* to) {
  const std::string line = line_of(record.site);
  ++open_pins_[record.data];
  span("b", record, "pin",
       arguments_of(record) + member("to", in_quotes(to)) +
           (line.empty() ? "" : member("pinned_at", in_quotes(line))));
}

void Writer::write(const Record& record) {
  switch (record.kind) {
    case RecordKind::allocation:
      instant(record, "allocation");
      count("live bytes", change_of_live(record));
      break;
    case RecordKind::release:
      instant(record, "release");
      count("live bytes", change_of_live(record));
      break;
    case RecordKind::clone:
      slice(record, "clone", arguments_of(record) + lines_of({{{record.site, 1}}}));
      count("bytes not copied", record.nbytes);
      break;
    case RecordKind::copy:
      write_copy(record);
      break;
    case RecordKind::steal:
      slice(record, "steal", arguments_of(record) + written_at(record) + cloned_at(record));
      break;
    case RecordKind::wait:
      slice(record, "wait for a copy",
            member("data", record.data) + written_at(record) +
                (record.links_to.thread == 0
                     ? ""
                     : member("waited_for",
                              in_quotes("thread " + std::to_string(record.links_to.thread) +
                                        " at " + line_of(record.links_to.site)))));
      arrow_to(record, "waited for");
      break;
    case RecordKind::pin:
      write_pin(record, "write");
      break;
    case RecordKind::pin_to_read:
      write_pin(record, "read");
      break;
    case RecordKind::unpin:
      if (std::uint32_t& open = open_pins_[record.data]; open != 0) {
        --open;
        span("e", record, "pin", "");
      }
      break;
    case RecordKind::overlay:
      write_overlay(record);
      break;
    case RecordKind::overlay_end:
      write_overlay_end(record);
      break;
    case RecordKind::pool_hit:
      instant(record, "pool hit");
      count("pooled bytes", change_of_pooled(record));
      break;
    case RecordKind::pool_miss:
      instant(record, "pool miss");
      break;
    case RecordKind::pool_put:
      count("pooled bytes", change_of_pooled(record));
      break;
    case RecordKind::pool_return:
      count("pooled bytes", change_of_pooled(record));
      break;
  }
}

}  // namespace

std::string chrome_trace(const Records& records, const stats::Counters& after) {
  return Writer(records, after).text();
}

}  // namespace byre::inline v0::trace::detail
