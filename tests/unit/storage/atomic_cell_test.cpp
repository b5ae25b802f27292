// SPDX-License-Identifier: BSL-1.0
// The cell of an AtomicBuffer: random steps, compared with a model, with small stocks and with the
// lock; and borrowed, aliased and pinned memory.
#include <byre/storage/atomic_buffer.hpp>
#include <byre/storage/atomic_storage.hpp>
#include <byre/storage/tiles/atomic_tiles.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "support/at_once.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"
#include "support/random.hpp"
#include "text.hpp"
#include "tiles/tiles.hpp"

namespace byre::test {
namespace {

constexpr CallSite nowhere{};

/// The model of a buffer: `identity` is equal for buffers that share their data, 0 if the buffer is
/// empty.
struct Value {
  Buffer buffer;
  std::size_t identity = 0;
};

/// A cell, some values outside it, and the model of both.
template <class Cell>
class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(seed) {}

  void step() {
    Value& value = values_[random_.below(values_.size())];
    Value& other = values_[random_.below(values_.size())];
    switch (random_.below(10)) {
      case 0:
        value = {};
        break;
      case 1:
        value = fresh(Buffer::allocate(1, allocator_));
        break;
      case 2:
        store(borrowed());
        break;
      case 3:
        value = exchange(borrowed());
        break;
      case 4:
        store(clone_of(value));
        break;
      case 5:
        value = exchange(clone_of(other));
        break;
      case 6:
        compare_exchange(value, clone_of(other));
        break;
      case 7:
        if (value.identity != 0) {
          value = fresh(std::move(value.buffer));
        }
        break;
      default:
        value = load();
    }
    check();
  }

  std::size_t blocks_out() const { return allocator_.blocks_out(); }
  void drop_all() {
    values_ = {};
    store({});
  }

 private:
  /// Writes a new number into the buffer.
  Value fresh(Buffer&& buffer) {
    numbers_.push_back(static_cast<std::byte>(random_.below(250)));
    buffer.mutable_data()[0] = numbers_.back();
    return {std::move(buffer), numbers_.size() - 1};
  }
  Value borrowed() {
    foreign_.push_back(std::make_unique<std::byte>());
    return fresh(Buffer::borrow(foreign_.back().get(), 1, allocator_));
  }
  /// A lazy clone shares the data, unless the memory is borrowed.
  Value copied(Buffer&& buffer, const Value& source) {
    if (source.buffer.origin() == Origin::borrowed) {
      numbers_.push_back(numbers_[source.identity]);
      return {std::move(buffer), numbers_.size() - 1};
    }
    return {std::move(buffer), source.identity};
  }
  Value clone_of(const Value& source) { return copied(Buffer(source.buffer), source); }

  Value load() {
    Value loaded = {cell_.template load<detail::Reported::yes>(nowhere), content_};
    if (content_is_borrowed_) {
      numbers_.push_back(numbers_[content_]);
      loaded.identity = numbers_.size() - 1;
    }
    return loaded;
  }
  Value exchange(Value&& desired) {
    Value former{Buffer(), content_};
    content_is_borrowed_ = desired.buffer.origin() == Origin::borrowed;
    content_ = desired.identity;
    former.buffer = cell_.exchange(std::move(desired.buffer), nowhere);
    ++stores_;
    return former;
  }
  void store(Value&& desired) { static_cast<void>(exchange(std::move(desired))); }
  void compare_exchange(const Value& expected, Value&& desired) {
    const bool is_equal = expected.identity == content_;
    ASSERT_EQ(cell_.compare_exchange(expected.buffer, desired.buffer, nowhere), is_equal);
    if (is_equal) {
      ASSERT_EQ(desired.buffer.data(), nullptr);
      content_ = desired.identity;
      content_is_borrowed_ = false;
      ++stores_;
    } else {
      expect_number(desired);
    }
  }

  void expect_number(const Value& value) const {
    ASSERT_EQ(value.buffer.nbytes(), value.identity == 0 ? 0U : 1U);
    if (value.identity != 0) {
      ASSERT_EQ(*std::as_const(value.buffer).data(), numbers_[value.identity]);
    }
  }
  void check() {
    ASSERT_EQ(cell_.version(), stores_);
    expect_number(load());
    for (const Value& value : values_) {
      expect_number(value);
      ASSERT_EQ(cell_.holds(value.buffer), value.identity == content_);
      for (const Value& other : values_) {
        ASSERT_EQ(value.buffer.shares_data_with(other.buffer),
                  value.identity != 0 && value.identity == other.identity);
      }
    }
  }

  Random random_;
  FailingAllocator allocator_;
  std::vector<std::unique_ptr<std::byte>> foreign_;
  std::vector<std::byte> numbers_{std::byte{0}};  // of each identity
  std::array<Value, 4> values_;
  std::size_t content_ = 0;  // an identity
  bool content_is_borrowed_ = false;
  std::uint64_t stores_ = 0;
  Cell cell_;
};

/// A cell whose slot has this AtomicSlotLayout.
template <unsigned address_bits, std::uint64_t stock, std::uint64_t refill_at,
          std::uint32_t max_owners>
using CellOf = detail::basic_atomic_cell<
    sync::Default,
    cow::basic_atomic_slot<sync::Default,
                           cow::AtomicSlotLayout{address_bits, stock, refill_at, max_owners}>>;

template <class Cell>
class AtomicCell : public testing::Test {};
using Cells = testing::Types<detail::basic_atomic_cell<sync::Default>,  //
                             CellOf<48, 4, 1, 1000>,                    // each load refills
                             CellOf<48, 6, 3, 1000>,
                             CellOf<4, 3, 1, 1000>,  // no address fits: all data is held
                             CellOf<48, 4, 1, 3>>;   // data with 3 owners is held
TYPED_TEST_SUITE(AtomicCell, Cells);

template <class Cell>
void run_random_steps() {
  Program<Cell> program(seed());
  for (int step = 0; step < 2000 && !testing::Test::HasFatalFailure(); ++step) {
    program.step();
  }
  program.drop_all();
  EXPECT_EQ(program.blocks_out(), 0U);
}

TYPED_TEST(AtomicCell, random_steps_agree_with_a_model) {
  run_random_steps<TypeParam>();
}

/// If a load refilled one step too late, the assertion of S3 would end the program.
TEST(AtomicSlot, one_thread_needs_one_owner_more_than_refill_at) {
  run_random_steps<CellOf<48, 2, 1, 1000>>();
  run_random_steps<CellOf<48, 5, 4, 1000>>();
}

/// Fitting and borrowed memory alternate, so stores lock the slot and replace the lock at once.
TYPED_TEST(AtomicCell, each_stored_buffer_is_returned_by_one_exchange) {
  constexpr std::size_t threads = 3, exchanges = 400;
  std::array<std::atomic<int>, threads * exchanges> returned{};
  TypeParam cell;
  const auto count = [&](const Buffer& buffer) {
    if (buffer.nbytes() != 0) {
      std::size_t number = 0;
      std::memcpy(&number, buffer.data(), sizeof number);
      ++returned[number];
    }
  };
  std::array<std::array<std::size_t, exchanges>, threads> numbers{};
  at_once(threads, [&](std::size_t thread) {
    for (std::size_t at = 0; at < exchanges; ++at) {
      std::size_t& number = numbers[thread][at];
      number = thread * exchanges + at;
      Buffer buffer = Buffer::borrow(&number, sizeof number);
      if (at % 2 != 0) {
        buffer = Buffer(buffer);  // a copy, which fits
      }
      count(cell.exchange(std::move(buffer), nowhere));
      const Buffer loaded = cell.template load<detail::Reported::yes>(nowhere);
      EXPECT_TRUE(loaded.nbytes() == 0 || loaded.nbytes() == sizeof number);
    }
  });
  count(cell.exchange(Buffer(), nowhere));
  for (const auto& times : returned) {
    EXPECT_EQ(times, 1);
  }
  EXPECT_EQ(cell.version(), threads * exchanges + 1);
}

TYPED_TEST(AtomicCell, data_in_a_cell_is_never_written_in_place) {
  TypeParam cell;
  const auto loaded = [&] { return cell.template load<detail::Reported::yes>(nowhere); };
  static_cast<void>(cell.exchange(of_text<Buffer>("cow"), nowhere));
  for (int round = 0; round < 10; ++round) {
    Buffer buffer = loaded();
    EXPECT_FALSE(buffer.is_unique());
    buffer.mutable_data()[0] = std::byte{'n'};
    EXPECT_EQ(text_of(loaded()), "cow");
  }
  Buffer last = cell.exchange(Buffer(), nowhere);
  EXPECT_EQ(last.use_count(), 1U);
  EXPECT_EQ(last.materialize(), Materialized::already_unique);
}

TEST(AtomicSlot, data_with_many_owners_gets_no_stock) {
  for (const std::uint32_t owners : {2U, 3U}) {
    CellOf<48, 4, 1, 3> cell;
    const Buffer buffer = of_text<Buffer>("cow");
    const std::vector<Buffer> others(owners - 2, buffer);
    static_cast<void>(cell.exchange(Buffer(buffer), nowhere));
    EXPECT_EQ(buffer.use_count(), owners == 2 ? 1U + 4U : 3U);
  }
}

TEST(AtomicBuffer, a_load_copies_borrowed_and_aliased_memory) {
  std::array<char, 3> memory = {'c', 'o', 'w'};
  const auto borrow = [&] { return Buffer::borrow(memory.data(), 3); };
  const auto alias = [&] { return Buffer::adopt_aliased(memory.data(), 3, [](void*) {}); };
  for (const bool is_borrowed : {true, false}) {
    AtomicBuffer place(is_borrowed ? borrow() : alias());
    const Buffer loaded = place.load();
    EXPECT_EQ(loaded.origin(), Origin::allocated);
    memory[0] = 'n';
    EXPECT_EQ(text_of(loaded), "cow");
    EXPECT_EQ(text_of(place.load()), "now");
    memory[0] = 'c';
    const Buffer former = place.exchange(borrow());
    EXPECT_EQ(static_cast<const void*>(former.data()), memory.data());
  }
}

TEST(AtomicBuffer, no_buffer_equals_borrowed_content) {
  std::array<char, 3> memory = {'c', 'o', 'w'};
  AtomicBuffer place(Buffer::borrow(memory.data(), 3));
  Buffer loaded = place.load();
  EXPECT_FALSE(place.holds(loaded));
  place.wait(loaded);
  EXPECT_FALSE(place.compare_exchange(loaded, Buffer()));
  EXPECT_EQ(text_of(place.load()), "cow");
}

TEST(AtomicBuffer, copies_name_the_line_of_the_caller) {
  if (!BYRE_STATS) {
    GTEST_SKIP() << "built without stats";
  }
  std::array<char, 3> memory = {'c', 'o', 'w'};
  const Buffer loan = Buffer::borrow(memory.data(), 3);
  const Recorder recorder;
  AtomicBuffer place(loan);
  place.store(loan);
  static_cast<void>(place.exchange(loan));
  Buffer expected;
  place.compare_exchange(expected, loan);
  const int last = __LINE__ - 1;
  place.store(Buffer::borrow(memory.data(), 3));
  static_cast<void>(place.load());
  std::vector<int> lines;
  for (const stats::CopyEvent& event : recorder.events()) {
    lines.push_back(static_cast<int>(event.site.line));
  }
  EXPECT_EQ(lines, (std::vector{last - 4, last - 3, last - 2, last, last + 3}));
}

TEST(AtomicBuffer, an_lvalue_of_borrowed_memory_that_cannot_be_copied_throws) {
  std::array<char, 3> memory = {'c', 'o', 'w'};
  FailingAllocator allocator;
  const Buffer loan = Buffer::borrow(memory.data(), 3, allocator);
  const Buffer ox = of_text<Buffer>("ox");
  AtomicBuffer place(ox);
  Buffer expected = ox;
  allocator.fail_allocation(0);
  EXPECT_THROW(place.store(loan), OutOfMemory);
  allocator.fail_allocation(0);
  EXPECT_THROW(static_cast<void>(place.exchange(loan)), OutOfMemory);
  allocator.fail_allocation(0);
  EXPECT_THROW(place.compare_exchange(expected, loan), OutOfMemory);
  EXPECT_TRUE(place.holds(ox));
}

TEST(AtomicBufferDeathTest, compare_exchange_of_one_object_with_itself_ends_the_program) {
  AtomicBuffer place;
  Buffer buffer;
  EXPECT_DEATH(place.compare_exchange(buffer, std::move(buffer)), "are one object");
}

constinit AtomicBuffer global_place;

TEST(AtomicBuffer, a_global_object_needs_no_code_at_the_start) {
  global_place.store(of_text<Buffer>("cow"));
  EXPECT_EQ(text_of(global_place.exchange(Buffer())), "cow");
}

TEST(AtomicBuffer, a_failed_copy_of_a_load_leaves_the_content) {
  std::array<char, 3> memory = {'c', 'o', 'w'};
  FailingAllocator allocator;
  AtomicBuffer place(Buffer::borrow(memory.data(), 3, allocator));
  Buffer expected = of_text<Buffer>("ox");
  const Buffer ox = expected;
  for (int attempt = 0; attempt < 2; ++attempt) {
    allocator.fail_allocation(0);
    EXPECT_THROW(static_cast<void>(place.load()), OutOfMemory);
    allocator.fail_copy(0);
    EXPECT_THROW(static_cast<void>(place.compare_exchange(expected, Buffer())),
                 FailingAllocator::CopyFailed);
  }
  EXPECT_TRUE(expected.shares_data_with(ox));
  EXPECT_EQ(text_of(place.load()), "cow");
  EXPECT_EQ(place.version(), 0U);
}

/// The store has to wait for the copy, so it cannot return while the copy looks for its return.
TEST(AtomicBuffer, borrowed_memory_is_not_read_after_a_store_returned) {
  std::array<char, 3> memory = {'c', 'o', 'w'};
  FailingAllocator allocator;
  AtomicBuffer place(Buffer::borrow(memory.data(), 3, allocator));
  std::atomic<bool> is_copying = false, is_returned = false;
  allocator.during_copy([&] {
    is_copying = true;
    for (int look = 0; look < 1000; ++look) {
      ASSERT_FALSE(is_returned);
      std::this_thread::yield();
    }
  });
  at_once(2, [&](std::size_t thread) {
    if (thread == 0) {
      EXPECT_EQ(text_of(place.load()), "cow");
    } else {
      await([&] { return is_copying.load(); });
      place.store(Buffer());
      is_returned = true;
    }
  });
}

TEST(AtomicBuffer, loads_and_stores_allocate_and_copy_no_data) {
  FailingAllocator allocator;
  Buffer cow = of_text<Buffer>("cow", allocator);
  Buffer ox = of_text<Buffer>("ox", allocator);
  {
    AtomicBuffer place(cow);
    for (int load = 0; load < 10'000; ++load) {
      const Buffer loaded = place.load();
    }
    place.store(ox);
    EXPECT_TRUE(place.compare_exchange(ox, cow));
    static_cast<void>(place.exchange(Buffer()));
  }
  EXPECT_EQ(allocator.allocations(), 2);
  EXPECT_EQ(allocator.copies(), 0);
}

TEST(AtomicStorage, an_empty_content_is_an_empty_handle) {
  AtomicStorage place;
  EXPECT_FALSE(place.load());
  EXPECT_FALSE(place.exchange(of_text<Storage>("cow")));
  EXPECT_TRUE(place.load());
}

TEST(AtomicStorage, loads_are_new_identities) {
  const Storage cow = of_text<Storage>("cow");
  AtomicStorage place(cow);
  Storage loaded = place.load();
  EXPECT_NE(loaded, cow);
  EXPECT_NE(loaded, place.load());
  EXPECT_EQ(loaded.handle_count(), 1U);
  EXPECT_EQ(cow.handle_count(), 1U);
}

TEST(AtomicStorage, writes_through_other_handles_do_not_show) {
  Storage cow = of_text<Storage>("cow");
  Storage alias = cow;
  AtomicStorage place(std::move(cow));
  alias.mutable_data()[0] = std::byte{'n'};
  EXPECT_EQ(text_of(place.load()), "cow");
}

TEST(AtomicStorage, takes_the_data_of_the_only_handle) {
  Storage cow = of_text<Storage>("cow");
  const std::byte* const data = std::as_const(cow).data();
  AtomicStorage place;
  place.store(std::move(cow));
  EXPECT_FALSE(cow);
  Storage former = place.exchange(Storage());
  EXPECT_EQ(former.use_count(), 1U);
  EXPECT_EQ(former.mutable_data(), data);
}

TEST(AtomicStorage, a_storage_that_was_not_stored_retains_its_memory) {
  std::array<char, 3> memory = {'c', 'o', 'w'};
  Storage loan(Buffer::borrow(memory.data(), 3));
  const Storage alias = loan;
  AtomicStorage place;
  Storage expected = of_text<Storage>("ox");
  EXPECT_FALSE(place.compare_exchange(expected, std::move(loan)));
  EXPECT_EQ(static_cast<const void*>(alias.data()), memory.data());
  EXPECT_EQ(loan, alias);
}

TEST(AtomicStorage, pinned_memory_is_copied_by_the_store) {
  Storage cow = of_text<Storage>("cow");
  const Storage::Pin pin = cow.pin();
  AtomicStorage place(std::move(cow));
  std::memcpy(pin.mutable_data(), "now", 3);
  EXPECT_EQ(text_of(place.load()), "cow");
  EXPECT_FALSE(place.load().is_pinned());
}

TEST(AtomicTiles, a_write_to_a_loaded_value_copies_one_tile) {
  FailingAllocator allocator;
  AtomicTiles place(tiled_of<TiledBuffer>("abcdefghijklmnop", allocator));
  TiledBuffer loaded = place.load();
  const int copies = allocator.copies();
  put(loaded, 1, 'E');
  EXPECT_EQ(allocator.copies(), copies + 1);
  place.store(loaded);
  EXPECT_EQ(text_of(place.load()), "abcdEfghijklmnop");
  EXPECT_TRUE(place.load().shares_tile_with(loaded, 0));
}

}  // namespace
}  // namespace byre::test
