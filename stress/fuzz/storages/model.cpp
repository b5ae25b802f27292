// SPDX-License-Identifier: BSL-1.0
#include "model.hpp"

#include <byre/memory/pages.hpp>

#include <algorithm>
#include <utility>

#include "../target.hpp"

namespace byre::fuzz {
namespace {

std::int64_t signed_of(std::size_t number) noexcept {
  return static_cast<std::int64_t>(number);
}

std::size_t deleters_of(Origin origin) noexcept {
  return origin == Origin::adopted || origin == Origin::aliased ? 1 : 0;
}

}  // namespace

Data::Data(Predictions& predictions, Description description)
    : predictions_(predictions), description_(std::move(description)) {
  if (description_.origin == Origin::allocated) {
    predictions_.counters.live_bytes += signed_of(description_.capacity);
    ++predictions_.blocks[description_.allocator];
  }
  predictions_.adopted += deleters_of(description_.origin);
}

Data::~Data() {
  if (description_.origin == Origin::allocated) {
    predictions_.counters.live_bytes -= signed_of(description_.capacity);
    --predictions_.blocks[description_.allocator];
  }
  predictions_.adopted -= deleters_of(description_.origin);
}

Allocator& Value::allocator() const noexcept {
  return data == nullptr ? default_allocator() : *data->is().allocator;
}

std::optional<stats::CopyCause> Value::cause_of_eager_clone() const noexcept {
  if (data != nullptr && pins != 0) {
    return stats::CopyCause::pinned;
  }
  return has_others() ? std::optional(stats::CopyCause::borrowed) : std::nullopt;
}

Value Model::make(Bytes bytes, Data::Description description) {
  return {std::move(bytes), std::make_shared<Data>(predictions_, std::move(description))};
}

Value Model::allocated(Bytes bytes, Allocator& allocator, std::size_t asked) {
  const std::size_t capacity = new_capacity(bytes, allocator, asked);
  return make(std::move(bytes), {.allocator = &allocator, .capacity = capacity});
}

std::size_t Model::new_capacity(const Bytes& bytes, const Allocator& allocator,
                                std::size_t asked) const {
  const std::int64_t grown = counted().live_bytes - predictions_.counters.live_bytes;
  const std::size_t nbytes = bytes.size();
  // The pool rounds up, to lines or pages, and hands out what is a little larger.
  asked = std::max(asked, nbytes);
  const std::size_t most =
      &allocator == &default_allocator() ? asked + asked / 4 + page_nbytes : asked;
  if (grown < signed_of(nbytes) || grown > signed_of(most)) {
    fail("live_bytes grew by %lld for %zu bytes from the %s", static_cast<long long>(grown), nbytes,
         allocator.name());
  }
  return static_cast<std::size_t>(grown);
}

Value Model::lazy_clone(const Value& source) {
  if (source.data != nullptr) {
    ++predictions_.counters.lazy_clones;
    predictions_.counters.bytes_not_copied += signed_of(source.bytes.size());
  }
  return {source.bytes, source.data};
}

void Model::count_copy(std::size_t nbytes, stats::CopyCause cause) {
  ++predictions_.counters.copies;
  predictions_.counters.bytes_copied += signed_of(nbytes);
  if (cause == stats::CopyCause::shared || cause == stats::CopyCause::pending) {
    predictions_.counters.bytes_not_copied -= signed_of(nbytes);
  }
  predictions_.copies.push_back({nbytes, cause});
}

Model::Write Model::begin_write(Value& value, Wait wait) {
  if (value.data == nullptr || (!value.is_read_only() && value.is_unique())) {
    return {};
  }
  Write write{.answer = Materialized::copied};
  if (!value.is_read_only()) {  // others may leave meanwhile, and only the last one frees
    write.cause = wait == Wait::never && value.owners() == 1 ? stats::CopyCause::pending
                                                             : stats::CopyCause::shared;
    write.source = std::move(value.data);
    ++write.source->copies;
  }
  value.busy = true;
  return write;
}

void Model::end_write(Value& value, Write&& write) {
  value.busy = false;
  if (write.answer == Materialized::already_unique) {
    return;
  }
  Allocator& allocator =
      write.source != nullptr ? *write.source->is().allocator : value.allocator();
  if (write.source != nullptr) {
    --write.source->copies;
    write.source.reset();
  } else if (value.owners() == 1 || value.has_others()) {
    write.cause = stats::CopyCause::read_only;
  }
  value.data.reset();
  value.data = allocated(value.bytes, allocator).data;
  count_copy(value.bytes.size(), write.cause);
}

void Model::refuse_write(Value& value, Write&& write) {
  value.busy = false;
  if (write.source != nullptr) {
    --write.source->copies;
    value.data = std::move(write.source);
  }
}

void Model::end_move(Value& value, std::size_t nbytes) {
  Allocator& allocator = value.allocator();
  const std::size_t kept_nbytes = value.bytes.size();
  const std::size_t asked = detail::grown_capacity(value.data->is().capacity, nbytes);
  value.bytes.resize(nbytes);
  value.data.reset();
  value.data = allocated(value.bytes, allocator, asked).data;
  count_copy(kept_nbytes, stats::CopyCause::resized);
}

void Model::end_shrink(Value& value) {
  Allocator& allocator = value.allocator();
  value.data.reset();
  value.data = allocated(value.bytes, allocator).data;
  count_copy(value.bytes.size(), stats::CopyCause::resized);
}

}  // namespace byre::fuzz
