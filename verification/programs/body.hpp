// SPDX-License-Identifier: BSL-1.0
/// Small programs as data: a list of operations for each of two or three threads. Each thread has a
/// buffer, and all buffers share their data at the start. This header also has the body of the
/// scenario that runs a program. In it, each thread compares its reads with a sequential model, and
/// the oracle compares the sums over all threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../scenarios/buffers.hpp"

namespace byre::verification {

enum class Operation : std::uint8_t {
  read,
  write,
  write_failing,  ///< a write whose allocations fail
  clone_keep,     ///< makes a lazy clone and holds it to the end
  clone_drop,
  clone_write,  ///< makes a lazy clone, writes it and drops it
  drop,         ///< drops the thread's own buffer; always the last operation
};

inline constexpr std::array<std::string_view, 7> operation_names{
    "read", "write", "write-failing", "clone-keep", "clone-drop", "clone-write", "drop"};

/// The operations of one thread. A thread without operations owns its buffer to the end.
using Steps = std::vector<Operation>;

struct Program {
  static constexpr std::size_t most_threads = 3;
  static constexpr std::size_t most_steps = 2;

  std::vector<Steps> threads;

  /// E.g. "write; drop | clone-write".
  std::string name() const;
  std::size_t step_count() const;  ///< the sum over all threads
};

/// Every sequence of up to `most` operations, including the empty one. No operation follows a drop,
/// since an empty buffer has no data to share.
std::vector<Steps> all_steps(std::size_t most);

/// The programs of `threads` threads, in which each thread runs an element of `steps`. If programs
/// differ only in the order of their threads, the result has one of them.
std::vector<Program> all_programs(std::size_t threads, std::span<const Steps> steps);

/// The sequential model of one thread: the values of the thread's buffers, and the effect of its
/// writes. No two writes of a program write equal values, so a value identifies its data.
struct ThreadModel {
  /// The value that all threads share at the start.
  static constexpr unsigned original = 0;

  enum class Write {
    in_place,  ///< no other buffer can share the data
    copies,    ///< a clone that the thread holds shares the data
    depends,   ///< in place or a copy: another thread may still share the data
  };

  std::optional<unsigned> own = original;
  std::array<unsigned, 2> kept{};
  std::size_t kept_count = 0;
  unsigned copies = 0;
  bool took_original = false;
  /// True if the last of the thread's buffers that shared the original data has copied the data.
  bool copied_away = false;

  unsigned owners_of(unsigned value) const noexcept {
    const auto* const end = kept.data() + kept_count;
    return (own == value ? 1U : 0U) + static_cast<unsigned>(std::count(kept.data(), end, value));
  }

  /// The number of distinct values that only buffers of this thread can have. Each value has a
  /// block of memory.
  unsigned blocks_of_its_own() const noexcept {
    unsigned count = own.value_or(original) != original ? 1U : 0U;
    for (std::size_t i = 0; i < kept_count; ++i) {
      const auto* const end = kept.data() + i;
      const bool is_first = own != kept[i] && std::find(kept.data(), end, kept[i]) == end;
      count += kept[i] != original && is_first ? 1U : 0U;
    }
    return count;
  }

  Write write_of_own() const noexcept {
    return owners_of(*own) > 1 ? Write::copies
           : *own == original  ? Write::depends
                               : Write::in_place;
  }

  void keep_clone() noexcept { kept[kept_count++] = *own; }
  void drop() noexcept { own.reset(); }
  /// Counts the copy that a write to a clone makes, since the source of the clone still owns the
  /// data.
  void copied_for_clone() noexcept { ++copies; }
  void copied_to(unsigned value) noexcept {
    copied_away = copied_away || write_of_own() == Write::depends;
    ++copies;
    own = value;
  }
  void wrote_in_place(unsigned value) noexcept {
    took_original = took_original || *own == original;
    own = value;
  }
};

/// Runs one thread of a program.
class Actor {
 public:
  void begin_with(const CheckedBuffer& shared) { own_ = shared; }

  void run(unsigned thread, const Steps& steps, Tracked& memory) {
    for (unsigned i = 0; i < steps.size(); ++i) {
      // A value that no other write of the program writes.
      run(steps[i], 1 + thread + i * static_cast<unsigned>(Program::most_threads), memory);
    }
  }

  /// Call when all threads have ended. `owners_of` returns the number of the program's buffers that
  /// have a value.
  template <class OwnersOf>
  void check_end(OwnersOf&& owners_of) const {
    if (model_.own) {
      check_buffer(own_, *model_.own, owners_of);
    }
    for (std::size_t i = 0; i < model_.kept_count; ++i) {
      check_buffer(kept_[i], model_.kept[i], owners_of);
    }
  }

  const ThreadModel& model() const noexcept { return model_; }

 private:
  using Write = ThreadModel::Write;

  void run(Operation operation, unsigned value, Tracked& memory) {
    switch (operation) {
      case Operation::read:
        break;
      case Operation::write:
        write_own(value);
        break;
      case Operation::write_failing:
        memory.refuse(true);
        try_to_write_own(value);
        memory.refuse(false);
        break;
      case Operation::clone_keep:
        kept_[model_.kept_count] = own_.lazy_clone();
        model_.keep_clone();
        break;
      case Operation::clone_drop: {
        const CheckedBuffer clone = own_.lazy_clone();
        break;
      }
      case Operation::clone_write:
        write_clone(value);
        break;
      case Operation::drop:
        byre::verification::drop(own_);
        model_.drop();
        return;
    }
    expect(read(own_) == *model_.own, "a thread reads its last write, or the initial value");
  }

  Materialized write_own(unsigned value) {
    const Write allowed = model_.write_of_own();
    const Materialized how = write(own_, value);
    if (how == Materialized::copied) {
      cover("a write copies");
      expect(allowed != Write::in_place, "a write of unique data makes no copy");
      model_.copied_to(value);
    } else {
      cover(how == Materialized::stole ? "a write steals" : "a write finds unique data");
      expect(allowed != Write::copies, "a write does not change the thread's own clones");
      expect(allowed == Write::depends || how == Materialized::already_unique,
             "unique data stays unique until it is cloned");
      model_.wrote_in_place(value);
    }
    return how;
  }

  void try_to_write_own(unsigned value) {
    try {
      expect(write_own(value) != Materialized::copied, "a write without memory makes no copy");
    } catch (const OutOfMemory&) {
      cover("a write fails");
      expect(model_.write_of_own() != Write::in_place, "a write of unique data needs no memory");
    }
  }

  void write_clone(unsigned value) {
    CheckedBuffer clone = own_.lazy_clone();
    expect(write(clone, value) == Materialized::copied,
           "a write to a clone does not change its source");
    expect(read(clone) == value, "a clone reads what was written to it");
    model_.copied_for_clone();
  }

  /// Requests write access only once, by materialize(). To call write() of buffers.hpp afterwards
  /// would request write access again, although the buffer is still unique. That takes one more
  /// step, and without that step a search runs a fifth fewer executions.
  static Materialized write(CheckedBuffer& buffer, unsigned value) {
    const Materialized how = buffer.materialize();
    cell(const_cast<std::byte*>(buffer.data())).set(value);
    return how;
  }

  template <class OwnersOf>
  static void check_buffer(const CheckedBuffer& buffer, unsigned value, OwnersOf& owners_of) {
    expect(read(buffer) == value,
           "each buffer has the value of its last write, or the initial one");
    expect(buffer.use_count() == owners_of(value), "use_count() is the number of owners");
    expect(buffer.is_unique() == (owners_of(value) == 1), "is_unique() is true for the only owner");
  }

  ThreadModel model_;
  CheckedBuffer own_;
  std::array<CheckedBuffer, Program::most_steps> kept_;
};

/// The program that is being searched.
inline const Program* current_program = nullptr;

template <unsigned Threads>
class RunsProgram {
 public:
  static constexpr unsigned threads = Threads;

  RunsProgram() {
    auto shared = CheckedBuffer::allocate(cells(1), memory_);
    cell(shared.mutable_data()).set(ThreadModel::original);
    for (Actor& actor : actors_) {
      actor.begin_with(shared);
    }
  }

  void thread(unsigned index) {
    actors_[index].run(index, current_program->threads[index], memory_);
  }

  void after() {
    check_original();
    for (const Actor& actor : actors_) {
      actor.check_end([this](unsigned value) { return owners_of(value); });
    }
    check_memory();
  }

 private:
  unsigned owners_of(unsigned value) const {
    unsigned owners = 0;
    for (const Actor& actor : actors_) {
      owners += actor.model().owners_of(value);
    }
    return owners;
  }

  /// If N owners write, N-1 copy: the last owner of the original takes it, i.e. writes it in place.
  void check_original() const {
    unsigned takers = 0;
    bool all_copied = true;
    for (const Actor& actor : actors_) {
      takers += actor.model().took_original;
      all_copied = all_copied && actor.model().copied_away;
    }
    expect(takers + (owners_of(ThreadModel::original) != 0) <= 1,
           "at most one owner takes the original");
    expect(!all_copied, "if all owners write, one of them takes the original");
  }

  /// Each copy that a write reported was made, and data without owners is freed.
  void check_memory() const {
    unsigned copies = 0;
    unsigned alive = 0;
    for (const Actor& actor : actors_) {
      copies += actor.model().copies;
      alive += actor.model().blocks_of_its_own();
    }
    alive += owners_of(ThreadModel::original) != 0;
    expect(memory_.copies() == copies, "the number of copies is the number that writes reported");
    expect(memory_.allocations() - memory_.frees() == alive,
           "data without owners is freed at once");
  }

  Tracked memory_;
  std::array<Actor, threads> actors_;
};

}  // namespace byre::verification
