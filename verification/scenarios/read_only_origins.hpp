// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "buffers.hpp"

namespace byre::verification {

/// Owners of a mapped file: all read, the first writes, which may fail, and all let go. Nobody may
/// write the mapping, nor read it after its end.
template <template <class> class Share, unsigned Owners>
class ReadOnlyOrigins {
 public:
  static constexpr unsigned threads = Owners;

  ReadOnlyOrigins() {
    buffers_[0] = CheckedBuffer<Share>::map_file("a file", memory_);
    for (unsigned index = 1; index < threads; ++index) {
      buffers_[index] = buffers_[0];
    }
    memory_.set_faults(Faults::both);
  }

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    expect(read(buffer) == mapped_number, "an owner reads the file");
    if (index == 0) {
      write_twice(buffer);
    }
    drop(buffer);
  }

  void after() {
    expect(memory_.copies() == (wrote_ ? 1U : 0U), "one writer makes one copy");
    expect(live_mappings() == 0, "the last owner ends the mapping");
  }

 private:
  void write_twice(CheckedBuffer<Share>& buffer) {
    try {
      expect(write(buffer, 8) == Written::in_a_copy, "a write to read-only data copies");
      wrote_ = true;
    } catch (const OutOfMemory&) {
    } catch (const CopyFailed&) {
    }
    if (wrote_) {
      expect(write(buffer, 9) == Written::in_place, "once");
    } else {
      expect(buffer.is_read_only() && read(buffer) == mapped_number,
             "a write that fails changes nothing");
    }
  }

  Tracked memory_;
  CheckedBuffer<Share> buffers_[threads];
  bool wrote_ = false;
};

}  // namespace byre::verification
