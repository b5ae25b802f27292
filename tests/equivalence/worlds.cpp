// SPDX-License-Identifier: BSL-1.0
#include "worlds.hpp"

#include <byre/error/error.hpp>
#include <byre/tensor/layout/views.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace byre::test {
namespace {

/// What the operations on elements allow where the two have one memory: the same elements, or others.
bool may_be_written_beside(const Worlds::Tensor& self, const Worlds::Tensor& other) {
  if (self.layout.sizes != other.layout.sizes) {
    return false;
  }
  return self.family->memory != other.family->memory || self.places == other.places ||
         std::ranges::max(self.places) < std::ranges::min(other.places) ||
         std::ranges::max(other.places) < std::ranges::min(self.places);
}

std::vector<std::size_t> all_places(const Worlds::Family& family) {
  std::vector<std::size_t> all(family.copy.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

}  // namespace

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
    default:
      return layout;
  }
}

std::vector<std::size_t> places_of(const Layout& layout) {
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
  return all;
}

bool Worlds::run(const Statement& statement, std::uint32_t line) {
  line_ = line;
  try {
    if (statement.operation == Operation::make) {
      const Layout layout = contiguous_layout(statement.dims, "make");
      std::vector<std::int64_t> values(static_cast<std::size_t>(layout.numel()));
      std::iota(values.begin(), values.end(), statement.value);
      return tensors_.emplace(statement.result, new_tensor(layout, {values, values})).second;
    }
    if (!tensors_.contains(statement.self)) {
      return false;
    }
    return statement.operation <= Operation::clone        ? make_tensor(statement)
           : statement.operation <= Operation::share_data ? change_memory(statement)
           : statement.operation < Operation::read_at     ? change_tensor(statement)
                                                          : read(statement);
  } catch (const Error&) {
    return false;  // of a layout: nothing was done yet
  }
}

bool Worlds::make_tensor(const Statement& statement) {
  Tensor& self = tensors_.at(statement.self);
  Tensor made;
  switch (statement.operation) {
    case Operation::reshape:
      made = reshape(self, statement.dims);
      break;
    case Operation::clone:
      made = clone(self);
      break;
    case Operation::lazy_clone:
      access(*self.family, self.places, Kind::carried);
      made = new_tensor(self.layout, values_of(*self.family, all_places(*self.family)),
                        self.family->memory->capacity);
      break;
    default:
      made.layout = layout_of_view(self.layout, statement);
      made.family = self.family;
      made.places = places_of(made.layout);
  }
  if (made.places.empty()) {
    return false;
  }
  tensors_.insert_or_assign(statement.result, std::move(made));
  return true;
}

bool Worlds::change_tensor(const Statement& statement) {
  Tensor& self = tensors_.at(statement.self);
  const std::int64_t value = statement.value;
  switch (statement.operation) {
    case Operation::fill:
      write(self, self.places, [=](std::int64_t, std::size_t, std::size_t) { return value; });
      return true;
    case Operation::set_at: {
      const auto place =
          element_at(self.layout, {statement.dims.begin(), statement.dims.size()}, "");
      write(self, {static_cast<std::size_t>(place)},
            [=](std::int64_t, std::size_t, std::size_t) { return value; });
      return true;
    }
    case Operation::write_through:
      write(self, self.places, [=](std::int64_t, std::size_t index, std::size_t) {
        return value + static_cast<std::int64_t>(index);
      });
      return true;
    case Operation::add_number:
    case Operation::negate: {
      const bool negates = statement.operation == Operation::negate;
      access(*self.family, self.places, Kind::carried);
      write(self, self.places, [=](std::int64_t old, std::size_t, std::size_t) {
        return negates ? -old : old + value;
      });
      return true;
    }
    default:
      break;
  }
  const auto other = tensors_.find(statement.other);
  if (other == tensors_.end() || !may_be_written_beside(self, other->second)) {
    return false;
  }
  statement.operation == Operation::add ? add(self, other->second) : copy(self, other->second);
  return true;
}

bool Worlds::read(const Statement& statement) {
  const Tensor& self = tensors_.at(statement.self);
  Places places = self.places;
  if (statement.operation == Operation::read_at) {
    const Dims& index = statement.dims;
    places = {static_cast<std::size_t>(element_at(self.layout, {index.begin(), index.size()}, ""))};
  }
  access(*self.family, places, Kind::observed);
  Values values = values_of(*self.family, places);
  for (std::size_t world = 0; world < values.size(); ++world) {
    reads_[world].push_back({line_, std::move(values[world])});
  }
  return true;
}

void Worlds::add(Tensor& self, const Tensor& other) {
  access(*self.family, self.places, Kind::carried);
  access(*other.family, other.places, Kind::carried);
  const Values added = values_of(*other.family, other.places);
  write(self, self.places, [&](std::int64_t old, std::size_t index, std::size_t world) {
    return old + added[world][index];
  });
}

void Worlds::copy(Tensor& self, const Tensor& source) {
  Family& to = *self.family;
  const Family& from = *source.family;
  access(*source.family, source.places, Kind::carried);
  const bool is_onto_itself = to.memory == from.memory && self.places == source.places;
  if (is_onto_itself && &to == &from) {
    return;  // no write
  }
  if (is_onto_itself && self.places.size() == to.memory->capacity) {
    to.copy = from.copy;  // one again with what wrote last, and told of all
    to.told = now_;
    return;
  }
  const Values copied = values_of(from, source.places);
  write(self, self.places,
        [&](std::int64_t, std::size_t index, std::size_t world) { return copied[world][index]; });
}

Worlds::Values Worlds::values_of(const Family& family, const Places& places) {
  Values values;
  for (const std::size_t place : places) {
    values[0].push_back(family.memory->cells[place].value);
    values[1].push_back(family.copy[place].value);
  }
  return values;
}

void Worlds::access(Family& family, const Places& places, Kind kind) {
  const bool is_told = std::ranges::any_of(
      family.memory->cells, [&](const Cell& cell) { return cell.written > family.told; });
  if (is_told) {
    reports_.push_back({family.memory->last_write_line, line_, reason_of(family, places, kind)});
  }
  family.told = now_;
}

void Worlds::write(Tensor& tensor, const Places& places, const NewValue& value) {
  Family& family = *tensor.family;
  access(family, places, Kind::write);
  ++now_;
  for (std::size_t index = 0; index < places.size(); ++index) {
    Cell& aliased = family.memory->cells[places[index]];
    Cell& copied = family.copy[places[index]];
    aliased = {value(aliased.value, index, 0), now_};
    copied = {value(copied.value, index, 1), now_};
  }
  family.memory->last_write_line = line_;
  family.told = now_;
}

}  // namespace byre::test
