// SPDX-License-Identifier: BSL-1.0
#include "model.hpp"

#include <byre/error/error.hpp>
#include <byre/tensor/views.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace byre::test {
namespace {

constexpr Element alike(std::int64_t value) {
  return {{value, value}};
}
auto counted_from(std::int64_t value) {
  return [=](const Element&, std::size_t index) {
    return alike(value + static_cast<std::int64_t>(index));
  };
}

/// The sum with aliases and with copies.
Element sum(const Element& a, const Element& b) {
  constexpr Account none{Account::Why::suppressed, std::numeric_limits<std::size_t>::max()};
  return {{a.in[0] + b.in[0], a.in[1] + b.in[1]},
          std::min(a.differs() ? a.account : none, b.differs() ? b.account : none)};
}

Layout layout_of_view(const Layout& layout, const Statement& statement) {
  const Dims& dims = statement.dims;
  switch (statement.operation) {
    case Operation::transpose:
      return views::transpose(layout, dims[0], dims[1]);
    case Operation::slice:
      return views::slice(layout, dims[0], dims[1], dims[2], dims[3]);
    case Operation::select:
      return views::select(layout, dims[0], dims[1]);
    case Operation::diagonal:
      return views::diagonal(layout);
    case Operation::view:
      return views::view(layout, dims);
    case Operation::as_i32:
      return views::with_itemsize(layout, 8, 4);
    case Operation::as_i64:
      return views::with_itemsize(layout, 4, 8);
    default:
      return layout;
  }
}

/// What the operations on elements allow where the two have one memory: the same elements, or others.
bool may_be_written_beside(const Model::Tensor& self, const Model::Tensor& other) {
  return self.layout.sizes == other.layout.sizes && self.dtype == other.dtype &&
         (self.places.empty() || self.family->memory != other.family->memory ||
          self.places == other.places ||
          std::ranges::max(self.places) < std::ranges::min(other.places) ||
          std::ranges::max(other.places) < std::ranges::min(self.places));
}

}  // namespace

std::vector<std::size_t> places_of(const Layout& layout, std::size_t width) {
  std::vector<std::size_t> all{static_cast<std::size_t>(layout.offset)};
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    std::vector<std::size_t> next;
    for (const std::size_t place : all) {
      for (std::int64_t index = 0; index < layout.sizes[axis]; ++index) {
        next.push_back(place + static_cast<std::size_t>(index * layout.strides[axis]));
      }
    }
    all = std::move(next);
  }
  for (std::size_t& place : all) {
    place *= width;
  }
  return all;
}

bool Model::run(const Statement& statement, std::uint32_t number) {
  number_ = number;
  line_ = statement.line_at(number);
  is_in_scope_ = statement.is_in_scope;
  try {
    const Operation operation = statement.operation;
    if (operation == Operation::make) {
      const Layout layout = contiguous_layout(statement.dims, "make");
      Elements elements(static_cast<std::size_t>(layout.numel()));
      std::ranges::generate(elements,
                            [value = statement.value]() mutable { return alike(value++); });
      return tensors_.emplace(statement.result, new_tensor(layout, DType::i64, elements)).second;
    }
    if (!tensors_.contains(statement.self) ||
        (operation == Operation::write_kept && !may_write_kept(statement.self))) {
      return false;
    }
    return operation <= Operation::clone        ? make_tensor(statement)
           : operation <= Operation::drop       ? change_family(statement)
           : operation <= Operation::add_number ? change_elements(statement)
           : operation <= Operation::copy       ? change_by_other(statement)
                                                : read(statement);
  } catch (const Error&) {
    return false;  // of a layout: nothing was done yet
  }
}

bool Model::make_tensor(const Statement& statement) {
  const Tensor& self = tensors_.at(statement.self);
  Tensor made = self;
  switch (statement.operation) {
    case Operation::over:
      // Of the family that the storage began with, which is what a handle of the storage gives.
      made.layout = contiguous_layout(statement.dims, "over");
      if (self.family->memory->begun_with != self.family ||
          static_cast<std::size_t>(made.layout.numel()) * self.width() >
              self.family->memory->cells.size()) {
        return false;
      }
      break;
    case Operation::reshape:
      made = reshape(self, statement);
      break;
    case Operation::moved:
      made = clone(self);
      made.is_on_device = !self.is_on_device;
      break;
    case Operation::clone:
      made = clone(self);
      break;
    case Operation::lazy_clone:
      made = lazy_clone(self, self.layout);
      break;
    case Operation::as_i32:
    case Operation::as_i64:
      made.dtype = statement.operation == Operation::as_i32 ? DType::i32 : DType::i64;
      if (made.dtype == self.dtype) {
        return false;
      }
      [[fallthrough]];
    default:
      made.layout = layout_of_view(self.layout, statement);
  }
  made.places = places_of(made.layout, made.width());
  tensors_.insert_or_assign(statement.result, std::move(made));
  return true;
}

bool Model::change_family(const Statement& statement) {
  Tensor& self = tensors_.at(statement.self);
  if (statement.operation == Operation::drop) {
    return tensors_.erase(statement.self) == 1;
  }
  if (statement.operation == Operation::reshape_in_place) {
    self = reshape(self, statement);
    self.places = places_of(self.layout, self.width());
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
    self.places = places_of(*viewed, self.width());
  }
  return viewed.has_value();
}

bool Model::change_elements(const Statement& statement) {
  const Tensor& self = tensors_.at(statement.self);
  const std::int64_t value = statement.value;
  const auto given = [=](const Element&, std::size_t) { return alike(value); };
  const bool is_for_host =
      statement.operation == Operation::add_number || statement.operation == Operation::set_at;
  if (self.is_on_device && is_for_host) {
    return false;
  }
  switch (statement.operation) {
    case Operation::fill:
      write(self, self.places, given);
      return true;
    case Operation::set_at: {
      const Dims& at = statement.dims;
      const auto element = element_at(self.layout, {at.begin(), at.size()}, "");
      write(self, {static_cast<std::size_t>(element) * self.width()}, given);
      return true;
    }
    case Operation::write_through:
      write(self, self.places, counted_from(value), true);
      kept_.insert_or_assign(statement.self, Kept{self, self.family->memory->lazy_clones});
      return true;
    case Operation::write_kept: {
      const Tensor& kept = kept_.at(statement.self).tensor;
      set(kept, kept.places, counted_from(value), {.is_unseen = true});
      return true;
    }
    default:
      access(self, Kind::read);
      write(self, self.places,
            [=](const Element& old, std::size_t) { return sum(old, alike(value)); });
      return true;
  }
}

/// The pointer is on the host, and the elements are not shared with a lazy clone.
bool Model::may_write_kept(std::size_t name) const {
  const auto kept = kept_.find(name);
  const auto now = tensors_.find(name);
  return kept != kept_.end() && now != tensors_.end() && !now->second.is_on_device &&
         now->second.family == kept->second.tensor.family &&
         now->second.family->memory->lazy_clones == kept->second.lazy_clones;
}

bool Model::change_by_other(const Statement& statement) {
  Tensor& self = tensors_.at(statement.self);
  const auto other = tensors_.find(statement.other);
  if (other == tensors_.end() || !may_be_written_beside(self, other->second)) {
    return false;
  }
  if (statement.operation == Operation::copy) {
    copy(self, other->second);
    return true;
  }
  if (self.is_on_device || other->second.is_on_device) {
    return false;
  }
  access(self, Kind::read);
  access(other->second, Kind::read);
  const Elements added = elements_of(other->second, other->second.places);
  write(self, self.places,
        [&](const Element& old, std::size_t index) { return sum(old, added[index]); });
  return true;
}

void Model::copy(Tensor& self, const Tensor& source) {
  access(source, Kind::read);
  const Elements copied = elements_of(source, source.places);
  Family& to = *self.family;
  const bool is_onto_itself =
      to.memory == source.family->memory && self.places == source.places && !self.places.empty();
  if (is_onto_itself && &to == source.family) {
    return;  // no write
  }
  if (is_onto_itself && self.is_all()) {
    to.copy = parted(*source.family);  // one again with what wrote last
    to.observed = now_;
    to.unread.reset();
    return;
  }
  write(self, self.places, [&](const Element&, std::size_t index) { return copied[index]; });
}

bool Model::read(const Statement& statement) {
  const Tensor& self = tensors_.at(statement.self);
  Places places = self.places;
  if (statement.operation == Operation::read_at) {
    const Dims& at = statement.dims;
    if (self.is_on_device) {
      return false;
    }
    const auto element = element_at(self.layout, {at.begin(), at.size()}, "");
    places = {static_cast<std::size_t>(element) * self.width()};
  }
  const Way way = statement.operation == Operation::read_at
                      ? Way::data
                      : way_of(statement.value, self.is_on_device);
  const bool is_lazy = way == Way::lazy_clone || (way == Way::to && !self.is_on_device);
  self.family->memory->lazy_clones += is_lazy ? 1 : 0;
  if (!places.empty() || is_lazy) {
    access(*self.family, cells_of(places, self.width()), Kind::read);
  }
  for (Reads& reads : reads_) {
    reads.push_back({number_, {}});
  }
  Accounts& differing = accounts_.emplace_back();
  for (const Element& element : elements_of(self, places)) {
    for (std::size_t run = 0; run < reads_.size(); ++run) {
      reads_[run].back().values.push_back(element.in[run]);
    }
    if (element.differs()) {
      differing.push_back(element.account);
    }
  }
  return true;
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

/// Of all there is in the storage, also where the tensor sees nothing of it.
Model::Tensor Model::lazy_clone(const Tensor& of, const Layout& layout) {
  Memory& memory = *of.family->memory;
  std::vector<std::size_t> all(memory.cells.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  access(*of.family, all, Kind::read);
  ++memory.lazy_clones;
  memories_.push_back({.cells = memory.cells});
  families_.push_back({.memory = &memories_.back(), .copy = parted(*of.family), .observed = now_});
  memories_.back().begun_with = &families_.back();
  Tensor made = of;
  made.family = &families_.back();
  made.layout = layout;
  return made;
}

/// The cells as they are in a copy of the storage that is made now.
Model::Cells Model::parted(const Family& family) {
  Cells cells = family.copy;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    cells[cell].written = family.memory->cells[cell].written;
  }
  return cells;
}

Model::Tensor Model::clone(const Tensor& of) {
  access(of, Kind::read);
  Tensor made =
      new_tensor(contiguous_layout(of.layout.sizes, "clone"), of.dtype, elements_of(of, of.places));
  made.is_on_device = of.is_on_device;
  return made;
}

Model::Tensor Model::new_tensor(const Layout& layout, DType dtype, const Elements& elements) {
  ++now_;
  Tensor made{.layout = layout, .dtype = dtype};
  const std::size_t cells = static_cast<std::size_t>(layout.numel()) * made.width();
  memories_.push_back({.cells = Cells(cells)});
  families_.push_back({.memory = &memories_.back(), .copy = Cells(cells), .observed = now_});
  memories_.back().begun_with = made.family = &families_.back();
  made.places = places_of(layout, made.width());
  write(made, made.places, [&](const Element&, std::size_t index) { return elements[index]; });
  return made;
}

}  // namespace byre::test
