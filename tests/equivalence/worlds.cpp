// SPDX-License-Identifier: BSL-1.0
#include "worlds.hpp"

#include <byre/error/error.hpp>
#include <byre/tensor/views.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace byre::test {
namespace {

/// What the operations on elements allow where the two have one memory: the same elements, or others.
bool may_be_written_beside(const Worlds::Tensor& self, const Worlds::Tensor& other) {
  if (self.layout.sizes != other.layout.sizes || self.type.dtype != other.type.dtype) {
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
    if (statement.operation == Operation::write_kept) {
      if (!may_write_kept(statement.self)) {
        return false;
      }
      write_kept(kept_.at(statement.self), statement.value);
      return true;
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
  Elements elements;
  for (std::int64_t index = 0; index < layout.numel(); ++index) {
    elements.push_back(alike(statement.value + index));
  }
  return tensors_.emplace(statement.result, new_tensor(layout, {}, elements)).second;
}

bool Worlds::make_tensor(const Statement& statement) {
  const Tensor& self = tensors_.at(statement.self);
  const DType dtype_seen = statement.operation == Operation::as_i32   ? DType::i32
                           : statement.operation == Operation::as_i64 ? DType::i64
                                                                      : self.type.dtype;
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
    case Operation::equal:
    case Operation::mask:
    case Operation::matmul: {
      auto result = combined(self, statement);
      if (!result) {
        return false;
      }
      made = *std::move(result);
      break;
    }
    case Operation::moved:
      made = moved(self);
      break;
    case Operation::clone:
      made = clone(self);
      break;
    case Operation::lazy_clone:
      made = lazy_clone(self, self.layout);
      break;
    case Operation::as_i32:
    case Operation::as_i64:
      if (dtype_seen == self.type.dtype || self.type.dtype == DType::boolean) {
        return false;
      }
      [[fallthrough]];
    default:
      made.layout = layout_of_view(self.layout, statement);
      made.family = self.family;
      made.type = {dtype_seen, self.type.is_on_device};
      made.places = places_of(made.layout, made.width());
  }
  tensors_.insert_or_assign(statement.result, std::move(made));
  return true;
}

bool Worlds::change_tensor(const Statement& statement) {
  Tensor& self = tensors_.at(statement.self);
  const std::int64_t value = statement.value;
  const auto given = [=](const Element&, std::size_t) { return alike(value); };
  const bool computes =
      statement.operation == Operation::add_number || statement.operation == Operation::negate;
  if ((self.type.is_on_device && (computes || statement.operation == Operation::set_at)) ||
      (self.type.dtype == DType::boolean && computes)) {
    return false;
  }
  if (self.family == nullptr) {
    self = new_tensor(self.layout, self.type, Elements(self.places.size()));
  }
  switch (statement.operation) {
    case Operation::fill:
      write(self, self.places, given);
      return true;
    case Operation::set_at: {
      const auto element =
          element_at(self.layout, {statement.dims.begin(), statement.dims.size()}, "");
      write(self, {static_cast<std::size_t>(element) * self.width()}, given);
      return true;
    }
    case Operation::write_through:
      write_through(statement.self, self, value);
      return true;
    default:
      break;
  }
  const auto changed = [=, negates = statement.operation == Operation::negate](std::int64_t old) {
    return negates ? -old : old + value;
  };
  access(self, Kind::carried);
  write(self, self.places, [&](const Element& old, std::size_t) { return computed(changed, old); });
  return true;
}

bool Worlds::change_both(const Statement& statement) {
  Tensor& self = tensors_.at(statement.self);
  const auto other = tensors_.find(statement.other);
  if (other == tensors_.end() || other->second.family == nullptr ||
      !may_be_written_beside(self, other->second)) {
    return false;
  }
  if (statement.operation == Operation::add) {
    return add(self, other->second);
  }
  copy(self, other->second);
  return true;
}

bool Worlds::read(const Statement& statement) {
  const Tensor& self = tensors_.at(statement.self);
  Places places = self.places;
  if (statement.operation == Operation::read_at) {
    if (self.type.is_on_device) {
      return false;
    }
    const Dims& index = statement.dims;
    const auto element = element_at(self.layout, {index.begin(), index.size()}, "");
    places = {static_cast<std::size_t>(element) * self.width()};
    access(*self.family, cells_of(places, self.width()), Kind::observed);
  } else {
    read_all(self, statement.value);
  }
  for (Reads& reads : reads_) {
    reads.push_back({number_, {}});
  }
  Accounts& differing = accounts_.emplace_back();
  for (const Element& element : elements_of(self, places)) {
    for (std::size_t world = 0; world < reads_.size(); ++world) {
      reads_[world].back().values.push_back(element.in[world]);
    }
    if (element.differs()) {
      differing.push_back(element.account);
    }
  }
  return true;
}

/// Of bool: or.
bool Worlds::add(const Tensor& self, const Tensor& other) {
  if (self.type.is_on_device || other.type.is_on_device) {
    return false;
  }
  access(self, Kind::carried);
  access(other, Kind::carried);
  const Elements added = elements_of(other, other.places);
  write(self, self.places, [&](const Element& old, std::size_t index) {
    return computed(std::plus(), old, added[index]);
  });
  return true;
}

void Worlds::copy(Tensor& self, const Tensor& source) {
  access(source, Kind::carried);
  const Elements copied = elements_of(source, source.places);
  if (self.family == nullptr) {
    self = new_tensor(self.layout, self.type, copied);
    return;
  }
  Family& to = *self.family;
  const bool is_onto_itself =
      to.memory == source.family->memory && self.places == source.places && !self.places.empty();
  if (is_onto_itself && &to == source.family) {
    return;  // no write
  }
  if (is_onto_itself && self.is_all_of_its_memory()) {
    to.copy = parted(*source.family);  // one again with what wrote last, and told of all
    to.told = now_;
    to.unread.reset();
    to.known = last_write_of(to);
    return;
  }
  const int data = to.memory->data;
  write(self, self.places, [&](const Element&, std::size_t index) { return copied[index]; });
  if (is_onto_itself) {
    to.memory->data = data;  // where reshape aliases nothing is copied, nor parted from lazy clones
  }
}

}  // namespace byre::test
