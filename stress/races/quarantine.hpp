// SPDX-License-Identifier: BSL-1.0
/// Quarantine: the memory of a race. What is released stays untouched until the round is over, so
/// that whoever still uses it is found out, and nothing is released twice or never.
#pragma once

#include <byre/memory/allocator.hpp>

#include <boost/atomic/atomic.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace byre::stress::races {

/// Thread-safe, and without a lock, which would order the very threads that are to race. Built with
/// a sanitizer it gives memory back at once: then finding out is the sanitizer's.
class Quarantine final : public Allocator {
 public:
  /// What eight bytes of released memory are.
  static constexpr std::uint64_t released = 0xDEDE'DEDE'DEDE'DEDE;

  /// What a round did wrong.
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

  /// Called by whoever copies, before it does; may throw. Set while nobody copies.
  std::function<void()> before_copy;

  /// Blocks that were not released. Exact while nothing runs.
  std::uint64_t blocks_out() const noexcept;

  /// By one thread, while no other runs: looks at what was released, and gives it back.
  Findings end_round() noexcept;

 private:
  struct Note;

  boost::atomic<Note*> released_{nullptr};
  boost::atomic<std::uint64_t> blocks_out_{0};
  boost::atomic<std::uint64_t> released_twice_{0};
};

}  // namespace byre::stress::races
