// SPDX-License-Identifier: BSL-1.0
/// The sums of memory reports, as text.
#pragma once

#include <byre/memory/host_allocators.hpp>
#include <byre/observe/detail/observer.hpp>
#include <byre/observe/memory_report.hpp>
#include <byre/storage/buffer.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/counted.hpp"

namespace byre::test {

inline Buffer plain(std::size_t nbytes) {
  return Buffer::allocate(nbytes, aligned_allocator());
}

/// Makes a value in a scope.
template <class Make>
auto in(const char* tag, Make make) {
  const ScopedTag scope(tag);
  return make();
}
inline Buffer tagged(const char* tag, std::size_t nbytes) {
  return in(tag, [=] { return plain(nbytes); });
}

template <class Data>
Data clone_in(const char* tag, const Data& data, std::uint32_t line = 1) {
  return in(tag, [&] { return data.lazy_clone({"model.cpp", line}); });
}

inline std::string by_origin(const BytesByOrigin& nbytes) {
  std::string text;
  const std::pair<const char*, std::uint64_t> origins[] = {{"allocated", nbytes.allocated},
                                                           {"paged", nbytes.paged},
                                                           {"overlay", nbytes.overlay},
                                                           {"adopted", nbytes.adopted},
                                                           {"mapped", nbytes.mapped}};
  for (const auto& [name, sum] : origins) {
    if (sum != 0) {
      text += (text.empty() ? "" : ", ") + std::to_string(sum) + " " + name;
    }
  }
  return text;
}

/// The bytes of a tag, such as "64 allocated, 8192 paged"; empty if the report lacks the tag.
inline std::string bytes_tagged(std::string_view tag,
                                const MemoryReport& report = memory_report()) {
  for (const auto& [name, nbytes] : report.tags) {
    if (name == tag) {
      return by_origin(nbytes);
    }
  }
  return "";
}

inline std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += (all.empty() ? "" : ", ") + text;
  }
  return all;
}

inline std::string listed(std::string_view tag, bool left_by_writers) {
  const MemoryReport report = memory_report();
  std::string text;
  for (const MemoryReport::Shared& shared : report.shared) {
    if (shared.tag == tag && shared.left_by_writers == left_by_writers) {
      text += (text.empty() ? "" : "; ") + std::to_string(shared.count) + " of " +
              std::to_string(shared.nbytes) + " bytes in " + joined(shared.cloned_in) +
              (shared.cloned_at.empty() ? "" : " at ") + joined(shared.cloned_at);
    }
  }
  return text;
}

/// The shared data of a tag: "2 of 128 bytes in a, b at model.cpp:1; ...".
inline std::string shared_of(std::string_view tag) {
  return listed(tag, false);
}
/// The data of a tag that writers have left, in the form of shared_of().
inline std::string left_of(std::string_view tag) {
  return listed(tag, true);
}

/// Whether the events of this thread go to a listener: a recording or the ledger.
inline bool is_listening() {
  static_cast<void>(stats::snapshot());
  stats::detail::count(stats::detail::plus(stats::Counter::waits, 0));  // enlists the thread
  return stats::detail::may_record();
}

class MemoryReports : public WithStats {};

}  // namespace byre::test
