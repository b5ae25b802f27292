// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/shadow/report_book.hpp>
#include <byre/shadow/tally.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <algorithm>
#include <array>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <exception>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace byre::inline v0::shadow {
namespace {

constinit Tally reshapes;
constinit Tally silenced;
constinit Tally unaudited;

void warn_of(const Violation& violation) noexcept {
  warn("%s", text_of(violation).chars.data());
  try {
    // One warning is not long enough for all.
    for (const std::string& backtrace : backtraces_of(violation)) {
      warn("%s", backtrace.c_str());
    }
  } catch (const std::exception&) {
    // No memory for them; they stay in the violation.
  }
}

/// By the names of files, so that summaries are in the same order each time.
using Line = std::pair<std::string_view, std::uint32_t>;
using Triple = std::array<Line, 3>;

Line line_of(const Place& place) noexcept {
  return {place.site.file, place.site.line};
}

Triple triple_of(const Violation& violation) noexcept {
  return {line_of(violation.reshape), line_of(violation.write), line_of(violation.access)};
}

/// What is known to be meant to share memory: a reshape has one rewrite, whichever of its triples says
/// so, and who relies on seeing what was written through a reshaped tensor says of other readers of it
/// that they are to see it too. And which triples leave it open, which says nothing of others.
class Shared {
 public:
  /// Whether that was not known. Throws std::bad_alloc.
  bool learn(const Violation& violation) {
    if (violation.advice == Advice::view_or_clone) {
      return open_.insert(triple_of(violation)).second;
    }
    if (violation.advice != Advice::view) {
      return false;
    }
    const Place& reshape = violation.reshape;
    const bool is_new_reshape = reshape.is_known() && reshapes_.insert(line_of(reshape)).second;
    const bool is_new_write =
        is_of_reshaped(violation.write) && writes_.insert(write_of(violation.write)).second;
    return is_new_reshape || is_new_write;
  }
  Advice advice_for(const Violation& violation) const {
    const bool shares_write =
        violation.advice != Advice::nothing && writes_.contains(write_of(violation.write));
    if (shares_write || reshapes_.contains(line_of(violation.reshape))) {
      return Advice::view;
    }
    const bool is_open =
        violation.advice == Advice::reshape_and_clone && open_.contains(triple_of(violation));
    return is_open ? Advice::view_or_clone : violation.advice;
  }
  void clear() noexcept {
    open_.clear();
    reshapes_.clear();
    writes_.clear();
  }

 private:
  /// A line, and the reshape that what it writes came out of: one line may write for many that have
  /// nothing in common.
  using Write = std::pair<Line, PlaceId>;

  static bool is_of_reshaped(const Place& write) noexcept {
    return write.is_known() && write.came_from != 0;
  }
  static Write write_of(const Place& place) noexcept { return {line_of(place), place.came_from}; }

  std::set<Triple> open_;
  std::set<Line> reshapes_;
  std::set<Write> writes_;
};

class Book {
 public:
  ViolationHandler exchange(ViolationHandler handler) noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    return std::exchange(handler_, handler);
  }

  /// Counts it, and says in it how often it was met, and the advice by what is known so far. Answers
  /// who is to be told: nobody, that is null, if it is thrown or was told before. Without memory it is
  /// told again rather than never.
  ViolationHandler note(Violation& violation) noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    ++violations_;
    try {
      Entry& entry =
          entries_.try_emplace(triple_of(violation), Entry{violation, 0, false}).first->second;
      violation.count = ++entry.count;
      entry.first.unaudited = std::max(entry.first.unaudited, violation.unaudited);
      shared_.learn(violation);
      violation.advice = shared_.advice_for(violation);
      if (violation.is_error() || std::exchange(entry.is_told, true)) {
        return nullptr;
      }
    } catch (const std::exception&) {
    }
    return violation.is_error() ? nullptr : handler_;
  }

  Summary summary() {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    Summary all{reshapes.count(),  violations_, silenced.count(),
                unaudited.count(), {},          detail::unaudited_lines()};
    for (const auto& [triple, entry] : entries_) {
      all.triples.emplace_back(entry.first).count = entry.count;
    }
    advise(all.triples);
    std::ranges::stable_sort(all.triples, std::ranges::greater(), &Violation::count);
    return all;
  }

  void reset() noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    entries_.clear();
    shared_.clear();
    violations_ = 0;
    detail::reset_unaudited_lines();
    for (Tally* const tally : {&reshapes, &silenced, &unaudited}) {
      tally->clear();
    }
  }

 private:
  /// By all that is known: until what one says `view` for changes no other.
  void advise(std::vector<Violation>& all) const {
    Shared shared = shared_;
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      for (Violation& each : all) {
        each.advice = shared.advice_for(each);
        is_changed = shared.learn(each) || is_changed;
      }
    }
  }

  struct Entry {
    Violation first;
    std::uint64_t count;
    bool is_told;
  };

  boost::mutex mutex_;
  std::map<Triple, Entry> entries_;
  Shared shared_;
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

void detail::report(Violation violation) {
  const ViolationHandler handler = book().note(violation);
  if (violation.is_error()) {
    throw ReshapeViolation(violation);
  }
  if (handler != nullptr) {
    handler(violation);
  }
}

void detail::count_silenced() noexcept {
  silenced.add();
}

void detail::count_reshape() noexcept {
  reshapes.add();
}

void detail::count_unaudited() noexcept {
  unaudited.add();
}

}  // namespace byre::inline v0::shadow
