// SPDX-License-Identifier: BSL-1.0
/// Families and memories: what is reshaped, shared, cloned, and made.
#include <byre/tensor/views.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <ranges>

#include "model.hpp"

namespace byre::test {

bool Model::change_family(const Statement& statement) {
  Tensor& self = tensors_.at(statement.self);
  if (statement.operation == Operation::drop) {
    return tensors_.erase(statement.self) == 1;
  }
  if (statement.operation == Operation::reshape_in_place) {
    self = reshape(self, statement);
    self.places = places_of(self.layout);
    return true;
  }
  const auto source = tensors_.find(statement.other);
  if (source == tensors_.end() || source->second.is_on_device != self.is_on_device) {
    return false;
  }
  auto viewed = viewed_as(source->second.layout, self.layout.sizes, "share_data");
  if (viewed) {
    self = source->second;
    self.layout = *viewed;
    self.places = places_of(*viewed);
  }
  return viewed.has_value();
}

Model::Tensor Model::reshape(const Tensor& self, const Statement& statement) {
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
  Tensor made = self;
  made.layout = *viewed;
  if (mode != ReshapeMode::alias) {
    Memory& memory = *self.family->memory;
    ++reshapes_;
    escapes_ += memory.families == 0 && memory.has_escaped ? 1 : 0;
    made.family = &families_.emplace_back(*self.family);
    made.family->number = {++memory.families, self.family->number.number};
    made.family->reshaped_from = self.family;
    made.family->made = now_;
    made.family->reshape = line_;
    made.family->mode = mode;
    ++memory.lazy_clones;  // where reshape copies
  }
  return made;
}

Model::Tensor Model::lazy_clone(const Tensor& of, const Layout& layout) {
  Memory& memory = *of.family->memory;
  if (2 * of.places.size() < memory.cells.size()) {
    // Where reshape copies, the family may have a storage of its own that it sees most of, and shares.
    memory.lazy_clones += of.family->reshaped_from != nullptr ? 1 : 0;
    return copy_of_small_part(of, layout);
  }
  Places all(memory.cells.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  access(*of.family, all, Kind::read);
  ++memory.lazy_clones;
  memories_.push_back({.cells = memory.cells});
  families_.push_back(
      {.memory = &memories_.back(), .copy = separated(*of.family), .observed = now_});
  memories_.back().begun_with = &families_.back();
  Tensor made = of;
  made.family = &families_.back();
  made.layout = layout;
  return made;
}

/// The elements alone, in the order of their strides. No view of the model sees an element twice.
Model::Tensor Model::copy_of_small_part(const Tensor& of, const Layout& layout) {
  access(*of.family, of.places, Kind::read);
  std::vector<std::size_t> axes(layout.ndim());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  std::ranges::stable_sort(axes, std::ranges::greater(),
                           [&](std::size_t axis) { return layout.strides[axis]; });
  Layout compact{layout.sizes, layout.strides, 0};
  std::int64_t dense_stride = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    compact.strides[*axis] = dense_stride;
    dense_stride *= std::max<std::int64_t>(layout.sizes[*axis], 1);
  }
  Tensor made = new_tensor(compact, elements_of(of, places_of(layout)));
  made.is_on_device = of.is_on_device;
  return made;
}

/// The cells as they are in a copy of the storage that is made now.
Model::Cells Model::separated(const Family& family) {
  Cells cells = family.copy;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    cells[cell].written = family.memory->cells[cell].written;
  }
  return cells;
}

Model::Tensor Model::clone(const Tensor& of) {
  access(*of.family, of.places, Kind::read);
  Tensor made = new_tensor(contiguous_layout(of.layout.sizes, "clone"), elements_of(of, of.places));
  made.is_on_device = of.is_on_device;
  return made;
}

Model::Tensor Model::new_tensor(const Layout& layout, const Elements& elements) {
  ++now_;
  Tensor made{.layout = layout};
  const std::size_t cells = static_cast<std::size_t>(layout.numel());
  memories_.push_back({.cells = Cells(cells)});
  families_.push_back({.memory = &memories_.back(), .copy = Cells(cells), .observed = now_});
  memories_.back().begun_with = made.family = &families_.back();
  made.places = places_of(layout);
  write(made, made.places, [&](const Element&, std::size_t index) { return elements[index]; });
  return made;
}

}  // namespace byre::test
