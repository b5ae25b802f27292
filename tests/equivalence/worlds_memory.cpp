// SPDX-License-Identifier: BSL-1.0
/// What gives tensors memory, shares it, or parts those that share it.
#include <byre/tensor/views.hpp>

#include <algorithm>
#include <utility>

#include "worlds.hpp"

namespace byre::test {

bool Worlds::change_memory(const Statement& statement) {
  Tensor& self = tensors_.at(statement.self);
  const Dims& dims = statement.dims;
  switch (statement.operation) {
    case Operation::drop:
      return tensors_.erase(statement.self) == 1;
    case Operation::resize:
      return resize(self, dims, false);
    case Operation::shrink:
      return resize(self, dims, true);
    case Operation::realize:
      if (self.family != nullptr) {
        return false;
      }
      self =
          new_tensor(self.layout, self.type, Elements(self.places.size(), alike(statement.value)));
      return true;
    case Operation::reserve:
      return reserve(self, dims);
    case Operation::extend:
      return extend(self, dims[0], dims[1], statement.value);
    case Operation::reshape_in_place:
      self = reshape(self, statement);
      return true;
    default: {
      const auto other = tensors_.find(statement.other);
      return other != tensors_.end() && share_data(self, other->second);
    }
  }
}

bool Worlds::share_data(Tensor& self, const Tensor& source) {
  auto viewed = source.family == nullptr || source.type.is_on_device != self.type.is_on_device
                    ? std::nullopt
                    : viewed_as(source.layout, self.layout.sizes, "share_data");
  if (viewed) {
    self = {*viewed, source.family, source.type, places_of(*viewed, source.width())};
  }
  return viewed.has_value();
}

/// Of the family that the storage began with, which is what a handle of the storage gives: of another,
/// a copy has a storage of its own, and the handle would be one of that.
std::optional<Worlds::Tensor> Worlds::over(const Tensor& self, const Dims& sizes) const {
  const Layout layout = contiguous_layout(sizes, "over");
  const Memory& memory = *self.family->memory;
  if (!memory.has_storage || memory.begun_with != self.family ||
      static_cast<std::size_t>(layout.numel()) * self.width() > memory.cells.size()) {
    return std::nullopt;
  }
  return Tensor{layout, self.family, self.type, places_of(layout, self.width())};
}

bool Worlds::is_shared(const Tensor& tensor) const {
  const auto shares = [&](const auto& named) {
    return named.second.family != nullptr && named.second.family->memory == tensor.family->memory;
  };
  return tensor.family != nullptr && tensor.family->memory->has_storage &&
         std::ranges::count_if(tensors_, shares) > 1;
}

/// Elements that were there before are known, others are not, unless there is no memory for them.
bool Worlds::resize(Tensor& self, const Dims& sizes, bool frees) {
  if (sizes == self.layout.sizes) {
    return true;
  }
  Layout layout = contiguous_layout(sizes, "resize");
  const std::int64_t numel = layout.numel();
  const bool shrinks = numel < self.layout.numel();
  const auto used = static_cast<std::size_t>(self.layout.offset + numel) * self.width();
  const bool has_memory = self.family != nullptr && self.family->memory->has_storage;
  const bool keeps = has_memory && used <= self.family->memory->capacity && !(shrinks && frees);
  if (!self.layout.is_contiguous() || (!keeps && (numel != 0 || shrinks) && is_shared(self)) ||
      (keeps && used > self.family->memory->cells.size())) {
    return false;
  }
  if (keeps || (numel == 0 && !shrinks)) {
    layout.offset = self.layout.offset;
  } else {
    self.family = nullptr;
  }
  if (self.family == nullptr && numel == 0) {
    self = new_tensor(layout, self.type, {});
    self.family->memory->has_storage = false;
  }
  self.layout = layout;
  self.places = places_of(layout, self.width());
  return true;
}

/// Where there is no room, the elements are moved, which reads them. What is behind them is not known,
/// and never seen.
bool Worlds::reserve(Tensor& self, const Dims& sizes) {
  const std::int64_t numel = self.layout.offset + contiguous_layout(sizes, "reserve").numel();
  const std::size_t wanted = static_cast<std::size_t>(numel) * self.width();
  if (is_shared(self)) {
    return false;
  }
  if (!self.family->memory->has_storage) {
    const Layout layout = self.layout;
    self = new_tensor(layout, self.type, {});
    self.family->memory->capacity = wanted;
  } else if (wanted > self.family->memory->capacity) {
    grow(self, wanted);
  }
  return true;
}

/// In its place, or, where lazy clones share the data, and of bool, to a storage that nobody knows.
void Worlds::grow(Tensor& self, std::size_t capacity) {
  access(*self.family, all_cells_of(*self.family), Kind::carried);
  Memory& memory = *self.family->memory;
  ++memory.lazy_clones;
  if (shares_data(memory) || self.type.dtype == DType::boolean) {
    memories_.push_back({.cells = memory.cells, .data = ++last_data_});
    families_.push_back({.memory = &memories_.back(), .copy = parted(*self.family), .told = now_});
    self.family = &families_.back();
    self.family->memory->begun_with = self.family;
  }
  self.family->memory->capacity = capacity;
}

bool Worlds::shares_data(const Memory& memory) const {
  return std::ranges::any_of(tensors_, [&](const auto& named) {
    const Family* const family = named.second.family;
    return family != nullptr && family->memory != &memory && family->memory->data == memory.data;
  });
}

bool Worlds::extend(Tensor& self, std::int64_t count, std::int64_t growth, std::int64_t value) {
  if (self.layout.ndim() == 0 || !self.layout.is_contiguous() || is_shared(self)) {
    return false;
  }
  Dims wanted(self.layout.sizes);
  wanted[0] += count;
  Dims reserved(wanted);
  reserved[0] += wanted[0] * growth / 100;
  Layout layout = contiguous_layout(wanted, "extend");
  layout.offset = self.layout.offset;
  const auto used = static_cast<std::size_t>(layout.offset + layout.numel()) * self.width();
  if (used > (self.family->memory->has_storage ? self.family->memory->capacity : 0)) {
    reserve(self, reserved);
  }
  for (Cells* const cells : {&self.family->memory->cells, &self.family->copy}) {
    cells->resize(std::max(used, cells->size()));
  }
  silenced_reads_ = 0;  // what is filled is done again by itself
  const std::int64_t before = self.layout.sizes[0];
  self.layout = layout;
  self.places = places_of(layout, self.width());
  const Layout added = views::narrow(layout, 0, before, count);
  write(self, places_of(added, self.width()),
        [=](const Element&, std::size_t) { return alike(value); });
  return true;
}

Worlds::Tensor Worlds::reshape(const Tensor& self, const Statement& statement) {
  using shadow::ReshapeMode;
  auto viewed = viewed_as(self.layout, statement.dims, "reshape");
  if (!viewed) {
    Tensor made = clone(self);
    made.layout = contiguous_layout(statement.dims, "reshape");
    return made;
  }
  const ReshapeMode mode = statement.mode.value_or(ReshapeMode::warn);
  if (mode == ReshapeMode::copy) {
    return lazy_clone(self, *viewed);
  }
  Tensor made{*viewed, self.family, self.type, places_of(*viewed, self.width())};
  if (mode != ReshapeMode::alias && self.family->memory->has_storage) {
    made.family = &families_.emplace_back(*self.family);
    made.family->known_at_first = made.family->known ? made.family->known->when : 0;
    made.family->origin = origins_.find_or_add({self.family->origin, line_, mode});
    watch(*self.family->memory);
    ++self.family->memory->lazy_clones;  // where reshape copies
    ++reshapes_;
  }
  return made;
}

/// Pointers that left before count from now on.
void Worlds::watch(Memory& memory) {
  if (!memory.is_watched) {
    memory.is_watched = true;
    unaudited_ += memory.unaudited.size();
  }
}

/// Of all there is in the storage, also where the tensor sees nothing of it.
Worlds::Tensor Worlds::lazy_clone(const Tensor& of, const Layout& layout) {
  Memory& memory = *of.family->memory;
  access(*of.family, all_cells_of(*of.family), Kind::carried);
  ++memory.lazy_clones;
  memories_.push_back({.cells = memory.cells,
                       .capacity = memory.capacity,
                       .has_storage = memory.has_storage,
                       .data = memory.data});
  families_.push_back({.memory = &memories_.back(), .copy = parted(*of.family), .told = now_});
  memories_.back().begun_with = &families_.back();
  return {layout, &families_.back(), of.type, places_of(layout, of.width())};
}

Worlds::Tensor Worlds::clone(const Tensor& of) {
  access(of, Kind::carried);
  return new_tensor(contiguous_layout(of.layout.sizes, "clone"), of.type,
                    elements_of(of, of.places));
}

/// To the device, or from there.
Worlds::Tensor Worlds::moved(const Tensor& of) {
  Tensor made = clone(of);
  made.type.is_on_device = !of.type.is_on_device;
  return made;
}

Worlds::Tensor Worlds::new_tensor(const Layout& layout, Type type, const Elements& elements) {
  ++now_;
  const std::size_t nof_cells =
      static_cast<std::size_t>(layout.offset + layout.numel()) * type.width();
  memories_.push_back({.cells = Cells(nof_cells), .capacity = nof_cells, .data = ++last_data_});
  families_.push_back({.memory = &memories_.back(), .copy = Cells(nof_cells), .told = now_});
  memories_.back().begun_with = &families_.back();
  const Tensor made{layout, &families_.back(), type, places_of(layout, type.width())};
  write(made, made.places, [&](const Element&, std::size_t index) { return elements[index]; });
  return made;
}

}  // namespace byre::test
