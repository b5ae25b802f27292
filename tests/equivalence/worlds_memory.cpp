// SPDX-License-Identifier: BSL-1.0
/// What gives tensors memory, shares it, or parts those that share it.
#include <algorithm>

#include "worlds.hpp"

namespace byre::test {

bool Worlds::change_memory(const Statement& statement) {
  Tensor& self = tensors_.at(statement.self);
  switch (statement.operation) {
    case Operation::drop:
      return tensors_.erase(statement.self) == 1;
    case Operation::resize:
      return resize(self, statement.dims);
    case Operation::reserve:
      return reserve(self, statement.dims);
    case Operation::reshape_in_place:
      self = reshape(self, statement.dims);
      return true;
    default:
      break;
  }
  const auto other = tensors_.find(statement.other);
  auto viewed = other == tensors_.end()
                    ? std::nullopt
                    : viewed_as(other->second.layout, self.layout.sizes, "share_data");
  if (!viewed) {
    return false;
  }
  self = {*viewed, other->second.family, places_of(*viewed)};
  return true;
}

bool Worlds::resize(Tensor& self, const Dims& sizes) const {
  Layout layout = contiguous_layout(sizes, "resize");
  layout.offset = self.layout.offset;
  if (!self.layout.is_contiguous() ||
      static_cast<std::size_t>(layout.end()) > self.family->memory->cells.size()) {
    return false;
  }
  if (sizes != self.layout.sizes) {
    self.layout = layout;
    self.places = places_of(layout);
  }
  return true;
}

/// Where there is no room, the elements are moved, which reads them. What is behind them is not known,
/// and never seen.
bool Worlds::reserve(Tensor& self, const Dims& sizes) {
  Memory& memory = *self.family->memory;
  const auto shares = [&](const auto& named) {
    return named.second.family->memory.get() == &memory;
  };
  const auto wanted =
      static_cast<std::size_t>(self.layout.offset + contiguous_layout(sizes, "reserve").numel());
  if (std::ranges::count_if(tensors_, shares) > 1) {
    return false;
  }
  if (wanted > memory.capacity) {
    access(*self.family, self.places, Kind::carried);
    memory.capacity = wanted;
  }
  return true;
}

Worlds::Tensor Worlds::reshape(const Tensor& self, const Dims& sizes) {
  if (auto viewed = viewed_as(self.layout, sizes, "reshape")) {
    return {*viewed, std::make_shared<Family>(*self.family), places_of(*viewed)};
  }
  Tensor made = clone(self);
  made.layout = contiguous_layout(sizes, "reshape");
  return made;
}

Worlds::Tensor Worlds::new_tensor(const Layout& layout, const Values& values,
                                  std::size_t capacity) {
  const auto memory = std::make_shared<Memory>();
  const auto family = std::make_shared<Family>();
  ++now_;
  for (const std::int64_t value : values[0]) {
    memory->cells.push_back({value, now_});
  }
  for (const std::int64_t value : values[1]) {
    family->copy.push_back({value, now_});
  }
  memory->capacity = std::max(capacity, memory->cells.size());
  family->memory = memory;
  family->told = now_;
  return {layout, family, places_of(layout)};
}

Worlds::Tensor Worlds::clone(const Tensor& of) {
  access(*of.family, of.places, Kind::carried);
  return new_tensor(contiguous_layout(of.layout.sizes, "clone"), values_of(*of.family, of.places));
}

}  // namespace byre::test
