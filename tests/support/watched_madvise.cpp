// SPDX-License-Identifier: BSL-1.0
#include "support/watched_madvise.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace byre::test {
namespace {

constexpr int populate_write = 23;
WatchedMadvise* watched = nullptr;

}  // namespace

WatchedMadvise::WatchedMadvise() noexcept {
  watched = this;
}

WatchedMadvise::~WatchedMadvise() {
  watched = nullptr;
}

bool WatchedMadvise::allows(const void* data, std::size_t nbytes) {
  ranges_.push_back({static_cast<const std::byte*>(data), nbytes});
  if (left_ == 0) {
    errno = ENOMEM;
    return false;
  }
  --left_;
  return true;
}

}  // namespace byre::test

/// In place of the C library's.
extern "C" int madvise(void* data, std::size_t nbytes, int advice) noexcept {
  if (advice == byre::test::populate_write && byre::test::watched != nullptr &&
      !byre::test::watched->allows(data, nbytes)) {
    return -1;
  }
  return static_cast<int>(::syscall(SYS_madvise, data, nbytes, advice));
}
