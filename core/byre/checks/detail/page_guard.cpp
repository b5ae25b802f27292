// SPDX-License-Identifier: BSL-1.0
#include <byre/checks/detail/page_guard.hpp>

#if BYRE_CHECKS

#include <byre/error/detail/assert.hpp>
#include <byre/memory/detail/mappings.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/published.hpp>
#include <byre/system/detail/faults.hpp>
#include <byre/system/detail/memory.hpp>
#include <byre/system/detail/process.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace byre::inline BYRE_ABI::detail {
namespace {

/// A text that a signal handler may compose, because all functions are async-signal-safe.
class SignalSafeText {
 public:
  SignalSafeText& operator<<(const char* text) noexcept {
    while (*text != '\0' && end_ != chars_.size()) {
      chars_[end_++] = *text++;
    }
    return *this;
  }
  SignalSafeText& operator<<(std::uint64_t number) noexcept { return append(number, 10); }
  SignalSafeText& operator<<(const void* address) noexcept {
    *this << "0x";
    return append(reinterpret_cast<std::uintptr_t>(address), 16);
  }
  SignalSafeText& operator<<(const SavedCallSite& place) noexcept {
    return *this << place.file << ":" << std::uint64_t{place.line};
  }

  void write_to_stderr() const noexcept { system::write_to_stderr(chars_.data(), end_); }

 private:
  SignalSafeText& append(std::uint64_t number, unsigned base) noexcept {
    char digits[21]{};
    char* first = std::end(digits) - 1;
    do {
      *--first = "0123456789abcdef"[number % base];
      number /= base;
    } while (number != 0);
    return *this << first;
  }

  std::array<char, 768> chars_;
  std::size_t end_ = 0;
};

}  // namespace

SavedCallSite::SavedCallSite(CallSite site) noexcept : line(site.line) {
  const std::size_t length = std::strlen(site.file);
  const std::size_t copied = std::min(length, sizeof file - 1);
  std::memcpy(file, site.file + (length - copied), copied);
}

void fail_stale_write(const GuardedData& data, const void* address,
                      const SavedCallSite& detected) noexcept {
  SignalSafeText text;
  text << "byre: write to shared data through a stale pointer: ";
  if (address != nullptr) {
    text << "byte " << std::uint64_t(static_cast<const std::byte*>(address) - data.begin) << " of ";
  }
  text << "the storage of " << std::uint64_t{data.nbytes} << " bytes at "
       << static_cast<const void*>(data.begin);
  if (address == nullptr) {
    text << " changed while it was shared, detected ";
    if (detected.line != 0) {
      text << "at " << detected;
    } else {
      text << "when an owner was destroyed";
    }
  }
  if (data.taken.line != 0) {
    text << ". The pointer was taken at " << data.taken
         << ", before the lazy clone or version() at ";
  } else {
    text << ". The pointer was not returned by mutable_data(). The lazy clone or version() was "
            "called at ";
  }
  text << data.cloned
       << ". Call mutable_data() after each lazy clone and version(), before the next write.\n";
  text.write_to_stderr();
  std::abort();
}

struct PageGuard {
  GuardedData data;
  // Each is null or points to `data`.
  sync::detail::Published<GuardedData> active;  // while the pages are protected, or about to be
  sync::detail::Published<GuardedData> stuck;   // while the system refuses to end the protection
};

namespace {

constinit std::array<PageGuard, 4096> guards{};  // static, because the signal handler reads it
constinit std::size_t stuck_count = 0;

[[noreturn]] void fail_stuck_write() noexcept {
  (SignalSafeText()
   << "byre: cannot make write-protected pages writable after sharing: the system refuses (checked "
      "builds protect shared pages). Raise its limit of mappings (vm.max_map_count).\n")
      .write_to_stderr();
  std::abort();
}

const GuardedData* find(sync::detail::Published<GuardedData> PageGuard::*state,
                        const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (const PageGuard& guard : guards) {
    const GuardedData* const data = (guard.*state).get();
    if (data != nullptr && at - reinterpret_cast<std::uintptr_t>(data->begin) < data->capacity) {
      return data;
    }
  }
  return nullptr;
}

bool make_writable(const GuardedData& data) noexcept {
  return system::protect(data.begin, data.capacity, system::Access::read_write);
}

bool handle(const void* address) noexcept {
  if (const GuardedData* const data = find(&PageGuard::active, address)) {
    fail_stale_write(*data, address, {});
  }
  if (const GuardedData* const data = find(&PageGuard::stuck, address)) {
    if (make_writable(*data)) {
      return true;
    }
    fail_stuck_write();
  }
  return false;
}

struct Handler {
  Handler() noexcept;
};
constinit sync::detail::Published<const Handler> installed;

Handler::Handler() noexcept {
  system::handle_faults(system::FaultUser::page_guards, &handle);
  installed.set(this);
}

}  // namespace

bool may_guard_pages() noexcept {
  if (installed.get() == nullptr) {
    // Not in the constructor: the system's loader must not be called under the lock of FirstUse.
    if (!system::stay_loaded()) {
      return false;
    }
    sync::no_destructor<Handler>();
  }
  return true;
}

namespace {

/// Tries again to end the protections that the system has refused to end.
void retry_stuck() noexcept {
  for (PageGuard& guard : guards) {
    if (stuck_count == 0) {
      return;
    }
    if (guard.stuck.get() != nullptr && make_writable(guard.data)) {
      guard.stuck.set(nullptr);
      --stuck_count;
    }
  }
}

}  // namespace

PageGuard* guard(const GuardedData& data) noexcept {
  retry_stuck();
  if (is_lost(data.begin)) {
    return nullptr;
  }
  const auto is_free = [](const PageGuard& guard) noexcept {
    return guard.active.get() == nullptr && guard.stuck.get() == nullptr;
  };
  const auto free = std::find_if(guards.begin(), guards.end(), is_free);
  if (free == guards.end()) {
    return nullptr;
  }
  free->data = data;
  free->active.set(&free->data);
  if (!system::protect(data.begin, data.capacity, system::Access::read)) {
    unguard(*free);  // the call may have protected some of the pages
    return nullptr;
  }
  return &*free;
}

void unguard(PageGuard& guard) noexcept {
  if (!is_lost(guard.data.begin) && !make_writable(guard.data)) {
    guard.stuck.set(&guard.data);
    ++stuck_count;
  }
  guard.active.set(nullptr);
}

void forget_unmapped(std::byte* begin, std::size_t nbytes) noexcept {
  for (PageGuard& guard : guards) {
    if (stuck_count == 0) {
      return;
    }
    const GuardedData* const data = guard.stuck.get();
    if (data != nullptr && data->begin >= begin && data->begin < begin + nbytes) {
      guard.stuck.set(nullptr);
      --stuck_count;
    }
  }
}

void protect_again() noexcept {
  for (const PageGuard& guard : guards) {
    const GuardedData* const data = guard.active.get();
    if (data != nullptr && !is_lost(data->begin)) {
      system::protect(data->begin, data->capacity, system::Access::read);  // else writes go unseen
    }
  }
}

}  // namespace byre::inline BYRE_ABI::detail

#endif
