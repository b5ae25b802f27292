// SPDX-License-Identifier: BSL-1.0
#include "buffers.hpp"
#include "word_state.hpp"

namespace byre::verification {
namespace {

/// All owners write, and all but the first `Waiting` must not wait.
template <unsigned Waiting, unsigned Owners>
class NeverWaits {
 public:
  static constexpr unsigned threads = Owners;
  static constexpr std::string_view cover_points[] = {
      "one owner keeps the original",
      "all copy, rather than wait",
  };

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    how_[index] = write(buffer, index, index < Waiting ? Wait::allowed : Wait::never);
    expect(read(buffer) == index, "a writer reads what it wrote");
  }

  void after() {
    unsigned kept = 0;
    for (unsigned index = 0; index < threads; ++index) {
      expect(read(buffers_[index]) == index, "each owner keeps what it wrote");
      kept += how_[index] == Written::in_place ? 1 : 0;
    }
    cover(kept == 1 ? "one owner keeps the original" : "all copy, rather than wait");
    expect(kept <= 1, "at most one owner keeps the original");
    expect(buffers_.memory.copies() == threads - kept, "all others copy, once each");
    expect(buffers_.memory.frees() == 1 - kept, "the original is freed where nobody keeps it");
  }

 private:
  SharedBuffers<threads> buffers_;
  Written how_[threads] = {};
};

class NobodyParks : public NeverWaits<0, 2> {
 public:
  void saw(const sync::Site& site, std::uint64_t) {
    expect(site.operation != sync::Operation::park, "who must not wait is not parked");
  }
};

class WithAWaiter : public NeverWaits<1, 3> {
 public:
  static constexpr std::string_view cover_points[] = {
      "one owner keeps the original",
      "all copy, rather than wait",
      "a waiter sleeps while one that never waits copies",
  };

  void saw(const sync::Site& site, std::uint64_t value) {
    sleeper_.saw(site, value);
    if (sleeper_.sleeps() && WordState(value).copies == 2) {
      cover("a waiter sleeps while one that never waits copies");
    }
  }

 private:
  Sleeper sleeper_;
};

const Scenario* const never_waits_listed[] = {
    scenario<NobodyParks>("writers_never_wait",
                          "Writers that must not wait copy instead, and are never parked: I1, I4."),
    scenario<NeverWaits<0, 3>>("three_writers_never_wait", "The same of three.", preemptions(3),
                               preemptions(5)),
    scenario<WithAWaiter>("one_of_three_waits",
                          "A writer that may wait beside two that must not: I3.", preemptions(3),
                          preemptions(5)),
};

}  // namespace

}  // namespace byre::verification
