// SPDX-License-Identifier: BSL-1.0
/// Tracked tensors on several threads at once, and the reports, suppressions and counts meanwhile.
/// The expected results do not depend on the order of the threads; the thread sanitizer checks the
/// rest.

#include <atomic>
#include <thread>

#include "support/at_once.hpp"
#include "support/temporary_folder.hpp"
#include "tracked.hpp"

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

using TrackedByThreads = Reported;

TEST_F(TrackedByThreads, concurrent_first_reshapes_link_one_family_each) {
  Tensor x;
  std::vector<Tensor> reshaped_by(threads);
  run_rounds(
      threads, rounds,
      [&](std::size_t) {
        const ReshapeModeScope scope(ReshapeMode::warn);
        x = six();
        escape(x, site(31));
        shadow::reset_summary();
      },
      [&](std::size_t thread) {
        reshaped_by[thread] = reshaped(x, {2, 3});
      },
      [&](std::size_t) {
        EXPECT_EQ(shadow::summary().reshapes, threads);
        EXPECT_EQ(shadow::summary().untracked_escapes, 1U)
            << "expected only the escape before the first reshape";
        for (std::size_t thread = 0; thread < threads; ++thread) {
          ASSERT_TRUE(reshaped_by[thread].aliases(x));
          EXPECT_FALSE(reshaped_by[thread].is_of_view_family(x));
          EXPECT_FALSE(reshaped_by[thread].is_of_view_family(reshaped_by[(thread + 1) % threads]));
        }
        write(x, site(20));
        for (const Tensor& each : reshaped_by) {
          read(each, site(21));
          read(each, site(22));
        }
        EXPECT_EQ(violations(), threads) << "expected one report of the write to each family";
      });
}

/// Expects at least one report, not exactly one, because several concurrent reads may each find
/// that the write was not reported yet.
TEST_F(TrackedByThreads, concurrent_reads_of_a_family_report_a_write_at_least_once) {
  Tensor x = six();
  const Tensor y = reshaped(x, {2, 3});
  std::vector<Tensor> made(threads);
  run_rounds(
      threads, rounds,
      [&](std::size_t round) {
        shadow::reset_summary();
        fill_(x, static_cast<std::int64_t>(round), site(20));
      },
      [&](std::size_t thread) {
        read(y, site(21));
        made[thread] = reshaped(y, {6});  // copies what y has observed so far
      },
      [&](std::size_t) {
        EXPECT_GE(violations(), 1U);
        EXPECT_LE(violations(), threads);
        const std::uint64_t before = violations();
        read(y, site(22));
        for (const Tensor& each : made) {
          read(each, site(23));
        }
        EXPECT_EQ(violations(), before) << "expected no report to a family that observed the "
                                           "write, or to families made from it";
      });
}

/// The suppressions that a process has read accumulate, so each run uses its own file.
TEST_F(TrackedByThreads, concurrent_violations_are_counted_suppressed_or_thrown) {
  static int runs = 0;
  const std::string quiet = "src/quiet_" + std::to_string(++runs) + ".cpp";
  const TemporaryFolder folder;
  write_file(folder / "known.txt", quiet + "\n");
  at_once(threads, [&](std::size_t thread) {
    for (std::size_t round = 0; round < rounds; ++round) {
      if (thread == 0 && round == rounds / 2) {
        shadow::suppress_sites(folder / "known.txt");
      }
      violate();
      violate(ReshapeMode::warn, quiet.c_str());
      Tensor x = six();
      const Tensor y = reshaped(x, {2, 3}, ReshapeMode::error);
      const auto written = static_cast<std::uint32_t>(100 + thread);
      write(x, site(written));
      try {
        read(y, site(21));
        ADD_FAILURE() << "nothing was thrown";
      } catch (const ReshapeViolation& error) {
        EXPECT_EQ(error.violation().write.site.line, written);
      }
    }
  });
  const shadow::Summary summary = shadow::summary();
  EXPECT_EQ(reports.count(), 2U);
  EXPECT_EQ(summary.violations + summary.suppressed, 3 * threads * rounds);
  EXPECT_EQ(summary.reshapes, 3 * threads * rounds);
  ASSERT_EQ(summary.triples.size(), 2 + threads);
  for (const Violation& each : summary.triples) {
    const bool is_quiet = each.write.site.file == quiet;
    const bool is_thrown = each.write.site.line >= 100;
    EXPECT_EQ(each.count, is_quiet    ? threads * rounds - summary.suppressed
                          : is_thrown ? rounds
                                      : threads * rounds);
  }
  violate(ReshapeMode::warn, quiet.c_str());
  EXPECT_EQ(shadow::summary().suppressed, summary.suppressed + 1);
}

TEST_F(TrackedByThreads, after_a_concurrent_reset_triples_are_reported_again) {
  const char* const files[threads] = {"one.cpp", "two.cpp", "three.cpp", "four.cpp"};
  at_once(threads + 1, [&](std::size_t thread) {
    for (std::size_t round = 0; round < rounds; ++round) {
      thread < threads ? violate(ReshapeMode::warn, files[thread]) : shadow::reset_summary();
    }
  });
  EXPECT_GE(reports.count(), threads);
  EXPECT_LE(reports.count(), threads * rounds);
  EXPECT_LE(violations(), threads * rounds);
  shadow::reset_summary();
  violate(ReshapeMode::warn, files[0]);
  EXPECT_EQ(reports.last().count, 1U);
}

TEST_F(TrackedByThreads, concurrent_requests_of_parallel_pointers_are_all_recorded) {
  Tensor x;
  Tensor y;
  run_rounds(
      threads, rounds,
      [&](std::size_t) {
        shadow::reset_summary();
        x = six();
        y = reshaped(x, {2, 3});
        write(y, site(11));
      },
      [&](std::size_t thread) {
        x.mutable_data_in_parallel<float>(Wait::allowed, site(12))[thread] = 9;
      },
      [&](std::size_t) {
        EXPECT_EQ(violations(), 1U)
            << "expected a report: the loop had not observed the write through the reshape";
        EXPECT_EQ(shadow::summary().untracked_escapes, threads);
        read(y, site(13));
        EXPECT_EQ(violations(), 2U)
            << "expected a report of the loop's writes to the reshaped tensor";
        EXPECT_EQ(reports.last().write.site.line, 12U);
      });
}

TEST_F(TrackedByThreads, a_copy_sink_may_request_the_same_parallel_pointer) {
  if (!BYRE_STATS) {
    GTEST_SKIP() << "without statistics there is no sink";
  }
  Tensor x = six();
  const Tensor y = reshaped(x, {2, 3});
  const Tensor clone = x.lazy_clone();
  float* asked_again = nullptr;
  const stats::InstalledSink sink(
      [&](const stats::CopyEvent&) { asked_again = x.mutable_data_in_parallel<float>(); });
  EXPECT_EQ(x.mutable_data_in_parallel<float>(), asked_again);
  EXPECT_EQ(shadow::summary().untracked_escapes, 2U);
}

/// Halts the thread that makes the first report.
Halt& first_report() {
  static Halt halt;
  return halt;
}

TEST_F(TrackedByThreads, a_parallel_write_waits_while_another_write_is_reported) {
  Tensor x = six();
  Tensor y = reshaped(x, {2, 3});
  write(y, site(11));
  const auto caught =
      shadow::set_violation_handler([](const Violation&) noexcept { first_report().enter(); });
  std::atomic<int> asking{0};
  std::atomic<int> returned{0};
  const auto ask = [&] {
    ++asking;
    x.mutable_data_in_parallel<float>(Wait::allowed, site(12));
    ++returned;
  };
  std::thread first(ask);
  first_report().await_entry();
  std::thread second(ask);
  await([&] { return asking == 2; });
  for (int i = 0; i < 1000; ++i) {
    std::this_thread::yield();
  }
  EXPECT_EQ(returned, 0);
  first_report().let_go();
  first.join();
  second.join();
  shadow::set_violation_handler(caught);
  EXPECT_EQ(violations(), 1U);
}

}  // namespace
}  // namespace byre::test
