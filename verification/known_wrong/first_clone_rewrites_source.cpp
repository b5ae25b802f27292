// SPDX-License-Identifier: BSL-1.0
#include "../search.hpp"

namespace byre::verification {
namespace {

/// As published, and wrong: plain data becomes shared data by its first lazy clone, which rewrites
/// the pointer of the buffer it clones. To the user that is a read, which two threads may do.
class PlainUntilCloned {
 public:
  PlainUntilCloned() = default;
  PlainUntilCloned(const PlainUntilCloned& source) {
    if (source.shared_.get() == nullptr) {
      source.shared_.set(&source.word_);
    }
    shared_.set(source.shared_.get());
  }

 private:
  mutable Checked::Plain<void*> shared_{nullptr};
  mutable int word_ = 0;  // stands for what the first clone allocates
};

/// As first_clones_at_once.
class FirstCloneRewritesSource {
 public:
  static constexpr unsigned threads = 2;

  void thread(unsigned) { const PlainUntilCloned clone = source_; }

 private:
  PlainUntilCloned source_;
};

}  // namespace

const Scenario first_clone_rewrites_source = scenario<FirstCloneRewritesSource>({
    .name = "known_wrong.first_clone_rewrites_source",
    .shows = "Two first lazy clones at once race where a clone rewrites its source: promise 7.",
    .expected = Verdict::data_race,
});

}  // namespace byre::verification
