// SPDX-License-Identifier: BSL-1.0
/// Raw pointers to write that left a storage before a watched reshape met it.
#include <byre/interop/npy.hpp>

#include <algorithm>
#include <bit>
#include <set>

#include "support/at_once.hpp"
#include "support/temporary_folder.hpp"
#include "support/tensor/fake_device.hpp"
#include "watched.hpp"

namespace byre::test {
namespace {

class PointersBefore : public testing::Test {
 protected:
  static void let_one_leave(Tensor& tensor, std::uint32_t number) {
    static_cast<void>(tensor.mutable_data<float>(Wait::allowed, line(number)));
  }
  static std::uint64_t unaudited() { return shadow::summary().unaudited; }
  static std::vector<std::uint32_t> unaudited_lines() {
    std::vector<std::uint32_t> lines;
    for (const auto& unaudited : shadow::summary().unaudited_lines) {
      lines.push_back(unaudited.site.line);
    }
    return lines;
  }

  CaughtReports reports;
  Tensor x = Tensor::of<float>({6}, {1, 2, 3, 4, 5, 6});
};

using Lines = std::vector<std::uint32_t>;

TEST_F(PointersBefore, are_counted_by_the_first_watched_reshape_and_said_in_its_report) {
  const ReshapeModeScope scope(ReshapeMode::warn);
  let_one_leave(x, 31);
  EXPECT_EQ(unaudited(), 0U) << "nothing is watched yet";
  const Tensor y = x.reshape({2, 3}, line(10));
  EXPECT_EQ(unaudited(), 1U);
  EXPECT_EQ(unaudited_lines(), Lines{31});
  x.set_at<float>({0}, 7, line(11));
  static_cast<void>(y.at<float>({0, 0}, line(12)));
  EXPECT_EQ(reports.only().unaudited, 1U);
}

TEST_F(PointersBefore, count_once_for_each_line_through_whichever_view) {
  const ReshapeModeScope scope(ReshapeMode::error);
  Tensor tail = x.slice(0, 3);
  for (int round = 0; round < 3; ++round) {
    let_one_leave(x, 31);
    let_one_leave(tail, 32);
    static_cast<void>(tail.mutable_raw_data(Wait::allowed, line(33)));
    let_one_leave(tail, 31);
  }
  const Tensor y = x.reshape({2, 3}, line(10));
  EXPECT_EQ(unaudited(), 3U);
  EXPECT_EQ(unaudited_lines(), (Lines{31, 32, 33}));
  const Tensor another = x.reshape({3, 2}, line(10));
  EXPECT_EQ(unaudited(), 3U) << "only the first reshape counts them";
  let_one_leave(x, 31);
  EXPECT_EQ(unaudited(), 3U) << "of the family the storage began with the line is known";
}

TEST_F(PointersBefore, count_for_each_storage) {
  const ReshapeModeScope scope(ReshapeMode::warn);
  Tensor others[2] = {x.clone(), x.lazy_clone()};
  for (Tensor& other : others) {
    let_one_leave(x, 31);
    let_one_leave(other, 31);
  }
  EXPECT_EQ(x.reshape({2, 3}).numel(), 6);
  EXPECT_EQ(unaudited(), 1U);
  const Tensor of_others[2] = {others[0].reshape({3, 2}), others[1].reshape({3, 2})};
  EXPECT_EQ(unaudited(), 3U);
  ASSERT_EQ(shadow::summary().unaudited_lines.size(), 1U);
  EXPECT_EQ(shadow::summary().unaudited_lines[0].times, 3U);
}

TEST_F(PointersBefore, do_not_count_where_the_mode_did_not_watch_or_nothing_was_to_be_written) {
  let_one_leave(x, 31);
  Tensor realized(Device::cpu());
  realized.resize({6});
  let_one_leave(realized, 35);
  Tensor empty = Tensor::zeros({0}, DType::f32);
  const ReshapeModeScope scope(ReshapeMode::warn);
  elsewhere([&] { let_one_leave(x, 32); });
  for (const ReshapeMode silent : {ReshapeMode::copy, ReshapeMode::alias}) {
    const ReshapeModeScope inner(silent);
    let_one_leave(x, 33);
  }
  let_one_leave(empty, 34);
  const Tensor y = x.reshape({2, 3}, line(10));
  const Tensor nothing = empty.reshape({3, 0}, line(10));
  const Tensor of_realized = realized.reshape({2, 3}, line(10));
  EXPECT_EQ(unaudited(), 0U);
}

TEST_F(PointersBefore, count_where_the_process_s_default_watches) {
  shadow::set_default_reshape_mode(ReshapeMode::warn);
  let_one_leave(x, 31);
  elsewhere([&] { let_one_leave(x, 32); });
  const Tensor y = x.reshape({2, 3}, line(10));
  shadow::set_default_reshape_mode(std::nullopt);
  EXPECT_EQ(unaudited_lines(), (Lines{31, 32}));
}

TEST_F(PointersBefore, are_none_of_the_library_s_own) {
  const TemporaryFolder folder;
  const NpyFormat swapped{.byte_order = std::endian::native == std::endian::little
                                            ? std::endian::big
                                            : std::endian::little};
  const Device device = FakeDevice::first().device();
  const ReshapeModeScope scope(ReshapeMode::warn);
  save_npy(folder / "native.npy", x);
  save_npy(folder / "swapped.npy", x, swapped);
  fill_(x, 1);
  x.set_at<float>({0}, 2);
  std::vector<Tensor> all{x,
                          x.clone(),
                          x.lazy_clone(),
                          x.view({2, 3}).t().contiguous(),
                          x.to(device),
                          x.to(device).to(Device::cpu()),
                          x.to(device).clone(),
                          Tensor::of<float>({2}, {1, 2}),
                          Tensor::zeros({3}, DType::f32),
                          add(x, x),
                          load_npy(folder / "native.npy"),
                          load_npy(folder / "swapped.npy")};
  for (const Tensor& each : all) {
    EXPECT_EQ(each.reshape({-1, 1}).numel(), each.numel());
  }
  EXPECT_EQ(shadow::summary().reshapes, all.size());
  EXPECT_EQ(unaudited_lines(), Lines{});
}

TEST_F(PointersBefore, do_not_count_for_a_storage_that_is_new) {
  const ReshapeModeScope scope(ReshapeMode::warn);
  let_one_leave(x, 31);
  x.free_memory();
  x.realize(DType::f32);
  EXPECT_EQ(x.reshape({2, 3}).numel(), 6);
  EXPECT_EQ(unaudited_lines(), Lines{});
}

TEST_F(PointersBefore, count_for_a_storage_whose_memory_moved) {
  const ReshapeModeScope scope(ReshapeMode::warn);
  let_one_leave(x, 31);
  x.reserve({1000});
  EXPECT_EQ(x.reshape({2, 3}).numel(), 6);
  EXPECT_EQ(unaudited_lines(), Lines{31});
}

TEST_F(PointersBefore, leave_one_trail_in_whatever_order) {
  const ReshapeModeScope scope(ReshapeMode::warn);
  Lines lines{31, 32, 33, 34};
  std::set<std::uint32_t> trails;
  do {
    Tensor each = x.clone();
    for (const std::uint32_t number : lines) {
      let_one_leave(each, number);
    }
    trails.insert(each.storage().noted());
  } while (std::ranges::next_permutation(lines).found);
  EXPECT_EQ(trails.size(), 1U);
}

TEST_F(PointersBefore, leave_by_more_lines_than_are_told_apart) {
  const ReshapeModeScope scope(ReshapeMode::warn);
  Lines expected{0};  // the others are one that is not known
  for (std::uint32_t number = 100; number < 200; ++number) {
    let_one_leave(x, number);
    if (expected.size() <= shadow::most_lines_of_trail) {
      expected.push_back(number);
    }
  }
  let_one_leave(x, 100);
  const Tensor y = x.reshape({2, 3}, line(10));
  EXPECT_EQ(unaudited(), shadow::most_lines_of_trail + 1);
  EXPECT_EQ(unaudited_lines(), expected);
}

TEST_F(PointersBefore, count_once_for_first_reshapes_at_once) {
  const ReshapeModeScope scope(ReshapeMode::warn);
  for (std::uint64_t round = 1; round <= 50; ++round) {
    Tensor shared = x.clone();
    let_one_leave(shared, 31);
    at_once(4, [&](std::size_t) {
      const ReshapeModeScope here(ReshapeMode::warn);
      EXPECT_EQ(shared.reshape({2, 3}, line(10)).numel(), 6);
    });
    ASSERT_EQ(unaudited(), round);
  }
}

TEST_F(PointersBefore, of_storages_on_many_threads_are_those_of_each) {
  at_once(4, [&](std::size_t thread) {
    const ReshapeModeScope here(ReshapeMode::warn);
    for (int round = 0; round < 50; ++round) {
      Tensor own = x.clone();
      for (std::uint32_t number = 0; number <= thread; ++number) {
        let_one_leave(own, 40 + number);
      }
      EXPECT_EQ(own.reshape({2, 3}, line(10)).numel(), 6);
    }
  });
  const auto lines = shadow::summary().unaudited_lines;
  ASSERT_EQ(lines.size(), 4U);
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    EXPECT_EQ(lines[thread].times, 50 * (4 - thread));
  }
}

TEST_F(PointersBefore, are_looked_out_for_while_there_is_a_reason_to) {
  EXPECT_FALSE(shadow::detail::is_watching());  // the environment is looked at by now
  EXPECT_TRUE(shadow::detail::watch_count.is_none());
  {
    const ReshapeModeScope copies(ReshapeMode::copy);
    EXPECT_TRUE(shadow::detail::watch_count.is_none());
    const ReshapeModeScope scope(ReshapeMode::warn);
    EXPECT_FALSE(shadow::detail::watch_count.is_none());
  }
  EXPECT_TRUE(shadow::detail::watch_count.is_none());
  {
    const Tensor y = reshaped(x, {2, 3});
    EXPECT_FALSE(shadow::detail::watch_count.is_none());
    x = Tensor::zeros({1}, DType::f32);
    EXPECT_FALSE(shadow::detail::watch_count.is_none()) << "the reshaped tensor has the storage";
  }
  EXPECT_TRUE(shadow::detail::watch_count.is_none());
  for (const auto mode : {ReshapeMode::error, ReshapeMode::warn, ReshapeMode::alias}) {
    shadow::set_default_reshape_mode(mode);
    EXPECT_EQ(shadow::detail::watch_count.is_none(), mode == ReshapeMode::alias);
  }
  shadow::set_default_reshape_mode(std::nullopt);
  EXPECT_TRUE(shadow::detail::watch_count.is_none());
}

TEST_F(PointersBefore, leave_unsaid_where_nothing_is_to_be_said) {
  const auto leaves_unsaid = [&](const Tensor& tensor, std::uint32_t number) {
    return shadow::may_escape_unsaid(tensor.storage(), line(number));
  };
  let_one_leave(x, 30);
  EXPECT_TRUE(leaves_unsaid(x, 31)) << "nothing is watched";
  const Tensor other = Tensor::zeros({6}, DType::f32);
  const Tensor watched = reshaped(other, {2, 3});
  EXPECT_FALSE(leaves_unsaid(other, 31));
  EXPECT_TRUE(leaves_unsaid(x, 31)) << "another storage is, and the mode does not watch";
  const ReshapeModeScope scope(ReshapeMode::warn);
  EXPECT_FALSE(leaves_unsaid(x, 31));
  let_one_leave(x, 31);
  EXPECT_TRUE(leaves_unsaid(x, 31)) << "it is noted";
  EXPECT_FALSE(leaves_unsaid(x, 32));
  EXPECT_FALSE(leaves_unsaid(other, 31));
  elsewhere([&] { EXPECT_TRUE(leaves_unsaid(x, 32)) << "the mode there does not watch"; });
}

}  // namespace
}  // namespace byre::test
