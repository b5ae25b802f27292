// SPDX-License-Identifier: BSL-1.0
/// Locks that keep byre's rule whatever threads of Python do: on one storage, a write excludes all else.
/// Every operation takes those of its storages, and waits for none while it holds the interpreter's lock. A fork alone
/// waits for all of them with it, for as long as the longest operation under way takes.
///
/// What locked() does, so that no order can be got wrong:
///   - small: try the stripes while holding the interpreter's lock, and operate;
///   - large, or where that failed: release the interpreter's lock, take the stripes, operate, give the
///     stripes back, and only then take the interpreter's lock back.
/// So who holds stripes never waits for the interpreter, and runs no Python code.
#pragma once

#include "gil.hpp"
#include "later.hpp"

#include <byre/tensor/tensor.hpp>

#include <pybind11/pybind11.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <span>
#include <type_traits>

namespace byre::inline v0::python {

/// What touches more bytes lets other threads of Python run meanwhile. Less takes about as long as to let
/// them.
inline constexpr std::size_t most_nbytes_under_gil = std::size_t{64} << 10;

/// The stripes of some storages: each is a mutex, which many storages share. Lockable, as the standard
/// says. In the order of their numbers, so that two threads never wait for each other; a stripe that is
/// both read and written is locked once, exclusively.
class StripeSet {
 public:
  StripeSet(std::initializer_list<const Tensor*> reads,
            std::initializer_list<const Tensor*> writes) noexcept;
  explicit StripeSet(std::span<const Tensor> reads) noexcept;

  bool try_lock() const noexcept;
  void lock() const;
  void unlock() const noexcept;

 private:
  // A bit for each stripe; no stripe has both.
  std::uint64_t shared_ = 0;
  std::uint64_t exclusive_ = 0;
};

/// Has the stripes held over forks from now on, so that no operation of another thread is under way in the
/// child. Once, when the module is imported: later than core has its handlers, whose locks are taken
/// after these.
void watch_forks();

/// Whether a lazy clone of the storage copies at once: of memory that others may write. With its stripe held.
inline bool is_copied_by_clone(const Storage& storage) noexcept {
  return storage.origin() == Origin::borrowed || storage.origin() == Origin::aliased ||
         storage.is_pinned();
}

/// Whether all of its storage may be copied without letting other threads run. With its stripe held.
inline bool is_small(const Tensor& tensor) noexcept {
  return tensor.storage().nbytes() <= most_nbytes_under_gil;
}

/// What `operation()` returns, called with the stripes held: it touches no Python object. `nbytes` is about
/// what it reads and writes; `is_quick()`, called with the stripes held too, says whether there is nothing
/// else that takes long.
template <std::invocable Operation, std::predicate Quick>
auto locked(const StripeSet& stripes, std::size_t nbytes, const Operation& operation,
            const Quick& is_quick) {
  static_assert(!std::derived_from<std::invoke_result_t<Operation>, pybind11::handle>,
                "Python objects are made without stripes");
  const DrainAtEnd drain_at_end;
  if (nbytes <= most_nbytes_under_gil) {
    if (const std::unique_lock held(stripes, std::try_to_lock); held.owns_lock() && is_quick()) {
      return operation();
    }
  }
  const GilReleased released;
  const std::lock_guard held(stripes);
  return operation();
}

/// Of an operation that reads. A null pointer is of no tensor.
template <std::invocable Operation>
auto reading(std::initializer_list<const Tensor*> tensors, std::size_t nbytes,
             const Operation& operation) {
  return locked(StripeSet(tensors, {}), nbytes, operation, [] { return true; });
}

/// Of one that lazily clones `tensor`, which copies what was borrowed.
template <std::invocable Operation>
auto cloning(const Tensor& tensor, const Operation& operation) {
  return locked(StripeSet({&tensor}, {}), 0, operation,
                [&] { return !is_copied_by_clone(tensor.storage()) || is_small(tensor); });
}

/// Of one that writes `written`, which copies what is shared, or waits until others have copied it.
template <std::invocable Operation>
auto writing(const Tensor& written, std::initializer_list<const Tensor*> reads, std::size_t nbytes,
             const Operation& operation) {
  return locked(StripeSet(reads, {&written}), nbytes, operation, [&] {
    return is_small(written) ||
           (written.storage().is_unique() && !written.storage().is_read_only());
  });
}

}  // namespace byre::inline v0::python
