// SPDX-License-Identifier: BSL-1.0
/// Families and memories: reshapes, sharing, clones and new tensors.
#include <byre/tensor/layout/detail/compact.hpp>

#include <algorithm>
#include <numeric>
#include <ranges>

#include "model.hpp"

namespace byre::test {
namespace {

/// Whether the elements are adjacent and in row-major order.
bool is_dense(const Model::Places& places) {
  for (std::size_t element = 1; element < places.size(); ++element) {
    if (places[element] != places[0] + element) {
      return false;
    }
  }
  return true;
}

auto elements_in_order(Elements elements) {
  return [elements = std::move(elements)](const Element&, std::size_t index) {
    return elements[index];
  };
}

}  // namespace

StepResult Model::make_views(const Step& step) {
  const Tensor& self = tensors_.at(ref_at(step, 0));
  if (step.op == "as_strided" && !self.is_equal_in_all_runs()) {
    return StepResult::skipped;
  }
  const std::size_t nbytes = self.family->memory->cells.size() * sizeof(std::int64_t);
  try {
    int part = 0;
    for (ViewGeometry& seen : (*functional::find(step.op).view())({self.layout, DType::i64, nbytes},
                                                                  constants_of(step))) {
      tensors_.insert_or_assign({step.number, part++}, self.with_layout(std::move(seen.layout)));
    }
    return StepResult::done;
  } catch (const ShapeError&) {
    // A compact copy has different strides.
    return self.is_equal_in_all_runs() ? StepResult::refused : StepResult::skipped;
  }
}

StepResult Model::change_family(const Step& step) {
  Tensor& self = tensors_.at(ref_at(step, 0));
  if (step.op == "drop") {
    tensors_.erase(ref_at(step, 0));
    return StepResult::done;
  }
  if (step.op == "reshape_") {
    self = reshape(self, step);
    return StepResult::done;
  }
  const auto found = tensors_.find(ref_at(step, 1));
  if (found == tensors_.end() || found->second.is_on_device != self.is_on_device) {
    return StepResult::skipped;
  }
  const Tensor& source = found->second;
  if (source.layout.numel() != self.layout.numel()) {
    return StepResult::refused;
  }
  const auto viewed = viewed_as(source.layout, self.layout.sizes, "share_data");
  if (!viewed) {
    return source.is_equal_in_all_runs() ? StepResult::refused : StepResult::skipped;
  }
  self = source.with_layout(*viewed);
  return StepResult::done;
}

Model::Tensor Model::copied(const Step& step) {
  const Tensor& self = tensors_.at(ref_at(step, 0));
  if (step.op == "clone" || step.op == "moved") {
    Tensor made = clone(self, self.layout.sizes, self.places);
    made.is_on_device = self.is_on_device != (step.op == "moved");
    return made;
  }
  const bool reads_sharing = self.is_equal_in_all_runs() && !self.is_on_device &&
                             (step.op != "reshape" || step.place.mode == shadow::ReshapeMode::copy);
  const Memory* const memory = self.family->memory;
  const int lazy_clones = memory->lazy_clones;
  Tensor made = step.op == "reshape" ? reshape(self, step)
                : step.op == "contiguous" && !self.layout.is_contiguous()
                    ? dense_clone(self, self.layout.sizes, self.places)
                    : lazy_clone(self, self.layout);
  if (reads_sharing) {
    for (Reads& reads : expected_.reads) {
      reads[number_] = {memory->lazy_clones - lazy_clones};
    }
  }
  return made;
}

Model::Tensor Model::reshape(const Tensor& self, const Step& step) {
  using shadow::ReshapeMode;
  auto viewed = viewed_as(self.layout, dims_at(step, 1), "reshape");
  if (!viewed) {
    return dense_clone(self, self.layout.sizes, self.places)
        .with_layout(contiguous_layout(
            inferred_sizes(dims_at(step, 1), self.layout.numel(), "reshape"), "reshape"));
  }
  const ReshapeMode mode = step.place.mode.value_or(ReshapeMode::warn);
  if (mode == ReshapeMode::copy) {
    return lazy_clone(self, *viewed);
  }
  Tensor made = self.with_layout(*viewed);
  if (mode != ReshapeMode::alias) {
    Memory& memory = *self.family->memory;
    ++expected_.reshapes;
    expected_.escapes += memory.families == 0 && memory.has_escaped ? 1 : 0;
    made.family = &families_.emplace_back(*self.family);
    made.family->number = {++memory.families, self.family->number.number};
    made.family->reshaped_from = self.family;
    made.family->made = now_;
    made.family->reshape = line_;
    made.family->mode = mode;
    ++memory.lazy_clones;  // a reshape that copies makes a lazy clone
  }
  return made;
}

/// If reshape copies, a family that a reshape made has a separate storage, in which the elements
/// may be dense. The clone then shares that storage.
Model::Tensor Model::dense_clone(const Tensor& of, const Dims& sizes, const Places& places) {
  const bool has_own_storage = of.family->reshaped_from != nullptr;
  of.family->memory->lazy_clones += has_own_storage ? 1 : 0;
  Tensor made = clone(of, sizes, places);
  made.family->memory->has_equal_size_in_all_runs = !has_own_storage;
  return made;
}

Model::Tensor Model::lazy_clone(const Tensor& of, const Layout& layout) {
  Memory& memory = *of.family->memory;
  const bool has_own_storage = of.family->reshaped_from != nullptr;  // if reshape copies
  const auto is_small = [&](std::int64_t count) {
    return byre::detail::is_less_than_half(static_cast<std::size_t>(count), memory.cells.size());
  };
  const auto [copied, compact] = byre::detail::compacted(layout);
  if (is_small(byre::detail::max_distinct_elements(of.layout)) && is_small(copied.numel())) {
    // If reshape copies, the tensor may cover most of its family's separate storage. The clone then
    // shares that storage.
    return dense_clone(of, {copied.numel()}, places_of(copied)).with_layout(compact);
  }
  Places all(memory.cells.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  access(*of.family, all, Kind::read);
  ++memory.lazy_clones;
  Tensor made = of.with_layout(layout);
  made.family = add_memory(
      {.cells = memory.cells,
       .has_equal_size_in_all_runs = memory.has_equal_size_in_all_runs && !has_own_storage},
      cells_of_copy(*of.family));
  return made;
}

/// Adds a memory and its first family.
Model::Family* Model::add_memory(Memory memory, Cells copy) {
  memories_.push_back(std::move(memory));
  families_.push_back({.memory = &memories_.back(), .copy = std::move(copy), .observed = now_});
  return memories_.back().first_family = &families_.back();
}

/// In every run, a tensor that grows gets a new memory.
StepResult Model::change_memory(const Step& step) {
  Tensor& self = tensors_.at(ref_at(step, 0));
  if (!self.is_equal_in_all_runs() || self.is_on_device || self.places.empty()) {
    return StepResult::skipped;
  }
  if (step.op == "resize") {
    return resize(self, step);
  }
  if (shares_memory(self)) {
    return StepResult::refused;
  }
  if (step.op == "extend") {
    return extend(self, step);
  }
  self = filled(self.layout.sizes, integer_at(step, 1));
  return StepResult::done;
}

bool Model::shares_memory(const Tensor& self) const {
  return std::ranges::count_if(tensors_, [&](const auto& named) {
           return named.second.family->memory == self.family->memory;
         }) > 1;
}

/// A tensor with new memory, filled through a pointer.
Model::Tensor Model::filled(const Dims& sizes, std::int64_t value) {
  const Layout layout = contiguous_layout(sizes, "new memory");
  Tensor made = new_tensor(layout, counted_from(value));
  made.family->memory->has_escaped = true;
  return made;
}

StepResult Model::resize(Tensor& self, const Step& step) {
  Layout layout = contiguous_layout(dims_at(step, 1), "resize");
  const auto numel = static_cast<std::size_t>(layout.numel());
  const bool shrinks = numel < self.places.size();
  const bool frees = shrinks && std::get<bool>(step.arguments.at(3));
  if (numel == 0) {
    return StepResult::skipped;
  }
  if (layout.sizes == self.layout.sizes) {
    return StepResult::done;
  }
  if (!is_dense(self.places)) {
    return StepResult::refused;
  }
  if (self.places[0] + numel <= self.family->memory->cells.size() && !frees) {
    layout.offset = static_cast<std::int64_t>(self.places[0]);
    self = self.with_layout(std::move(layout));
    return StepResult::done;
  }
  if (shares_memory(self)) {
    return StepResult::refused;
  }
  self = filled(layout.sizes, integer_at(step, 2));
  return StepResult::done;
}

/// Keeps the elements, and writes all cells after them.
StepResult Model::extend(Tensor& self, const Step& step) {
  const std::int64_t count = integer_at(step, 1);
  if (self.layout.ndim() == 0 || count < 0 || !is_dense(self.places)) {
    return StepResult::refused;
  }
  Memory& memory = *self.family->memory;
  const std::size_t first = self.places[0];
  const std::size_t kept = first + self.places.size();
  Layout layout = self.layout;
  layout.sizes[0] += count;
  if (first + static_cast<std::size_t>(layout.numel()) > memory.cells.size()) {
    Layout reserved = layout;
    reserved.sizes[0] += layout.sizes[0] * integer_at(step, 2) / 100;
    memory.cells.resize(first + static_cast<std::size_t>(reserved.numel()));
    self.family->copy.resize(memory.cells.size());
  }
  layout = contiguous_layout(layout.sizes, "extend");
  layout.offset = static_cast<std::int64_t>(first);
  self = self.with_layout(std::move(layout));
  ++memory.lazy_clones;  // like a lazy clone, a growth invalidates pointers
  Places behind(memory.cells.size() - kept);
  std::iota(behind.begin(), behind.end(), kept);
  write(self, behind, counted_from(integer_at(step, 3)), true);
  return StepResult::done;
}

/// The cells that a copy of the storage would have now.
Model::Cells Model::cells_of_copy(const Family& family) {
  Cells cells = family.copy;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    cells[cell].written = family.memory->cells[cell].written;
  }
  return cells;
}

Model::Tensor Model::clone(const Tensor& of, const Dims& sizes, const Places& places) {
  access(*of.family, of.places, Kind::read);
  Tensor made =
      new_tensor(contiguous_layout(sizes, "clone"), elements_in_order(elements_of(of, places)));
  made.is_on_device = of.is_on_device;
  return made;
}

Model::Tensor Model::new_tensor(const Layout& layout, const NewElement& element) {
  ++now_;
  Tensor made = Tensor().with_layout(layout);
  made.family = add_memory({.cells = Cells(made.places.size())}, Cells(made.places.size()));
  write(made, made.places, element);
  return made;
}

}  // namespace byre::test
