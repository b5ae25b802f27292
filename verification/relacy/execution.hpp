// SPDX-License-Identifier: BSL-1.0
/// The state of one execution of a scenario: waiting threads, objects that live until the execution
/// ends, the memory of its allocators, and the names of addresses.
#pragma once

#include <byre/error/call_site.hpp>
#include <byre/sync/detail/site.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>

#include "../verdict.hpp"
#include "detector.hpp"
#include "sleep_sets.hpp"

namespace byre::verification {

inline rl::debug_info to_relacy(CallSite where) noexcept {
  return {"", where.file, where.line};
}

/// Ends the execution and the search. Does not return. Copies `text`.
[[noreturn]] void fail(Verdict verdict, const char* text) noexcept;

/// Receives the value that each step reads or stores, for scenarios that wait for a certain state.
struct Observer {
  void* scenario = nullptr;
  void (*on_step)(void* scenario, const sync::Site& site, std::uint64_t value) = nullptr;
};

/// A lock for internal use by the checker: it adds happens-before edges between Relacy's threads.
/// It is held only while no other thread can run, so it never blocks and adds no interleavings.
class ModelLock {
 public:
  ModelLock() : data_(rl::ctx().mutex_ctor(false, false, false, false)) {}
  ~ModelLock() { rl::ctx().mutex_dtor(data_); }
  ModelLock(const ModelLock&) = delete;
  ModelLock& operator=(const ModelLock&) = delete;

  /// Everything that other threads did before their last pass_through() happens before the caller's
  /// next steps.
  void acquire() { data_->memory_acquire({}); }
  /// Has the effect of acquire(). In addition, everything that the caller has done happens before
  /// the steps that another thread takes after its next acquire() or pass_through().
  void pass_through() {
    data_->lock_exclusive(false, {});
    data_->unlock_exclusive({});
  }

 private:
  rl::generic_mutex_data* data_;
};

/// While this object exists, no other thread runs. So several steps of the checker appear as one
/// step to the threads of the scenario.
struct PreemptionDisabled {
  PreemptionDisabled() { rl::ctx().disable_preemption(); }
  ~PreemptionDisabled() { rl::ctx().enable_preemption(); }
  PreemptionDisabled(const PreemptionDisabled&) = delete;
  PreemptionDisabled& operator=(const PreemptionDisabled&) = delete;
};

class Execution {
 public:
  Execution();
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  static Execution& current() noexcept { return *current_; }

  /// Returns memory that is never reused within an execution, so that every use after free is
  /// found.
  void* allocate(std::size_t nbytes, std::size_t alignment);

  /// name() sets the name that a block has in traces. name_of() writes the name of the block at an
  /// address to `name`.
  void name(const void* begin, std::size_t nbytes, const char* name) noexcept;
  void name_of(const void* address, std::array<char, 24>& name) noexcept;

  /// The only object of type Object in this execution. The first call constructs it.
  template <class Object>
  Object& no_destructor() {
    const PreemptionDisabled alone;  // other threads find no incomplete object
    for (Singleton* at = singletons_; at != nullptr; at = at->next) {
      if (at->tag == &tag<Object>) {
        singletons_lock_.acquire();
        return *static_cast<Object*>(at->object);
      }
    }
    steps_ahead.depend_on_everything();  // any later step may find the object
    void* place = allocate(sizeof(Object), alignof(Object));
    auto* object = ::new (place) Object;
    singletons_ = ::new (allocate(sizeof(Singleton), alignof(Singleton)))
        Singleton{&tag<Object>, object,
                  [](void* erased) { static_cast<Object*>(erased)->~Object(); }, singletons_};
    singletons_lock_.pass_through();
    return *object;
  }

  /// Parks the current thread until unpark_all() or unpark_one() of this address. No other thread
  /// runs between the call and the sleep.
  void wait_at(const void* address, CallSite where);
  void unpark_all(const void* address, CallSite where);
  void unpark_one(const void* address, CallSite where);
  /// The lock of the bucket that a parking lot would use for the address.
  ModelLock& bucket_of(const void* address);
  /// True if the current wait ends spuriously. The scheduler chooses. It may choose true once in an
  /// execution, or as often as the last call of allow_spurious_returns() permits.
  bool returns_spuriously();
  void allow_spurious_returns(unsigned count) noexcept { spurious_returns_ = count; }

  Observer observer;

 private:
  static constexpr std::size_t most = 16;

  struct Singleton {
    const char* tag;
    void* object;
    void (*destroy)(void*);
    Singleton* next;
  };
  template <class Object>
  static constexpr char tag = 0;

  struct Waiter {
    const void* address;
    rl::thread_id_t thread;
  };
  struct Named {
    const void* begin;
    std::size_t nbytes;
    std::array<char, 24> name;
  };
  struct Bucket {
    const void* address;
    ModelLock* lock;
  };

  static Execution* current_;

  std::size_t used_nbytes_ = 0;
  Singleton* singletons_ = nullptr;
  ModelLock singletons_lock_;
  std::array<Waiter, most> waiters_{};
  std::size_t waiter_count_ = 0;
  std::array<Bucket, most> buckets_{};
  std::size_t bucket_count_ = 0;
  std::array<Named, 2 * most> names_{};
  std::size_t name_count_ = 0;
  unsigned nameless_count_ = 0;
  unsigned spurious_returns_ = 1;
};

}  // namespace byre::verification
