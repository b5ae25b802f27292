// SPDX-License-Identifier: BSL-1.0
/// The steps that make new values: memory of every origin, and lazy clones. Each is done to byre
/// and to the model, for buffers and for storages.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "world.hpp"

namespace byre::fuzz {

template <class Slot>
void allocate(World& world, Slot& to) {
  Allocator& allocator = world.choose_allocator();
  Bytes bytes = world.new_bytes(world.choose_nbytes());
  trace("%s: allocate %zu bytes from the %s", Slot::kind, bytes.size(), allocator.name());
  typename Slot::Real made;
  const Fault fault =
      world.faults.during([&] { made = Slot::Real::allocate(bytes.size(), allocator); });
  if (fault == Fault::none) {
    std::copy(bytes.begin(), bytes.end(), made.mutable_data());
    Value value = world.model.allocated(std::move(bytes), allocator);
    to.put(std::move(made), std::move(value));
  }
}

/// Makes what is of `origin` by `make(allocator)`.
template <class Slot, class Make>
void make_foreign(World& world, Slot& to, Bytes bytes, Data::Description description, Make make) {
  Allocator& allocator = world.choose_allocator();
  typename Slot::Real made;
  if (world.faults.during([&] { made = make(allocator); }) == Fault::none) {
    description.allocator = &allocator;
    description.capacity = bytes.size();
    Value value = world.model.make(std::move(bytes), std::move(description));
    to.put(std::move(made), std::move(value));
  }
}

template <class Slot>
void adopt(World& world, Slot& to) {
  Bytes bytes = world.new_bytes(world.choose_nbytes());
  const std::size_t nbytes = bytes.size();
  trace("%s: adopt %zu bytes", Slot::kind, nbytes);
  std::byte* const data = world.adopted.add(bytes);
  const Adopted::Release release{&world.adopted};
  make_foreign(world, to, std::move(bytes), {.origin = Origin::adopted}, [&](Allocator& allocator) {
    return Slot::Real::adopt(data, nbytes, release, allocator);
  });
}

template <class Slot>
void borrow(World& world, Slot& to) {
  const bool read_only = world.input.below(2) != 0;
  Bytes bytes = world.new_bytes(world.choose_nbytes());
  const std::size_t nbytes = bytes.size();
  trace("%s: borrow %zu %s bytes", Slot::kind, nbytes, read_only ? "constant" : "writable");
  auto lent = std::make_unique<std::byte[]>(nbytes);
  std::copy(bytes.begin(), bytes.end(), lent.get());
  void* const data = lent.get();
  make_foreign(world, to, std::move(bytes),
               {.origin = Origin::borrowed, .read_only = read_only, .lent = std::move(lent)},
               [&](Allocator& allocator) {
                 return read_only
                            ? Slot::Real::borrow(static_cast<const void*>(data), nbytes, allocator)
                            : Slot::Real::borrow(data, nbytes, allocator);
               });
}

template <class Slot>
void map_file(World& world, Slot& to) {
  const auto& files = mappable_files();
  const MappableFile& file = files[world.input.below(files.size())];
  trace("%s: map a file of %zu bytes", Slot::kind, file.bytes.size());
  world.has_mapped = true;
  make_foreign(world, to, file.bytes, {.origin = Origin::mapped, .read_only = true},
               [&](Allocator& allocator) { return Slot::Real::map_file(file.path, allocator); });
}

/// The value of a lazy clone of `source` that was made.
inline Value value_of_clone(World& world, const Value& source) {
  if (!source.is_borrowed()) {
    return world.model.lazy_clone(source);
  }
  Value value = world.model.allocated(source.bytes, source.allocator());
  world.model.count_borrowed_copy(source);
  return value;
}

/// Operator new failed. If it was for the new storage, the buffer had been cloned before.
inline void count_vain_clone(World& world, const Value& source) {
  if (!source.is_borrowed()) {
    world.model.lazy_clone(source);
  } else if (&source.allocator() != &world.device || world.faults.has_copied()) {
    world.model.count_borrowed_copy(source);
  }
}

/// Puts what `make` makes of `from`, a lazy clone, into `to`, which may be the same.
template <class From, class Slot, class Make>
void clone(World& world, From& from, Slot& to, Make make) {
  Value* const source = from.value();
  typename Slot::Real made;
  if (source == nullptr) {  // no storage, and a clone of that
    made = make(from.real);
    to.clear();
    return;
  }
  source->busy = true;
  const Fault fault = world.faults.during([&] { made = make(from.real); });
  source->busy = false;
  if (fault == Fault::none) {
    Value value = value_of_clone(world, *source);
    to.put(std::move(made), std::move(value));
  } else if (fault == Fault::heap) {
    count_vain_clone(world, *source);
  }
}

template <class Slot>
void lazy_clone(World& world, Slot& from, Slot& to) {
  trace("%s: lazy_clone", Slot::kind);
  using Real = typename Slot::Real;
  clone(world, from, to, [](const Real& source) { return source.lazy_clone(); });
}

}  // namespace byre::fuzz
