// SPDX-License-Identifier: BSL-1.0
/// Chains of views: which views are replayed when all views are used, and which values remain in
/// memory afterwards. The opaque backend counts both.
#include <algorithm>
#include <numeric>

#include "tensors.hpp"

namespace byre::test {
namespace {

/// Returns how often `action` replays views and calls scatters.
template <class Action>
OpaqueCounts counts_of(const Action& action) {
  const OpaqueCounts before = opaque_counts();
  action();
  const OpaqueCounts after = opaque_counts();
  return {.replayed = after.replayed - before.replayed,
          .scattered = after.scattered - before.scattered};
}

/// A chain of `depth` views, starting at a row of a base.
class UsedViewChains : public testing::Test {
 protected:
  static constexpr std::size_t depth = 100;

  void SetUp() override {
    x_ = to_functional(to_opaque(Tensor::zeros({3, 2, 2}, DType::f32)));
    other_ = element(x_, 2);
    views_.push_back(element(x_, 1));
    while (views_.size() < depth) {
      views_.push_back(views_.size() % 3 == 0 ? call_for_one("view", {views_.back(), {2, 2}})
                                              : call_for_one("transpose", {views_.back(), 0, 1}));
    }
    EXPECT_EQ(functional_tensor_of(views_.back()).path().depth(), depth);
  }

  std::uint64_t living() const { return opaque_counts().living - others_; }
  void use_all(const std::vector<std::size_t>& order) const {
    for (const std::size_t at : order) {
      functional_tensor_of(views_[at]).sync();
    }
  }
  static std::vector<std::size_t> in_order() {
    std::vector<std::size_t> all(depth);
    std::iota(all.begin(), all.end(), 0U);
    return all;
  }

  const FunctionalizeOptionsScope options_{{.paths = ViewPaths::chains}};
  const IncludeKeys backend_{opaque_backend()};
  const std::uint64_t others_ = opaque_counts().living;
  AnyTensor x_;
  AnyTensor other_;  // a view outside of the chain
  Tensors views_;
};

TEST_F(UsedViewChains, an_update_replays_each_view_once_in_any_order_of_use) {
  std::vector<std::size_t> forth = in_order();
  std::vector<std::size_t> back(forth.rbegin(), forth.rend());
  std::vector<std::size_t> mixed = forth;
  test::Random(7).shuffle(mixed);
  int written = 0;
  for (const std::vector<std::size_t>& order : {back, forth, back, mixed}) {
    call("fill_", {other_, ++written});
    const OpaqueCounts of_all = counts_of([&] { use_all(order); });
    EXPECT_EQ(of_all.replayed, depth);
    EXPECT_EQ(of_all.scattered, 1U);
    EXPECT_EQ(counts_of([&] { use_all(order); }).replayed, 0U);
  }
}

TEST_F(UsedViewChains, replay_starts_at_a_written_view_without_applying_updates) {
  constexpr std::size_t middle = depth / 2;
  call("fill_", {views_[middle], 7});
  const OpaqueCounts behind = counts_of([&] {
    for (std::size_t at = middle; at < depth; ++at) {
      EXPECT_EQ(text_of_value(views_[at]), "[[7. 7.]\n [7. 7.]]");
    }
  });
  EXPECT_EQ(behind.replayed, depth - middle - 1);
  EXPECT_EQ(behind.scattered, 0U);
  EXPECT_EQ(functional_tensor_of(x_).alias()->pending_updates(), 1U);
  const OpaqueCounts before =
      counts_of([&] { EXPECT_EQ(text_of_value(views_[0]), "[[7. 7.]\n [7. 7.]]"); });
  EXPECT_EQ(before.scattered, 1U);
  EXPECT_LE(before.replayed, middle + 2)
      << "only the inverse of the update and the used view may replay";
}

TEST_F(UsedViewChains, values_of_destroyed_views_are_freed) {
  const AnyTensor last = views_.back();
  use_all(in_order());
  EXPECT_EQ(living(), depth + 1) << "all views and the base";
  views_.clear();
  EXPECT_EQ(living(), 2U);
  call("fill_", {other_, 1});
  const OpaqueCounts of_one = counts_of([&] { functional_tensor_of(last).sync(); });
  EXPECT_EQ(of_one.replayed, depth);
  EXPECT_EQ(living(), 3U) << "the last view, other_ and the base";
}

TEST_F(UsedViewChains, transposing_a_view_in_place_leaves_later_views_unchanged) {
  constexpr std::size_t middle = depth / 2;
  use_all(in_order());
  call("transpose_", {views_[middle], 0, 1});
  EXPECT_EQ(counts_of([&] { functional_tensor_of(views_.back()).sync(); }).replayed, 0U);
  call("fill_", {element(element(x_, 1), 0), 3});
  for (std::size_t at = 0; at < depth; ++at) {
    const AnyTensor alone =
        functional_tensor_of(views_[at]).path().replay(functional_tensor_of(x_).sync(), false);
    EXPECT_EQ(text_of_value(views_[at]), text_of_value(alone)) << at;
  }
}

TEST_F(UsedViewChains, a_link_shared_by_two_tensors_survives_one_of_them) {
  use_all(in_order());
  AnyTensor same = call_for_one("alias", {views_[10]});
  EXPECT_EQ(counts_of([&] { functional_tensor_of(same).sync(); }).replayed, 0U);
  same = {};
  call("fill_", {other_, 1});
  use_all(in_order());
  EXPECT_EQ(counts_of([&] { use_all(in_order()); }).replayed, 0U);
}

AnyTensor under_pass(const Dims& sizes, DType dtype = DType::f32) {
  return to_functional(from_cpu(Tensor::zeros(sizes, dtype)));
}

TEST(Chains, true_views_replay_from_a_written_value_of_any_strides) {
  const FunctionalizeOptionsScope scope({true, ViewPaths::chains});
  const AnyTensor x = under_pass({2, 2, 3});
  const AnyTensor row = element(x, 1);
  const AnyTensor flat = call_for_one("view", {row, {6}});
  const AnyTensor turned = call_for_one("transpose", {to_functional(ascending({3, 2})), 0, 1});
  call("copy_", {row, turned});
  EXPECT_EQ(text_of_value(flat), "[0. 2. 4. 1. 3. 5.]");
  EXPECT_EQ(functional_tensor_of(x).alias()->pending_updates(), 1U);
}

// The value that the pass holds is contiguous and does not allow the view, but the strides of the
// tensor in memory allow it.
TEST(Chains, true_views_that_only_the_memorys_strides_allow_are_replayed) {
  const FunctionalizeOptionsScope scope({true, ViewPaths::chains});
  const AnyTensor written = call_for_one("transpose", {under_pass({2, 6, 4}), 1, 2});
  call("copy_", {written, call_for_one("view", {to_functional(ascending(48)), {2, 4, 6}})});
  const AnyTensor first = element(written, 0);
  const AnyTensor pairs = call_for_one("transpose", {first, 0, 1});
  EXPECT_EQ(text_of_value(call_for_one("view", {pairs, {2, 12}})),
            "[[ 0.  6. 12. 18.  1.  7. 13. 19.  2.  8. 14. 20.]\n"
            " [ 3.  9. 15. 21.  4. 10. 16. 22.  5. 11. 17. 23.]]");
  const AnyTensor row = call_for_one("select", {first, 1, 5});
  EXPECT_EQ(text_of_value(call_for_one("view_as_complex", {call_for_one("view", {row, {2, 2}})})),
            "[ 5.+11.j 17.+23.j]");
}

TEST(Chains, replayed_views_of_bools_read_the_bytes_of_the_base) {
  const FunctionalizeOptionsScope scope({.paths = ViewPaths::chains});
  const AnyTensor x = under_pass({3}, DType::boolean);
  const AnyTensor bytes = call_for_one("view.dtype", {x, DType::u8});
  const AnyTensor first = call_for_one("slice", {bytes, 0, 0, 1});
  call("fill_", {bytes, 2});
  EXPECT_EQ(text_of_value(first), "[1]");
  EXPECT_EQ(text_of_value(bytes), "[2 2 2]");
  call("fill_", {element(x, 2), true});
  EXPECT_EQ(text_of_value(first), "[1]");
}

}  // namespace
}  // namespace byre::test
