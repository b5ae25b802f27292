// SPDX-License-Identifier: BSL-1.0
/// Which raw pointers for writing count as escapes when they are handed out. programs_test.cpp
/// tests the escapes that reports name.
#include <byre/interop/npy.hpp>
#include <byre/interop/safetensors.hpp>
#include <byre/shadow/detail/tracking.hpp>

#include <bit>

#include "support/at_once.hpp"
#include "support/temporary_folder.hpp"
#include "support/tensor/fake_device.hpp"
#include "tracked.hpp"

namespace byre::test {
namespace {

class Escapes : public Reported {
 protected:
  static std::uint64_t escapes() { return shadow::summary().untracked_escapes; }
  static std::uint32_t first_escape() { return shadow::summary().first_escape.line; }

  Tensor x = Tensor::of<float>({6}, {1, 2, 3, 4, 5, 6});
};

TEST_F(Escapes, a_triple_stores_the_largest_escape_count_of_its_violations) {
  const Tensor y = reshaped(x, {2, 3});
  Tensor other = Tensor::zeros({6}, DType::f32);
  const Tensor other_reshaped = reshaped(other, {2, 3});
  escape(x, site(31));
  write(x, site(11));
  read(y, site(13));
  escape(x, site(11));
  read(y, site(13));
  write(other, site(11));
  read(other_reshaped, site(13));
  EXPECT_EQ(reports.only().untracked_escapes, 1U);
  EXPECT_EQ(shadow::summary().triples.at(0).untracked_escapes, 2U);
}

TEST_F(Escapes, an_escape_on_another_thread_counts_if_default_mode_tracks) {
  need_threads();
  shadow::set_default_reshape_mode(ReshapeMode::warn);
  on_another_thread([&] { escape(x, site(33)); });
  shadow::set_default_reshape_mode(std::nullopt);
  EXPECT_TRUE(reshaped(x, {2, 3}).aliases(x));
  EXPECT_EQ(first_escape(), 33U);
}

TEST_F(Escapes, foreign_memory_counts_as_one_escape) {
  alignas(64) float values[6] = {};
  Tensor external = Tensor::zeros({6}, DType::f32);
  external.share_external(values, DType::f32, [](void*) {});
  EXPECT_TRUE(reshaped(external, {2, 3}).aliases(external));
  EXPECT_EQ(first_escape(), 10U) << "expected the line of the reshape";
  EXPECT_EQ(escapes(), 1U);
  const auto nothing = [](void*) {};
  for (const Storage& foreign : {Storage(Buffer::adopt(values, sizeof values, nothing)),
                                 Storage(Buffer::adopt_aliased(values, sizeof values, nothing)),
                                 Storage(Buffer::borrow(values, sizeof values))}) {
    const std::uint64_t before = escapes();
    const Tensor tensor = Tensor::over(foreign, {6}, DType::f32);
    EXPECT_TRUE(reshaped(tensor, {2, 3}).aliases(tensor));
    EXPECT_EQ(escapes(), before + 1) << "origin " << static_cast<int>(foreign.origin());
  }
}

TEST_F(Escapes, memory_that_is_pinned_to_write_counts_as_one_escape) {
  {
    const Pin pin = Storage(x.storage()).pin();
    EXPECT_TRUE(reshaped(x, {2, 3}).aliases(x));
    EXPECT_EQ(escapes(), 1U);
    EXPECT_EQ(first_escape(), 10U) << "expected the line of the reshape";
  }
  const Tensor other = x.clone();
  const Pin pin = other.storage().pin_to_read();
  EXPECT_TRUE(reshaped(other, {2, 3}).aliases(other));
  EXPECT_EQ(escapes(), 1U) << "expected no escape by a pin to read";
}

TEST_F(Escapes, pointers_that_byre_uses_itself_do_not_count_as_escapes) {
  const TemporaryFolder folder;
  const NpyFormat swapped{.byte_order = std::endian::native == std::endian::little
                                            ? std::endian::big
                                            : std::endian::little};
  const Device device = FakeDevice::first().device();
  const ReshapeModeScope scope(ReshapeMode::warn);
  save_npy(folder / "native.npy", x);
  save_npy(folder / "swapped.npy", x, swapped);
  save_safetensors(folder / "x.safetensors", NamedTensors{{"x", x}});
  fill_(x, 1);
  x.set_at<float>({0}, 2);
  // clang-format off
  const std::vector<Tensor> all{
      x, x.clone(), x.lazy_clone(), x.view({2, 3}).t().contiguous(), add(x, x),
      x.to(device), x.to(device).to(Device::cpu()), x.to(device).clone(),
      Tensor::of<float>({2}, {1, 2}), Tensor::zeros({3}, DType::f32),
      load_npy(folder / "native.npy"), load_npy(folder / "swapped.npy"),
      load_safetensors(folder / "x.safetensors").tensors[0].second};
  // clang-format on
  for (const Tensor& each : all) {
    EXPECT_EQ(each.reshape({-1, 1}).numel(), each.numel());
  }
  EXPECT_EQ(shadow::summary().reshapes, all.size());
  EXPECT_EQ(escapes(), 0U);
}

TEST_F(Escapes, an_escape_counts_after_the_storages_memory_has_moved) {
  const ReshapeModeScope scope(ReshapeMode::error);
  Tensor others[] = {x.clone(), x.lazy_clone()};
  for (Tensor* const each : {&others[0], &others[1], &x}) {
    escape(*each, site(31));
    each->reserve({1000});
    EXPECT_EQ(each->reshape({2, 3}).numel(), 6);
  }
  x.free_memory().realize(DType::f32);
  EXPECT_EQ(x.reshape({2, 3}).numel(), 6) << "expected a reshape of the new memory";
  EXPECT_EQ(escapes(), 3U);
}

TEST_F(Escapes, scopes_and_linked_storages_count_as_active_tracking) {
  const auto count = [] { return shadow::detail::active_tracking.value(); };
  EXPECT_FALSE(shadow::detail::is_tracking());  // is_tracking() reads the environment
  EXPECT_EQ(count(), 0U);
  {
    const ReshapeModeScope copies(ReshapeMode::copy);
    EXPECT_EQ(count(), 0U);
    const ReshapeModeScope scope(ReshapeMode::warn);
    EXPECT_EQ(count(), 1U);
  }
  {
    const Tensor y = reshaped(x, {2, 3});
    EXPECT_EQ(count(), 1U);
    x = Tensor::zeros({1}, DType::f32);
    EXPECT_EQ(count(), 1U) << "expected tracking as long as the reshaped tensor owns the storage";
  }
  EXPECT_EQ(count(), 0U);
}

TEST_F(Escapes, escape_tracking_is_skipped_if_nothing_would_be_recorded) {
  const auto skips = [&](const Tensor& tensor) {
    return shadow::detail::can_skip_escape_tracking(tensor.storage());
  };
  EXPECT_TRUE(skips(x)) << "expected true while nothing is tracked";
  const Tensor other = Tensor::zeros({6}, DType::f32);
  const Tensor tracked = reshaped(other, {2, 3});
  EXPECT_FALSE(skips(other));
  EXPECT_TRUE(skips(x)) << "expected true if only another storage is tracked";
  const ReshapeModeScope scope(ReshapeMode::warn);
  EXPECT_FALSE(skips(x));
  on_another_thread(
      [&] { EXPECT_TRUE(skips(x)) << "expected true in a mode that does not track"; });
  escape(x, site(31));
  EXPECT_TRUE(skips(x)) << "expected true once an escape is recorded";
  EXPECT_FALSE(skips(other));
}

}  // namespace
}  // namespace byre::test
