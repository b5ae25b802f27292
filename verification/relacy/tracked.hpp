// SPDX-License-Identifier: BSL-1.0
/// Tracked is the allocator of checked buffers. Data consists of a few cells. The checker watches
/// cells for races, and blocks for use after free, double free and leaks. If a scenario allows
/// faults, the scheduler chooses which allocations and copies fail.
#pragma once

#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>

#include <array>
#include <exception>

#include "checked.hpp"

namespace byre::verification {

/// One number in a buffer's data.
using Cell = Checked::Plain<unsigned>;

inline Cell& cell(std::byte* data, std::size_t index = 0) noexcept {
  return reinterpret_cast<Cell*>(data)[index];
}
inline const Cell& cell(const std::byte* data, std::size_t index = 0) noexcept {
  return reinterpret_cast<const Cell*>(data)[index];
}
/// The size in bytes of `count` cells.
constexpr std::size_t cells(std::size_t count) noexcept {
  return count * sizeof(Cell);
}

/// Thrown by a copy that the scheduler chose to fail.
struct CopyFailed : std::exception {
  const char* what() const noexcept override { return "the copy failed"; }
};

/// True if `action` succeeds, false if it ends with a failure that the scheduler chose.
template <class Action>
bool succeeds(const Action& action) {
  try {
    action();
    return true;
  } catch (const OutOfMemory&) {
  } catch (const CopyFailed&) {
  }
  return false;
}

/// The operations that the scheduler may cause to fail. The search includes executions with and
/// without each failure.
enum class Faults : std::uint8_t { none, allocations, copies, both };

class Tracked final : public Allocator {
 public:
  explicit Tracked(Faults faults = Faults::none) : faults_(faults) {
    Execution::current().name(this, sizeof *this, "memory");
  }
  /// Fails the execution if a block was not deallocated.
  ~Tracked() override;
  Tracked(const Tracked&) = delete;
  Tracked& operator=(const Tracked&) = delete;

  Block allocate(const Request& request) override;
  void deallocate(const Block& block) noexcept override;
  void copy(void* destination, const void* source, std::size_t nbytes) override;
  const char* name() const noexcept override { return "tracked allocator"; }

  /// Applies to later operations, so that a scenario can set up its buffers without failures.
  void set_faults(Faults faults) noexcept { faults_ = faults; }

  /// `refuses`: true if all later allocations of the running thread fail.
  void refuse(bool refuses) noexcept {
    refuses_[static_cast<std::size_t>(rl::ctx().current_thread())] = refuses;
  }

  unsigned allocations() const noexcept { return block_count_; }
  unsigned copies() const noexcept { return copies_; }  ///< copies that completed
  unsigned failures() const noexcept { return failures_; }
  unsigned frees() const noexcept { return frees_; }

 private:
  static constexpr std::size_t most = 16;
  struct Record {
    std::byte* base;
    std::byte* data;
    std::byte* end;
    bool freed;
  };

  bool chooses_to_fail(Faults kind);
  static std::array<char, 16> name_of(const char* what, unsigned number) noexcept;

  Faults faults_;
  std::array<bool, StepsAhead::most_threads> refuses_{};
  std::array<Record, most> blocks_{};
  unsigned block_count_ = 0;
  unsigned copies_ = 0;
  unsigned failures_ = 0;
  unsigned frees_ = 0;
};

// This program has its own map_file(), which maps a watched cell, not a file. So a write to a
// mapping, a use after its end, and a mapping that never ends fail the execution. tests/unit/pages
// maps real files.

/// Each mapped file is one cell that holds this number.
inline constexpr unsigned mapped_number = 7;

/// The number of mappings in this execution that have not ended.
unsigned live_mappings() noexcept;

}  // namespace byre::verification
