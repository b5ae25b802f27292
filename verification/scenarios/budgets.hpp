// SPDX-License-Identifier: BSL-1.0
/// Buffers whose copies count in a budget, for the scenarios of budgets.
#pragma once

#include <byre/memory/budget_exceeded.hpp>
#include <byre/memory/detail/budget_count.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "buffers.hpp"

namespace byre::verification {

using Count = byre::detail::basic_budget_count<Checked>;

/// An allocator over `memory` whose blocks count in `count`. If the budget refuses a copy, the
/// writer calls the reclaimer as in a program.
class BudgetedCells final : public Allocator, public byre::detail::ReclaimSource {
 public:
  using Reclaim = std::function<std::size_t(const void* data)>;

  BudgetedCells(Tracked& memory, Count& count) noexcept : memory_(memory), count_(count) {}

  Block allocate(const Request& request) override {
    if (const Count* const refusing = count_.take(request.nbytes)) {
      throw BudgetExceeded(format_text("no room"), *this, refusing, request.nbytes);
    }
    return memory_.allocate(request);
  }
  void deallocate(const Block& block) noexcept override {
    const std::size_t nbytes = block.capacity;
    memory_.deallocate(block);
    count_.give_back(nbytes);
  }
  void copy(void* destination, const void* source, std::size_t nbytes) override {
    memory_.copy(destination, source, nbytes);
  }
  const char* name() const noexcept override { return "budgeted cells"; }

  std::optional<std::size_t> reclaim(const void*, std::size_t, const void* data) noexcept override {
    return reclaim_ ? reclaim_(data) : std::size_t{0};
  }
  void set_reclaimer(Reclaim reclaim) { reclaim_ = std::move(reclaim); }

 private:
  Tracked& memory_;
  Count& count_;
  Reclaim reclaim_;
};

/// `Owners` buffers that share a cell, which holds 7 at first. The cell is adopted, so it does not
/// count. The budget has room for `Copies` copies.
template <unsigned Owners>
class PressedBuffers {
 public:
  explicit PressedBuffers(std::size_t copies) : count(copies * cells(1)) {
    buffers[0] = CheckedBuffer::adopt(
        &cell_, cells(1), [](void*) {}, allocator_);
    for (unsigned index = 1; index < Owners; ++index) {
      buffers[index] = buffers[0];
    }
  }

  void on_pressure(BudgetedCells::Reclaim reclaim) { allocator_.set_reclaimer(std::move(reclaim)); }

  /// Drops the buffer, which shares `data`, at the first call. Returns the bytes that the writer
  /// need not copy.
  std::size_t drop_once(CheckedBuffer& buffer, const void* data) {
    lock_.lock(step_of<"budgets.lock">());
    const std::size_t nbytes = buffer.nbytes();
    expect(nbytes == 0 || buffer.data() == data, "the pressure names the shared data");
    drop(buffer);
    lock_.unlock(step_of<"budgets.unlock">());
    return nbytes;
  }

  Tracked memory;
  Count count;

 private:
  BudgetedCells allocator_{memory, count};
  Cell cell_{7};
  CheckedMutex lock_;

 public:
  CheckedBuffer buffers[Owners];  // destroyed first
};

}  // namespace byre::verification
