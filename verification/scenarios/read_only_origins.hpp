// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "buffers.hpp"

namespace byre::verification {

/// A file of one number, in memory, as large as a cell. One for all executions.
class NumberFile {
 public:
  NumberFile() {
    const int file = memfd_create("number", 0);
    if (file < 0 || ftruncate(file, static_cast<off_t>(cells(1))) != 0 ||
        pwrite(file, &number, sizeof number, 0) != sizeof number) {
      std::abort();
    }
    std::snprintf(path_, sizeof path_, "/proc/self/fd/%d", file);
  }
  const char* path() const noexcept { return path_; }

  static constexpr unsigned number = 7;

 private:
  char path_[32];
};

/// Copies out of a file: its bytes are numbers, and no cells.
class MemoryForNumbers final : public Allocator {
 public:
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
  Tracked memory_;
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
      expect(write(buffer, 8) == Written::in_a_copy, "a write to read-only data copies");
      expect(read(buffer) == 8, "the writer reads what it wrote");
      expect(write(buffer, 9) == Written::in_place, "once");
    }
    drop(buffer);
  }

  void after() { expect(memory_.copies() == 1, "one write makes one copy"); }

 private:
  MemoryForNumbers memory_;
  CheckedBuffer<Share> buffers_[threads];
};

}  // namespace byre::verification
