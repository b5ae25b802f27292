// SPDX-License-Identifier: BSL-1.0
/// The seam: everything lock-free in byre is a template over a Sync, which says what atomics, locks
/// and parking it runs on. Users get sync::Boost; a model checker or a schedule perturber brings
/// its own, and so checks the very lines that ship.
#pragma once

#include <byre/sync/detail/site.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace byre::inline v0::sync {

/// An atomic integer. Each operation is told its site and spells its order there. A
/// compare-exchange may fail spuriously and fails relaxed.
template <class A, class Value>
concept AtomicOf = requires(A& atomic, const A& constant, Value value, Step step) {
  A(value);
  { constant.load(step) } -> std::same_as<Value>;
  { atomic.store(value, step) } -> std::same_as<void>;
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

/// A variable that is not synchronized: touching it from two threads without a happens-before edge,
/// one of them writing or ending it, is an error a checker may report.
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

/// What a Sync offers. `park(address, keep_waiting, step)` blocks until an `unpark_all(address,
/// step)` that begins after `keep_waiting()` was last true; it returns at once where that is false,
/// and may return spuriously. Neither touches what `address` points to, nor throws.
/// A waiter loads the state `spin_limit` times, with a `pause()` between, before it parks.
/// `value_of(constant)` is evaluated at compile time and converts to the constant's value; a
/// checker may answer with what converts to another at run time, to see what breaks.
/// `no_destructor` answers the one default-constructed object of a type, never destroyed.
/// `process_number` tells this process from those it was forked from.
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

/// A Sync that has locks too. A ProcessMutex is one of the state of the process, held while that forks.
template <class S>
concept LockingSync =
    Sync<S> && SharedMutexLike<typename S::SharedMutex> && MutexLike<typename S::ProcessMutex>;

}  // namespace byre::inline v0::sync
