// SPDX-License-Identifier: BSL-1.0
#include "model.hpp"

#include <algorithm>
#include <utility>

namespace byre::programs {

Data::Data(Memory& memory, Description description)
    : memory_(memory), description_(std::move(description)) {
  count(1);
}

Data::~Data() {
  count(-1);
}

void Data::count(int sign) noexcept {
  const auto one = static_cast<std::size_t>(sign);
  switch (description_.origin) {
    case Origin::allocated:
      if (auto* const tracked = dynamic_cast<TrackedAllocator*>(description_.allocator)) {
        tracked->blocks.expected += one;
      }
      [[fallthrough]];
    case Origin::paged:
      memory_.live_bytes += sign * static_cast<std::int64_t>(description_.capacity);
      return;
    case Origin::adopted:
    case Origin::aliased:
      memory_.adopted.expected += one;
      return;
    case Origin::overlay:
      if (!description_.base->description().read_only) {
        description_.base->copies += one;
      }
      return;
    case Origin::borrowed:
    case Origin::mapped:
      return;
  }
}

std::optional<stats::CopyCause> Value::cause_of_eager_clone() const noexcept {
  if (data != nullptr && pins != 0) {
    return stats::CopyCause::pinned;
  }
  return has_other_writers() ? std::optional(stats::CopyCause::borrowed) : std::nullopt;
}

void Value::put(std::size_t offset, std::span<const std::byte> written) {
  Bytes changed = *bytes;
  std::copy(written.begin(), written.end(), changed.begin() + static_cast<std::ptrdiff_t>(offset));
  bytes = content_of(std::move(changed));
}

void Value::resize(std::size_t nbytes) {
  Bytes changed = bytes == nullptr ? Bytes() : *bytes;
  changed.resize(nbytes);
  bytes = content_of(std::move(changed));
}

void Predictions::copy(std::size_t nbytes, stats::CopyCause cause) {
  ++counters.copies;
  counters.bytes_copied += static_cast<std::int64_t>(nbytes);
  if (cause == stats::CopyCause::shared || cause == stats::CopyCause::pending) {
    counters.bytes_not_copied -= static_cast<std::int64_t>(nbytes);
  }
  copies.push_back({nbytes, cause});
}

Predictions& Predictions::operator+=(const Predictions& other) {
  for (const auto counter : {&stats::Counters::lazy_clones, &stats::Counters::copies,
                             &stats::Counters::steals, &stats::Counters::bytes_copied,
                             &stats::Counters::bytes_not_copied, &stats::Counters::overlays}) {
    counters.*counter += other.counters.*counter;
  }
  unreported_steals += other.unreported_steals;
  unreported_overlays += other.unreported_overlays;
  return *this;
}

Write begin_write(Value& value, Wait wait) {
  if (value.data == nullptr || (!value.is_read_only() && is_alone(value.data))) {
    return {};
  }
  Write write{.answer = Materialized::copied};
  if (!value.is_read_only()) {  // the claiming writer is no longer an owner
    // A write to data in pages never waits, because an overlay counts as a copy and may not end.
    const bool never = wait == Wait::never || is_in_pages(value.origin());
    write.cause =
        never && owners_of(value.data) == 1 ? stats::CopyCause::pending : stats::CopyCause::shared;
    write.source = std::move(value.data);
    ++write.source->copies;
  }
  value.busy = true;
  return write;
}

void refuse_write(Value& value, Write&& write) {
  value.busy = false;
  if (write.source != nullptr) {
    --write.source->copies;
    value.data = std::move(write.source);
  }
}

}  // namespace byre::programs
