// SPDX-License-Identifier: BSL-1.0
/// Memory that is used too late, twice, never given back, or not yet written; and programs that end.
#include <byre/error/detail/assert.hpp>

#include "litmus.hpp"

namespace byre::verification {
namespace litmus {
namespace {

/// One frees what the other uses.
template <class Object>
struct FreedWhileUsed : TwoThreads {
  void thread(unsigned index) {
    if (index == 0) {
      delete object;
    } else {
      use(*object);
    }
  }
  static void use(Number& number) { number.load(at(relaxed)); }
  static void use(Checked::SharedMutex& mutex) {
    mutex.lock(at());
    mutex.unlock(at());
  }
  static void use(Cell& cell) { cell.get(); }

  Object* object = make();

 private:
  static Object* make() {
    if constexpr (std::is_default_constructible_v<Object> && !std::is_same_v<Object, Cell>) {
      return new Object;
    } else {
      return new Object(0);
    }
  }
};

struct FreedTwice : TwoThreads {
  void thread(unsigned) { ::operator delete(object); }
  void* object = ::operator new(8);
};

struct NeverFreed : TwoThreads {
  void thread(unsigned index) {
    if (index == 0) {
      object = ::operator new(8);
    }
  }
  void* object = nullptr;
};

/// The same of the allocator of checked buffers.
struct TrackedMemory : TwoThreads {
  Tracked memory;
  Block block = memory.allocate({.nbytes = cells(1), .prefix = 64});
};

struct TrackedFreedWhileUsed : TrackedMemory {
  void thread(unsigned index) {
    if (index == 0) {
      memory.deallocate(block);
    } else {
      cell(static_cast<std::byte*>(block.data)).set(1);
    }
  }
};

/// What is no Plain is not watched: only what is read there tells.
struct TrackedHeaderFreedWhileUsed : TrackedMemory {
  static constexpr Outcome outcomes[] = {{"the old bytes", Fate::seen},
                                         {"the bytes of freed memory", Fate::seen}};

  TrackedHeaderFreedWhileUsed() { *static_cast<unsigned char*>(block.base) = 1; }
  void thread(unsigned index) {
    if (index == 0) {
      memory.deallocate(block);
    } else {
      Number(0).load(at(relaxed));  // a step, so that the other may come first
      result = *static_cast<unsigned char*>(block.base);
    }
  }
  std::size_t outcome() const { return result == 1 ? 0 : 1; }
  unsigned char result = 0;
};

struct TrackedFreedTwice : TrackedMemory {
  void thread(unsigned) { memory.deallocate(block); }
};

struct TrackedNeverFreed : TrackedMemory {
  void thread(unsigned) {}
};

struct NotYetWritten : TrackedMemory {
  void thread(unsigned index) {
    if (index == 0) {
      cell(static_cast<std::byte*>(block.data)).get();
    }
  }
};

/// A failure that a scenario asks for happens, and does not, and nothing else fails.
template <Faults Kind>
struct Fails : TwoThreads {
  static constexpr Outcome outcomes[] = {
      {"nothing fails", Fate::seen},
      {"the allocation fails", Kind == Faults::allocations ? Fate::seen : Fate::forbidden},
      {"the copy fails", Kind == Faults::copies ? Fate::seen : Fate::forbidden}};

  void thread(unsigned index) {
    if (index == 0) {
      memory.set_faults(Kind);
      try {
        copy();
      } catch (const CopyFailed&) {
        failed = 2;
      } catch (const std::bad_alloc&) {
        failed = 1;
      }
    }
  }
  std::size_t outcome() const { return failed; }

 private:
  void copy() {
    const Block block = memory.allocate({.nbytes = cells(1)});
    try {
      memory.copy(block.data, &source, cells(1));
    } catch (...) {
      memory.deallocate(block);
      throw;
    }
    memory.deallocate(block);
  }

  Tracked memory;
  Cell source{7};
  std::size_t failed = 0;
};

struct Asserts : TwoThreads {
  void thread(unsigned index) { BYRE_ASSERT(index == 0, "a litmus test asserts"); }
};

struct Crashes : TwoThreads {
  void thread(unsigned index) {
    if (index == 1) {
      *nowhere = 1;
    }
  }
  volatile int* volatile nowhere = nullptr;
};

struct Throws : TwoThreads {
  void thread(unsigned) { throw CopyFailed(); }
};

const Scenario* const memory_tests[] = {
    &litmus_test<FreedWhileUsed<Number>>("litmus.freed_atomic", "An atomic is used after its end.",
                                         Verdict::use_after_free),
    &litmus_test<FreedWhileUsed<Checked::SharedMutex>>(
        "litmus.freed_lock", "A lock is used after its end.", Verdict::use_after_free),
    &litmus_test<FreedWhileUsed<Cell>>("litmus.freed_plain", "So is plain data.",
                                       Verdict::use_after_free),
    &litmus_test<FreedTwice>("litmus.freed_twice", "Memory is freed twice.", Verdict::double_free),
    &litmus_test<NeverFreed>("litmus.never_freed", "Memory is never freed.", Verdict::leak),
    &litmus_test<TrackedFreedWhileUsed>("litmus.tracked_freed_plain",
                                        "And data of a buffer, whose memory is the model's own.",
                                        Verdict::use_after_free),
    &litmus_test<TrackedHeaderFreedWhileUsed>(
        "litmus.blind.freed_header",
        "Blind spot: a read of what is neither atomic nor Plain is not watched, and finds the "
        "bytes of freed memory. The stress runs under AddressSanitizer."),
    &litmus_test<TrackedFreedTwice>("litmus.tracked_freed_twice", "A block is given back twice.",
                                    Verdict::double_free),
    &litmus_test<TrackedNeverFreed>("litmus.tracked_never_freed", "A block is never given back.",
                                    Verdict::leak),
    &litmus_test<NotYetWritten>("litmus.not_yet_written", "Data is read before it is written.",
                                Verdict::uninitialized),
    &litmus_test<Fails<Faults::none>>("litmus.no_faults", "No allocation or copy fails unasked."),
    &litmus_test<Fails<Faults::allocations>>("litmus.failing_allocations",
                                             "Allocations fail in some executions, if asked to."),
    &litmus_test<Fails<Faults::copies>>("litmus.failing_copies", "And copies."),
    &litmus_test<Asserts>("litmus.asserts", "An assertion of core fails.", Verdict::core_assertion),
    &litmus_test<Crashes>("litmus.crashes", "A program that falls over is no pass.",
                          Verdict::crash),
    &litmus_test<Throws>("litmus.throws", "Nor is one that an exception leaves.",
                         Verdict::wrong_answer),
};

}  // namespace
}  // namespace litmus
}  // namespace byre::verification
