// SPDX-License-Identifier: BSL-1.0
// A default mode that is set immediately before the first read of the environment is not
// overwritten by that read. This is a separate program, because it replaces pthread_mutex_lock() to
// run code at exactly that point.
#include <byre/shadow/mode.hpp>

#include <dlfcn.h>
#include <pthread.h>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace {

using namespace byre::shadow;

using Act = void (*)();

constinit thread_local Act before_next_lock = nullptr;

}  // namespace

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static const auto real =
      reinterpret_cast<int (*)(pthread_mutex_t*)>(::dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  if (const Act first = std::exchange(before_next_lock, nullptr)) {
    first();
  }
  return real(mutex);
}

int main() {
  ::setenv("BYRE_RESHAPE", "copy", 1);
  before_next_lock = [] { set_default_reshape_mode(ReshapeMode::warn); };
  const ReshapeMode mode = reshape_mode();
  const auto reasons = byre::shadow::detail::active_tracking.value();
  std::printf("mode %s, %d reasons to track\n", name_of(mode).data(), static_cast<int>(reasons));
  return before_next_lock == nullptr && mode == ReshapeMode::warn && reasons == 1 ? 0 : 1;
}
