// SPDX-License-Identifier: BSL-1.0
/// Tracked: the allocator of checked buffers. Its data is a few cells watched for races, its blocks
/// are watched for use after free, double frees and leaks, and it fails where the scheduler says.
#pragma once

#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>

#include <array>
#include <exception>

#include "checked.hpp"

namespace byre::verification {

/// One number of a buffer's data.
using Cell = Checked::Plain<unsigned>;

inline Cell& cell(std::byte* data, std::size_t index = 0) noexcept {
  return reinterpret_cast<Cell*>(data)[index];
}
inline const Cell& cell(const std::byte* data, std::size_t index = 0) noexcept {
  return reinterpret_cast<const Cell*>(data)[index];
}
/// The size of a buffer of `count` cells.
constexpr std::size_t cells(std::size_t count) noexcept {
  return count * sizeof(Cell);
}

/// What a copy throws that the scheduler chose to fail.
struct CopyFailed : std::exception {
  const char* what() const noexcept override { return "the copy failed"; }
};

/// Whether `action` succeeds, rather than ends by a failure that the scheduler chose.
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

/// What the scheduler may choose to fail, in every execution each way.
enum class Faults : std::uint8_t { none, allocations, copies, both };

class Tracked final : public Allocator {
 public:
  explicit Tracked(Faults faults = Faults::none) : faults_(faults) {
    Execution::current().name(this, sizeof *this, "memory");
  }
  /// Whatever was not given back has leaked.
  ~Tracked() override;
  Tracked(const Tracked&) = delete;
  Tracked& operator=(const Tracked&) = delete;

  Block allocate(const Request& request) override;
  void deallocate(const Block& block) noexcept override;
  void copy(void* destination, const void* source, std::size_t nbytes) override;
  const char* name() const noexcept override { return "tracked allocator"; }

  /// From now on; the buffers of the set-up are wanted whole.
  void set_faults(Faults faults) noexcept { faults_ = faults; }

  /// Whether the thread that runs gets no memory, until it asks for the contrary.
  void refuse(bool refuses) noexcept {
    refuses_[static_cast<std::size_t>(rl::ctx().current_thread())] = refuses;
  }

  unsigned allocations() const noexcept { return block_count_; }
  unsigned copies() const noexcept { return copies_; }  ///< complete ones
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

// What map_file maps in this program: core's map_file is defined anew, as watched cells in place of a file, so that a
// write to a mapping, a use of it after its end, and an end that never comes are verdicts. tests/unit/pages maps
// files.

/// Every file is one cell of this number.
inline constexpr unsigned mapped_number = 7;

/// How many mappings there are in this execution that have not ended.
unsigned live_mappings() noexcept;

}  // namespace byre::verification
