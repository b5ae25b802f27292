// SPDX-License-Identifier: BSL-1.0
/// Memory files that ranges of pages are taken of: one for the process, as long as it does not fork.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace byre::inline v0::detail {

/// A memory file. Used under the lock of who has it, but for what is constant.
class PageArena {
 public:
  /// Null where the system has no memory files, or a limit is in their way. Throws std::bad_alloc.
  static std::unique_ptr<PageArena> create();
  PageArena(const PageArena&) = delete;
  PageArena& operator=(const PageArena&) = delete;
  ~PageArena();

  int file() const noexcept { return file_; }
  /// Whether a limit, which may have come later than the file, lets it be written up to `end`.
  static bool may_be_written(std::int64_t end) noexcept;

  /// The offset of a range that is nobody's, a multiple of `alignment`; negative if there is none.
  std::int64_t take(std::size_t nbytes, std::size_t alignment) noexcept;
  /// Gives back the memory of a range, which nobody has mapped. Needs no lock.
  void free_memory_of(std::int64_t offset, std::size_t nbytes) const noexcept;
  /// Forgets a range. True if nobody needs the arena any more.
  bool forget_range() noexcept { return --ranges_ == 0 && is_shared_; }

  /// Another process has it from now on: no new ranges are to be taken, and those there are keep their memory.
  void share() noexcept { is_shared_ = true; }
  bool is_shared() const noexcept { return is_shared_; }
  bool is_empty() const noexcept { return ranges_ == 0; }

 private:
  explicit PageArena(int file) noexcept : file_(file) {}

  const int file_;
  std::int64_t end_ = 0;
  std::size_t ranges_ = 0;
  bool is_shared_ = false;
};

}  // namespace byre::inline v0::detail
