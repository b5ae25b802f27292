// SPDX-License-Identifier: BSL-1.0
#include "checks.hpp"

#include <byre/memory/pool.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace byre::fuzz {
namespace {

void expect(const char* what, std::size_t found, std::size_t expected) {
  if (found != expected) {
    fail("%s is %zu, and the model has %zu", what, found, expected);
  }
}

void expect(const char* what, std::int64_t found, std::int64_t expected) {
  if (found != expected) {
    fail("%s is %lld, and the model has %lld", what, static_cast<long long>(found),
         static_cast<long long>(expected));
  }
}

template <class Real>
void check_bytes(const Real& real, const Bytes& expected) {
  expect("nbytes", real.nbytes(), expected.size());
  const std::byte* data = real.data();
  if (expected.empty() || std::memcmp(data, expected.data(), expected.size()) == 0) {
    return;
  }
  const auto [found, differs] = std::mismatch(data, data + expected.size(), expected.begin());
  fail("byte %td of %zu is %02x, and the model has %02x", found - data, expected.size(),
       std::to_integer<unsigned>(*found), std::to_integer<unsigned>(*differs));
}

/// Of no memory, and of memory that others write.
template <class Real>
void check_place(const Real& real, const Value& value) {
  if (value.data == nullptr && real.data() != nullptr) {
    fail("data() of no bytes is not null");
  }
  if (value.has_others() && real.data() != value.data->is().others_data) {
    fail("data() is not the memory that others write");
  }
}

template <class Real>
void check_value(const Real& real, const Value& value) {
  check_bytes(real, value.bytes);
  expect("is_unique", std::size_t{real.is_unique()}, std::size_t{value.is_unique()});
  expect("use_count", std::size_t{real.use_count()}, value.owners());
  expect("origin", static_cast<std::size_t>(real.origin()),
         static_cast<std::size_t>(value.origin()));
  expect("is_read_only", std::size_t{real.is_read_only()}, std::size_t{value.is_read_only()});
  if (&real.allocator() != &value.allocator()) {
    fail("copies would be from the %s, and the model has the %s", real.allocator().name(),
         value.allocator().name());
  }
  if (value.data != nullptr && value.origin() == Origin::allocated) {
    expect("what data() is beyond a multiple of 64",
           reinterpret_cast<std::uintptr_t>(real.data()) % data_alignment, 0);
  }
  check_place(real, value);
}

template <class Slots>
void check_sharing_of(Slots& slots) {
  for (auto& left : slots) {
    for (auto& right : slots) {
      const Value* left_value = left.value();
      const Value* others = right.value();
      const bool expected = left_value != nullptr && others != nullptr &&
                            left_value->data != nullptr && left_value->data == others->data;
      expect("shares_data_with", std::size_t{left.real.shares_data_with(right.real)},
             std::size_t{expected});
    }
  }
}

}  // namespace

void check(BufferSlot& slot) {
  if (slot.expected.busy) {
    return;
  }
  check_value(slot.real, slot.expected);
  expect("capacity", slot.real.capacity(),
         slot.expected.data == nullptr ? 0 : slot.expected.data->is().capacity);
}

void check(StorageSlot& slot) {
  if (slot.expected == nullptr) {
    check_value(slot.real, {});
  } else if (!slot.expected->busy) {
    check_value(slot.real, *slot.expected);
  }
  expect("is_pinned", std::size_t{slot.real.is_pinned()},
         std::size_t{slot.expected != nullptr && slot.expected->pins != 0});
  expect("handle_count", std::size_t{slot.real.handle_count()},
         static_cast<std::size_t>(slot.expected.use_count()));
}

void check(PinSlot& slot, const std::array<StorageSlot, 6>& storages) {
  const Pin& real = slot.real;
  check_bytes(real, slot.value()->bytes);
  check_place(real, *slot.value());
  expect("is_writable of a pin", std::size_t{real.is_writable()}, std::size_t{slot.is_writable});
  if (real.mutable_data() != (slot.is_writable ? real.data() : nullptr)) {
    fail("mutable_data() of a pin is not what it may write");
  }
  for (const StorageSlot& storage : storages) {
    if (slot.is_of(storage.expected) && storage.real.data() != real.data()) {
      fail("a pin is not where its storage is");
    }
  }
}

void check_sharing(TargetState& target) {
  check_sharing_of(target.buffers);
  check_sharing_of(target.storages);
}

void check_predictions(TargetState& target, const std::vector<Copy>& seen) {
  const Predictions& predictions = target.model.predictions();
  const stats::Counters found = target.model.counted();
  expect("lazy_clones", found.lazy_clones, predictions.counters.lazy_clones);
  expect("copies", found.copies, predictions.counters.copies);
  expect("steals", found.steals, predictions.counters.steals);
  expect("waits", found.waits, predictions.counters.waits);
  expect("bytes_copied", found.bytes_copied, predictions.counters.bytes_copied);
  expect("bytes_not_copied", found.bytes_not_copied, predictions.counters.bytes_not_copied);
  expect("live_bytes", found.live_bytes, predictions.counters.live_bytes);
  expect("pooled_bytes", found.pooled_bytes,
         static_cast<std::int64_t>(default_pool().idle_nbytes()));
  if (seen != predictions.copies) {
    fail("sinks were told of other copies than the model has");
  }
  for (const FaultyAllocator* allocator : {&target.host, &target.device}) {
    const auto expected = predictions.blocks.find(allocator);
    expect("the number of blocks out", allocator->live_blocks(),
           expected == predictions.blocks.end() ? 0 : expected->second);
  }
  expect("the number of adoptions not released", target.adopted.count(), predictions.adopted);
}

}  // namespace byre::fuzz
