// SPDX-License-Identifier: BSL-1.0
/// Random programs over data in pages, compared with eager copies: clones of both kinds, writes, drops, forks, and no
/// memory.
#include <byre/memory/pages.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>
#include <unistd.h>
#include <boost/thread/thread.hpp>

#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/random.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_folder.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

constexpr std::chrono::seconds child_patience(60);

/// A buffer, and what it has to read.
struct Pair {
  Buffer lazy;
  std::vector<std::byte> eager;

  bool is_right() const {
    return lazy.nbytes() == eager.size() &&
           std::memcmp(lazy.data(), eager.data(), eager.size()) == 0;
  }
};

Pair pair_of(Buffer buffer) {
  std::vector<std::byte> eager(buffer.data(), buffer.data() + buffer.nbytes());
  return {std::move(buffer), std::move(eager)};
}

Pair paged_pair(std::size_t nbytes, Random& random) {
  Buffer buffer = Buffer::allocate(nbytes, paged_allocator());
  std::memset(buffer.mutable_data(), random.below(256), nbytes);
  return pair_of(std::move(buffer));
}

/// A number of pairs, which one thread does random things to.
class Program {
 public:
  Program(std::vector<Pair> pairs, std::uint64_t seed) : pairs_(std::move(pairs)), random_(seed) {}

  void run(std::size_t steps) {
    for (std::size_t step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
      (this->*random_.one_by_weight(steps_).take)();
    }
  }

  void expect_all_right() const {
    for (const Pair& pair : pairs_) {
      EXPECT_TRUE(pair.is_right());
    }
  }

  /// A child does other things to the same data.
  void fork() {
    const std::uint64_t seed = random_.engine()();
    const ChildResult result = run_in_child(
        [&](int) {
          random_ = Random(seed);
          run(10);
          expect_all_right();
          ::_exit(testing::Test::HasFailure() ? EXIT_FAILURE : EXIT_SUCCESS);
        },
        child_patience);
    EXPECT_TRUE(result.exit.is_success()) << result.exit.text() << result.output;
    expect_all_right();
  }

 private:
  struct Step {
    void (Program::*take)();
    int weight;
  };

  Pair& any() { return random_.one_of(pairs_); }

  void clone() {
    Pair made = any();
    any() = std::move(made);
  }
  /// And a write by a pointer from before. Data that is shared, or a file's, moves first.
  void clone_writably() {
    Pair& pair = any();
    std::byte* const place = pair.lazy.mutable_data();
    Pair made{pair.lazy.writable_clone(), pair.eager};
    EXPECT_EQ(pair.lazy.data(), place);
    write(pair, place, random_.below(pair.eager.size()), random_.number<std::size_t>(1, 9));
    any() = std::move(made);
  }
  void look() { EXPECT_TRUE(any().is_right()); }
  void write() {
    Pair& pair = any();
    const std::size_t at = random_.below(pair.eager.size());
    write(pair, pair.lazy.mutable_data(), at, random_.number<std::size_t>(1, 3 * page_nbytes));
  }
  void write_range() {
    Pair& pair = any();
    const std::size_t at = random_.below(pair.eager.size());
    const std::size_t nbytes =
        std::min(random_.number<std::size_t>(1, 3 * page_nbytes), pair.eager.size() - at);
    write(pair, pair.lazy.mutable_range(at, nbytes).data() - at, at, nbytes);
  }
  void write_much() {
    Pair& pair = any();
    const std::size_t nbytes = pair.eager.size() / random_.number<std::size_t>(2, 12);
    write(pair, pair.lazy.mutable_data(), random_.below(pair.eager.size() - nbytes), nbytes);
  }
  void write(Pair& pair, std::byte* data, std::size_t at, std::size_t nbytes) {
    nbytes = std::min(nbytes, pair.eager.size() - at);
    const int value = random_.below(256);
    std::memset(data + at, value, nbytes);
    std::memset(pair.eager.data() + at, value, nbytes);
  }
  void shrink() {
    Pair& pair = any();
    if (pair.lazy.is_unique() && pair.lazy.origin() != Origin::mapped) {
      const std::size_t nbytes = pair.eager.size() - random_.below<std::size_t>(100);
      pair.lazy.resize(nbytes);
      pair.eager.resize(nbytes);
    }
  }

  static constexpr Step steps_[] = {{&Program::clone, 10},      {&Program::clone_writably, 5},
                                    {&Program::look, 3},        {&Program::write, 12},
                                    {&Program::write_range, 6}, {&Program::write_much, 2},
                                    {&Program::shrink, 1}};

  std::vector<Pair> pairs_;
  Random random_;
};

std::vector<Pair> pairs(Random& random, std::size_t count, const std::filesystem::path& file) {
  std::vector<Pair> made;
  for (std::size_t number = 0; number < count; ++number) {
    made.push_back(number % 4 == 3
                       ? pair_of(Buffer::map_file(file))
                       : paged_pair(least_paged_nbytes + random.below(100'000U), random));
  }
  made.front() = paged_pair((std::size_t{2} << 20) + random.below(5'000U), random);
  return made;
}

class PagedRandom : public testing::Test {
 protected:
  PagedRandom() {
    std::string text(300'001, 'a');
    for (char& letter : text) {
      letter = static_cast<char>(random_.below(256));
    }
    write_file(folder_ / "file", text);
  }

  Random random_{seed()};
  const TemporaryFolder folder_;
};

TEST_F(PagedRandom, programs_do_what_eager_copies_do) {
  for (std::size_t number = 0; number < 10; ++number) {
    Program program(pairs(random_, 8, folder_ / "file"), random_.engine()());
    program.run(fewer_if_sanitized(400));
    program.expect_all_right();
  }
}

TEST_F(PagedRandom, programs_without_memory_do_or_leave_it) {
  for (std::size_t number = 0; number < 200; ++number) {
    Program program(pairs(random_, 4, folder_ / "file"), random_.engine()());
    program.run(20);
    WatchedSystem system;
    system.fail_after(random_.below<std::size_t>(20));
    try {
      program.run(30);
    } catch (const OutOfMemory&) {
    }
    program.expect_all_right();
  }
}

TEST_F(PagedRandom, children_do_not_see_each_other) {
  if (!heap_outlives_forks) {
    GTEST_SKIP() << "this sanitizer's malloc is not safe across forks";
  }
  Program program(pairs(random_, 8, folder_ / "file"), random_.engine()());
  for (std::size_t number = 0; number < 20; ++number) {
    program.run(20);
    program.fork();
  }
}

TEST_F(PagedRandom, thousands_of_overlays_are_apart) {
  const Pair base = paged_pair(least_paged_nbytes, random_);
  std::vector<Buffer> overlays;
  constexpr std::size_t count = 5'000;
  for (std::size_t number = 0; number < count; ++number) {
    overlays.push_back(number == 0 ? base.lazy : random_.one_of(overlays));
    std::memcpy(overlays.back().mutable_data() + 5 * page_nbytes, &number, sizeof number);
  }
  for (std::size_t number = 0; number < count; ++number) {
    std::size_t read = 0;
    std::memcpy(&read, overlays[number].data() + 5 * page_nbytes, sizeof read);
    EXPECT_EQ(read, number);
  }
  EXPECT_TRUE(base.is_right());
}

TEST_F(PagedRandom, threads_do_not_see_each_other) {
  const std::vector<Pair> shared = pairs(random_, 4, folder_ / "file");
  boost::thread_group threads;
  for (std::size_t thread = 0; thread < 4; ++thread) {
    threads.create_thread([own = shared, seed = random_.engine()()]() mutable {
      Program program(std::move(own), seed);
      program.run(fewer_if_sanitized(1'000));
      program.expect_all_right();
    });
  }
  threads.join_all();
  for (const Pair& pair : shared) {
    EXPECT_TRUE(pair.is_right());
  }
}

}  // namespace
}  // namespace byre::test
