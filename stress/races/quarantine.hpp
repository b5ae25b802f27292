// SPDX-License-Identifier: BSL-1.0
/// Quarantine: the allocator of a race. It retains released blocks until the round ends, then
/// checks them. This detects uses after release, double releases and leaks.
#pragma once

#include <byre/memory/allocator.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>

namespace byre::stress::races {

struct CopyFailed : std::runtime_error {
  CopyFailed() : runtime_error("the copy was made to fail") {}
};

/// Thread-safe without a lock, because a lock would order the racing threads. Under a sanitizer, it
/// frees memory at once and leaves these checks to the sanitizer.
class Quarantine final : public Allocator {
 public:
  /// The value that overwrites each eight bytes of released memory.
  static constexpr std::uint64_t released = 0xDEDE'DEDE'DEDE'DEDE;

  /// The errors of a round.
  struct Findings {
    std::uint64_t used_after_release = 0;  ///< number of blocks
    std::uint64_t released_twice = 0;

    friend bool operator==(const Findings&, const Findings&) = default;
  };

  Quarantine() = default;
  ~Quarantine() override;

  Block allocate(const Request& request) override;
  void deallocate(const Block& block) noexcept override;
  void copy(void* destination, const void* source, std::size_t nbytes) override;
  const char* name() const noexcept override { return "quarantine"; }

  /// Whether the next copy by this thread throws CopyFailed.
  static inline constinit thread_local bool next_copy_fails = false;
  /// Called by the copying thread before each copy; may throw. Must be set between rounds.
  std::function<void()> before_copy;

  /// The number of blocks that were not released. Exact between rounds.
  std::uint64_t live_blocks() const noexcept;

  /// Checks the released blocks and frees them. Called between rounds.
  Findings end_round() noexcept;

 private:
  struct Header;

  std::atomic<Header*> released_{nullptr};
  std::atomic<std::uint64_t> live_blocks_{0};
  std::atomic<std::uint64_t> released_twice_{0};
};

}  // namespace byre::stress::races
