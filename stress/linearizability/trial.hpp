// SPDX-License-Identifier: BSL-1.0
/// Trial: the objects of one history, and what its threads do with them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "history.hpp"
#include "search.hpp"
#include "support/random.hpp"

namespace byre::stress::histories {

inline constexpr unsigned most_threads_of_history = 4;

/// The largest number of operations of a thread, such that a history has at most
/// Search::most_steps steps.
constexpr unsigned most_operations(unsigned threads) noexcept {
  return threads < 4 ? 8 : 7;
}

class Trial {
 public:
  Trial() = default;
  virtual ~Trial() = default;
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  /// Called by all threads of the history at once. Random operations; the random numbers determine
  /// them, except where they depend on results.
  virtual void act(unsigned thread, test::Random& random, Log& log) = 0;
  /// Called by one thread after all threads have returned from act().
  virtual void finish(Log&) {}
  /// The verdict on the first object whose history is not linearizable, or on the last object.
  virtual Verdict check(const std::vector<Operation>& history) const = 0;
  /// For example "compare_exchange(2, 18) -> false, found 3".
  virtual std::string text(const Operation& operation) const = 0;
};

/// A kind of trial.
struct Subject {
  std::string_view name;
  std::unique_ptr<Trial> (*make)(test::Random& random, unsigned threads);
};

template <class Derived>
std::unique_ptr<Trial> make_trial(test::Random& random, unsigned threads) {
  return std::make_unique<Derived>(random, threads);
}

// ---- contents: the number of a value is in its first byte and in its last byte

inline constexpr std::size_t content_nbytes = 64;
/// The number of a value whose bytes are inconsistent.
inline constexpr std::uint8_t torn = 0xFE;
/// The content of memory that was released.
inline constexpr std::uint8_t released = 0xFD;

inline void write_number(std::byte* data, std::uint8_t number) noexcept {
  data[0] = data[content_nbytes - 1] = std::byte{number};
}
/// The number of a value; 0 if it is empty.
template <class Value>
std::uint8_t number_of(const Value& value) noexcept {
  const std::byte* const data = value.data();
  if (data == nullptr) {
    return 0;
  }
  return static_cast<std::uint8_t>(data[0] == data[content_nbytes - 1] ? data[0] : std::byte{torn});
}
template <class Value>
Value numbered(std::uint8_t number) {
  Value value = Value::allocate(content_nbytes);
  write_number(value.mutable_data(), number);
  return value;
}

inline std::string text_of_number(std::uint8_t number) {
  return number == torn       ? "torn bytes"
         : number == released ? "released memory"
                              : std::to_string(number);
}

}  // namespace byre::stress::histories
