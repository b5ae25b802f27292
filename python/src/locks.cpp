// SPDX-License-Identifier: BSL-1.0
#include "locks.hpp"

#include <byre/error/error.hpp>

#include <pthread.h>

#include <array>
#include <bit>
#include <new>

namespace byre::inline v0::python {
namespace {

/// A mutex for many readers or one writer, who does not wait for readers that come after.
class Stripe {
 public:
  Stripe() {
    ::pthread_rwlockattr_t kind;
    ::pthread_rwlockattr_init(&kind);
    // No thread locks a stripe twice.
    ::pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    ::pthread_rwlock_init(&lock_, &kind);
    ::pthread_rwlockattr_destroy(&kind);
  }
  Stripe(const Stripe&) = delete;
  Stripe& operator=(const Stripe&) = delete;
  ~Stripe() = default;

  void lock() { ::pthread_rwlock_wrlock(&lock_); }
  bool try_lock() { return ::pthread_rwlock_trywrlock(&lock_) == 0; }
  void lock_shared() { ::pthread_rwlock_rdlock(&lock_); }
  bool try_lock_shared() { return ::pthread_rwlock_tryrdlock(&lock_) == 0; }
  void unlock() { ::pthread_rwlock_unlock(&lock_); }

 private:
  ::pthread_rwlock_t lock_;
};
constexpr unsigned log2_of_stripe_count = 6;  // as many as a mask has bits
constexpr std::size_t stripe_count = std::size_t{1} << log2_of_stripe_count;

/// Never destroyed: threads may operate after the end of main.
std::array<Stripe, stripe_count>& stripes() noexcept {
  using Stripes = std::array<Stripe, stripe_count>;
  alignas(Stripes) static std::byte place[sizeof(Stripes)];
  static Stripes* const made = ::new (place) Stripes;
  return *made;
}

/// The bit of a storage's stripe: of the address of its slot, which lives as long as the storage does. None
/// for a tensor without a storage, which has no bytes.
std::uint64_t bit_of(const Tensor& tensor) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.storage().slot());
  // Multiplied as Fibonacci hashing does: neighbours on the heap get stripes that are far apart.
  const std::uint64_t mixed = std::uint64_t{address} * 0x9E37'79B9'7F4A'7C15U;
  return address == 0 ? 0 : std::uint64_t{1} << (mixed >> (64 - log2_of_stripe_count));
}

/// Calls `visit(stripe, is_exclusive)` for each, in order, until it returns false. Returns the mask of those
/// for which it was true.
template <class Visit>
std::uint64_t for_each_stripe(std::uint64_t shared, std::uint64_t exclusive, const Visit& visit) {
  std::uint64_t visited = 0;
  for (std::uint64_t rest = shared | exclusive; rest != 0; rest &= rest - 1) {
    const std::uint64_t bit = rest & (~rest + 1);
    if (!visit(stripes()[static_cast<std::size_t>(std::countr_zero(rest))],
               (exclusive & bit) != 0)) {
      break;
    }
    visited |= bit;
  }
  return visited;
}

void unlock_stripes(std::uint64_t shared, std::uint64_t exclusive) noexcept {
  for_each_stripe(shared, exclusive, [](Stripe& stripe, bool) {
    stripe.unlock();
    return true;
  });
}

void before_fork() noexcept {
  for (Stripe& stripe : stripes()) {
    stripe.lock();
  }
  hold_later_over_fork();
}

void in_parent() noexcept {
  continue_later_in_parent();
  for (Stripe& stripe : stripes()) {
    stripe.unlock();
  }
}

void in_child() noexcept {
  renew_later_in_child();
  // Their owner has another number in this process, and could not unlock them.
  for (Stripe& stripe : stripes()) {
    ::new (&stripe) Stripe;
  }
}

}  // namespace

StripeSet::StripeSet(std::initializer_list<const Tensor*> reads,
                     std::initializer_list<const Tensor*> writes) noexcept {
  for (const Tensor* tensor : writes) {
    exclusive_ |= bit_of(*tensor);
  }
  for (const Tensor* tensor : reads) {
    shared_ |= tensor == nullptr ? 0 : bit_of(*tensor) & ~exclusive_;
  }
}

StripeSet::StripeSet(std::span<const Tensor> reads) noexcept {
  for (const Tensor& tensor : reads) {
    shared_ |= bit_of(tensor);
  }
}

bool StripeSet::try_lock() const noexcept {
  const std::uint64_t taken =
      for_each_stripe(shared_, exclusive_, [](Stripe& stripe, bool is_exclusive) {
        return is_exclusive ? stripe.try_lock() : stripe.try_lock_shared();
      });
  if (taken == (shared_ | exclusive_)) {
    return true;
  }
  unlock_stripes(shared_ & taken, exclusive_ & taken);
  return false;
}

void StripeSet::lock() const {
  for_each_stripe(shared_, exclusive_, [](Stripe& stripe, bool is_exclusive) {
    is_exclusive ? stripe.lock() : stripe.lock_shared();
    return true;
  });
}

void StripeSet::unlock() const noexcept {
  unlock_stripes(shared_, exclusive_);
}

void watch_forks() {
  if (::pthread_atfork(before_fork, in_parent, in_child) != 0) {
    throw OutOfMemory::of_heap("byre, to be told of forks");
  }
}

}  // namespace byre::inline v0::python
