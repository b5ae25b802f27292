// SPDX-License-Identifier: BSL-1.0
/// Watched tensors on several threads at once, and what is reported, silenced and counted meanwhile.
/// What has to come out is the same whoever comes first; the thread sanitizer sees the rest.

#include <boost/atomic/atomic.hpp>

#include <algorithm>
#include <fstream>
#include <string>

#include "support/at_once.hpp"
#include "support/temporary_folder.hpp"
#include "watched.hpp"

namespace byre::test {
namespace {

constexpr std::size_t threads = 4;
constexpr std::size_t rounds = 100;

Tensor six() {
  return Tensor::of<float>({6}, {1, 2, 3, 4, 5, 6});
}

std::uint64_t violations() {
  return shadow::summary().violations;
}

class WatchedByThreads : public testing::Test {
 protected:
  CaughtReports reports;
};

TEST_F(WatchedByThreads, first_reshapes_at_once_link_as_many_families_to_one_storage) {
  Tensor x;
  std::vector<Tensor> reshaped_by(threads);
  run_rounds(
      threads, rounds,
      [&](std::size_t) {
        x = six();
        shadow::reset_summary();
      },
      [&](std::size_t thread) {
        reshaped_by[thread] = reshaped(x, {2, 3});
      },
      [&](std::size_t) {
        EXPECT_EQ(shadow::summary().reshapes, threads);
        for (std::size_t thread = 0; thread < threads; ++thread) {
          ASSERT_TRUE(reshaped_by[thread].aliases(x));
          EXPECT_FALSE(reshaped_by[thread].is_of_view_family(x));
          EXPECT_FALSE(reshaped_by[thread].is_of_view_family(reshaped_by[(thread + 1) % threads]));
        }
        fill_(x, 7, line(20));
        for (const Tensor& each : reshaped_by) {
          EXPECT_EQ(each.at<float>({1, 2}, line(21)), 7);
          EXPECT_EQ(each.at<float>({1, 2}, line(22)), 7);
        }
        EXPECT_EQ(violations(), threads) << "each is told of the one write, once";
      });
}

/// Reads of one family at once may each find that nobody was told yet.
TEST_F(WatchedByThreads, reads_of_one_family_at_once_are_told_of_a_write_between_them) {
  Tensor x = six();
  const Tensor y = reshaped(x, {2, 3});
  std::vector<Tensor> made(threads);
  run_rounds(
      threads, rounds,
      [&](std::size_t round) {
        shadow::reset_summary();
        fill_(x, static_cast<std::int64_t>(round), line(20));
      },
      [&](std::size_t thread) {
        y.at<float>({0, 0}, line(21));
        made[thread] = reshaped(y, {6});  // which knows what y was told of by then
      },
      [&](std::size_t) {
        EXPECT_GE(violations(), 1U);
        EXPECT_LE(violations(), threads);
        const std::uint64_t before = violations();
        y.at<float>({0, 0}, line(22));
        for (const Tensor& each : made) {
          each.at<float>({0}, line(23));
        }
        EXPECT_EQ(violations(), before) << "who was told is not told again, nor what came of it";
      });
}

TEST_F(WatchedByThreads, errors_are_thrown_on_the_thread_that_reads) {
  at_once(threads, [&](std::size_t thread) {
    for (std::uint32_t round = 0; round < rounds; ++round) {
      Tensor x = six();
      const Tensor y = reshaped(x, {2, 3}, ReshapeMode::error);
      const auto written = static_cast<std::uint32_t>(100 + thread);
      fill_(x, 7, line(written));
      try {
        y.at<float>({0, 0}, line(21));
        ADD_FAILURE() << "nothing was thrown";
      } catch (const ReshapeViolation& violation) {
        EXPECT_EQ(violation.violation().write.site.line, written);
      }
      EXPECT_EQ(y.at<float>({0, 0}, line(21)), 7);
    }
  });
  const shadow::Summary summary = shadow::summary();
  EXPECT_EQ(summary.violations, threads * rounds);
  ASSERT_EQ(summary.triples.size(), threads);
  EXPECT_TRUE(std::ranges::all_of(summary.triples,
                                  [](const Violation& triple) { return triple.count == rounds; }));
}

/// Two handlers that change places: between them they are told of each triple once.
class Handlers : public WatchedByThreads {
 protected:
  static inline boost::atomic<std::size_t> told{0};
  static void one(const Violation&) noexcept { told.fetch_add(1, boost::memory_order_relaxed); }
  static void other(const Violation&) noexcept { told.fetch_add(1, boost::memory_order_relaxed); }

  Handlers() {
    told = 0;
    shadow::set_violation_handler(&one);
  }

  /// At three lines of the thread, and in a file of the round.
  static void violate(std::size_t thread, const char* file = model_file) {
    const auto first = static_cast<std::uint32_t>(1000 * (thread + 1));
    Tensor x = six();
    const ReshapeModeScope scope(ReshapeMode::warn);
    const Tensor y = x.reshape({2, 3}, {file, first});
    fill_(x, 7, {file, first + 1});
    y.at<float>({0, 0}, {file, first + 2});
  }
};

TEST_F(Handlers, what_is_begun_anew_meanwhile_is_told_again_and_counted_on_either_side) {
  at_once(threads + 1, [&](std::size_t thread) {
    for (std::size_t round = 0; round < rounds; ++round) {
      thread < threads ? violate(thread) : shadow::reset_summary();
    }
  });
  EXPECT_GE(told, threads);
  EXPECT_LE(told, threads * rounds);
  EXPECT_LE(violations(), threads * rounds);
  shadow::reset_summary();
  const std::size_t before = told;
  violate(0);
  EXPECT_EQ(told, before + 1);
  EXPECT_EQ(violations(), 1U);
}

/// Lists add up in a process: this file is in no other test.
TEST_F(Handlers, call_sites_suppressed_meanwhile_are_told_before_or_counted_as_suppressed) {
  static const char* const quiet = "src/model/quiet_by_threads.cpp";
  const TemporaryFolder folder;
  const auto list = folder / "known.txt";
  std::ofstream(list) << "model/quiet_by_threads.cpp\n";
  at_once(threads + 2, [&](std::size_t thread) {
    for (std::size_t round = 0; round < rounds; ++round) {
      if (thread < threads) {
        violate(thread, quiet);
      } else if (thread > threads) {
        violate(thread);
      } else if (round == rounds / 2) {
        shadow::suppress_sites(list);
      }
    }
  });
  const shadow::Summary summary = shadow::summary();
  EXPECT_EQ(summary.violations + summary.suppressed, (threads + 1) * rounds);
  EXPECT_GE(summary.violations, rounds) << "of what is not suppressed, all";
  violate(0, quiet);
  EXPECT_EQ(shadow::summary().suppressed, summary.suppressed + 1);
}

TEST_F(Handlers, suppression_on_a_thread_is_of_no_other) {
  at_once(threads, [&](std::size_t thread) {
    for (std::size_t round = 0; round < rounds; ++round) {
      if (thread % 2 == 0) {
        const shadow::ScopedSuppression suppression;
        violate(thread);
      } else {
        violate(thread);
      }
    }
  });
  EXPECT_EQ(shadow::summary().suppressed, threads / 2 * rounds);
  EXPECT_EQ(violations(), threads / 2 * rounds);
  EXPECT_EQ(told, threads / 2);
}

}  // namespace
}  // namespace byre::test
