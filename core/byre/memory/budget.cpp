// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/assert.hpp>
#include <byre/error/detail/quoted_text.hpp>
#include <byre/memory/budget.hpp>
#include <byre/sync/detail/held_locks.hpp>
#include <byre/sync/detail/parking_lot.hpp>
#include <byre/sync/detail/process_state.hpp>
#include <byre/sync/detail/published.hpp>
#include <byre/sync/detail/relaxed.hpp>

#include <algorithm>
#include <exception>
#include <limits>
#include <new>

namespace byre::inline BYRE_ABI {

namespace detail {

/// A reclaimer in the list of its budget, whose lock protects the variable members.
struct ReclaimerEntry : ListNode {
  ReclaimerEntry(Budget& of_budget, Reclaim&& function) noexcept
      : budget(&of_budget), reclaim(std::move(function)) {}

  bool is_of_this_process() const noexcept { return process == sync::detail::process_number; }
  /// Whether calls may be in progress. In a forked child, calls by threads of the parent never end.
  bool is_called() const noexcept { return calls.value() != 0 && is_of_this_process(); }

  Budget* const budget;
  const Reclaim reclaim;
  std::int64_t number = 0;                     // ascending in the list
  sync::detail::Relaxed<std::uint32_t> calls;  // the handle's destructor reads it without the lock
  const std::uint32_t process = sync::detail::process_number;
  bool is_taken_away = false;
  bool dies_after_calls = false;
};

}  // namespace detail

namespace {

constinit sync::detail::Published<const detail::UnusedData> unused_data;

bool release_unused_data() noexcept {
  const detail::UnusedData* const data = unused_data.get();
  return data != nullptr && data->release();
}

/// A call of a reclaimer on this thread.
struct Call {
  const detail::ReclaimerEntry* entry;
  const Call* outer;
};
constinit thread_local const Call* innermost_call = nullptr;

constinit thread_local unsigned held_reclaimer_mutexes = 0;

template <class Condition>
bool is_calling(Condition condition) noexcept {
  for (const Call* call = innermost_call; call != nullptr; call = call->outer) {
    if (condition(*call->entry)) {
      return true;
    }
  }
  return false;
}

/// Calls a reclaimer. Returns what it gave, at most the bytes that it was asked for.
std::size_t call(const detail::ReclaimerEntry& entry, const Pressure& pressure) noexcept {
  const Call now{&entry, innermost_call};
  innermost_call = &now;
  std::size_t given = 0;
  try {
    given = entry.reclaim(pressure);
  } catch (const std::exception& error) {
    warn("a reclaimer of a budget failed: %.800s",
         detail::without_full_stop(error.what()).chars.data());
  } catch (...) {
    warn("a reclaimer of a budget failed: it threw an object of an unknown type");
  }
  innermost_call = now.outer;
  return std::min(given, pressure.nbytes);
}

}  // namespace

void detail::set_unused_data(const UnusedData& data) noexcept {
  unused_data.set(&data);
}

bool detail::ReclaimRounds::ask(const BudgetExceeded& refused, const void* data) noexcept {
  if (left_ == 0) {
    return false;
  }
  if (release_unused_data()) {
    --left_;
    return true;
  }
  const std::optional<std::size_t> given =
      refused.source_->reclaim(refused.refusing_, refused.nbytes_, data);
  if (!given) {
    return false;
  }
  left_ = *given == 0 ? 0 : left_ - 1;
  return true;
}

Budget::Budget(std::size_t limit_nbytes, Budget* parent)
    : count_(limit_nbytes, parent == nullptr ? nullptr : &parent->count_),
      parent_(parent),
      process_(sync::detail::process_number) {}

Budget::~Budget() {
  if (process_ != sync::detail::process_number) {
    return;
  }
  if (const detail::UnusedData* const data = used() == 0 ? nullptr : unused_data.get()) {
    data->release();
    if (used() != 0) {
      data->await_releases();
    }
  }
  BYRE_ASSERT(used() == 0, "cannot destroy a budget: bytes are in use. Destroy the buffers first.");
  BYRE_ASSERT(reclaimers_.is_empty(),
              "cannot destroy a budget: it has reclaimers. Destroy their handles first.");
}

void Budget::set_limit(std::size_t limit_nbytes) noexcept {
  const sync::ProcessLock lock(mutex_);
  count_.set_limit(limit_nbytes);
}

void Budget::take(std::size_t nbytes, std::size_t taken_nbytes, const char* allocator) {
  BYRE_ASSERT(!BYRE_CHECKS || held_reclaimer_mutexes == 0,
              "a thread that holds a ReclaimerMutex requested memory of a budget: at the limit, no "
              "reclaimer could run. Unlock the mutex first.");
  if (const Count* const refusing = count_.take(nbytes - taken_nbytes)) {
    throw BudgetExceeded(
        format_text("budget exceeded: cannot allocate %zu bytes from the %s: %zu of %zu bytes are "
                    "in use%s. Nothing changed. Release buffers, raise the limit with set_limit(), "
                    "or add a reclaimer.",
                    nbytes, allocator, refusing->used(), refusing->limit(),
                    refusing == &count_ ? "" : " in a parent budget"),
        *this, refusing, nbytes);
  }
}

Reclaimer Budget::add_reclaimer(Reclaim reclaim, ReclaimOrder order) {
  if (!reclaim) {
    throw InvalidArgument(format_text(
        "Budget::add_reclaimer: the function is empty. Pass a callable that takes a Pressure."));
  }
  auto* const entry = new (std::nothrow) detail::ReclaimerEntry(*this, std::move(reclaim));
  if (entry == nullptr) {
    throw OutOfMemory(sizeof(detail::ReclaimerEntry), "heap, for a reclaimer");
  }
  const sync::ProcessLock lock(mutex_);
  if (order == ReclaimOrder::first) {
    entry->number = --first_number_;
    reclaimers_.push_front(*entry);
  } else {
    entry->number = ++last_number_;
    reclaimers_.push_back(*entry);
  }
  return Reclaimer(entry);
}

Reclaimer::~Reclaimer() {
  if (entry_ == nullptr) {
    return;
  }
  detail::ReclaimerEntry& entry = *entry_;
  Budget& budget = *entry.budget;
  const bool is_in_own_call =
      is_calling([&](const detail::ReclaimerEntry& called) { return &called == &entry; });
  {
    const sync::ProcessLock lock(budget.mutex_);
    entry.is_taken_away = true;
    entry.dies_after_calls = is_in_own_call;
  }
  if (is_in_own_call) {
    return;
  }
  const auto keep_waiting = [&]() noexcept { return entry.is_called(); };
  while (keep_waiting()) {
    sync::detail::park(&entry, keep_waiting);
  }
  {
    const sync::ProcessLock lock(budget.mutex_);
    budget.reclaimers_.remove(entry);
  }
  delete &entry;
}

std::optional<std::size_t> Budget::reclaim(const void* refusing, std::size_t nbytes,
                                           const void* data) noexcept {
  if (held_reclaimer_mutexes != 0 || sync::detail::HeldLocks::any()) {
    return std::nullopt;
  }
  const std::size_t lack = static_cast<const Count*>(refusing)->lack(nbytes);
  if (lack == 0) {
    return nbytes;  // other threads made room. If they take it again, the next round asks.
  }
  std::optional<std::size_t> given;
  for (Budget* budget = this;; budget = budget->parent_) {
    const bool is_within =
        is_calling([&](const detail::ReclaimerEntry& called) { return called.budget == budget; });
    if (!is_within) {
      given = given.value_or(0);
      *given += *given < lack ? budget->ask({lack - *given, data}) : 0;
    }
    if (&budget->count_ == refusing) {
      return given;
    }
  }
}

std::size_t Budget::ask(const Pressure& pressure) noexcept {
  std::size_t given = 0;
  detail::ReclaimerEntry* entry = nullptr;
  do {
    detail::ReclaimerEntry* const called = std::exchange(entry, nullptr);
    bool is_last_call = false;
    bool dies = false;
    {
      const sync::ProcessLock lock(mutex_);
      const std::int64_t number =
          called == nullptr ? std::numeric_limits<std::int64_t>::min() : called->number;
      for (detail::ReclaimerEntry& next : reclaimers_) {
        if (next.number > number && next.is_of_this_process() && !next.is_taken_away &&
            given < pressure.nbytes) {
          next.calls.add();
          entry = &next;
          break;
        }
      }
      if (called != nullptr) {
        called->calls.subtract();
        is_last_call = !called->is_called();
        dies = is_last_call && called->dies_after_calls;
        if (dies) {
          reclaimers_.remove(*called);
        }
      }
    }
    if (dies) {
      delete called;
    } else if (is_last_call) {
      sync::detail::unpark_all(called);  // uses only the address
    }
    if (entry != nullptr) {
      given += call(*entry, {pressure.nbytes - given, pressure.data});
    }
  } while (entry != nullptr);
  return given;
}

detail::Charge::Charge(const Allocator& allocator, std::size_t nbytes) {
  if (Budget* const budget = allocator.budget()) {
    budget->take(nbytes, 0, allocator.name());
    budget_ = budget;
    nbytes_ = nbytes;
  }
}

void detail::Charge::grow_to(std::size_t nbytes, const char* allocator) {
  if (budget_ != nullptr && nbytes > nbytes_) {
    budget_->take(nbytes, nbytes_, allocator);
    nbytes_ = nbytes;
  }
}

BudgetedAllocator::BudgetedAllocator(Allocator& allocator, Budget& budget)
    : Allocator(allocator, budget), inner_(allocator) {
  if (allocator.budget() != nullptr) {
    throw InvalidArgument(format_text(
        "budgeted: the %s has a budget already. Make that budget the child of the other one: "
        "Budget(limit, &parent).",
        allocator.name()));
  }
}

/// A block may be larger than requested: the rest is counted afterwards, and the block is released
/// if the rest exceeds the limit.
template <class GetBlock>
Block BudgetedAllocator::take_for(const Request& request, const GetBlock& get_block) {
  detail::Charge charge(*this, request.nbytes);
  const Block block = detail::expect_memory(get_block(), request);
  try {
    charge.grow_to(inner_.nbytes_taken_by(block), name());
  } catch (...) {
    inner_.deallocate(block);
    throw;
  }
  charge.keep();
  return block;
}

Block BudgetedAllocator::allocate(const Request& request) {
  return detail::within_budget(
      nullptr, [&] { return take_for(request, [&] { return inner_.allocate(request); }); });
}

Block BudgetedAllocator::allocate_copy(const Request& request, const void* source,
                                       std::size_t nbytes) {
  return take_for(request, [&] { return inner_.allocate_copy(request, source, nbytes); });
}

/// A submitted copy cannot be taken back, so the rest of a larger block counts beyond the limit.
Block BudgetedAllocator::submit_copy(const Request& request, const void* source, std::size_t nbytes,
                                     PendingCopy& pending) {
  detail::Charge charge(*this, request.nbytes);
  const Block block =
      detail::expect_memory(inner_.submit_copy(request, source, nbytes, pending), request);
  budget()->count_.take_beyond_limit(inner_.nbytes_taken_by(block) - request.nbytes);
  charge.keep();
  return block;
}

void BudgetedAllocator::deallocate(const Block& block) noexcept {
  const std::size_t nbytes = inner_.nbytes_taken_by(block);
  inner_.deallocate(block);
  budget()->count_.give_back(nbytes);
}

std::size_t BudgetedAllocator::nbytes_taken_by(const Block& block) const noexcept {
  return inner_.nbytes_taken_by(block);
}

void BudgetedAllocator::copy(void* destination, const void* source, std::size_t nbytes) {
  inner_.copy(destination, source, nbytes);
}

void ReclaimerMutex::lock() {
  mutex_.lock();
  ++held_reclaimer_mutexes;
}

void ReclaimerMutex::unlock() {
  --held_reclaimer_mutexes;
  mutex_.unlock();
}

}  // namespace byre::inline BYRE_ABI
