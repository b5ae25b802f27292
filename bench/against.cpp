// SPDX-License-Identifier: BSL-1.0
/// What against.py compares: a few operations of the storage core, each timed in bursts. Prints a line for each, its
/// name and the nanoseconds of the least disturbed burst. With the argument `recording`, each burst is recorded.
#include <byre/byre.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>

#if __has_include(<byre/observe/recording.hpp>)
#include <byre/observe/recording.hpp>
using Recording = byre::trace::Recording;
#else
struct Recording {};
#endif

namespace {

using byre::Buffer;
using Clock = std::chrono::steady_clock;

/// The compiler cannot tell what is done with it.
void use(const Buffer& buffer) {
  asm volatile("" : : "r"(&buffer) : "memory");
}

template <class Operation>
void measure(const char* name, int times, bool is_recorded, Operation operation) {
  double least_ns = 0;
  for (int burst = 0; burst < 20; ++burst) {
    std::optional<Recording> recording;
    if (is_recorded) {
      recording.emplace();
    }
    const auto begin = Clock::now();
    for (int done = 0; done < times; ++done) {
      operation();
    }
    const double ns =
        std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / times;
    least_ns = burst == 0 ? ns : std::min(least_ns, ns);
  }
  std::printf("%s\t%.3f\n", name, least_ns);
}

Buffer filled(std::size_t nbytes) {
  Buffer buffer = Buffer::allocate(nbytes);
  std::memset(buffer.mutable_data(), 1, nbytes);
  return buffer;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_recorded = argc > 1 && std::strcmp(argv[1], "recording") == 0;
  const auto times = [&](int usual) { return is_recorded ? std::min(usual, 20'000) : usual; };
  const Buffer small = filled(4096);
  const Buffer large = filled(1 << 20);
  Buffer alone = filled(4096);
  measure("lazy clone and drop", times(500'000), is_recorded, [&] {
    const Buffer clone = small;
    use(clone);
  });
  measure("write when alone", times(1'000'000), is_recorded, [&] {
    alone.mutable_data();
    use(alone);
  });
  measure("allocate and release 256 B", times(200'000), is_recorded, [&] {
    const Buffer buffer = Buffer::allocate(256);
    use(buffer);
  });
  measure("clone, write, drop 4 KiB", times(100'000), is_recorded, [&] {
    Buffer clone = small;
    clone.mutable_data();
    use(clone);
  });
  measure("clone, write, drop 1 MiB", 300, is_recorded, [&] {
    Buffer clone = large;
    clone.mutable_data();
    use(clone);
  });
}
