// SPDX-License-Identifier: BSL-1.0
#include <byre/error/warning.hpp>
#include <byre/shadow/report_book.hpp>
#include <byre/shadow/silence.hpp>
#include <byre/shadow/tally.hpp>
#include <byre/sync/immortal.hpp>

#include <algorithm>
#include <array>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <exception>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace byre::inline v0::shadow {
namespace {

constinit Tally reshapes;
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

Triple triple_of(const Violation& violation) noexcept {
  const auto line = [](const Place& place) { return Line(place.site.file, place.site.line); };
  return {line(violation.reshape), line(violation.write), line(violation.access)};
}

class Book {
 public:
  ViolationHandler exchange(ViolationHandler handler) noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    return std::exchange(handler_, handler);
  }

  void silence() noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    ++silenced_;
  }

  /// Counts it, and says in it how often it was met. Answers who is to be told: nobody, that is null,
  /// if it is thrown or was told before. Without memory it is told again rather than never.
  ViolationHandler note(Violation& violation) noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    ++violations_;
    try {
      Entry& entry =
          entries_.try_emplace(triple_of(violation), Entry{violation, 0, false}).first->second;
      violation.count = ++entry.count;
      if (violation.is_error() || std::exchange(entry.is_told, true)) {
        return nullptr;
      }
    } catch (const std::exception&) {
    }
    return violation.is_error() ? nullptr : handler_;
  }

  Summary summary() {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    Summary all{reshapes.count() - reshapes_before_,
                violations_,
                silenced_,
                unaudited.count() - unaudited_before_,
                {}};
    for (const auto& [triple, entry] : entries_) {
      all.triples.push_back(entry.first);
      all.triples.back().count = entry.count;
    }
    std::ranges::stable_sort(all.triples, std::ranges::greater(), &Violation::count);
    return all;
  }

  void reset() noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    entries_.clear();
    violations_ = 0;
    silenced_ = 0;
    reshapes_before_ = reshapes.count();
    unaudited_before_ = unaudited.count();
  }

 private:
  struct Entry {
    Violation first;
    std::uint64_t count;
    bool is_told;
  };

  boost::mutex mutex_;
  std::map<Triple, Entry> entries_;
  std::uint64_t violations_ = 0;
  std::uint64_t silenced_ = 0;
  std::uint64_t reshapes_before_ = 0;
  std::uint64_t unaudited_before_ = 0;
  ViolationHandler handler_ = &warn_of;
};

Book& book() noexcept {
  return sync::immortal<Book>();
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
  book().silence();
}

void detail::count_reshape() noexcept {
  reshapes.add();
}

void detail::count_unaudited() noexcept {
  unaudited.add();
}

}  // namespace byre::inline v0::shadow
