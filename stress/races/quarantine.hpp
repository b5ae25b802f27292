// SPDX-License-Identifier: BSL-1.0
/// Quarantine: the memory of a race. Released blocks are kept until the round ends, and checked then: a
/// use after release shows, and so does a block that is released twice or never.
#pragma once

#include <byre/memory/allocator.hpp>

#include <boost/atomic/atomic.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>

namespace byre::stress::races {

struct CopyFailed : std::runtime_error {
  CopyFailed() : runtime_error("a copy that was to fail") {}
};

/// Thread-safe, and without a lock: a lock would order the threads that are to race. Under a sanitizer it
/// frees memory at once, and leaves these checks to the sanitizer.
class Quarantine final : public Allocator {
 public:
  /// Eight bytes of released memory.
  static constexpr std::uint64_t released = 0xDEDE'DEDE'DEDE'DEDE;

  /// The errors of a round.
  struct Findings {
    std::uint64_t used_after_release = 0;  ///< blocks
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
  /// Runs on the copying thread before each copy; may throw. To be set between rounds.
  std::function<void()> before_copy;

  /// Blocks that were not released. Exact between rounds.
  std::uint64_t live_blocks() const noexcept;

  /// Checks what was released, and frees it. Between rounds.
  Findings end_round() noexcept;

 private:
  struct Header;

  boost::atomic<Header*> released_{nullptr};
  boost::atomic<std::uint64_t> live_blocks_{0};
  boost::atomic<std::uint64_t> released_twice_{0};
};

}  // namespace byre::stress::races
