// SPDX-License-Identifier: BSL-1.0
/// The seam: every lock-free type of byre is a template over a Sync, which supplies atomics, locks
/// and parking. Users get sync::Default. A model checker or a schedule perturber supplies a Sync of
/// its own, and thereby checks exactly the code that ships.
#pragma once

#include <byre/sync/detail/site.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace byre::inline BYRE_ABI::sync {

/// An atomic integer. Each operation takes a Step: its site and the memory order spelled at the
/// call. A compare-exchange may fail spuriously, and a failed one is relaxed.
template <class A, class Value>
concept AtomicOf = requires(A& atomic, const A& constant, Value value, Step step) {
  A(value);
  { constant.load(step) } -> std::same_as<Value>;
  { atomic.store(value, step) } -> std::same_as<void>;
  { atomic.exchange(value, step) } -> std::same_as<Value>;
  { atomic.fetch_add(value, step) } -> std::same_as<Value>;
  { atomic.fetch_sub(value, step) } -> std::same_as<Value>;
  { atomic.compare_exchange_weak(value, value, step) } -> std::same_as<bool>;
};

/// A shared-exclusive lock.
template <class M>
concept SharedMutexLike = requires(M& mutex, Step step) {
  mutex.lock(step);
  mutex.unlock(step);
  mutex.lock_shared(step);
  mutex.unlock_shared(step);
};

/// A variable without synchronization. Two accesses by different threads race if no happens-before
/// edge orders them and at least one writes or destroys the variable; a checker may report the
/// race.
template <class P, class Value>
concept PlainOf = requires(P& plain, const P& constant, Value value) {
  P(value);
  { constant.get() } -> std::same_as<Value>;
  { plain.set(value) } -> std::same_as<void>;
};

namespace detail {
struct Condition {
  bool operator()() const;
};
inline constexpr Constant a_constant{};
}  // namespace detail

/// The functions and types that a Sync supplies. No function throws.
///
/// - `park(address, keep_waiting, step)` returns immediately if `keep_waiting()` is false. If not,
///   it blocks until an `unpark_all(address, step)` that begins after `keep_waiting()` was last
///   true. park() may return spuriously. Neither function accesses the memory at `address`.
/// - A waiter loads the state `spin_limit` times, with a `pause()` in between, before it parks.
/// - `value_of(constant)` is evaluated at compile time and converts to the value of the constant. A
///   checker may return an object that converts to another value at run time, to test that the
///   value matters.
/// - `no_destructor` returns the only object of a type. The object is default-constructed and never
///   destroyed.
/// - `process_number` differs between this process and the processes that it was forked from.
// clang-format off: version 14 takes a concept's `<` for a comparison.
template <class S>
concept Sync = AtomicOf<typename S::template Atomic<std::uint64_t>, std::uint64_t> &&
               AtomicOf<typename S::template Atomic<std::uint32_t>, std::uint32_t> &&
               PlainOf < typename S::template Plain<void*>,
void* > &&PlainOf<typename S::template Plain<std::size_t>, std::size_t>&& requires(
            const void* address, const detail::Condition& keep_waiting, Step step) {
  { S::park(address, keep_waiting, step) }
  noexcept;
  { S::unpark_all(address, step) }
  noexcept;
  { S::spin_limit } -> std::convertible_to<unsigned>;
  { S::pause() }
  noexcept;
  { S::value_of(detail::a_constant) } -> std::convertible_to<std::uint64_t>;
  { S::template no_destructor<detail::Condition>() }
  noexcept->std::same_as<detail::Condition&>;
  { S::process_number() }
  noexcept->std::same_as<std::uint32_t>;
};
// clang-format on

/// An exclusive lock.
template <class M>
concept MutexLike = requires(M& mutex, Step step) {
  mutex.lock(step);
  mutex.unlock(step);
};

/// A Sync that supplies locks too. A ProcessMutex guards state of the process: a fork locks it
/// while the process is duplicated.
template <class S>
concept LockingSync =
    Sync<S> && SharedMutexLike<typename S::SharedMutex> && MutexLike<typename S::ProcessMutex>;

}  // namespace byre::inline BYRE_ABI::sync
