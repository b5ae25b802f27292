// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/shadow/detail/report_book.hpp>
#include <byre/shadow/summary.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/relaxed.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <map>
#include <new>
#include <set>
#include <string_view>
#include <utility>

namespace byre::inline BYRE_ABI::shadow {

constinit detail::ReportCounts detail::report_counts;

namespace {

using detail::report_counts;
void warn_of(const Violation& violation) noexcept {
  warn("%s", text_of(violation).chars.data());
}

/// The file and the line of a call site. Compares the text of the file's name, not its address, so
/// that the order of summaries is reproducible.
using Site = std::pair<std::string_view, std::uint32_t>;
using Triple = std::array<Site, 3>;

Site site_of(const CallSite& site) noexcept {
  return {site.file, site.line};
}

struct Entry {
  Violation first;  ///< its advice holds for all violations at this triple
  /// The call site of the write, and that of the reshape that made the writing family, because one
  /// line may write to families of unrelated reshapes.
  std::array<Site, 2> write{};
  std::uint64_t count = 0;
  bool is_reported = false;
};

Advice own_advice(const detail::AdviceFacts& facts) noexcept {
  return facts.replaces                  ? Advice::nothing
         : facts.writer_is_reshaped      ? Advice::view
         : facts.observed_earlier_writes ? Advice::view_or_clone
                                         : Advice::reshape_and_clone;
}

/// Allocates table entries while no lock is held, because the allocator may call code that uses
/// byre.
class Book {
 public:
  ViolationHandler exchange(ViolationHandler handler) noexcept {
    const sync::ProcessLock lock(mutex_);
    return std::exchange(handler_, handler);
  }

  /// Counts the violation, and stores its count and its advice in it. Returns the handler to call:
  /// null if the triple was reported before or an exception is thrown instead. If memory runs out,
  /// the triple is reported again rather than never.
  ViolationHandler record(Violation& violation, const detail::AdviceFacts& facts) noexcept {
    violation.advice = own_advice(facts);
    const Occurrence occurrence{{site_of(violation.reshape.site), site_of(violation.write.site),
                                 site_of(violation.access.site)},
                                {site_of(violation.write.site), site_of(facts.writer_reshape)},
                                violation.advice == Advice::view};
    Tables tables;
    {
      const sync::ProcessLock lock(mutex_);
      if (tables_.contains(occurrence)) {
        return count(violation, occurrence);
      }
    }
    try {
      tables.add(occurrence, violation);
    } catch (const std::exception&) {
      const sync::ProcessLock lock(mutex_);
      ++violations_;
      return handler_;
    }
    const sync::ProcessLock lock(mutex_);
    tables_.merge(tables);
    return count(violation, occurrence);
  }

  Summary summary() {
    const CallSite first_escape = stats::detail::site_at(
        static_cast<stats::detail::SiteId>(report_counts.first_escape.value()));
    Summary all{report_counts.reshapes.value(),
                0,
                report_counts.suppressed.value(),
                report_counts.escapes.value(),
                first_escape,
                {}};
    for (bool is_whole = false; !is_whole;) {
      all.triples.reserve(number_of_triples());
      const sync::ProcessLock lock(mutex_);
      all.violations = violations_;
      is_whole = tables_.entries.size() <= all.triples.capacity();
      if (is_whole) {
        for (const auto& [triple, entry] : tables_.entries) {
          Violation& violation = all.triples.emplace_back(entry.first);
          violation.count = entry.count;
          violation.advice = advice_for(triple, entry);
        }
      }
    }
    // An insertion sort: triples with equal counts keep their order. Not std::stable_sort, because
    // clang 19 warns that it uses deprecated code.
    for (auto next = all.triples.begin(); next != all.triples.end(); ++next) {
      std::rotate(std::ranges::upper_bound(all.triples.begin(), next, next->count, std::greater<>(),
                                           &Violation::count),
                  next, next + 1);
    }
    return all;
  }

  void reset() noexcept {
    Tables old;
    const sync::ProcessLock lock(mutex_);
    std::swap(tables_, old);
    violations_ = 0;
    report_counts.reshapes.set(0);
    report_counts.suppressed.set(0);
    report_counts.escapes.set(0);
    report_counts.first_escape.set(0);
  }

 private:
  /// The keys of a violation in the tables.
  struct Occurrence {
    Triple triple;
    std::array<Site, 2> write;  ///< the write, and the reshape that made its family
    bool advises_view;          ///< the advice is `view`
  };

  struct Tables {
    std::map<Triple, Entry> entries;
    std::set<Site> viewed_reshapes;
    std::set<std::array<Site, 2>> viewed_writes;

    /// add() adds a write that is advised `view` together with its reshape, so only the write is
    /// searched.
    bool contains(const Occurrence& occurrence) const noexcept {
      return entries.contains(occurrence.triple) &&
             (!occurrence.advises_view || viewed_writes.contains(occurrence.write));
    }
    void add(const Occurrence& occurrence, const Violation& violation) {
      entries.try_emplace(occurrence.triple, Entry{.first = violation});
      if (occurrence.advises_view) {
        viewed_reshapes.insert(occurrence.triple[0]);
        viewed_writes.insert(occurrence.write);
      }
    }
    void merge(Tables& other) noexcept {
      entries.merge(other.entries);
      viewed_reshapes.merge(other.viewed_reshapes);
      viewed_writes.merge(other.viewed_writes);
    }
  };

  /// Requires the lock, and an occurrence that the tables contain.
  ViolationHandler count(Violation& violation, const Occurrence& occurrence) noexcept {
    ++violations_;
    Entry& entry = tables_.entries.find(occurrence.triple)->second;
    entry.write = occurrence.write;
    ++entry.count;
    if (violation.advice == Advice::view_or_clone || entry.first.advice == Advice::nothing) {
      entry.first.advice = violation.advice;
    }
    entry.first.untracked_escapes =
        std::max(entry.first.untracked_escapes, violation.untracked_escapes);
    violation.count = entry.count;
    violation.advice = advice_for(occurrence.triple, entry);
    return violation.is_error() || std::exchange(entry.is_reported, true) ? nullptr : handler_;
  }

  /// If own_advice() is `view` for any triple of a reshape, all its triples are advised `view`,
  /// because a reshape can be rewritten in one way only. If a read of a write through a reshaped
  /// tensor is advised `view`, then all other reads of that write are advised `view`, too.
  Advice advice_for(const Triple& triple, const Entry& entry) const noexcept {
    const bool is_of_viewed = triple[0].second != 0 && tables_.viewed_reshapes.contains(triple[0]);
    const bool reads_viewed = entry.first.advice != Advice::nothing && entry.write[0].second != 0 &&
                              entry.write[1].second != 0 &&
                              tables_.viewed_writes.contains(entry.write);
    return is_of_viewed || reads_viewed ? Advice::view : entry.first.advice;
  }

  std::size_t number_of_triples() {
    const sync::ProcessLock lock(mutex_);
    return tables_.entries.size();
  }

  sync::ProcessMutex mutex_;
  Tables tables_;
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

void detail::report(Violation violation, const AdviceFacts& facts) {
  const ViolationHandler handler = book().record(violation, facts);
  if (violation.is_error()) {
    throw ReshapeViolation(violation);
  }
  if (handler != nullptr) {
    handler(violation);
  }
}

}  // namespace byre::inline BYRE_ABI::shadow
