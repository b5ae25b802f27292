// SPDX-License-Identifier: BSL-1.0
#include <byre/checks/detail/write_trap.hpp>

#if BYRE_CHECKS

#include <byre/memory/detail/mappings.hpp>
#include <byre/memory/pages.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <cstring>

// Bytes of the data may be indeterminate. Reading them is harmless here: a checksum is compared
// only with an earlier checksum of the same bytes.
#if defined(__clang__)
#define BYRE_NO_SANITIZE_MEMORY __attribute__((no_sanitize("memory")))
#else
#define BYRE_NO_SANITIZE_MEMORY
#endif

namespace byre::inline BYRE_ABI::detail {
namespace {

/// The lock for arming and disarming traps. The forking thread holds the lock during a fork and
/// protects guarded pages again afterwards, because the fork may have mapped new pages in their
/// place. Thus the state of each trap is correct in the parent and in the child.
struct Traps {
  Traps() noexcept { observe_unmaps(observer); }

  sync::ProcessMutex mutex{&protect_again};

 private:
  static void forget(std::byte* begin, std::size_t nbytes) noexcept;
  static constexpr UnmapObserver observer{&forget};
};

sync::ProcessMutex& trap_mutex() noexcept {
  return sync::no_destructor<Traps>().mutex;
}

void Traps::forget(std::byte* begin, std::size_t nbytes) noexcept {
  const sync::ProcessLock lock(trap_mutex());
  forget_unmapped(begin, nbytes);
}

/// Two byte strings that differ in only one word have different checksums, because each step is a
/// bijection of the previous sum, and of the word.
BYRE_NO_SANITIZE_MEMORY std::uint64_t checksum_of(const void* data, std::size_t nbytes) noexcept {
  constexpr std::uint64_t odd = 0x9E37'79B9'7F4A'7C15;
  const auto* bytes = static_cast<const std::byte*>(data);
  std::uint64_t sum = 0;
  for (std::size_t done = 0; done < nbytes; done += sizeof sum) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + done, nbytes - done < sizeof word ? nbytes - done : sizeof word);
    sum = (sum ^ word) * odd;
    sum ^= sum >> 32;
  }
  return sum;
}

/// Whether the data occupies whole pages.
bool fills_pages(const GuardedData& data) noexcept {
  return data.capacity != 0 && data.capacity % page_nbytes == 0 &&
         reinterpret_cast<std::uintptr_t>(data.begin) % page_nbytes == 0;
}

}  // namespace

void WriteTrap::arm(GuardedData data, bool may_be_guarded, CallSite site) noexcept {
  const bool may_guard = may_be_guarded && fills_pages(data) && may_guard_pages();
  const sync::ProcessLock lock(trap_mutex());
  if (state_ != State::disarmed) {
    return;
  }
  cloned_ = SavedCallSite(site);
  data.taken = taken_;
  data.cloned = cloned_;
  guard_ = may_guard ? guard(data) : nullptr;
  if (guard_ != nullptr) {
    state_ = State::guarded;
  } else if (data.nbytes <= max_checksum_nbytes) {
    state_ = State::checksummed;
    checksum_nbytes_ = data.nbytes;
    checksum_ = checksum_of(data.begin, data.nbytes);
  } else {
    state_ = State::unwatched;
  }
}

void WriteTrap::compare_checksum(const void* data, CallSite site) const noexcept {
  // No lock: the state changes only before the first clone and after the last clone is gone.
  if (state_ == State::checksummed && checksum_of(data, checksum_nbytes_) != checksum_) {
    auto* const begin = static_cast<std::byte*>(const_cast<void*>(data));
    fail_stale_write({begin, checksum_nbytes_, 0, taken_, cloned_}, nullptr, SavedCallSite(site));
  }
}

void WriteTrap::becomes_writable() noexcept {
  // The lock also excludes a fork, which would protect the data again.
  const sync::ProcessLock lock(trap_mutex());
  if (state_ == State::guarded) {
    unguard(*guard_);
  }
  state_ = State::disarmed;
}

void WriteTrap::disarm() noexcept {
  // No other thread uses the data, so the caller may read the state without the lock.
  if (state_ == State::guarded) {
    becomes_writable();
  }
  state_ = State::disarmed;
}

}  // namespace byre::inline BYRE_ABI::detail

#endif
