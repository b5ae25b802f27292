// SPDX-License-Identifier: BSL-1.0
/// OwnersTrial: threads read, write, clone and drop values that share data: buffers, or storages.
///
/// Variable 0 is common to all threads in some histories. A buffer there is only read and cloned,
/// because a write excludes everything else. A storage there is also written, through handles of
/// all threads, under a lock that the operations take.
#pragma once

#include <byre/storage/storage.hpp>

#include <array>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "owners_specification.hpp"
#include "trial.hpp"

namespace byre::stress::histories {

/// How a write makes the data unique.
struct Materializes {
  template <class Value>
  static Materialized materialize(Value& value) {
    return value.materialize();
  }
};

template <class Value, class Design = Materializes>
class OwnersTrial final : public Trial {
  using Kind = OwnersSpecification;

 public:
  OwnersTrial(test::Random& random, unsigned threads) : threads_(threads) {
    has_common_ = random.flag();
    Value original = numbered<Value>(1);
    for (unsigned thread = 0; thread < threads; ++thread) {
      values_[first_of(thread)].value = original.lazy_clone();
      set_initial(first_of(thread));
    }
    if (has_common_) {
      values_[0].value = std::move(original);
      set_initial(0);
    }
  }

  void act(unsigned thread, test::Random& random, Log& log) override {
    unsigned written = 0;
    const std::uint8_t first = first_of(thread);
    const auto second = static_cast<std::uint8_t>(first + 1);
    const auto is_empty = [&](std::uint8_t each) {
      return each != 0 && number_of(values_[each].value) == 0;
    };
    for (auto left = random.number(3U, most_operations(threads_)); left != 0; --left) {
      std::uint8_t variable = choose(thread, random);
      if (is_empty(variable)) {
        variable = is_empty(first) ? second : first;
      }
      if (is_empty(variable)) {
        if (!has_common_) {
          return;
        }
        variable = 0;
      }
      const std::uint8_t other = is_empty(first) ? first : second;
      const unsigned drawn = random.below(100U);
      if (drawn < 20) {
        read(variable, log);
      } else if (drawn < 35) {
        test_unique(variable, log);
      } else if (drawn < 60 && is_empty(other)) {
        clone(variable, other, log);
      } else if (drawn < 75 && variable != 0) {
        log.run({.kind = Kind::drop, .argument = variable},
                [&] { values_[variable].value = Value(); });
      } else if (variable != 0 || is_storage) {
        write(variable, static_cast<std::uint8_t>(thread * 16 + 2 + written++), log);
      } else {
        read(variable, log);
      }
    }
  }

  Verdict check(const std::vector<Operation>& history) const override {
    return find_order(OwnersSpecification(), history, initial_);
  }

  std::string text(const Operation& operation) const override {
    const std::string variable = "variable " + std::to_string(operation.argument);
    switch (operation.kind) {
      case Kind::read:
        return "read " + variable + " -> " + text_of_number(operation.result);
      case Kind::clone:
        return "clone " + variable + " to " + std::to_string(operation.other_argument);
      case Kind::drop:
        return "drop " + variable;
      case Kind::is_unique:
        return variable + " is unique -> " + (operation.result != 0 ? "true" : "false");
      default:
        return "write " + std::to_string(operation.other_argument) + " to " + variable + " -> " +
               (operation.result == Kind::copied  ? "copied"
                : operation.result == Kind::stole ? "stole"
                                                  : "already unique");
    }
  }

 private:
  static constexpr bool is_storage = requires(const Value& value) { value.handle_count(); };

  struct alignas(64) Variable {
    Value value{};
  };

  /// The first of the two variables of a thread.
  static constexpr std::uint8_t first_of(unsigned thread) noexcept {
    return static_cast<std::uint8_t>(1 + 2 * thread);
  }

  void set_initial(std::uint8_t variable) noexcept {
    initial_.number[variable] = initial_.data[variable] = 1;
  }

  std::uint8_t choose(unsigned thread, test::Random& random) const noexcept {
    return has_common_ && random.chance(40)
               ? std::uint8_t{0}
               : static_cast<std::uint8_t>(first_of(thread) + random.below(2U));
  }

  /// Calls `act` with the variable; if it is a storage that all threads use, under the lock.
  template <class Lock, class Act>
  auto with(std::uint8_t variable, Act act) {
    if constexpr (is_storage) {
      if (variable == 0) {
        Value handle = values_[0].value;  // copying a handle is a concurrent const operation
        const Lock lock(mutex_);
        return act(handle);
      }
    }
    return act(values_[variable].value);
  }
  using Reading = std::shared_lock<std::shared_mutex>;
  using Writing = std::unique_lock<std::shared_mutex>;

  void read(std::uint8_t variable, Log& log) {
    const std::uint8_t number = log.run({.kind = Kind::read, .argument = variable}, [&] {
      return with<Reading>(variable, [](const Value& value) { return number_of(value); });
    });
    log.last().result = number;
  }
  void test_unique(std::uint8_t variable, Log& log) {
    const bool is_unique = log.run({.kind = Kind::is_unique, .argument = variable}, [&] {
      return with<Reading>(variable, [](const Value& value) { return value.is_unique(); });
    });
    log.last().result = is_unique ? 1 : 0;
  }
  void clone(std::uint8_t variable, std::uint8_t to, Log& log) {
    log.run({.kind = Kind::clone, .argument = variable, .other_argument = to}, [&] {
      values_[to].value =
          with<Reading>(variable, [](const Value& value) { return value.lazy_clone(); });
    });
  }
  void write(std::uint8_t variable, std::uint8_t number, Log& log) {
    const Materialized how =
        log.run({.kind = Kind::write, .argument = variable, .other_argument = number}, [&] {
          return with<Writing>(variable, [&](Value& value) {
            const Materialized done = Design::materialize(value);
            // Not mutable_data(), which would materialize again.
            write_number(const_cast<std::byte*>(std::as_const(value).data()), number);
            return done;
          });
        });
    log.last().result = how == Materialized::already_unique ? Kind::already_unique
                        : how == Materialized::stole        ? Kind::stole
                                                            : Kind::copied;
  }

  const unsigned threads_;
  bool has_common_;
  std::array<Variable, OwnersSpecification::variables> values_;
  OwnersSpecification::State initial_{};
  std::shared_mutex mutex_;
};

}  // namespace byre::stress::histories
