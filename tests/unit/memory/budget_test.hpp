// SPDX-License-Identifier: BSL-1.0
/// The fixture of the tests of budgets, and an allocator with larger blocks than requested.
#pragma once

#include <byre/memory/budget.hpp>
#include <byre/memory/host_allocators.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "support/failing_allocator.hpp"

namespace byre::test {

inline constexpr std::size_t part_nbytes = 100;

/// A budget with room for three blocks.
class BudgetTest : public testing::Test {
 protected:
  Block take(std::size_t nbytes = part_nbytes) { return budgeted.allocate({nbytes}); }
  void give_back(const Block& block) { budgeted.deallocate(block); }
  std::vector<Block> take_all() { return {take(), take(), take()}; }
  void give_back(const std::vector<Block>& blocks) {
    for (const Block& block : blocks) {
      give_back(block);
    }
  }

  FailingAllocator allocator;
  Budget budget{3 * part_nbytes};
  BudgetedAllocator budgeted{allocator, budget};
};

/// An allocator whose blocks are larger than requested.
class Generous final : public Allocator {
 public:
  explicit Generous(Device device = Device::cpu(), CopiesEnd copies_end = CopiesEnd::on_return)
      : Allocator(device, copies_end) {}
  Block allocate(const Request& request) override {
    ++blocks_out;
    if (at_allocation) {
      at_allocation();
    }
    return aligned_allocator().allocate({request.nbytes + 50, request.prefix});
  }
  void deallocate(const Block& block) noexcept override {
    --blocks_out;
    if (at_release) {
      std::exchange(at_release, nullptr)();
    }
    aligned_allocator().deallocate(block);
  }
  const char* name() const noexcept override { return "generous allocator"; }

  int blocks_out = 0;
  std::function<void()> at_allocation;
  std::function<void()> at_release;  // called once
};

}  // namespace byre::test
