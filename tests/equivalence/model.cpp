// SPDX-License-Identifier: BSL-1.0
#include "model.hpp"

#include <byre/error/error.hpp>

#include <algorithm>
#include <exception>

namespace byre::test {
namespace {

/// The sum with aliases and the sum with copies.
Element sum(const Element& a, const Element& b) {
  return {{a.in[0] + b.in[0], a.in[1] + b.in[1]},
          std::min(a.differs() ? a.cause : Cause::suppressed,
                   b.differs() ? b.cause : Cause::suppressed)};
}

std::size_t place_of(const Model::Tensor& tensor, const Dims& index) {
  return static_cast<std::size_t>(element_at(tensor.layout, {index.begin(), index.size()}, ""));
}

/// If two tensors share a memory, an operation on both requires that both consist of the same cells
/// in the same order, or that they have no common cell.
bool may_write_from(const Model::Tensor& self, const Model::Tensor& other) {
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

Model::Tensor Model::Tensor::with_layout(Layout other) const {
  Tensor made = *this;
  made.places = places_of(other);
  made.layout = std::move(other);
  return made;
}

StepResult Model::run(const Step& step) {
  number_ = step.number;
  line_ = line_of(step);
  is_in_scope_ = step.place.is_in_scope;
  const auto take = [&] {
    if (step.op == "make") {
      return make_tensors(step);
    }
    if (!tensors_.contains(ref_at(step, 0))) {
      return StepResult::skipped;
    }
    const auto is = [&](auto... names) { return ((step.op == names) || ...); };
    return is_view(step)                                          ? make_views(step)
           : is("reshape_", "share_data", "drop")                 ? change_family(step)
           : is("resize", "extend", "free_memory")                ? change_memory(step)
           : is("fill_", "set_at", "write_through", "write_kept") ? change_elements(step)
           : is("add_", "copy_")                                  ? change_by_other(step)
           : is("read_at", "read")                                ? read(step)
                                                                  : make_tensors(step);
  };
  try {
    const StepResult happened = take();
    if (happened == StepResult::refused) {
      expected_.refused.insert(step.number);
    }
    return happened;
  } catch (const std::exception&) {
    return StepResult::skipped;  // a layout or a shrunk step threw: nothing has changed yet
  }
}

StepResult Model::make_tensors(const Step& step) {
  const Ref result{step.number, 0};
  if (step.op == "make") {
    const Layout layout = contiguous_layout(dims_at(step, 0), "make");
    tensors_.insert_or_assign(result, new_tensor(layout, counted_from(integer_at(step, 1))));
    return StepResult::done;
  }
  const Tensor& self = tensors_.at(ref_at(step, 0));
  if (step.op != "over") {
    tensors_.insert_or_assign(result, copied(step));
    return StepResult::done;
  }
  // A tensor that Tensor::over() makes from a handle of the storage is in the storage's first
  // family.
  const Tensor made = self.with_layout(contiguous_layout(dims_at(step, 1), "over"));
  const Memory& memory = *self.family->memory;
  if (memory.first_family != self.family || !memory.has_equal_size_in_all_runs ||
      made.places.size() > memory.cells.size()) {
    return StepResult::skipped;
  }
  tensors_.insert_or_assign(result, made);
  return StepResult::done;
}

StepResult Model::change_elements(const Step& step) {
  const Ref name = ref_at(step, 0);
  const Tensor& self = tensors_.at(name);
  const std::int64_t value = integer_at(step, step.arguments.size() - 1);
  const auto given = [=](const Element&, std::size_t) { return Element{{value, value}}; };
  if (step.op == "fill_") {
    if (may_overlap_itself(self.layout)) {
      return self.is_equal_in_all_runs() ? StepResult::refused : StepResult::skipped;
    }
    write(self, self.places, given);
    return StepResult::done;
  }
  if (self.is_on_device || (step.op == "write_kept" && !may_write_kept(name))) {
    return StepResult::skipped;
  }
  if (step.op == "set_at") {
    write(self, {place_of(self, dims_at(step, 1))}, given);
  } else if (step.op == "write_through") {
    write(self, self.places, counted_from(value), true);
    kept_.insert_or_assign(name, KeptPointer{self, self.family->memory->lazy_clones});
  } else {
    const Tensor& kept = kept_.at(name).tensor;
    set(kept, kept.places, counted_from(value), {.is_by_kept_pointer = true});
  }
  return StepResult::done;
}

/// True if the kept pointer is still valid: the tensor is in host memory and in the family of that
/// time, and no lazy clone was made since.
bool Model::may_write_kept(Ref name) const {
  const auto kept = kept_.find(name);
  const auto now = tensors_.find(name);
  return kept != kept_.end() && now != tensors_.end() && !now->second.is_on_device &&
         now->second.family == kept->second.tensor.family &&
         now->second.family->memory->lazy_clones == kept->second.lazy_clones;
}

StepResult Model::change_by_other(const Step& step) {
  const Tensor& self = tensors_.at(ref_at(step, 0));
  const auto found = tensors_.find(ref_at(step, 1));
  if (found == tensors_.end() || !may_write_from(self, found->second) ||
      may_overlap_itself(self.layout)) {
    return StepResult::skipped;
  }
  const Tensor& other = found->second;
  const bool adds = step.op == "add_";
  if (adds && (self.is_on_device || other.is_on_device)) {
    return StepResult::skipped;
  }
  Family& to = *self.family;
  if (adds) {
    access(to, self.places, Kind::read);
  }
  access(*other.family, other.places, Kind::read);
  if (!adds && to.memory == other.family->memory && self.places == other.places &&
      !self.places.empty()) {  // the elements are copied onto themselves
    if (&to == other.family) {
      return StepResult::done;  // such a copy does not count as a write
    }
    if (self.is_all()) {
      to.copy =
          cells_of_copy(*other.family);  // equal to the elements of the family that wrote last
      to.observed = now_;
      to.unread.reset();
      return StepResult::done;
    }
  }
  const Elements others = elements_of(other, other.places);
  write(self, self.places, [&](const Element& old, std::size_t index) {
    return adds ? sum(old, others[index]) : others[index];
  });
  return StepResult::done;
}

StepResult Model::read(const Step& step) {
  const Tensor& self = tensors_.at(ref_at(step, 0));
  Places places = self.places;
  if (step.op == "read_at") {
    if (self.is_on_device) {
      return StepResult::skipped;
    }
    places = {place_of(self, dims_at(step, 1))};
  }
  access(*self.family, places, Kind::read);
  const Elements elements = elements_of(self, places);
  for (std::size_t run = 0; run < expected_.reads.size(); ++run) {
    std::ranges::transform(elements, std::back_inserter(expected_.reads[run][number_]),
                           [=](const Element& element) { return element.in[run]; });
  }
  for (const Element& element : elements) {
    expected_.causes[static_cast<std::size_t>(element.cause)] += element.differs() ? 1U : 0U;
  }
  return StepResult::done;
}

}  // namespace byre::test
