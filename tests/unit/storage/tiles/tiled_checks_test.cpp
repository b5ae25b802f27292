// SPDX-License-Identifier: BSL-1.0
// Reports of a checked build about tiled buffers. Compiled in checked builds only.
#include "tiles.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>

#include "support/failing_allocator.hpp"

namespace byre::test {
namespace {

std::string line(int number) {
  return "tiled_checks_test.cpp:" + std::to_string(number);
}

/// A write of a tile that is halted in the middle, on a separate thread.
class TileWriteUnderWay {
 public:
  static constexpr int written_at = __LINE__ + 4;

  TileWriteUnderWay() : clone_(tiled_) {
    allocator_.halt_copy(copy_);
    writer_ = std::thread([this] { tiled_.mutable_tile(1); });
    copy_.await_entry();
  }
  ~TileWriteUnderWay() {
    copy_.let_go();
    writer_.join();
  }
  TileWriteUnderWay(const TileWriteUnderWay&) = delete;
  TileWriteUnderWay& operator=(const TileWriteUnderWay&) = delete;

  TiledBuffer& tiled() { return tiled_; }
  const TiledBuffer& clone() const { return clone_; }

 private:
  FailingAllocator allocator_;
  TiledBuffer tiled_ = tiled_of<TiledBuffer>("aaaabbbb", allocator_);
  TiledBuffer clone_;
  Halt copy_;
  std::thread writer_;
};

std::string complaint(const std::string& access, int here) {
  return line(here) + ": this " + access + " overlaps a write of the same storage at .*" +
         line(TileWriteUnderWay::written_at);
}

TEST(CheckedTilesDeathTest, a_read_during_a_write_names_both_call_sites) {
  const int here = __LINE__ + 1;
  const auto read = [](TiledBuffer& tiled) { (void)tiled.tile(0); };
  EXPECT_DEATH(read(TileWriteUnderWay().tiled()), complaint("read", here));
}

TEST(CheckedTilesDeathTest, every_access_during_a_write_ends_the_program) {
  const auto dies = [](auto access) {
    EXPECT_DEATH(access(TileWriteUnderWay().tiled()), "overlaps a write of the same storage");
  };
  char bytes[1] = {};
  const TiledBuffer other;
  dies([](TiledBuffer& tiled) { (void)TiledBuffer(tiled); });
  dies([](TiledBuffer& tiled) { (void)TiledBuffer(std::move(tiled)); });
  dies([](TiledBuffer& tiled) { (void)tiled.nbytes(); });
  dies([](TiledBuffer& tiled) { (void)tiled.tile_count(); });
  dies([](TiledBuffer& tiled) { tiled.mutable_tile(0); });
  dies([&](TiledBuffer& tiled) { tiled.read(0, std::as_writable_bytes(std::span(bytes))); });
  dies([&](TiledBuffer& tiled) { tiled.write(0, std::as_bytes(std::span(bytes))); });
  dies([&](TiledBuffer& tiled) { tiled.append(std::as_bytes(std::span(bytes))); });
  dies([](TiledBuffer& tiled) { tiled.truncate(1); });
  dies([](TiledBuffer& tiled) { tiled.resize(9); });
  dies([&](TiledBuffer& tiled) { (void)tiled.shares_data_with(other); });
  dies([&](TiledBuffer& tiled) { (void)other.shares_data_with(tiled); });
  dies([&](TiledBuffer& tiled) { (void)tiled.shares_tile_with(other, 0); });
  dies([&](TiledBuffer& tiled) { (void)other.shares_tile_with(tiled, 0); });
  dies([&](TiledBuffer& tiled) { for_each_difference(tiled, other, [](std::size_t) {}); });
  dies([&](TiledBuffer& tiled) { for_each_difference(other, tiled, [](std::size_t) {}); });
  dies([](TiledBuffer& tiled) { swap(tiled, *std::make_unique<TiledBuffer>()); });
  dies([](TiledBuffer& tiled) { std::make_unique<TiledBuffer>()->swap(tiled); });
}

TEST(CheckedTiles, a_clone_may_be_used_during_a_write_to_its_source) {
  const TileWriteUnderWay under_way;
  EXPECT_EQ(under_way.clone().tile(1)[0], std::byte{'b'});
  TiledBuffer other = under_way.clone();
  put(other, 0, 'x');
  EXPECT_EQ(text_of(other), "xaaabbbb");
}

TEST(CheckedTilesDeathTest, a_stale_write_to_a_tile_is_detected_after_a_node_copy) {
  const auto write_through = [] {
    auto tiled = tiled_of<TiledBuffer>("aaaabbbb");
    std::byte* const stale = tiled.mutable_tile(0).data();
    TiledBuffer clone = tiled;
    put(clone, 1, 'x');
    *stale = std::byte{'y'};
    put(tiled, 0, 'z');
  };
  EXPECT_DEATH(write_through(), "write to shared data through a stale pointer");
}

}  // namespace
}  // namespace byre::test
