// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/shadow/detail/report_book.hpp>
#include <byre/shadow/summary.hpp>
#include <byre/sync/detail/boost_mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/relaxed_counter.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <map>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace byre::inline v0::shadow {

constinit detail::ReportCounts detail::report_counts;

namespace {

using detail::report_counts;
void warn_of(const Violation& violation) noexcept {
  warn("%s", text_of(violation).chars.data());
}

/// By the names of files, so that summaries are in the same order each time.
using Site = std::pair<std::string_view, std::uint32_t>;
using Triple = std::array<Site, 3>;

Site site_of(const CallSite& site) noexcept {
  return {site.file, site.line};
}

struct Entry {
  Violation first;  ///< with the advice of all that were met at this triple
  /// The write, and the reshape it came out of: one line may write for reshapes that share nothing.
  std::array<Site, 2> write{};
  std::uint64_t count = 0;
  bool is_reported = false;
};

Advice own_advice(const detail::Circumstances& circumstances) noexcept {
  return circumstances.replaces             ? Advice::nothing
         : circumstances.writer_is_reshaped ? Advice::view
         : circumstances.follows            ? Advice::view_or_clone
                                            : Advice::reshape_and_clone;
}

/// Each is kept for good.
struct CallSites {
  sync::ProcessMutex mutex;
  std::map<std::pair<std::string, std::uint32_t>, detail::SiteId> numbers;
  std::vector<CallSite> sites;  ///< by number; their names are those in `numbers`
};

class Book {
 public:
  ViolationHandler exchange(ViolationHandler handler) noexcept {
    const sync::ProcessLock lock(mutex_);
    return std::exchange(handler_, handler);
  }

  /// Counts it, and puts its count and its advice into it. Returns who is to be called: nobody, that is
  /// null, if it was reported before. Without memory it is reported again rather than never. What is thrown
  /// is nobody's to be called for.
  ViolationHandler record(Violation& violation,
                          const detail::Circumstances& circumstances) noexcept {
    const sync::ProcessLock lock(mutex_);
    ++violations_;
    const Advice own = violation.advice = own_advice(circumstances);
    try {
      const Triple triple{site_of(violation.reshape.site), site_of(violation.write.site),
                          site_of(violation.access.site)};
      Entry& entry = entries_.try_emplace(triple, Entry{.first = violation}).first->second;
      entry.write = {triple[1], site_of(circumstances.writer_reshape)};
      ++entry.count;
      if (own == Advice::view) {
        viewed_reshapes_.insert(triple[0]);
        viewed_writes_.insert(entry.write);
      } else if (own == Advice::view_or_clone || entry.first.advice == Advice::nothing) {
        entry.first.advice = own;
      }
      entry.first.untracked_escapes =
          std::max(entry.first.untracked_escapes, violation.untracked_escapes);
      violation.count = entry.count;
      violation.advice = advice_for(triple, entry);
      if (violation.is_error() || std::exchange(entry.is_reported, true)) {
        return nullptr;
      }
    } catch (const std::exception&) {
    }
    return handler_;
  }

  Summary summary() {
    const CallSite first_escape =
        detail::site_at(static_cast<detail::SiteId>(report_counts.first_escape.value()));
    const sync::ProcessLock lock(mutex_);
    Summary all{report_counts.reshapes.value(), violations_,  report_counts.suppressed.value(),
                report_counts.escapes.value(),  first_escape, {}};
    // Those of one number stay in the order of their triples.
    std::multimap<std::uint64_t, const std::pair<const Triple, Entry>*, std::greater<>> by_count;
    for (const auto& each : entries_) {
      by_count.emplace(each.second.count, &each);
    }
    for (const auto& [count, each] : by_count) {
      Violation& violation = all.triples.emplace_back(each->second.first);
      violation.count = count;
      violation.advice = advice_for(each->first, each->second);
    }
    return all;
  }

  void reset() noexcept {
    const sync::ProcessLock lock(mutex_);
    entries_.clear();
    viewed_reshapes_.clear();
    viewed_writes_.clear();
    violations_ = 0;
    report_counts.reshapes.set(0);
    report_counts.suppressed.set(0);
    report_counts.escapes.set(0);
    report_counts.first_escape.set(0);
  }

 private:
  /// A reshape has one rewrite: `view`, if any of its triples says so. Who relies on what was written
  /// through a reshaped tensor says `view` for others that read it too.
  Advice advice_for(const Triple& triple, const Entry& entry) const noexcept {
    const bool is_of_viewed = triple[0].second != 0 && viewed_reshapes_.contains(triple[0]);
    const bool reads_viewed = entry.first.advice != Advice::nothing && entry.write[0].second != 0 &&
                              entry.write[1].second != 0 && viewed_writes_.contains(entry.write);
    return is_of_viewed || reads_viewed ? Advice::view : entry.first.advice;
  }

  sync::ProcessMutex mutex_;
  std::map<Triple, Entry> entries_;
  std::set<Site> viewed_reshapes_;
  std::set<std::array<Site, 2>> viewed_writes_;
  std::uint64_t violations_ = 0;
  ViolationHandler handler_ = &warn_of;
};

Book& book() noexcept {
  return sync::no_destructor<Book>();
}

}  // namespace

ViolationHandler set_violation_handler(ViolationHandler handler) noexcept {
  return book().exchange(handler != nullptr ? handler : &warn_of);
}

Summary summary() try { return book().summary(); } catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("the summary of reshapes");
}

void reset_summary() noexcept {
  book().reset();
}

void detail::report(Violation violation, const Circumstances& circumstances) {
  const ViolationHandler handler = book().record(violation, circumstances);
  if (violation.is_error()) {
    throw ReshapeViolation(violation);
  }
  if (handler != nullptr) {
    handler(violation);
  }
}

detail::SiteId detail::site_id(const CallSite& site) noexcept {
  auto& all = sync::no_destructor<CallSites>();
  try {
    const sync::ProcessLock lock(all.mutex);
    if (all.sites.size() == all.sites.capacity()) {
      all.sites.reserve(2 * all.sites.size() + 16);  // first, so that what comes after cannot fail
    }
    const auto [kept, is_new] = all.numbers.try_emplace({site.file, site.line});
    if (is_new) {
      all.sites.push_back({kept->first.first.c_str(), site.line});
      kept->second = static_cast<SiteId>(all.sites.size());
    }
    return kept->second;
  } catch (const std::exception&) {
    return 0;
  }
}

CallSite detail::site_at(SiteId id) noexcept {
  auto& all = sync::no_destructor<CallSites>();
  const sync::ProcessLock lock(all.mutex);
  return id == 0 ? CallSite{} : all.sites[id - 1];
}

}  // namespace byre::inline v0::shadow
