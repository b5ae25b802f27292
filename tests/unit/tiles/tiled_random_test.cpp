// SPDX-License-Identifier: BSL-1.0
/// Random programs over tiled buffers, beside eager copies of them: clones, writes, sizes, drops, no memory.
#include "tiles.hpp"

#include <byre/error/error.hpp>
#include <byre/storage/tiled_buffer.hpp>

#include <gtest/gtest.h>
#include <boost/thread/thread.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/failing_allocator.hpp"
#include "support/random.hpp"
#include "support/sanitized.hpp"

namespace byre::test {
namespace {

/// A number of tiled buffers of one tile size, and what each has to read; one thread does random things to them.
template <class Tiled>
class Program {
 public:
  struct Pair {
    Tiled lazy;
    std::string eager;
  };

  static constexpr std::size_t most_nbytes = 300;

  Program(std::size_t count, Random& random, FailingAllocator& allocator)
      : random_(random.engine()()), allocator_(allocator) {
    tile_nbytes_ = random_.one_of({std::size_t{1}, std::size_t{3}, std::size_t{16}});
    for (std::size_t number = 0; number < count; ++number) {
      const std::string text = text_of_size(random_.below(most_nbytes));
      pairs_.push_back({tiled_of<Tiled>(text, allocator, tile_nbytes_), text});
    }
  }
  /// Lazy clones of all of another's, for another thread.
  Program(const Program& other, std::uint64_t seed)
      : pairs_(other.pairs_),
        tile_nbytes_(other.tile_nbytes_),
        random_(seed),
        allocator_(other.allocator_) {}

  /// Some of the steps fail, if allocations or copies do.
  void run(std::size_t steps, unsigned percent_of_failures = 0) {
    for (std::size_t step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
      if (random_.chance(percent_of_failures)) {
        allocator_.fail_allocation(random_.below(4));
      }
      if (random_.chance(percent_of_failures)) {
        allocator_.fail_copy(random_.below(4));
      }
      try {
        (this->*random_.one_by_weight(steps_).take)();
      } catch (const OutOfMemory&) {
      } catch (const FailingAllocator::CopyFailed&) {
      }
      stop_failing();
    }
  }

  void expect_all_right() const {
    for (const Pair& pair : pairs_) {
      EXPECT_EQ(text_of(pair.lazy), pair.eager);
    }
  }

  /// Not one tile more than can be reached.
  void expect_nothing_over() const {
    std::set<const std::byte*> tiles;
    for (const Pair& pair : pairs_) {
      for (std::size_t tile = 0; tile < pair.lazy.tile_count(); ++tile) {
        tiles.insert(pair.lazy.tile(tile).data());
      }
    }
    EXPECT_EQ(allocator_.blocks_out(), tiles.size());
  }

 private:
  struct Step {
    void (Program::*take)();
    int weight;
  };

  void stop_failing() {
    allocator_.fail_allocation(FailingAllocator::never);
    allocator_.fail_copy(FailingAllocator::never);
  }

  Pair& any() { return random_.one_of(pairs_); }

  std::string text_of_size(std::size_t nbytes) {
    std::string text(nbytes, ' ');
    for (char& letter : text) {
      letter = random_.number('a', 'z');
    }
    return text;
  }

  void clone() {
    Pair made = any();
    any() = std::move(made);
  }
  void look() {
    const Pair& pair = any();
    EXPECT_EQ(text_of(pair.lazy), pair.eager);
  }
  void write_tile() {
    Pair& pair = any();
    if (pair.lazy.tile_count() != 0) {
      const std::size_t tile = random_.below(pair.lazy.tile_count());
      const std::span<std::byte> bytes = pair.lazy.mutable_tile(tile);
      const std::size_t at = random_.below(bytes.size());
      const char letter = random_.number('a', 'z');
      bytes[at] = std::byte(letter);
      pair.eager[tile * tile_nbytes_ + at] = letter;
    }
  }
  void write_range() {
    Pair& pair = any();
    const std::size_t at = random_.number(std::size_t{0}, pair.eager.size());
    const std::string text = text_of_size(random_.below(pair.eager.size() - at + 1));
    try {
      pair.lazy.write(at, bytes_of(text));
    } catch (const FailingAllocator::CopyFailed&) {
      // A copy of a tile, and nothing changed; or of what was to be written, and some was.
      stop_failing();
      pair.eager = std::string(pair.eager.size(), ' ');
      pair.lazy.write(0, bytes_of(pair.eager));
      throw;
    }
    pair.eager.replace(at, text.size(), text);
  }
  void append() {
    Pair& pair = any();
    const std::string text = text_of_size(random_.below(most_nbytes - pair.eager.size() + 1));
    pair.lazy.append(bytes_of(text));
    pair.eager += text;
  }
  void truncate() {
    Pair& pair = any();
    const std::size_t nbytes = random_.number(std::size_t{0}, pair.eager.size());
    pair.lazy.truncate(nbytes);
    pair.eager.resize(nbytes);
  }
  void resize() {
    Pair& pair = any();
    const std::size_t before = pair.eager.size();
    const std::size_t nbytes = random_.below(most_nbytes);
    pair.lazy.resize(nbytes);
    stop_failing();
    pair.eager.resize(nbytes);
    if (nbytes > before) {
      pair.eager.replace(before, nbytes - before, text_of(pair.lazy).substr(before));
    }
  }
  void compare() {
    const Pair& left = any();
    const Pair& right = any();
    std::set<std::size_t> named;
    for_each_difference(left.lazy, right.lazy, [&](std::size_t tile) {
      EXPECT_TRUE(named.empty() || tile > *named.rbegin());
      named.insert(tile);
    });
    const std::size_t both = std::min(left.lazy.tile_count(), right.lazy.tile_count());
    const std::size_t either = std::max(left.lazy.tile_count(), right.lazy.tile_count());
    for (std::size_t tile = 0; tile < either; ++tile) {
      const bool shared =
          tile < both && left.lazy.tile(tile).data() == right.lazy.tile(tile).data();
      EXPECT_EQ(named.contains(tile), !shared) << tile;
      EXPECT_EQ(left.lazy.shares_tile_with(right.lazy, tile), shared) << tile;
    }
  }

  static constexpr Step steps_[] = {{&Program::clone, 10},      {&Program::look, 3},
                                    {&Program::write_tile, 12}, {&Program::write_range, 4},
                                    {&Program::append, 4},      {&Program::truncate, 3},
                                    {&Program::resize, 2},      {&Program::compare, 3}};

  std::vector<Pair> pairs_;
  std::size_t tile_nbytes_ = 0;
  Random random_;
  FailingAllocator& allocator_;
};

template <class Tiled>
class TiledRandom : public testing::Test {
 protected:
  Random random_{seed()};
  FailingAllocator allocator_;
};
using Widths = testing::Types<TiledBuffer, NarrowTiles>;
TYPED_TEST_SUITE(TiledRandom, Widths);

TYPED_TEST(TiledRandom, programs_do_what_eager_copies_do) {
  for (std::size_t number = 0; number < 20; ++number) {
    {
      Program<TypeParam> program(6, this->random_, this->allocator_);
      program.run(fewer_if_sanitized(600));
      program.expect_all_right();
      program.expect_nothing_over();
    }
    EXPECT_EQ(this->allocator_.blocks_out(), 0U);
  }
}

TYPED_TEST(TiledRandom, programs_without_memory_do_a_step_or_leave_it) {
  for (std::size_t number = 0; number < 20; ++number) {
    Program<TypeParam> program(6, this->random_, this->allocator_);
    program.run(fewer_if_sanitized(600), 30);
    program.expect_all_right();
    program.expect_nothing_over();
  }
}

TYPED_TEST(TiledRandom, threads_do_not_see_each_other) {
  Program<TypeParam> shared(6, this->random_, this->allocator_);
  boost::thread_group threads;
  for (std::size_t thread = 0; thread < 4; ++thread) {
    threads.create_thread([own = Program<TypeParam>(shared, this->random_.engine()())]() mutable {
      own.run(fewer_if_sanitized(2'000));
      own.expect_all_right();
    });
  }
  threads.join_all();
  shared.expect_all_right();
  shared.expect_nothing_over();
  EXPECT_EQ(this->allocator_.wrong_releases(), 0);
}

}  // namespace
}  // namespace byre::test
