// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/shadow/detail/relaxed_counter.hpp>
#include <byre/shadow/detail/report_book.hpp>
#include <byre/shadow/summary.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <algorithm>
#include <array>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <exception>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

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
  Violation first;
  /// What its own first occurrence says; whether any says `view`, and whether any leaves it open.
  Advice own_advice{};
  bool says_view = false;
  bool is_open = false;
  /// The write, and the reshape it came out of: one line may write for reshapes that share nothing.
  std::array<Site, 2> write{};
  std::uint64_t count = 0;
  bool is_reported = false;

  /// Whether that changes what is advised.
  bool add(Advice own) noexcept {
    const bool is_new = count++ == 0;
    own_advice = is_new ? own : own_advice;
    const bool changes = (own == Advice::view && !std::exchange(says_view, true)) ||
                         (own == Advice::view_or_clone && !std::exchange(is_open, true));
    return is_new || changes;
  }
};

Advice own_advice(const detail::Circumstances& circumstances) noexcept {
  return circumstances.replaces             ? Advice::nothing
         : circumstances.writer_is_reshaped ? Advice::view
         : circumstances.follows            ? Advice::view_or_clone
                                            : Advice::reshape_and_clone;
}

class Book {
 public:
  ViolationHandler exchange(ViolationHandler handler) noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    return std::exchange(handler_, handler);
  }

  /// Counts it, and puts its count and its advice into it. Returns who is to be called: nobody, that is
  /// null, if it is thrown or was reported before. Without memory it is reported again rather than never.
  ViolationHandler record(Violation& violation,
                          const detail::Circumstances& circumstances) noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    ++violations_;
    violation.advice = own_advice(circumstances);
    try {
      const Triple triple{site_of(violation.reshape.site), site_of(violation.write.site),
                          site_of(violation.access.site)};
      Entry& entry = entries_.try_emplace(triple, Entry{.first = violation}).first->second;
      entry.write = {triple[1], site_of(circumstances.writer_reshape)};
      if (entry.add(violation.advice)) {
        advise();
      }
      entry.first.untracked_escapes =
          std::max(entry.first.untracked_escapes, violation.untracked_escapes);
      violation.count = entry.count;
      violation.advice = entry.first.advice;
      if (violation.is_error() || std::exchange(entry.is_reported, true)) {
        return nullptr;
      }
    } catch (const std::exception&) {
    }
    return violation.is_error() ? nullptr : handler_;
  }

  void record_escape(const CallSite& site) noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    try {
      ++escape_sites_[site_of(site)];
    } catch (const std::exception&) {
      // No memory: it is counted all the same, and the report of its storage names it.
    }
  }

  Summary summary() {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    Summary all{report_counts.reshapes.value(), violations_, report_counts.suppressed.value(),
                report_counts.escapes.value(),  {},          {}};
    for (const auto& [triple, entry] : entries_) {
      all.triples.emplace_back(entry.first).count = entry.count;
    }
    std::ranges::stable_sort(all.triples, std::ranges::greater(), &Violation::count);
    for (const auto& [site, storages] : escape_sites_) {
      all.escape_sites.push_back({{site.first.data(), site.second}, storages});
    }
    return all;
  }

  void reset() noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    entries_.clear();
    escape_sites_.clear();
    violations_ = 0;
    report_counts.reshapes.set(0);
    report_counts.suppressed.set(0);
    report_counts.escapes.set(0);
  }

 private:
  /// A reshape has one rewrite, whichever of its triples says `view`. Who relies on what was written
  /// through a reshaped tensor says `view` for others that read it too. Until nothing changes.
  void advise() {
    std::set<Site> viewed_reshapes;
    std::set<std::array<Site, 2>> viewed_writes;
    const auto add = [&](const Entry& entry) {
      if (entry.first.reshape.is_known()) {
        viewed_reshapes.insert(site_of(entry.first.reshape.site));
      }
      if (entry.write[0].second != 0 && entry.write[1].second != 0) {
        viewed_writes.insert(entry.write);
      }
    };
    for (auto& [triple, entry] : entries_) {
      const bool is_open = entry.is_open && entry.own_advice == Advice::reshape_and_clone;
      entry.first.advice = is_open ? Advice::view_or_clone : entry.own_advice;
      if (entry.says_view) {
        add(entry);
      }
    }
    for (bool is_changed = true; std::exchange(is_changed, false);) {
      for (auto& [triple, entry] : entries_) {
        Advice& advice = entry.first.advice;
        if (advice != Advice::view &&
            (viewed_reshapes.contains(triple[0]) ||
             (advice != Advice::nothing && viewed_writes.contains(entry.write)))) {
          advice = Advice::view;
          add(entry);
          is_changed = true;
        }
      }
    }
  }

  boost::mutex mutex_;
  std::map<Triple, Entry> entries_;
  std::map<Site, std::uint64_t> escape_sites_;
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

Summary summary() {
  return book().summary();
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

void detail::record_escape_site(const CallSite& site) noexcept {
  book().record_escape(site);
}

}  // namespace byre::inline v0::shadow
