// SPDX-License-Identifier: BSL-1.0
/// PlaceTrial: threads load, store, exchange and compare the contents of one or two AtomicBuffers.
#pragma once

#include <byre/storage/atomic_buffer.hpp>
#include <byre/storage/atomic_storage.hpp>
#include <byre/storage/foreign.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "place_specification.hpp"
#include "trial.hpp"

namespace byre::stress::histories {

template <class Value>
struct BufferOf {
  using Type = Value;
};
template <class Sync>
struct BufferOf<basic_storage<Sync>> {
  using Type = basic_buffer<Sync>;
};

/// `Place` is an AtomicBuffer or AtomicStorage, or a wrong design with its members.
template <class Value, class Place = basic_atomic<Value>>
class PlaceTrial final : public Trial {
  using Kind = PlaceSpecification;

 public:
  PlaceTrial(test::Random& random, unsigned threads)
      : threads_(threads), objects_(random.chance(30) ? 2U : 1U) {
    for (unsigned object = 0; object < objects_; ++object) {
      const unsigned drawn = random.below(5U);
      const auto number = static_cast<std::uint8_t>(object + (drawn == 1 ? borrowed + 1 : 1));
      if (drawn != 0) {
        initial_[object].content = number;
        places_[object].store(drawn == 1 ? borrow(memory_[0][object], number)
                                         : numbered<Value>(number));
      }
      initial_[object].version = static_cast<std::uint8_t>(places_[object].version());
    }
  }

  void act(unsigned thread, test::Random& random, Log& log) override {
    Mine mine{thread, random, log, {}, 0};
    for (auto left = random.number(3U, most_operations(threads_)); left != 0; --left) {
      take_step(mine);
    }
  }

  void finish(Log& log) override {
    for (std::uint8_t object = 0; object < objects_; ++object) {
      Value value;
      load(log, object, value);
      read_version(log, object);
    }
  }

  Verdict check(const std::vector<Operation>& history) const override {
    Verdict verdict;
    for (std::uint8_t object = 0; object < objects_ && verdict.is_linearizable; ++object) {
      verdict = find_order(PlaceSpecification(), history, initial_[object], object);
    }
    return verdict;
  }

  std::string text(const Operation& operation) const override {
    const std::string argument =
        operation.argument == Kind::unshared ? "a copy" : text_of_number(operation.argument);
    const std::string result = text_of_number(operation.result);
    const std::string answer = operation.result != 0 ? "true" : "false";
    const std::string of = objects_ > 1 ? "object " + std::to_string(operation.object) + ": " : "";
    switch (operation.kind) {
      case Kind::load:
        return of + "load -> " + result;
      case Kind::store:
        return of + "store(" + argument + ")";
      case Kind::exchange:
        return of + "exchange(" + argument + ") -> " + result;
      case Kind::compare_exchange:
        return of + "compare_exchange(" +
               (operation.other_argument == Kind::unshared
                    ? "a copy"
                    : text_of_number(operation.other_argument)) +
               ", " + argument + ") -> " + answer +
               (operation.result != 0 ? "" : ", found " + text_of_number(operation.other_result));
      case Kind::holds:
        return of + "holds(" + argument + ") -> " + answer;
      default:
        return of + "version -> " + std::to_string(operation.result);
    }
  }

 private:
  using Buffer = typename BufferOf<Value>::Type;
  using Bytes = std::array<std::byte, content_nbytes>;

  /// Numbers from here on are those of borrowed memory.
  static constexpr std::uint8_t borrowed = 0x80;
  static bool is_borrowed(std::uint8_t number) noexcept { return number >= borrowed; }

  static bool is_copy_of_borrowed(const Value& value) noexcept {
    return is_borrowed(number_of(value)) && value.origin() != Origin::borrowed;
  }
  /// The argument that identifies the data of a value.
  static std::uint8_t identity_of(const Value& value) noexcept {
    return is_copy_of_borrowed(value) ? Kind::unshared : number_of(value);
  }

  /// The state of a thread.
  struct Mine {
    unsigned thread;
    test::Random& random;
    Log& log;
    std::array<Value, 2> values;
    unsigned made;  // numbers that the thread has used

    std::uint8_t new_number() noexcept {
      return static_cast<std::uint8_t>(thread * 16 + 4 + made++);
    }
  };

  /// Borrowed memory may be released once no place contains it. The deleter overwrites it, so a
  /// load that reads it later is seen.
  struct Overwrite {
    void operator()(void* data) const noexcept {
      write_number(static_cast<std::byte*>(data), released);
    }
  };

  static Value borrow(Bytes& bytes, std::uint8_t number) {
    write_number(bytes.data(), number);
    return Value(Buffer::adopt(
        Foreign<Overwrite>{.data = bytes.data(), .nbytes = bytes.size(), .outlives = false}));
  }

  /// A value to store: new, a modified lazy clone, a lazy clone, the value itself, borrowed memory,
  /// or empty.
  Value desired(Mine& mine, Value& value) {
    const unsigned drawn = mine.random.below(100U);
    const std::uint8_t number = number_of(value);
    if (drawn < 20 && number != Kind::empty) {
      Value modified = value.lazy_clone();
      write_number(modified.mutable_data(), mine.new_number());
      return modified;
    }
    if (drawn < 40 && number != Kind::empty && !is_borrowed(number)) {
      return value.lazy_clone();
    }
    if (drawn < 50 && !is_copy_of_borrowed(value)) {
      return std::exchange(value, Value());
    }
    if (drawn < 60) {
      const auto new_number = static_cast<std::uint8_t>(borrowed + mine.new_number());
      return borrow(memory_[mine.thread + 1][mine.made - 1], new_number);
    }
    return drawn < 65 ? Value() : numbered<Value>(mine.new_number());
  }

  void take_step(Mine& mine) {
    Value& value = mine.random.one_of(mine.values);
    const auto object = static_cast<std::uint8_t>(mine.random.below(objects_));
    Place& place = places_[object];
    Log& log = mine.log;
    Operation operation{.object = object};
    const unsigned drawn = mine.random.below(100U);
    if (drawn < 30) {
      load(log, object, value);
    } else if (drawn < 42) {
      Value stored = desired(mine, value);
      operation.kind = Kind::store;
      operation.argument = number_of(stored);
      log.run(operation, [&] { place.store(std::move(stored)); });
    } else if (drawn < 57) {
      Value stored = desired(mine, value);
      operation.kind = Kind::exchange;
      operation.argument = number_of(stored);
      value = log.run(operation, [&] { return place.exchange(std::move(stored)); });
      log.last().result = number_of(value);
    } else if (drawn < 82) {
      compare_exchange(mine, value, place, operation);
    } else if (drawn < 91) {
      operation.kind = Kind::holds;
      operation.argument = identity_of(value);
      const bool is_equal = log.run(operation, [&] { return place.holds(value); });
      log.last().result = is_equal ? 1 : 0;
    } else {
      read_version(log, object);
    }
  }

  void load(Log& log, std::uint8_t object, Value& value) {
    value = log.run({.object = object, .kind = Kind::load}, [&] { return places_[object].load(); });
    log.last().result = number_of(value);
  }
  void read_version(Log& log, std::uint8_t object) {
    const std::uint64_t version = log.run({.object = object, .kind = Kind::version},
                                          [&] { return places_[object].version(); });
    log.last().result = static_cast<std::uint8_t>(version);
  }
  void compare_exchange(Mine& mine, Value& expected, Place& place, Operation operation) {
    Value stored = desired(mine, mine.random.one_of(mine.values));
    operation.kind = Kind::compare_exchange;
    operation.argument = number_of(stored);
    operation.other_argument = identity_of(expected);
    const bool has_replaced = mine.log.run(
        operation, [&] { return place.compare_exchange(expected, std::move(stored)); });
    mine.log.last().result = has_replaced ? 1 : 0;
    if (!has_replaced) {
      mine.log.last().other_result = number_of(expected);
    }
  }

  const unsigned threads_;
  const unsigned objects_;
  std::array<std::array<Bytes, 8>, most_threads_of_history + 1> memory_;  // outlives the places
  std::array<Place, 2> places_;
  std::array<PlaceSpecification::State, 2> initial_{};
};

}  // namespace byre::stress::histories
