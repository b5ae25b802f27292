// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/json_text.hpp>
#include <byre/error/error.hpp>
#include <byre/observe/counters.hpp>
#include <byre/observe/detail/ledger.hpp>
#include <byre/observe/detail/records.hpp>
#include <byre/observe/memory_report.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <new>
#include <set>
#include <tuple>
#include <utility>

namespace byre::inline BYRE_ABI {
namespace {

using detail::in_quotes;
using detail::member;
using detail::object;
using stats::Counter;
using stats::detail::Held;
using stats::detail::TagId;
using stats::detail::untagged;
using Sums = std::array<std::uint64_t, stats::detail::held_count>;

/// `whole` - `part`; 0 if an event during the report has made `part` the larger one.
std::uint64_t rest(std::uint64_t whole, std::uint64_t part) noexcept {
  return whole - std::min(whole, part);
}

BytesByOrigin by_origin(const Sums& sums) noexcept {
  const auto of = [&sums](Held held) { return sums[static_cast<std::size_t>(held)]; };
  return {of(Held::allocated), of(Held::paged), of(Held::overlay), of(Held::adopted),
          of(Held::mapped)};
}

/// The bytes of all data by Held. Those of overlays are known to the ledger only.
Sums all_sums(const stats::detail::Shard& counts) noexcept {
  const auto of = [&counts](Counter counter) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(counts.get(counter), 0));
  };
  Sums sums{};
  const std::pair<Held, std::uint64_t> known[] = {
      {Held::allocated, rest(of(Counter::live_bytes), of(Counter::paged_bytes))},
      {Held::paged, of(Counter::paged_bytes)},
      {Held::adopted, of(Counter::adopted_bytes)},
      {Held::mapped, of(Counter::mapped_bytes)}};
  for (const auto& [held, nbytes] : known) {
    sums[static_cast<std::size_t>(held)] = nbytes;
  }
  return sums;
}

/// Makes the sums of untagged data what the tags leave of the sums of all data.
void subtract_tags(const Sums& all, std::vector<Sums>& by_tag) noexcept {
  for (std::size_t held = 0; held < all.size(); ++held) {
    if (held != static_cast<std::size_t>(Held::overlay)) {
      std::uint64_t tagged = 0;
      for (const Sums& sums : by_tag) {
        tagged += sums[held];
      }
      by_tag[untagged][held] = rest(all[held], tagged);
    }
  }
}

std::vector<MemoryReport::Shared> grouped(const stats::detail::ledger::Contents& contents) {
  std::map<std::tuple<TagId, std::set<std::string>, std::set<std::string>, bool>,
           std::pair<std::uint64_t, std::uint64_t>>
      groups;
  for (const auto& data : contents.shared) {
    std::set<std::string> tags;
    for (const auto& [tag, count] : data.cloned_in) {
      if (count != 0) {
        tags.insert(contents.names[tag]);
      }
    }
    std::set<std::string> lines;
    for (const auto& [site, count] : stats::detail::lines_that_cloned_data(data.data)) {
      if (std::string line = trace::detail::line_of(site); !line.empty()) {
        lines.insert(std::move(line));
      }
    }
    auto& [count, nbytes] = groups[{data.tag, std::move(tags), std::move(lines), data.is_left}];
    ++count;
    nbytes += data.nbytes;
  }
  std::vector<MemoryReport::Shared> shared;
  for (const auto& [key, sums] : groups) {
    const auto& [tag, tags, lines, is_left] = key;
    shared.push_back({contents.names[tag],
                      {tags.begin(), tags.end()},
                      {lines.begin(), lines.end()},
                      sums.first,
                      sums.second,
                      is_left});
  }
  std::sort(shared.begin(), shared.end(), [](const auto& left, const auto& right) {
    return std::tie(right.nbytes, left.tag, left.left_by_writers, left.cloned_in, left.cloned_at) <
           std::tie(left.nbytes, right.tag, right.left_by_writers, right.cloned_in,
                    right.cloned_at);
  });
  return shared;
}

std::string sum_of(std::uint64_t nbytes, const char* what) {
  return std::to_string(nbytes) + what;
}

std::string text_of(const BytesByOrigin& nbytes) {
  return sum_of(nbytes.total(), " bytes: ") + sum_of(nbytes.allocated, " allocated, ") +
         sum_of(nbytes.paged, " paged, ") + sum_of(nbytes.overlay, " written in overlays, ") +
         sum_of(nbytes.adopted, " adopted, ") + sum_of(nbytes.mapped, " mapped");
}

std::string members_of(const BytesByOrigin& nbytes) {
  return member("allocated", nbytes.allocated) + member("paged", nbytes.paged) +
         member("overlay", nbytes.overlay) + member("adopted", nbytes.adopted) +
         member("mapped", nbytes.mapped);
}

std::string json_of(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += (all.empty() ? "" : ", ") + in_quotes(text);
  }
  return "[" + all + "]";
}

/// Throws OutOfMemory if `act` throws std::bad_alloc.
template <class Act>
auto for_report(Act act) {
  try {
    return act();
  } catch (const std::bad_alloc&) {
    throw OutOfMemory::of_heap("a memory report");
  }
}

}  // namespace

ScopedTag::ScopedTag(std::string_view name) try {
  if (name.empty()) {
    throw InvalidArgument(
        format_text("cannot tag memory: the name has 0 bytes, required at least 1. Pass a name "
                    "such as \"optimizer state\"."));
  }
  if (BYRE_STATS) {
    former_ = stats::detail::ledger::begin_scope(
        name == "untagged" ? untagged : stats::detail::ledger::tag_named(name));
  }
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("the name of a tag");
}

ScopedTag::~ScopedTag() {
  if (BYRE_STATS) {
    stats::detail::ledger::end_scope(former_);
  }
}

MemoryReport memory_report() {
  if (!BYRE_STATS) {
    throw InvalidArgument(
        format_text("cannot report memory: byre was built without stats. Configure it with "
                    "-Dstats=enabled."));
  }
  return for_report([] {
    stats::detail::ledger::Contents contents = stats::detail::ledger::contents();
    stats::detail::Shard counts;
    stats::detail::add_counts(counts);
    subtract_tags(all_sums(counts), contents.nbytes);
    MemoryReport report;
    Sums all{};
    for (std::size_t tag = 0; tag < contents.nbytes.size(); ++tag) {
      const Sums& sums = contents.nbytes[tag];
      std::transform(sums.begin(), sums.end(), all.begin(), all.begin(), std::plus<>());
      if (const BytesByOrigin nbytes = by_origin(sums); nbytes.total() != 0) {
        report.tags.push_back({contents.names[tag], nbytes});
      }
    }
    std::sort(report.tags.begin(), report.tags.end(), [](const auto& left, const auto& right) {
      const std::uint64_t left_total = left.nbytes.total();
      const std::uint64_t right_total = right.nbytes.total();
      return std::tie(right_total, left.name) < std::tie(left_total, right.name);
    });
    const stats::Counters now = stats::snapshot();
    const auto count = [](std::int64_t value) {
      return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
    };
    report.nbytes = by_origin(all);
    report.shared = grouped(contents);
    report.pinned = count(now.pinned_bytes);
    report.idle = count(now.pooled_bytes);
    report.overhead = count(counts.get(Counter::overhead_bytes));
    report.pending = count(counts.get(Counter::pending_bytes));
    report.on_devices = std::min(count(counts.get(Counter::device_bytes)),
                                 report.nbytes.allocated + report.nbytes.adopted);
    report.lost = contents.lost_nbytes;
    return report;
  });
}

std::string to_text(const MemoryReport& report) {
  return for_report([&] {
    std::string text =
        "byre: memory: " + text_of(report.nbytes) + "; " + sum_of(report.idle, " idle in pools, ") +
        sum_of(report.overhead, " overhead, ") + sum_of(report.pinned, " pinned by overlays, ") +
        sum_of(report.on_devices, " on devices, ") +
        sum_of(report.pending, " read by pending copies.");
    if (report.lost != 0) {
      text += " The tags of " + std::to_string(report.lost) + " bytes were lost.";
    }
    text += "\n";
    for (const MemoryReport::Tag& tag : report.tags) {
      text += "\n" + tag.name + ": " + text_of(tag.nbytes);
    }
    text += report.tags.empty() ? "" : "\n";
    for (const MemoryReport::Shared& shared : report.shared) {
      text += (shared.left_by_writers ? "\nleft by writers: " : "\nshared: ") +
              std::to_string(shared.nbytes) + " bytes of " + shared.tag;
      for (const std::string& tag : shared.cloned_in) {
        text += "\n  cloned in " + tag;
      }
      for (const std::string& line : shared.cloned_at) {
        text += "\n  cloned at " + line;
      }
    }
    text += report.shared.empty() ? "" : "\n";
    return text;
  });
}

std::string to_json(const MemoryReport& report) {
  return for_report([&] {
    std::string tags;  // one tag per line
    for (const auto& [name, nbytes] : report.tags) {
      tags += (tags.empty() ? "\n  " : ",\n  ") +
              object(member("name", in_quotes(name)) + members_of(nbytes) +
                     member("total", nbytes.total()));
    }
    std::string shared;
    for (const MemoryReport::Shared& each : report.shared) {
      shared +=
          (shared.empty() ? "\n  " : ",\n  ") +
          object(member("tag", in_quotes(each.tag)) + member("cloned_in", json_of(each.cloned_in)) +
                 member("cloned_at", json_of(each.cloned_at)) + member("count", each.count) +
                 member("nbytes", each.nbytes) +
                 member("left_by_writers", each.left_by_writers ? "true" : "false"));
    }
    return object(members_of(report.nbytes) + member("idle", report.idle) +
                  member("overhead", report.overhead) + member("total", report.total()) +
                  member("pinned", report.pinned) + member("on_devices", report.on_devices) +
                  member("pending", report.pending) + member("lost", report.lost) +
                  member("tags", "[" + tags + "]") + member("shared", "[" + shared + "]")) +
           "\n";
  });
}

}  // namespace byre::inline BYRE_ABI
