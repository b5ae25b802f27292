// SPDX-License-Identifier: BSL-1.0
/// A copy that ends later: what an allocator keeps of a copy that its device has yet to make.
#pragma once

#include <utility>

namespace byre::inline v0 {

/// One copy that was submitted, a handle that moves. Its source lives, and keeps its bytes for the copy, until
/// whoever has the handle ends it: once the device has read the source, or never will. See
/// Allocator::submit_copy(). Thread-safety: of a value; it may be ended on any thread. Progress: ending it never
/// waits for anybody, and never fails. It may release the source, and so call the allocator's deallocate().
class PendingCopy {
 public:
  /// What ends the copy out of `source`.
  using End = void (*)(void* source) noexcept;

  /// No copy.
  PendingCopy() noexcept = default;
  PendingCopy(void* source, End how_to_end) noexcept : source_(source), end_(how_to_end) {}
  PendingCopy(PendingCopy&& other) noexcept
      : source_(other.source_), end_(std::exchange(other.end_, nullptr)) {}
  PendingCopy& operator=(PendingCopy&& other) noexcept {
    PendingCopy(std::move(other)).swap(*this);
    return *this;
  }
  ~PendingCopy() { end(); }

  /// The copy is made. Does nothing a second time.
  void end() noexcept {
    if (End const how_to_end = std::exchange(end_, nullptr)) {
      how_to_end(source_);
    }
  }

  /// By who began it: there is no copy to end.
  void forget() noexcept { end_ = nullptr; }

  /// Whether there is one to end.
  explicit operator bool() const noexcept { return end_ != nullptr; }

 private:
  void swap(PendingCopy& other) noexcept {
    std::swap(source_, other.source_);
    std::swap(end_, other.end_);
  }

  void* source_ = nullptr;
  End end_ = nullptr;
};

}  // namespace byre::inline v0
