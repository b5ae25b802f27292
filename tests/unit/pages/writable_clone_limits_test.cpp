// SPDX-License-Identifier: BSL-1.0
/// Writable clones if the system refuses mappings, memory, moves or descriptors.
#include <byre/memory/pages.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "children.hpp"
#include "paged_buffers.hpp"
#include "support/emulated.hpp"
#include "support/failing_new.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_folder.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

/// The buffer to clone, and a second overlay of the buffer's file, or an empty buffer.
struct Source {
  Buffer buffer;
  Buffer other;

  void write_pages(std::size_t count) {
    for (std::size_t page = 0; page < count; ++page) {
      buffer.mutable_data()[page * page_nbytes] = std::byte{2};
    }
  }
};

enum class Kind : std::uint8_t { fresh, few_written, much_written, sole, mapped };
constexpr Kind kinds[] = {Kind::fresh, Kind::few_written, Kind::much_written, Kind::sole,
                          Kind::mapped};

class WritableCloneLimits : public testing::TestWithParam<Kind> {
 protected:
  WritableCloneLimits() { write_file(folder_ / "file", std::string(least_paged_nbytes, '\1')); }

  Source source() const {
    Source made{GetParam() == Kind::mapped ? Buffer::map_file(folder_ / "file")
                                           : filled(std::byte{1}, least_paged_nbytes),
                Buffer()};
    if (GetParam() != Kind::fresh) {
      made.other = made.buffer.writable_clone();
      made.write_pages(GetParam() == Kind::much_written ? least_paged_nbytes / page_nbytes / 2 : 2);
    }
    if (GetParam() == Kind::sole) {
      made.other = Buffer();
    }
    made.buffer.mutable_data();
    return made;
  }

  /// For several `tries`, makes a writable clone while the object that `limit(tries)` returns is
  /// alive. Whether the call fails or not, the source must be intact, and writes to the source or
  /// the clone must not be visible in the other.
  template <class Limit>
  void expect_whole(Limit limit) const {
    for (std::size_t tries = 0; tries < 12; ++tries) {
      SCOPED_TRACE(tries);
      Source source = this->source();
      std::byte* const place = source.buffer.mutable_data();
      const Buffer expected = copy_of(source.buffer);
      std::optional<Buffer> clone;
      try {
        const auto limited = limit(tries);
        clone = source.buffer.writable_clone();
      } catch (const OutOfMemory&) {
      }
      EXPECT_EQ(source.buffer.data(), place);
      EXPECT_TRUE(source.buffer.is_unique());
      expect_equal(source.buffer, expected);
      if (clone) {
        expect_equal(*clone, expected);
        clone->mutable_data()[1] = std::byte{3};
        clone->mutable_data()[least_paged_nbytes - 1] = std::byte{3};
      }
      expect_equal(source.buffer, expected);
      place[1] = std::byte{4};
      place[least_paged_nbytes - 2] = std::byte{4};
      place[9 * page_nbytes] = std::byte{4};
      Buffer later = source.buffer.writable_clone();
      EXPECT_EQ(later.origin(), Origin::overlay);
      EXPECT_EQ(source.buffer.data(), place);
      expect_equal(later, source.buffer);
      EXPECT_EQ(place[9 * page_nbytes], std::byte{4});
      if (clone) {
        EXPECT_EQ(clone->data()[9 * page_nbytes], expected.data()[9 * page_nbytes]);
        EXPECT_EQ(clone->data()[1], std::byte{3});
        EXPECT_EQ(clone->data()[least_paged_nbytes - 2], std::byte{1});
      }
      if (source.other.nbytes() != 0) {
        EXPECT_TRUE(is_all(source.other, std::byte{1}));
      }
    }
  }

  static Buffer copy_of(const Buffer& buffer) {
    Buffer copy = Buffer::allocate(buffer.nbytes());
    std::memcpy(copy.mutable_data(), buffer.data(), buffer.nbytes());
    return copy;
  }
  static void expect_equal(const Buffer& left, const Buffer& right) {
    ASSERT_EQ(left.nbytes(), right.nbytes());
    EXPECT_EQ(std::memcmp(left.data(), right.data(), left.nbytes()), 0);
  }

  const TemporaryFolder folder_;
};

TEST_P(WritableCloneLimits, source_and_clone_are_intact_if_any_mapping_is_refused) {
  for (const std::size_t refused : {1U, 1'000U}) {
    expect_whole([&](std::size_t tries) {
      auto system = std::make_unique<WatchedSystem>();
      system->refuse_maps(refused, tries);
      return system;
    });
  }
}

TEST_P(WritableCloneLimits, source_and_clone_are_intact_if_memory_for_pages_runs_out) {
  expect_whole([](std::size_t tries) {
    auto system = std::make_unique<WatchedSystem>();
    system->fail_after(tries);
    return system;
  });
}

TEST_P(WritableCloneLimits, source_and_clone_are_intact_if_the_heap_is_full) {
  for (const Failures failures : {Failures::one, Failures::all_that_follow}) {
    expect_whole([&](std::size_t tries) {
      struct Limited {
        explicit Limited(int nth, Failures which) : failing(nth, which) {}
        FailingNew failing;
      };
      return std::optional<Limited>(std::in_place, static_cast<int>(tries), failures);
    });
  }
}

TEST_P(WritableCloneLimits, source_and_clone_are_intact_if_moving_a_mapping_is_refused) {
  if (is_sanitized) {
    GTEST_SKIP() << "sanitizers replace mremap()";
  }
  expect_whole([](std::size_t tries) {
    auto system = std::make_unique<WatchedSystem>();
    system->moves = false;
    system->unmaps_targets = tries % 2 == 1;
    return system;
  });
}

TEST_P(WritableCloneLimits, source_and_clone_are_intact_if_memory_or_addresses_run_out) {
  if (is_sanitized || is_emulated()) {
    GTEST_SKIP() << "sanitizers and emulators need more memory";
  }
  for (const auto& [limit, used_nbytes] :
       {std::pair(RLIMIT_DATA, &data_nbytes), {RLIMIT_AS, &address_space_nbytes}}) {
    in_a_child([&, limit = limit, used_nbytes = used_nbytes] {
      expect_whole([&](std::size_t tries) {
        set_limit(limit, used_nbytes() + tries * least_paged_nbytes / 2);
        return std::shared_ptr<void>(nullptr, [=](void*) { set_limit(limit, RLIM_INFINITY); });
      });
    });
  }
}

TEST_P(WritableCloneLimits, source_and_clone_are_intact_if_descriptors_are_lost) {
  in_a_child([this] {
    Source source = this->source();
    std::byte* const place = source.buffer.mutable_data();
    const Buffer expected = copy_of(source.buffer);
    const std::string contents(least_paged_nbytes * 8, 'f');
    write_file(folder_ / "foreign", contents);
    reuse_all_numbers(folder_ / "foreign");
    Buffer clone = source.buffer.writable_clone();
    EXPECT_EQ(source.buffer.data(), place);
    expect_equal(clone, expected);
    place[1] = std::byte{4};
    clone.mutable_data()[0] = std::byte{5};
    EXPECT_EQ(clone.data()[1], expected.data()[1]);
    EXPECT_EQ(source.buffer.data()[0], expected.data()[0]);
    source = Source();
    clone = Buffer();
    EXPECT_EQ(read_file(folder_ / "foreign"), contents);
  });
}

TEST_P(WritableCloneLimits, source_and_clone_are_intact_if_all_memory_is_locked) {
  if (is_sanitized) {
    GTEST_SKIP() << "sanitizers ignore mlockall()";
  }
  for (const int flags : {MCL_FUTURE, MCL_CURRENT | MCL_FUTURE}) {
    in_a_child([&] {
      expect_whole([&](std::size_t) {
        ::mlockall(flags);  // may fail without permission; the test then runs unlocked
        return std::shared_ptr<void>(nullptr, [](void*) {});
      });
    });
  }
}

TEST_P(WritableCloneLimits, source_and_clone_are_intact_if_mappings_are_used_up) {
  if (most_mappings() == 0 || is_sanitized || is_emulated()) {
    GTEST_SKIP() << "the limit of mappings is too high to be reached, or is shared with a "
                    "sanitizer or emulator";
  }
  in_a_child([this] {
    Source source = this->source();
    std::byte* const place = source.buffer.mutable_data();
    const Buffer expected = copy_of(source.buffer);
    Buffer clone;
    use_up_mappings();
    try {
      clone = source.buffer.writable_clone();
      expect_equal(clone, expected);
    } catch (const OutOfMemory&) {
    }
    EXPECT_EQ(source.buffer.data(), place);
    expect_equal(source.buffer, expected);
    place[least_paged_nbytes - 1] = std::byte{4};
    EXPECT_EQ(source.buffer.data()[least_paged_nbytes - 1], std::byte{4});
  });
}

std::string name_of(const testing::TestParamInfo<Kind>& info) {
  constexpr const char* names[] = {"fresh", "few_written", "much_written", "sole", "mapped"};
  return names[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(OfAllKinds, WritableCloneLimits, testing::ValuesIn(kinds), name_of);

}  // namespace
}  // namespace byre::test
