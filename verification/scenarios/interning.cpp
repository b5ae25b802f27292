// SPDX-License-Identifier: BSL-1.0
/// Interning: equal values get one number, different ones get two, and a number gives its value back.
#include <byre/shadow/intern_table.hpp>

#include <algorithm>
#include <array>

#include "../search.hpp"

// A new that answers null is Relacy's too, a call further than g++ sees.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace byre::verification {
namespace {

/// A value whose bytes are watched.
struct Watched {
  Watched() noexcept : number(0) {}
  explicit Watched(unsigned wanted) noexcept : number(wanted) {}
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched& other) noexcept {
    number.set(other.number.get());
    return *this;
  }
  bool operator==(const Watched& other) const noexcept {
    return number.get() == other.number.get();
  }

  Checked::Plain<unsigned> number;
};

/// Of one bucket, where all meet; the first segment is of one value, so that the second is made soon.
template <std::uint32_t MostValues>
using Table = shadow::basic_intern_table<Checked, Watched, 1, MostValues, 0>;

/// Interns, and looks at what the number stands for.
template <class AnyTable>
std::uint32_t intern(AnyTable& table, unsigned value) {
  const std::uint32_t number = table.number_of(Watched(value), 0);
  expect(number == 0 || table.at(number).number.get() == value, "a number gives its value back");
  return number;
}

/// Two threads intern two values, each the other's first value second.
class ValuesAreInternedOnce {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"both intern one value at once",
                                                      "one finds the other's"};

  void thread(unsigned index) {
    for (const unsigned value : {index, 1 - index}) {
      numbers_[index][value] = intern(table_, 5 + value);
      expect(numbers_[index][value] != 0, "there are numbers enough");
    }
  }

  void after() {
    expect(numbers_[0] == numbers_[1], "equal values have one number");
    expect(numbers_[0][0] != numbers_[0][1], "different values have different numbers");
    for (const unsigned value : {0U, 1U}) {
      expect(intern(table_, 5 + value) == numbers_[0][value], "a value keeps its number");
    }
    const bool is_any_unused = intern(table_, 9) > 3;
    cover(is_any_unused ? "both intern one value at once" : "one finds the other's");
  }

 private:
  Table<4> table_;
  std::array<std::array<std::uint32_t, 2>, threads> numbers_{};
};

/// Two threads intern a value each, where there are as many numbers as that, or fewer.
template <std::uint32_t MostValues>
class NumbersRunOut {
 public:
  static constexpr unsigned threads = 2;

  void thread(unsigned index) { numbers_[index] = intern(table_, 5 + index); }

  void after() {
    std::ranges::sort(numbers_);
    constexpr std::uint32_t first = MostValues == 1 ? 0 : 1;
    expect(numbers_[0] == first && numbers_[1] == first + 1,
           "every number is given to a value, and then there is none");
    expect(intern(table_, 9) == 0, "there are no more numbers than that");
  }

 private:
  Table<MostValues> table_;
  std::array<std::uint32_t, threads> numbers_{};
};

}  // namespace

extern const Scenario values_are_interned_once;
const Scenario values_are_interned_once = scenario<ValuesAreInternedOnce>({
    .name = "values_are_interned_once",
    .shows = "Equal values get one number, whoever interns them, and different ones two.",
    .quick = reduced_search,
    .deep = preemptions(3),
});

extern const Scenario numbers_are_used_up;
const Scenario numbers_are_used_up = scenario<NumbersRunOut<2>>({
    .name = "numbers_are_used_up",
    .shows = "As many values are interned as there are numbers.",
    .quick = preemptions(4),
});

extern const Scenario numbers_run_out;
const Scenario numbers_run_out = scenario<NumbersRunOut<1>>({
    .name = "numbers_run_out",
    .shows = "No number is above the highest, though threads want the last one at once.",
});

}  // namespace byre::verification
