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
  if (self.layout.sizes != other.layout.sizes || self.width != other.width) {
    return false;
  }
  return self.places.empty() || self.family == nullptr ||
         self.family->memory != other.family->memory || self.places == other.places ||
         std::ranges::max(self.places) < std::ranges::min(other.places) ||
         std::ranges::max(other.places) < std::ranges::min(self.places);
}

/// Those that write all of self, or let go of it, do not need memory.
bool needs_memory(Operation operation) {
  switch (operation) {
    case Operation::drop:
    case Operation::resize:
    case Operation::shrink:
    case Operation::realize:
    case Operation::share_data:
    case Operation::fill:
    case Operation::write_through:
    case Operation::copy:
      return false;
    default:
      return true;
  }
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
    case Operation::as_i32:
      return views::with_itemsize(layout, 8, 4);
    case Operation::as_i64:
      return views::with_itemsize(layout, 4, 8);
    default:
      return layout;
  }
}

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

bool Worlds::run(const Statement& statement, std::uint32_t number) {
  number_ = number;
  line_ = statement.line_at(number);
  is_silent_ = statement.is_silent;
  silenced_reads_ = 0;
  try {
    if (statement.operation == Operation::make) {
      return make(statement);
    }
    const auto self = tensors_.find(statement.self);
    if (self == tensors_.end() ||
        (self->second.family == nullptr && needs_memory(statement.operation))) {
      return false;
    }
    return statement.operation <= Operation::clone        ? make_tensor(statement)
           : statement.operation <= Operation::share_data ? change_memory(statement)
           : statement.operation < Operation::add         ? change_tensor(statement)
           : statement.operation < Operation::read_at     ? change_both(statement)
                                                          : read(statement);
  } catch (const Error&) {
    return false;  // of a layout: nothing was done yet
  }
}

bool Worlds::make(const Statement& statement) {
  const Layout layout = contiguous_layout(statement.dims, "make");
  std::vector<std::int64_t> values(static_cast<std::size_t>(layout.numel()));
  std::iota(values.begin(), values.end(), statement.value);
  return tensors_.emplace(statement.result, new_tensor(layout, 2, {values, values})).second;
}

bool Worlds::make_tensor(const Statement& statement) {
  const Tensor& self = tensors_.at(statement.self);
  const std::size_t width_seen = statement.operation == Operation::as_i32   ? 1
                                 : statement.operation == Operation::as_i64 ? 2
                                                                            : self.width;
  Tensor made;
  switch (statement.operation) {
    case Operation::over: {
      auto seen = over(self, statement.dims);
      if (!seen) {
        return false;
      }
      made = *std::move(seen);
      break;
    }
    case Operation::reshape:
      made = reshape(self, statement);
      break;
    case Operation::cat:
    case Operation::where:
    case Operation::matmul: {
      auto result = combined(self, statement);
      if (!result) {
        return false;
      }
      made = *std::move(result);
      break;
    }
    case Operation::clone:
      made = clone(self);
      break;
    case Operation::lazy_clone:
      made = lazy_clone(self, self.layout);
      break;
    case Operation::as_i32:
    case Operation::as_i64:
      if (width_seen == self.width) {
        return false;
      }
      [[fallthrough]];
    default:
      made.layout = layout_of_view(self.layout, statement);
      made.family = self.family;
      made.width = width_seen;
      made.places = places_of(made.layout, made.width);
  }
  tensors_.insert_or_assign(statement.result, std::move(made));
  return true;
}

/// A new tensor of two operands, which are read one after the other.
std::optional<Worlds::Tensor> Worlds::combined(const Tensor& self, const Statement& statement) {
  const auto found = tensors_.find(statement.other);
  if (found == tensors_.end() || found->second.family == nullptr ||
      found->second.width != self.width) {
    return std::nullopt;
  }
  const Tensor& other = found->second;
  const Dims& left = self.layout.sizes;
  const Dims& right = other.layout.sizes;
  Dims sizes(left);
  if (statement.operation == Operation::matmul) {
    if (left.size() != 2 || right.size() != 2 || left[1] != right[0]) {
      return std::nullopt;
    }
    sizes[1] = right[1];
  } else if (left != right || left.empty()) {
    return std::nullopt;
  } else if (statement.operation == Operation::cat) {
    sizes[0] *= 2;
  }
  access(self, Kind::carried);
  access(other, Kind::carried);
  const Values of_self = values_of(self, self.places);
  const Values of_other = values_of(other, other.places);
  Values values = uniform(static_cast<std::size_t>(contiguous_layout(sizes, "").numel()), 0);
  for (std::size_t world = 0; world < values.size(); ++world) {
    const auto& a = of_self[world];
    const auto& b = of_other[world];
    for (std::size_t index = 0; index < values[world].size(); ++index) {
      std::int64_t& value = values[world][index];
      if (statement.operation == Operation::cat) {
        value = index < a.size() ? a[index] : b[index - a.size()];
      } else if (statement.operation == Operation::where) {
        value = index % 2 == 0 ? a[index] : b[index];
      } else {
        const auto inner = static_cast<std::size_t>(left[1]);
        const auto columns = static_cast<std::size_t>(right[1]);
        std::uint64_t total = 0;
        for (std::size_t k = 0; k < inner; ++k) {
          total += static_cast<std::uint64_t>(a[index / columns * inner + k]) *
                   static_cast<std::uint64_t>(b[k * columns + index % columns]);
        }
        value = static_cast<std::int64_t>(total);
      }
    }
  }
  return new_tensor(contiguous_layout(sizes, ""), self.width, values);
}

bool Worlds::change_tensor(const Statement& statement) {
  Tensor& self = tensors_.at(statement.self);
  const std::int64_t value = statement.value;
  if (self.family == nullptr) {
    self = new_tensor(self.layout, self.width, uniform(self.places.size(), 0));
  }
  switch (statement.operation) {
    case Operation::fill:
      write(self, self.places, [=](std::int64_t, std::size_t, std::size_t) { return value; });
      return true;
    case Operation::set_at: {
      const auto element =
          element_at(self.layout, {statement.dims.begin(), statement.dims.size()}, "");
      write(self, {static_cast<std::size_t>(element) * self.width},
            [=](std::int64_t, std::size_t, std::size_t) { return value; });
      return true;
    }
    case Operation::write_through:
      write_through(self, value);
      return true;
    default:
      break;
  }
  const bool negates = statement.operation == Operation::negate;
  access(self, Kind::carried);
  write(self, self.places,
        [=](std::int64_t old, std::size_t, std::size_t) { return negates ? -old : old + value; });
  return true;
}

bool Worlds::change_both(const Statement& statement) {
  Tensor& self = tensors_.at(statement.self);
  const auto other = tensors_.find(statement.other);
  if (other == tensors_.end() || other->second.family == nullptr ||
      !may_be_written_beside(self, other->second)) {
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
    const auto element = element_at(self.layout, {index.begin(), index.size()}, "");
    places = {static_cast<std::size_t>(element) * self.width};
    access(*self.family, cells_of(places, self.width), Kind::observed);
  } else {
    read_all(self, statement.value);
  }
  Values values = values_of(self, places);
  for (std::size_t world = 0; world < values.size(); ++world) {
    reads_[world].push_back({number_, std::move(values[world])});
  }
  return true;
}

void Worlds::add(const Tensor& self, const Tensor& other) {
  access(self, Kind::carried);
  access(other, Kind::carried);
  const Values added = values_of(other, other.places);
  write(self, self.places, [&](std::int64_t old, std::size_t index, std::size_t world) {
    return old + added[world][index];
  });
}

void Worlds::copy(Tensor& self, const Tensor& source) {
  access(source, Kind::carried);
  const Values copied = values_of(source, source.places);
  if (self.family == nullptr) {
    self = new_tensor(self.layout, self.width, copied);
    return;
  }
  Family& to = *self.family;
  const bool is_onto_itself =
      to.memory == source.family->memory && self.places == source.places && !self.places.empty();
  if (is_onto_itself && &to == source.family) {
    return;  // no write
  }
  if (is_onto_itself && self.is_all_of_its_memory()) {
    to.copy = source.family->copy;  // one again with what wrote last, and told of all
    to.told = now_;
    to.unread.reset();
    to.known = last_write_of(to);
    return;
  }
  write(self, self.places,
        [&](std::int64_t, std::size_t index, std::size_t world) { return copied[world][index]; });
}

}  // namespace byre::test
