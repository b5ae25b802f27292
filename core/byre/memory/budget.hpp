// SPDX-License-Identifier: BSL-1.0
/// Budget: a limit on bytes. At the limit a request asks the budget's reclaimers, functions of the
/// program, to give some bytes back.
///
/// ```cpp
/// byre::Budget budget(std::size_t{1} << 30);
/// auto allocator = byre::budgeted(byre::default_allocator(), budget);
/// byre::Buffer weights = byre::Buffer::allocate(1 << 20, allocator);
/// byre::Buffer snapshot = weights;
/// const byre::Reclaimer reclaimer = budget.add_reclaimer([&](const byre::Pressure&) {
///   return std::exchange(snapshot, byre::Buffer()).nbytes();
/// });
/// budget.set_limit(budget.used());
/// weights.mutable_data();  // in place: without room for a copy, the snapshot was dropped
/// assert(snapshot.nbytes() == 0);
/// ```
///
/// A request that the limit forbids:
///
/// 1. A write to shared data abandons its copy, so the writer is an owner again. No request holds a
///    claim or a lock of byre in the next steps.
/// 2. Calls the reclaimers in order until they have returned as many bytes as are lacking. Each one
///    is asked for what those before it did not give.
/// 3. Repeats the request. If the reclaimers dropped the other owners of the data, a write is now
///    by the last owner, which needs no memory: it writes in place.
/// 4. If that fails, continues with step 2, at most 100 times, as long as a reclaimer returned more
///    than 0 or other threads made room. Then throws BudgetExceeded. The storage is unchanged.
#pragma once

#include <byre/error/detail/intrusive_list.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/memory/budget_exceeded.hpp>
#include <byre/memory/detail/budget_count.hpp>
#include <byre/sync/default.hpp>
#include <byre/sync/detail/mutex.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace byre::inline BYRE_ABI {

/// The bytes that a request lacks.
struct Pressure {
  std::size_t nbytes;  ///< bytes that have to be given back so that the request fits
  /// The data that the request copies, as Buffer::data() returns it; null for an allocation. If the
  /// other owners of the data drop it, the writer needs no memory.
  const void* data;
};

/// Gives bytes back, and returns how many: bytes that it released, and bytes that the request need
/// not copy any more. Returns 0 if it has nothing to give. An exception counts as 0, and is
/// reported by a warning.
///
/// A reclaimer runs on the thread of the request, and may run on several threads at once. It may
/// call any function of byre: the request holds no lock of byre. Requests of the reclaimer itself
/// may use the room that is left, but are refused at the limit: they never call reclaimers of the
/// budget again. A reclaimer must not destroy its budget, nor write a storage in the *_in_parallel
/// loop that the request belongs to. It must not wait for a thread that requests memory of the
/// budget, and must not lock a mutex that a thread holds while it requests memory of the budget;
/// ReclaimerMutex enforces this. A child of fork() calls only reclaimers that it added itself:
/// others could wait for threads of the parent.
using Reclaim = std::function<std::size_t(const Pressure&)>;

/// When a reclaimer is asked: before all that exist, or after them.
enum class ReclaimOrder : std::uint8_t {
  first,  ///< for one that loses nothing, such as a SnapshotWriter, which writes to a file
  last,
};

class Budget;

namespace detail {
class Charge;
struct ReclaimerEntry;
}  // namespace detail

/// Registers a reclaimer while it exists. Movable. The destructor takes the reclaimer away. It
/// waits for calls of the reclaimer on other threads to end; in a child of fork(), where these
/// threads do not exist, it does not wait. Destroyed within its own call, the reclaimer is not
/// waited for, and is destroyed after the call.
class [[nodiscard]] BYRE_API Reclaimer {
 public:
  /// No reclaimer.
  Reclaimer() noexcept = default;
  Reclaimer(Reclaimer&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  Reclaimer& operator=(Reclaimer&& other) noexcept {
    Reclaimer former(std::move(*this));
    entry_ = std::exchange(other.entry_, nullptr);
    return *this;
  }
  ~Reclaimer();

 private:
  friend class Budget;
  explicit Reclaimer(detail::ReclaimerEntry* entry) noexcept : entry_(entry) {}

  detail::ReclaimerEntry* entry_ = nullptr;
};

/// Counts the bytes of blocks from budgeted() allocators, and keeps them below a limit.
///
/// - A block counts with what it takes of the allocator's memory (Allocator::nbytes_taken_by). Data
///   in pages counts with the size of its file. An overlay, a private mapping of such data, counts
///   with the size of all its pages, because all of them may be written without another request.
///   Tables of tiles and the idle blocks of a pool do not count.
/// - Budgets nest: what counts in a budget counts in its parent, too. If the parent refuses a
///   request, the reclaimers of the child are asked first, then those of the parent, but not those
///   of other children.
/// - No schedule of threads exceeds a limit, except as used() says: a request is compared with the
///   limit and counted in one atomic step. While a request that a parent refuses is in progress,
///   its bytes are taken from the child, so that another request may be refused.
///
/// Thread-safe. Counting is lock-free, and releasing wait-free. Must outlive its allocators,
/// reclaimers and children, and calls of byre that request its memory, also those of operators that
/// such a call runs.
class BYRE_API Budget final : private detail::ReclaimSource {
 public:
  explicit Budget(std::size_t limit_nbytes, Budget* parent = nullptr);
  /// Ends the program if bytes are in use or a reclaimer is left, except in a child of fork(),
  /// where they may belong to threads that do not exist.
  ~Budget();
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  /// The bytes in use; at most the limit, unless the limit was lowered, or a device returned a
  /// larger block than requested for a deferred copy.
  std::size_t used() const noexcept { return count_.used(); }
  /// The largest number of bytes that were in use at one time.
  std::size_t peak() const noexcept { return count_.peak(); }
  std::size_t limit() const noexcept { return count_.limit(); }

  /// Changes the limit. Below used() it asks no reclaimer and takes nothing away: requests are
  /// refused until enough was released.
  void set_limit(std::size_t limit_nbytes) noexcept;

  /// Adds a function that requests call at the limit. Throws InvalidArgument if `reclaim` is empty,
  /// and OutOfMemory.
  Reclaimer add_reclaimer(Reclaim reclaim, ReclaimOrder order = ReclaimOrder::last);

 private:
  friend class Reclaimer;
  friend class BudgetedAllocator;
  friend class detail::Charge;

  std::optional<std::size_t> reclaim(const void* refusing, std::size_t nbytes,
                                     const void* data) noexcept override;
  /// Counts all but `taken_nbytes` of the `nbytes` of a request. If a budget refuses, throws
  /// BudgetExceeded, and the caller gives the `taken_nbytes` back. `allocator` is a name for the
  /// message.
  void take(std::size_t nbytes, std::size_t taken_nbytes, const char* allocator);
  std::size_t ask(const Pressure& pressure) noexcept;

  using Count = detail::basic_budget_count<sync::Default>;

  Count count_;
  Budget* const parent_;
  sync::ProcessMutex mutex_;  // protects the members below, and changes of the limit
  detail::IntrusiveList<detail::ReclaimerEntry> reclaimers_;
  std::int64_t first_number_ = 0;
  std::int64_t last_number_ = 0;
  const std::uint32_t process_;
};

namespace detail {

/// Bytes that count in the budget of an allocator, if it has one, while this object exists.
class BYRE_API Charge {
 public:
  Charge() noexcept = default;
  /// Throws BudgetExceeded.
  Charge(const Allocator& allocator, std::size_t nbytes);
  Charge(Charge&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)), nbytes_(other.nbytes_) {}
  Charge& operator=(Charge&&) = delete;
  ~Charge() {
    if (budget_ != nullptr) {
      budget_->count_.give_back(nbytes_);
    }
  }

  /// Throws BudgetExceeded, after which the caller ends this charge. Does nothing if `nbytes` are
  /// counted already.
  void grow_to(std::size_t nbytes, const char* allocator);
  /// Lets the bytes count after the end of this object.
  void keep() noexcept { budget_ = nullptr; }

 private:
  Budget* budget_ = nullptr;
  std::size_t nbytes_ = 0;
};

}  // namespace detail

/// An allocator whose blocks count in a budget. See budgeted().
class BYRE_API BudgetedAllocator final : public Allocator {
 public:
  BudgetedAllocator(Allocator& allocator, Budget& budget);
  BudgetedAllocator(const BudgetedAllocator&) = delete;
  BudgetedAllocator& operator=(const BudgetedAllocator&) = delete;

  /// The allocator that provides the blocks.
  Allocator& inner() const noexcept { return inner_; }

  /// At the limit, asks the reclaimers. Throws BudgetExceeded, and the errors of inner().
  Block allocate(const Request& request) override;
  // The following two do not ask, because their caller may hold a claim; byre asks after it has
  // abandoned the claim.
  Block allocate_copy(const Request& request, const void* source, std::size_t nbytes) override;
  Block submit_copy(const Request& request, const void* source, std::size_t nbytes,
                    PendingCopy& pending) override;
  void deallocate(const Block& block) noexcept override;
  std::size_t nbytes_taken_by(const Block& block) const noexcept override;
  void copy(void* destination, const void* source, std::size_t nbytes) override;
  const char* name() const noexcept override { return inner_.name(); }

 private:
  template <class GetBlock>
  Block take_for(const Request& request, const GetBlock& get_block);

  Allocator& inner_;
};

/// An allocator that takes its blocks from `allocator`, and counts them in `budget`. Several such
/// allocators may share a budget. Both arguments must outlive the result, and the result must
/// outlive all buffers from it. Throws InvalidArgument if `allocator` has a budget already: nest
/// the budgets instead.
inline BudgetedAllocator budgeted(Allocator& allocator, Budget& budget) {
  return BudgetedAllocator(allocator, budget);
}

/// A mutex for state that a reclaimer uses. A thread must not request memory of a budget while it
/// holds one: at the limit, such a request calls no reclaimer and is refused, so that the thread
/// cannot wait for itself. A checked build ends the program at each such request, also below the
/// limit. For std::lock_guard.
class BYRE_API ReclaimerMutex {
 public:
  void lock();
  void unlock();

 private:
  sync::Mutex mutex_;
};

}  // namespace byre::inline BYRE_ABI
