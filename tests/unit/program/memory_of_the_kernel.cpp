// SPDX-License-Identifier: BSL-1.0
/// Compares a memory report with the proportional set size that the kernel reports for what byre
/// mapped. Exits with 77 if the kernel reports none.
#include <byre/byre.hpp>
#include <byre/memory/pool.hpp>
#include <byre/observe/memory_report.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/temporary_folder.hpp"

namespace {

using byre::Buffer;

constexpr std::size_t mib = std::size_t{1} << 20;

/// Mappings of this process, with the bytes that the kernel counts for each.
struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::uint64_t nbytes = 0;
};

/// Adds the size in a line such as "Pss:  12 kB".
void add_size(std::string_view line, std::uint64_t& nbytes) {
  for (const std::string_view name : {"Pss:", "SwapPss:"}) {
    if (line.starts_with(name)) {
      nbytes += std::strtoull(line.data() + name.size(), nullptr, 10) << 10U;
    }
  }
}

std::vector<Mapping> mappings() {
  std::vector<Mapping> all;
  std::ifstream file("/proc/self/smaps");
  for (std::string line; std::getline(file, line);) {
    unsigned long long begin = 0;
    unsigned long long end = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2) {
      all.push_back({static_cast<std::uintptr_t>(begin), static_cast<std::uintptr_t>(end), 0});
    } else if (!all.empty()) {
      add_size(line, all.back().nbytes);
    }
  }
  return all;
}

/// The bytes that the kernel counts for the whole process; 0 if it reports none.
std::uint64_t process_nbytes() {
  std::uint64_t nbytes = 0;
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    add_size(line, nbytes);
  }
  return nbytes;
}

Buffer filled(std::size_t nbytes, byre::Allocator& allocator = byre::default_allocator()) {
  Buffer buffer = Buffer::allocate(nbytes, allocator);
  std::memset(buffer.mutable_data(), 1, nbytes);
  return buffer;
}

/// Reads each page.
void touch(const Buffer& buffer) {
  volatile std::byte sink{};
  for (std::size_t at = 0; at < buffer.nbytes(); at += 4096) {
    sink = buffer.data()[at];
  }
  static_cast<void>(sink);
}

void write_pages(Buffer& buffer, std::size_t step) {
  std::byte* const data = buffer.mutable_data();
  for (std::size_t at = 0; at < buffer.nbytes(); at += step * 4096) {
    data[at] = std::byte{2};
  }
}

/// Prints the two sums. Returns whether they differ by at most a hundredth.
bool is_close(const char* what, std::uint64_t reported, std::uint64_t kernel) {
  std::printf("%s: reported %llu bytes, kernel %llu bytes\n", what,
              static_cast<unsigned long long>(reported), static_cast<unsigned long long>(kernel));
  const std::uint64_t difference = std::max(reported, kernel) - std::min(reported, kernel);
  return difference * 100 <= kernel;
}

}  // namespace

int main() {
  const byre::test::TemporaryFolder folder;
  byre::test::write_file(folder / "file", std::string(64 * mib, 'x'));
  static_cast<void>(byre::memory_report());
  static_cast<void>(process_nbytes());
  const std::uint64_t before = process_nbytes();
  if (before == 0) {
    return 77;
  }

  std::vector<Buffer> held;
  held.push_back(filled(100 * mib + 12345));
  held.push_back(filled(3 * mib + 1));
  held.push_back(filled(64 * mib, byre::paged_allocator()));
  held.push_back(held.back());
  write_pages(held.back(), 20);  // an overlay
  held.push_back(held.back());
  write_pages(held.back(), 50);  // an overlay that begins with the pages written in the other one
  held.push_back(Buffer::map_file(folder / "file"));
  touch(held.back());
  held.push_back(held.back());
  write_pages(held.back(), 30);
  byre::TiledBuffer tiles(64 * mib, byre::default_allocator(), mib);
  tiles.write(0, std::vector<std::byte>(64 * mib, std::byte{1}));
  const byre::TiledBuffer snapshot = tiles;
  tiles.mutable_tile(7);

  std::vector<const void*> addresses;  // one in each mapping of byre
  for (const Buffer& buffer : held) {
    addresses.push_back(buffer.data());
  }
  for (std::size_t tile = 0; tile < 64; ++tile) {
    addresses.push_back(tiles.tile(tile).data());
    addresses.push_back(snapshot.tile(tile).data());
  }
  {
    byre::default_pool().set_limit_nbytes(64 * mib);
    std::vector<Buffer>
        idle;  // without huge pages, which the system may reclaim while they are idle
    for (int count = 0; count < 48; ++count) {
      idle.push_back(filled(mib));
      addresses.push_back(idle.back().data());
    }
  }

  const byre::MemoryReport report = byre::memory_report();
  std::fputs(byre::to_text(report).c_str(), stdout);
  const bool is_process_close = is_close("process", report.total(), process_nbytes() - before);
  std::uint64_t mapped = 0;
  for (const Mapping& each : mappings()) {
    const auto is_inside = [&each](const void* address) {
      const auto at = reinterpret_cast<std::uintptr_t>(address);
      return each.begin <= at && at < each.end;
    };
    if (std::any_of(addresses.begin(), addresses.end(), is_inside)) {
      mapped += each.nbytes;
    }
  }
  const bool are_mappings_close = is_close("mappings", report.total(), mapped);
  const bool is_large = report.total() > 300 * mib && report.nbytes.overlay > 4 * mib &&
                        report.idle == 48 * mib && report.nbytes.mapped == 64 * mib &&
                        report.nbytes.paged == 64 * mib;
  return is_process_close && are_mappings_close && is_large ? EXIT_SUCCESS : EXIT_FAILURE;
}
