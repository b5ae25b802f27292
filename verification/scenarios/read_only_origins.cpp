// SPDX-License-Identifier: BSL-1.0
#include "buffers.hpp"

namespace byre::verification {
namespace {

/// Owners of a mapped file: all read, the first writes, which may fail, and all let go. Nobody may
/// write the mapping, nor read it after its end.
template <unsigned Owners>
class ReadOnlyOrigins {
 public:
  static constexpr unsigned threads = Owners;

  ReadOnlyOrigins() { buffers_.memory.set_faults(Faults::both); }

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    expect(read(buffer) == mapped_number, "an owner reads the file");
    if (index == 0) {
      write_twice(buffer);
    }
    drop(buffer);
  }

  void after() {
    expect(buffers_.memory.copies() == (wrote_ ? 1U : 0U), "one writer makes one copy");
    expect(live_mappings() == 0, "the last owner ends the mapping");
  }

 private:
  void write_twice(CheckedBuffer& buffer) {
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

  SharedBuffers<threads> buffers_{
      [](Tracked& of) { return CheckedBuffer::map_file("a file", of); }};
  bool wrote_ = false;
};

class OfTwoOwners : public ReadOnlyOrigins<2> {
 public:
  static constexpr std::string_view cover_points[] = {
      "the writer is the last owner, and copies all the same",
      "the writer leaves its share to another owner",
  };

  void saw(const sync::Site& site, std::uint64_t value) {
    constexpr std::uint64_t read_only_bit = std::uint64_t{1} << 63;
    if (site.name == "share_word.is_writable" && value == (read_only_bit | 1)) {
      cover("the writer is the last owner, and copies all the same");
    } else if (site.name == "share_word.drop_owner" && value == (read_only_bit | 1)) {
      cover("the writer leaves its share to another owner");
    }
    expect(!site.name.starts_with("share_word.claim"), "read-only data is never claimed");
  }
};

const Scenario* const read_only_origins_listed[] = {
    scenario<OfTwoOwners>("read_only_origins",
                          "A mapped file is shared like any data, never written, and unmapped "
                          "after all reads: promise 1."),
    scenario<ReadOnlyOrigins<3>>("three_read_only_origins", "The same of three owners.",
                                 reduced_search),
};

}  // namespace

}  // namespace byre::verification
