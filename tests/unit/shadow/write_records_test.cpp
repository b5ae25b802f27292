// SPDX-License-Identifier: BSL-1.0
/// Tests which writes the records of a storage hold.
#include <byre/shadow/detail/shadow_storage.hpp>

#include <array>

#include "tracked.hpp"

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
  using Records = shadow::detail::basic_write_records<sync::Default, Numbered>;

  void write(int origin) {
    records_.write(family_, storage_, Records::id_of(*records_.find_or_add(origin)));
  }
  static WriteStamp stamp_of(std::uint64_t generation) {
    return WriteStamp(generation << WriteStamp::record_bits);
  }
  /// The generations of superseded writes, those of the newest record first.
  std::vector<std::uint64_t> superseded(std::uint64_t after = 0, std::uint64_t before = 100) const {
    std::vector<std::uint64_t> generations;
    records_.for_each_between(stamp_of(after), stamp_of(before),
                              [&](WriteStamp write) { generations.push_back(write.generation()); });
    return generations;
  }

 private:
  Records records_;
  shadow::detail::basic_storage_generation<sync::Default> storage_;
  shadow::detail::basic_family_generation<sync::Default> family_;
};

TEST_F(WriteRecords, each_origin_has_a_record_of_its_last_superseded_write) {
  for (const int origin : {1, 1, 1}) {
    write(origin);
  }
  EXPECT_EQ(superseded(), std::vector<std::uint64_t>{});
  for (const int origin : {2, 2, 2, 3, 2, 3, 3}) {
    write(origin);
  }
  EXPECT_EQ(superseded(), (std::vector<std::uint64_t>{7, 8, 3}));
  write(4);
  EXPECT_EQ(superseded(), (std::vector<std::uint64_t>{10, 8, 3}));
  EXPECT_EQ(superseded(3, 10), std::vector<std::uint64_t>{8})
      << "expected neither the observed write nor the last one";
}

TEST(WriteRecordsOfStorages, a_loop_over_sizes_uses_one_record_per_call_site) {
  namespace detail = shadow::detail;
  const CaughtReports reports;
  const Storage storage = Storage::allocate(400);
  shadow::ShadowHandle first;
  for (std::int64_t size = 1; size <= 100; ++size) {
    const std::array sizes{size};
    const auto family =
        detail::link_by_reshape(storage, nullptr, ReshapeMode::warn, {site(10), sizes}, sizes);
    detail::end_write(storage, family.get(), {site(11), sizes});
    first = first != nullptr ? first : family;
    EXPECT_EQ(family->generation.observed().record(), first->generation.observed().record());
  }
}

}  // namespace
}  // namespace byre::test
