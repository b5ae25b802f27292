// SPDX-License-Identifier: BSL-1.0
/// The steps that make values, of every origin, and lazy clones: on byre and on the model, of buffers and of
/// storages.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "target_state.hpp"

namespace byre::fuzz {

template <class Slot>
void allocate(TargetState& target, Slot& to) {
  Allocator& allocator = target.choose_allocator();
  Bytes bytes = target.new_bytes(target.choose_nbytes());
  trace("%s: allocate %zu bytes from the %s", Slot::kind, bytes.size(), allocator.name());
  typename Slot::Real made;
  const Fault fault =
      target.faults.during([&] { made = Slot::Real::allocate(bytes.size(), allocator); });
  if (fault == Fault::none) {
    std::copy(bytes.begin(), bytes.end(), made.mutable_data());
    Value value = target.model.allocated(std::move(bytes), allocator);
    to.put(std::move(made), std::move(value));
  }
}

/// Makes what is of `origin` by `make(allocator)`.
template <class Slot, class Make>
void make_foreign(TargetState& target, Slot& to, Bytes bytes, Data::Description description,
                  Make make) {
  Allocator& allocator = target.choose_allocator();
  typename Slot::Real made;
  if (target.faults.during([&] { made = make(allocator); }) == Fault::none) {
    description.allocator = &allocator;
    description.capacity = bytes.size();
    Value value = target.model.make(std::move(bytes), std::move(description));
    to.put(std::move(made), std::move(value));
  }
}

template <class Slot>
void adopt(TargetState& target, Slot& to) {
  Bytes bytes = target.new_bytes(target.choose_nbytes());
  const std::size_t nbytes = bytes.size();
  trace("%s: adopt %zu bytes", Slot::kind, nbytes);
  std::byte* const data = target.adopted.add(bytes);
  const Adopted::Release release{&target.adopted};
  make_foreign(
      target, to, std::move(bytes), {.origin = Origin::adopted},
      [&](Allocator& allocator) { return Slot::Real::adopt(data, nbytes, release, allocator); });
}

/// Memory that may only be read, that others write meanwhile, or both.
template <class Slot>
void adopt_with_others(TargetState& target, Slot& to) {
  const std::size_t how = target.input.below(3);
  const bool is_aliased = how != 0;
  const bool read_only = how != 1;
  Bytes bytes = target.new_bytes(target.choose_nbytes());
  const std::size_t nbytes = bytes.size();
  trace("%s: adopt %zu %s%s bytes", Slot::kind, nbytes, is_aliased ? "aliased " : "",
        read_only ? "constant" : "writable");
  std::byte* const data = target.adopted.add(bytes);
  const Adopted::Release release{&target.adopted};
  make_foreign(target, to, std::move(bytes),
               {.origin = is_aliased ? Origin::aliased : Origin::adopted,
                .read_only = read_only,
                .others_data = is_aliased ? data : nullptr},
               [&](Allocator& allocator) {
                 const void* const constant = data;
                 if (!is_aliased) {
                   return Slot::Real::adopt_read_only(constant, nbytes, release, allocator);
                 }
                 return read_only ? Slot::Real::adopt_aliased(constant, nbytes, release, allocator)
                                  : Slot::Real::adopt_aliased(data, nbytes, release, allocator);
               });
}

template <class Slot>
void borrow(TargetState& target, Slot& to) {
  const bool read_only = target.input.below(2) != 0;
  Bytes bytes = target.new_bytes(target.choose_nbytes());
  const std::size_t nbytes = bytes.size();
  trace("%s: borrow %zu %s bytes", Slot::kind, nbytes, read_only ? "constant" : "writable");
  auto lender = std::make_unique<std::byte[]>(nbytes);
  std::copy(bytes.begin(), bytes.end(), lender.get());
  std::byte* const data = lender.get();
  make_foreign(target, to, std::move(bytes),
               {.origin = Origin::borrowed,
                .read_only = read_only,
                .others_data = data,
                .lender = std::move(lender)},
               [&](Allocator& allocator) {
                 return read_only
                            ? Slot::Real::borrow(static_cast<const void*>(data), nbytes, allocator)
                            : Slot::Real::borrow(data, nbytes, allocator);
               });
}

template <class Slot>
void map_file(TargetState& target, Slot& to) {
  const auto& files = mappable_files();
  const MappableFile& file = files[target.input.below(files.size())];
  trace("%s: map a file of %zu bytes", Slot::kind, file.bytes.size());
  target.has_mapped = true;
  make_foreign(target, to, file.bytes, {.origin = Origin::mapped, .read_only = true},
               [&](Allocator& allocator) { return Slot::Real::map_file(file.path, allocator); });
}

/// The value of a lazy clone of `source` that was made, by a copy for `cause` if there is one.
inline Value value_of_clone(TargetState& target, const Value& source,
                            std::optional<stats::CopyCause> cause) {
  if (!cause) {
    return target.model.lazy_clone(source);
  }
  Value value = target.model.allocated(source.bytes, source.allocator());
  target.model.count_eager_clone(source, *cause);
  return value;
}

/// Operator new failed. If it was for the new storage, the buffer had been cloned before. A copy that was made then is
/// counted; small blocks come from operator new too, and if it failed for one, there is no copy.
inline void count_vain_clone(TargetState& target, const Value& source,
                             std::optional<stats::CopyCause> cause) {
  if (!cause) {
    target.model.lazy_clone(source);
  } else if (target.model.counted().copies > target.model.predictions().counters.copies) {
    target.model.count_eager_clone(source, *cause);
  }
}

/// Puts what `make` makes of `from`, a lazy clone, into `to`, which may be the same.
template <class From, class Slot, class Make>
void clone(TargetState& target, From& from, Slot& to, Make make) {
  Value* const source = from.value();
  typename Slot::Real made;
  if (source == nullptr) {  // no storage, and a clone of that
    made = make(from.real);
    to.clear();
    return;
  }
  // As it is now: pins may be released meanwhile.
  const std::optional<stats::CopyCause> cause = source->cause_of_eager_clone();
  source->busy = true;
  const Fault fault = target.faults.during([&] { made = make(from.real); });
  source->busy = false;
  if (fault == Fault::none) {
    Value value = value_of_clone(target, *source, cause);
    to.put(std::move(made), std::move(value));
  } else if (fault == Fault::heap) {
    count_vain_clone(target, *source, cause);
  }
}

template <class Slot>
void lazy_clone(TargetState& target, Slot& from, Slot& to) {
  trace("%s: lazy_clone", Slot::kind);
  using Real = typename Slot::Real;
  clone(target, from, to, [](const Real& source) { return source.lazy_clone(); });
}

}  // namespace byre::fuzz
