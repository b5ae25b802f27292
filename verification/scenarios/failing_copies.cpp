// SPDX-License-Identifier: BSL-1.0
#include "buffers.hpp"
#include "word_state.hpp"

namespace byre::verification {
namespace {

/// All owners write, and the scheduler chooses which allocations and copies fail.
template <unsigned Owners>
class FailingCopies {
 public:
  static constexpr unsigned threads = Owners;
  static constexpr std::string_view cover_points[] = {
      "a copy is given up",
      "a copy is given up while the last owner sleeps",
  };

  FailingCopies() { buffers_.memory.set_faults(Faults::both); }

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    try {
      write(buffer, index);
      wrote_[index] = true;
    } catch (const OutOfMemory&) {
    } catch (const CopyFailed&) {
    }
    expect(read(buffer) == (wrote_[index] ? index : 7), "a write succeeds, or changes nothing");
  }

  void saw(const sync::Site& site, std::uint64_t value) {
    if (site.name == "share_word.abandon_copy") {
      cover(sleeper_.sleeps() ? "a copy is given up while the last owner sleeps"
                              : "a copy is given up");
    }
    sleeper_.saw(site, value);
  }

  void after() {
    unsigned unwritten = 0;
    for (unsigned index = 0; index < threads; ++index) {
      expect(read(buffers_[index]) == (wrote_[index] ? index : 7),
             "each owner keeps what it wrote, or had");
      unwritten += wrote_[index] ? 0 : 1;
    }
    expect(unwritten == buffers_.memory.failures(), "only a failure keeps from writing");
    for (unsigned index = 0; index < threads; ++index) {
      expect(buffers_[index].is_unique() == (wrote_[index] || unwritten == 1),
             "an owner whose write failed owns still, and the others have left");
      expect(buffers_[index].use_count() == (wrote_[index] ? 1 : unwritten), "each owner once");
    }
  }

 private:
  SharedBuffers<threads> buffers_;
  bool wrote_[threads] = {};
  Sleeper sleeper_;
};

const Scenario* const failing_copies_listed[] = {
    scenario<FailingCopies<2>>("failing_copies",
                               "A write whose allocation or copy fails changes nothing, and nobody "
                               "else notices: promise 5, I3, I4.",
                               reduced_search),
    scenario<FailingCopies<3>>("three_failing_copies",
                               "The same of three owners, any of which may fail.", preemptions(1),
                               preemptions(3)),
};

}  // namespace

}  // namespace byre::verification
