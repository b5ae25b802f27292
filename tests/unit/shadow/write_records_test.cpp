// SPDX-License-Identifier: BSL-1.0
/// Which superseded writes the records of a storage keep.
#include <byre/shadow/detail/generation.hpp>
#include <byre/shadow/detail/write_records.hpp>

#include <gtest/gtest.h>
#include <cstdint>
#include <vector>

namespace byre::test {
namespace {

using shadow::detail::RecordId;
using shadow::detail::WriteStamp;

struct Numbered {
  explicit Numbered(int key) noexcept : number(key) {}
  bool is(int key) const noexcept { return number == key; }
  int number;
};

class WriteRecords : public testing::Test {
 protected:
  using Records = shadow::detail::basic_write_records<sync::Boost, Numbered>;

  void write(int origin) {
    records_.write(family_, storage_, Records::id_of(*records_.find_or_add(origin)));
  }
  static WriteStamp stamp_of(std::uint64_t generation) {
    return WriteStamp(generation << WriteStamp::record_bits);
  }
  /// Generations, the last recorded origin first.
  std::vector<std::uint64_t> superseded(std::uint64_t after = 0, std::uint64_t before = 100) const {
    std::vector<std::uint64_t> generations;
    records_.for_each_between(stamp_of(after), stamp_of(before),
                              [&](WriteStamp write) { generations.push_back(write.generation()); });
    return generations;
  }

 private:
  Records records_;
  shadow::detail::basic_storage_generation<sync::Boost> storage_;
  shadow::detail::basic_family_generation<sync::Boost> family_;
};

TEST_F(WriteRecords, keep_no_write_that_was_superseded_at_the_same_call_site) {
  for (int times = 0; times < 3; ++times) {
    write(1);
  }
  EXPECT_EQ(superseded(), std::vector<std::uint64_t>{});
}

TEST_F(WriteRecords, keep_the_last_write_of_each_call_site_but_the_last) {
  for (const int origin : {1, 1, 2, 2, 2, 3, 2, 3, 3}) {
    write(origin);
  }
  EXPECT_EQ(superseded(), (std::vector<std::uint64_t>{6, 7, 2}));
}

TEST_F(WriteRecords, have_no_write_that_was_observed_or_is_not_before_the_last) {
  for (const int origin : {1, 2, 3, 4}) {
    write(origin);
  }
  EXPECT_EQ(superseded(1, 3), std::vector<std::uint64_t>{2});
}

}  // namespace
}  // namespace byre::test
