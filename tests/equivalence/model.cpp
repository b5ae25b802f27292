// SPDX-License-Identifier: BSL-1.0
#include "model.hpp"

#include <byre/error/error.hpp>
#include <byre/tensor/views.hpp>

#include <algorithm>

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
  return {{a.in[0] + b.in[0], a.in[1] + b.in[1]},
          std::min(a.differs() ? a.account : Account::suppressed,
                   b.differs() ? b.account : Account::suppressed)};
}

std::size_t place_of(const Model::Tensor& tensor, const Dims& index) {
  return static_cast<std::size_t>(element_at(tensor.layout, {index.begin(), index.size()}, ""));
}

/// What the operations on elements allow where the two have one memory: the same elements, or others.
bool may_be_written_beside(const Model::Tensor& self, const Model::Tensor& other) {
  return self.layout.sizes == other.layout.sizes &&
         (self.places.empty() || self.family->memory != other.family->memory ||
          self.places == other.places ||
          std::ranges::max(self.places) < std::ranges::min(other.places) ||
          std::ranges::max(other.places) < std::ranges::min(self.places));
}

}  // namespace

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
      return tensors_.emplace(statement.result, new_tensor(layout, elements)).second;
    }
    if (!tensors_.contains(statement.self) ||
        (operation == Operation::write_kept && !may_write_kept(statement.self))) {
      return false;
    }
    return operation <= Operation::clone        ? make_tensor(statement)
           : operation <= Operation::drop       ? change_family(statement)
           : operation <= Operation::write_kept ? change_elements(statement)
           : operation <= Operation::copy       ? change_by_other(statement)
                                                : read(statement);
  } catch (const Error&) {
    return false;  // of a layout: nothing was done yet
  }
}

bool Model::make_tensor(const Statement& statement) {
  const Tensor& self = tensors_.at(statement.self);
  const Dims& dims = statement.dims;
  Tensor made = self;
  switch (statement.operation) {
    case Operation::transpose:
      made.layout = views::transpose(self.layout, dims[0], dims[1]);
      break;
    case Operation::slice:
      made.layout = views::slice(self.layout, dims[0], dims[1], dims[2], dims[3]);
      break;
    case Operation::select:
      made.layout = views::select(self.layout, dims[0], dims[1]);
      break;
    case Operation::view:
      made.layout = views::view(self.layout, dims);
      break;
    case Operation::over:
      // Of the family that the storage began with, which is what a handle of the storage gives.
      made.layout = contiguous_layout(dims, "over");
      if (self.family->memory->begun_with != self.family ||
          static_cast<std::size_t>(made.layout.numel()) > self.family->memory->cells.size()) {
        return false;
      }
      break;
    case Operation::reshape:
      made = reshape(self, statement);
      break;
    case Operation::lazy_clone:
      made = lazy_clone(self, self.layout);
      break;
    case Operation::moved:
    case Operation::clone:
      made = clone(self);
      made.is_on_device = self.is_on_device != (statement.operation == Operation::moved);
      break;
    default:
      break;
  }
  made.places = places_of(made.layout);
  tensors_.insert_or_assign(statement.result, std::move(made));
  return true;
}

bool Model::change_elements(const Statement& statement) {
  const Tensor& self = tensors_.at(statement.self);
  const std::int64_t value = statement.value;
  const auto given = [=](const Element&, std::size_t) { return alike(value); };
  if (self.is_on_device && statement.operation != Operation::fill) {
    return false;
  }
  switch (statement.operation) {
    case Operation::fill:
      write(self, self.places, given);
      return true;
    case Operation::set_at:
      write(self, {place_of(self, statement.dims)}, given);
      return true;
    case Operation::write_through:
      write(self, self.places, counted_from(value), true);
      kept_.insert_or_assign(statement.self, Kept{self, self.family->memory->lazy_clones});
      return true;
    default: {
      const Tensor& kept = kept_.at(statement.self).tensor;
      set(kept, kept.places, counted_from(value), {.is_unseen = true});
      return true;
    }
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
  const Tensor& self = tensors_.at(statement.self);
  const auto found = tensors_.find(statement.other);
  if (found == tensors_.end() || !may_be_written_beside(self, found->second)) {
    return false;
  }
  const Tensor& other = found->second;
  const bool adds = statement.operation == Operation::add;
  if (adds && (self.is_on_device || other.is_on_device)) {
    return false;
  }
  Family& to = *self.family;
  if (adds) {
    access(to, self.places, Kind::read);
  }
  access(*other.family, other.places, Kind::read);
  if (!adds && to.memory == other.family->memory && self.places == other.places &&
      !self.places.empty()) {  // a copy onto itself
    if (&to == other.family) {
      return true;  // no write
    }
    if (self.is_all()) {
      to.copy = separated(*other.family);  // as what wrote last
      to.observed = now_;
      to.unread.reset();
      return true;
    }
  }
  const Elements others = elements_of(other, other.places);
  write(self, self.places, [&](const Element& old, std::size_t index) {
    return adds ? sum(old, others[index]) : others[index];
  });
  return true;
}

bool Model::read(const Statement& statement) {
  const Tensor& self = tensors_.at(statement.self);
  Places places = self.places;
  if (statement.operation == Operation::read_at) {
    if (self.is_on_device) {
      return false;
    }
    places = {place_of(self, statement.dims)};
  }
  access(*self.family, places, Kind::read);
  for (Reads& reads : reads_) {
    reads.push_back({number_, {}});
  }
  for (const Element& element : elements_of(self, places)) {
    for (std::size_t run = 0; run < reads_.size(); ++run) {
      reads_[run].back().values.push_back(element.in[run]);
    }
    accounts_[static_cast<std::size_t>(element.account)] += element.differs() ? 1U : 0U;
  }
  return true;
}

}  // namespace byre::test
