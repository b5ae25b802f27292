// SPDX-License-Identifier: BSL-1.0
/// Litmus tests of memory errors (use after free, double free, leak, uninitialized read), of
/// injected failures, and of programs that crash.
#include <byre/error/detail/assert.hpp>

#include "litmus.hpp"

namespace byre::verification {
namespace litmus {
namespace {

/// One thread frees the object while the other uses it.
template <class Object>
struct Allocated {
  Object* object = [] {
    if constexpr (std::is_same_v<Object, Checked::SharedMutex>) {
      return new Object;
    } else {
      return new Object(0);
    }
  }();
};
constexpr auto free_it = [](auto& allocated) { delete allocated.object; };
constexpr auto load_freed = [](Allocated<Number>& allocated) {
  allocated.object->load(at(relaxed));
};
constexpr auto read_freed = [](Allocated<Cell>& allocated) { allocated.object->get(); };
constexpr auto lock_freed = [](Allocated<Checked::SharedMutex>& allocated) {
  allocated.object->lock(at());
  allocated.object->unlock(at());
};

struct Bytes {
  void* object = nullptr;
};
struct AllocatedBytes {
  void* object = ::operator new(8);
};
constexpr auto free_bytes = [](AllocatedBytes& bytes) { ::operator delete(bytes.object); };
constexpr auto allocate_bytes = [](Bytes& bytes) { bytes.object = ::operator new(8); };

/// A block of the allocator of checked buffers.
struct TrackedMemory {
  Cell& data() { return cell(static_cast<std::byte*>(block.data)); }

  Tracked memory;
  Block block = memory.allocate({.nbytes = cells(1), .prefix = 64});
};

constexpr auto give_back = [](TrackedMemory& tracked) { tracked.memory.deallocate(tracked.block); };
constexpr auto write_data = [](TrackedMemory& tracked) { tracked.data().set(1); };
constexpr auto read_data = [](TrackedMemory& tracked) { tracked.data().get(); };

/// The checker does not watch these bytes, since they are not Plain. Only the value that the thread
/// reads reveals the use after free.
struct TrackedHeaderFreedWhileUsed : TwoThreads, TrackedMemory {
  static constexpr Outcome outcomes[] = {{"the old bytes", Fate::seen},
                                         {"the bytes of freed memory", Fate::seen}};

  TrackedHeaderFreedWhileUsed() { *static_cast<unsigned char*>(block.base) = 1; }
  void thread(unsigned index) {
    if (index == 0) {
      memory.deallocate(block);
    } else {
      Number(0).load(at(relaxed));  // a step, so that the other thread may run first
      result = *static_cast<unsigned char*>(block.base);
    }
  }
  std::size_t outcome() const { return result == 1 ? 0 : 1; }
  unsigned char result = 0;
};

/// If the scenario allows a kind of failure, such a failure happens in some executions and not in
/// others. No other kind of failure happens.
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
    litmus_test<Two<Allocated<Number>, free_it, load_freed>>(
        "litmus.freed_atomic", "An atomic is used after it was freed.", Verdict::use_after_free),
    litmus_test<Two<Allocated<Checked::SharedMutex>, free_it, lock_freed>>(
        "litmus.freed_lock", "A lock is used after it was freed.", Verdict::use_after_free),
    litmus_test<Two<Allocated<Cell>, free_it, read_freed>>(
        "litmus.freed_plain", "Plain data is used after it was freed.", Verdict::use_after_free),
    litmus_test<Both<AllocatedBytes, free_bytes>>("litmus.freed_twice", "Memory is freed twice.",
                                                  Verdict::double_free),
    litmus_test<Two<Bytes, allocate_bytes, nothing>>("litmus.never_freed", "Memory is never freed.",
                                                     Verdict::leak),
    litmus_test<Two<TrackedMemory, give_back, write_data>>(
        "litmus.tracked_freed_plain", "Data of a buffer is used after it was freed.",
        Verdict::use_after_free),
    litmus_test<TrackedHeaderFreedWhileUsed>(
        "litmus.blind.freed_header",
        "Blind spot: a read of data that is neither atomic nor Plain is not watched, and returns "
        "the bytes of freed memory. The stress runs use AddressSanitizer."),
    litmus_test<Both<TrackedMemory, give_back>>(
        "litmus.tracked_freed_twice", "A block of the tracked allocator is deallocated twice.",
        Verdict::double_free),
    litmus_test<Both<TrackedMemory, nothing>>(
        "litmus.tracked_never_freed", "A block of the tracked allocator is never deallocated.",
        Verdict::leak),
    litmus_test<Two<TrackedMemory, read_data, nothing>>(
        "litmus.not_yet_written", "Data is read before it is written.", Verdict::uninitialized),
    litmus_test<Fails<Faults::none>>("litmus.no_faults",
                                     "No allocation or copy fails unless the scenario allows it."),
    litmus_test<Fails<Faults::allocations>>(
        "litmus.failing_allocations",
        "Allocations fail in some executions if the scenario allows it."),
    litmus_test<Fails<Faults::copies>>("litmus.failing_copies",
                                       "Copies fail in some executions if the scenario allows it."),
    litmus_test<Asserts>("litmus.asserts", "An assertion of core fails.", Verdict::core_assertion),
    litmus_test<Crashes>("litmus.crashes", "A program that crashes does not pass.", Verdict::crash),
    litmus_test<Throws>("litmus.throws", "A program with an uncaught exception does not pass.",
                        Verdict::wrong_answer),
};

}  // namespace
}  // namespace litmus
}  // namespace byre::verification
