// SPDX-License-Identifier: BSL-1.0
/// BudgetExceeded: the error of a request that a Budget refuses, and how byre repeats such a
/// request. budget.hpp describes the steps.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>

#include <cstddef>
#include <optional>

namespace byre::inline BYRE_ABI {

namespace detail {

class ReclaimRounds;

/// Asks for bytes on behalf of a request that a budget refused.
class BYRE_API ReclaimSource {
 public:
  /// Calls reclaimers until `nbytes` fit in the budget `refusing` or no reclaimer is left. Returns
  /// the number of bytes that they gave back, or nullopt if this thread must not call reclaimers.
  virtual std::optional<std::size_t> reclaim(const void* refusing, std::size_t nbytes,
                                             const void* data) noexcept = 0;

 protected:
  ReclaimSource() noexcept = default;
  ReclaimSource(const ReclaimSource&) = default;
  ReclaimSource& operator=(const ReclaimSource&) = default;
  ~ReclaimSource() = default;
};

}  // namespace detail

/// A request would exceed the limit of a budget, and the reclaimers gave back too little. Nothing
/// changed, apart from what they gave back.
class BYRE_API BudgetExceeded : public OutOfMemory {
 public:
  /// For budgets: `refusing` is the budget that lacks room, of the request's budget `source` or one
  /// of its ancestors.
  BudgetExceeded(const Text& text, detail::ReclaimSource& source, const void* refusing,
                 std::size_t nbytes) noexcept
      : OutOfMemory(text), source_(&source), refusing_(refusing), nbytes_(nbytes) {}

 private:
  friend class detail::ReclaimRounds;

  // Used only by within_budget(), while the budgets exist.
  detail::ReclaimSource* source_;
  const void* refusing_;
  std::size_t nbytes_;
};

namespace detail {

/// Data that all owners have dropped, but that is still allocated.
struct UnusedData {
  /// Returns whether it released any.
  bool (*release)() noexcept;
  /// Waits for releases that other threads have begun.
  void (*await_releases)() noexcept;
};
/// Sets the only such data of the process, which a budget releases before it asks reclaimers. For
/// one thread.
void set_unused_data(const UnusedData& data) noexcept;

/// The rounds of one request.
class BYRE_API ReclaimRounds {
 public:
  /// Asks for bytes. Returns whether to repeat the request.
  bool ask(const BudgetExceeded& refused, const void* data) noexcept;

 private:
  unsigned left_ = 100;
};

/// Returns `attempt()`. If it throws BudgetExceeded, asks for bytes and calls it again. `data` is
/// the data that the request copies, or null; `attempt` may set it. If the calling thread holds a
/// lock of byre, or if this is a request of a reclaimer, rethrows: a caller without the lock may
/// ask.
template <class Attempt>
decltype(auto) within_budget(const void* const& data, const Attempt& attempt) {
  for (ReclaimRounds rounds;;) {
    try {
      return attempt();
    } catch (const BudgetExceeded& refused) {
      if (!rounds.ask(refused, data)) {
        throw;
      }
    }
  }
}

}  // namespace detail

}  // namespace byre::inline BYRE_ABI
