// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "buffers.hpp"

namespace byre::verification {

/// A file of one number, as large as a cell. One for all executions.
class NumberFile {
 public:
  NumberFile() {
    std::FILE* const file = std::tmpfile();
    const std::array<char, cells(1) - sizeof number> rest{};
    if (file == nullptr || std::fwrite(&number, sizeof number, 1, file) != 1 ||
        std::fwrite(rest.data(), rest.size(), 1, file) != 1 || std::fflush(file) != 0) {
      std::abort();
    }
    std::snprintf(path_.data(), path_.size(), "/proc/self/fd/%d", fileno(file));
  }
  const char* path() const noexcept { return path_.data(); }

  static constexpr unsigned number = 7;

 private:
  std::array<char, 32> path_;
};

/// Copies out of a file: its bytes are numbers, and no cells.
class MemoryForNumbers final : public Allocator {
 public:
  /// Its copies may fail for lack of memory, as the scheduler chooses.
  Block allocate(const Request& request) override { return memory_.allocate(request); }
  void deallocate(const Block& block) noexcept override { memory_.deallocate(block); }
  void copy(void* destination, const void* source, std::size_t) override {
    unsigned number = 0;
    std::memcpy(&number, source, sizeof number);
    cell(static_cast<std::byte*>(destination)).set(number);
    ++copies_;
  }
  const char* name() const noexcept override { return "memory for numbers"; }

  unsigned copies() const noexcept { return copies_; }

 private:
  Tracked memory_{Faults::allocations};
  unsigned copies_ = 0;
};

/// Owners of a mapped file: all read, the first writes, and all let go. Nobody may write the file's
/// memory, nor read it once it is unmapped: either would crash.
template <template <class> class Share, unsigned Owners>
class ReadOnlyOrigins {
 public:
  static constexpr unsigned threads = Owners;

  ReadOnlyOrigins() {
    static const NumberFile file;
    buffers_[0] = CheckedBuffer<Share>::map_file(file.path(), memory_);
    for (unsigned index = 1; index < threads; ++index) {
      buffers_[index] = buffers_[0];
    }
  }

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    unsigned number = 0;
    std::memcpy(&number, buffer.data(), sizeof number);
    expect(number == NumberFile::number, "an owner reads the file");
    if (index == 0) {
      write_twice(buffer);
    }
    drop(buffer);
  }

  void after() { expect(memory_.copies() == (wrote_ ? 1U : 0U), "one writer makes one copy"); }

 private:
  void write_twice(CheckedBuffer<Share>& buffer) {
    try {
      expect(write(buffer, 8) == Written::in_a_copy, "a write to read-only data copies");
      expect(write(buffer, 9) == Written::in_place, "once");
      wrote_ = true;
    } catch (const OutOfMemory&) {
      expect(buffer.is_read_only(), "a write that fails changes nothing");
    }
  }

  MemoryForNumbers memory_;
  CheckedBuffer<Share> buffers_[threads];
  bool wrote_ = false;
};

}  // namespace byre::verification
