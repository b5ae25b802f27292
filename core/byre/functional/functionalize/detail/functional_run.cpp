// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/functionalize/detail/functional_run.hpp>
#include <byre/functional/functionalize/detail/functional_tensor.hpp>
#include <byre/functional/functionalize/detail/write_back.hpp>

#include <algorithm>
#include <optional>

namespace byre::inline BYRE_ABI::functional {
namespace {

using Aliases = std::vector<FunctionalTensor::AliasHandle>;

FunctionalTensor* functional(const AnyTensor& tensor) noexcept {
  return tensor.as<FunctionalTensor>();
}

/// Returns the program's inputs as views of the bases. An input that is passed twice is one tensor.
Tensors functional_inputs(const InputAliasing& aliasing, const Aliases& aliases) {
  Tensors inputs;
  for (std::size_t input = 0; input < aliasing.input_count(); ++input) {
    if (const std::size_t first = aliasing.first_occurrence(input); first < input) {
      inputs.push_back(inputs[first]);
      continue;
    }
    const std::size_t base = aliasing.base_of(input);
    inputs.push_back(make_counted<FunctionalTensor>(
        aliases[base], ViewPath(aliasing.meta(base), aliasing.geometry(input))));
  }
  return inputs;
}

/// Returns the view of `geometry` in the storage of `memory`.
Tensor view_in_storage(const Tensor& memory, ViewGeometry geometry) {
  geometry.storage_nbytes = memory.storage().nbytes();
  return view_of(memory, geometry);
}

}  // namespace

/// Finds the origin of each returned tensor among inputs, bases and computed values.
struct FunctionalRun::Finder {
  const Tensors& inputs;
  const Aliases& aliases;
  const bool in_memory;
  Tensors& values;
  Tensors& captured;
  Tensors outputs = {};
  /// Aliases that the program created, and the indices of their bases' values.
  std::vector<std::pair<FunctionalTensor::AliasHandle, std::size_t>> new_aliases = {};

  Found find_output(const AnyTensor& tensor) {
    const auto earlier = index_in(outputs, tensor);
    outputs.push_back(tensor);
    if (const auto input = index_in(inputs, tensor)) {
      return {Found::In::input, *input, {}};
    }
    if (earlier) {
      return {Found::In::output, *earlier, {}};
    }
    return find_contents(tensor);
  }

  Found find_contents(const AnyTensor& tensor) {
    if (tensor.as<CpuTensor>() != nullptr) {
      captured.push_back(tensor);
      return {Found::In::captured, captured.size() - 1, {}};
    }
    FunctionalTensor* const seen = functional(tensor);
    const auto alias = seen == nullptr ? nullptr : seen->alias_if_any();
    if (alias != nullptr && alias->captured().as<CpuTensor>() != nullptr) {
      captured.push_back(alias->captured());
      return {Found::In::view_of_captured, captured.size() - 1, seen->path().geometry()};
    }
    if (alias == nullptr || !in_memory) {
      values.push_back(seen == nullptr ? tensor : seen->sync());
      return {seen == nullptr ? Found::In::unchanged : Found::In::value, values.size() - 1,
              ViewGeometry::of_all(tensor.sizes(), tensor.dtype())};
    }
    const ViewGeometry& geometry = seen->path().geometry();
    if (const auto base = index_in(aliases, alias)) {
      return {Found::In::base, *base, geometry};
    }
    auto known = std::ranges::find(new_aliases, alias, [](const auto& each) { return each.first; });
    if (known == new_aliases.end()) {
      known = new_aliases.insert(known, {alias, values.size()});
      values.push_back(alias->sync_base());
    }
    return {Found::In::value, known->second, geometry};
  }

  template <class T>
  static std::optional<std::size_t> index_in(const std::vector<T>& all, const T& one) {
    const auto found = std::find(all.begin(), all.end(), one);
    return found == all.end() ? std::nullopt
                              : std::optional(static_cast<std::size_t>(found - all.begin()));
  }
};

FunctionalRun::FunctionalRun(const Program& f, const Tensors& originals, InputAliasing aliasing,
                             Tensors bases, KeySet backend, FunctionalizeOptions options,
                             WrittenValues written)
    : aliasing_(std::move(aliasing)), written_values_(written) {
  Aliases aliases;
  for (AnyTensor& base : bases) {
    const BatchLevel level = base.batch_level();
    aliases.push_back(make_counted<Alias>(std::move(base), options, level));
    const bool has_outside_views = aliasing_.has_outside_views(aliases.size() - 1);
    aliases.back()->track_writes(has_outside_views ? 1 : 0);
  }
  const Tensors inputs = functional_inputs(aliasing_, aliases);
  Tensors returned;
  {
    const FunctionalizeOptionsScope scope(options);
    const IncludeKeys pass(backend | Key::functionalize);
    const detail::RunningInputs running(originals);
    returned = f(inputs);
  }
  detail::expect_tensors(returned,
                         written_values_ == WrittenValues::bases ? "capture" : "functionalize",
                         "the returned tensors");
  const IncludeKeys on_backend(backend);
  for (std::size_t base = 0; base < aliases.size(); ++base) {
    if (aliases[base]->generation() != 0) {
      record_written(base, *aliases[base]);
    }
  }
  first_output_ = values_.size();
  Finder finder{inputs, aliases, aliasing_.is_all_in_memory(), values_, captured_};
  for (const AnyTensor& tensor : returned) {
    outputs_.push_back(finder.find_output(tensor));
  }
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    const FunctionalTensor& now = *functional(inputs[input]);
    if (now.alias_if_any() != aliases[aliasing_.base_of(input)] ||
        now.path().geometry() != aliasing_.geometry(input)) {
      if (now.has_grown()) {
        grown_inputs_.push_back(input);
      }
      rebound_inputs_.emplace_back(input, finder.find_contents(inputs[input]));
    }
  }
}

/// Records the written regions of a base in memory, or the whole value of any other base.
void FunctionalRun::record_written(std::size_t base, Alias& alias) {
  if (!aliasing_.is_in_memory(base)) {
    written_regions_.push_back({base, {}, values_.size()});
    values_.push_back(alias.sync_base());
  } else if (written_values_ == WrittenValues::regions) {
    for (Alias::Region& region : alias.written_regions()) {
      written_regions_.push_back({base, std::move(region.geometry), values_.size()});
      values_.push_back(std::move(region.value));
    }
  } else {
    for (Alias::Region& region : alias.written_regions(false)) {
      written_regions_.push_back({base, std::move(region.geometry), values_.size()});
    }
    values_.push_back(alias.sync_base());
  }
}

void FunctionalRun::expect_may_grow(const InputAliasing& inputs) const {
  for (const std::size_t input : grown_inputs_) {
    if (inputs.has_outside_views(inputs.base_of(input))) {
      throw StateError(
          format_text("cannot grow input %zu beyond its storage: views outside the inputs would "
                      "keep the old storage. Pass a clone().",
                      input));
    }
  }
}

void FunctionalRun::write_regions(const Tensors& inputs, Tensors& values, WriteBack& writes) const {
  for (auto region = written_regions_.begin(); region != written_regions_.end(); ++region) {
    const AnyTensor& input = inputs[aliasing_.input_of(region->base)];
    if (!aliasing_.is_in_memory(region->base)) {
      writes.rebind(input, values[region->value]);
      continue;
    }
    detail::expect_written_shares_no_running_input(input, "functionalize");
    Tensor value = to_cpu(values[region->value]);
    if (written_values_ == WrittenValues::bases) {
      values[region->value] = from_cpu(packed(value));  // all regions of the base use this value
      value = view_in_storage(to_cpu(values[region->value]), region->geometry);
    }
    if (region + 1 == written_regions_.end() || region[1].value != region->value) {
      values[region->value] = {};  // the value may share memory with the region
    }
    writes.write(view_in_storage(to_cpu(input), region->geometry), value);
  }
}

AnyTensor FunctionalRun::tensor_at(const Found& place, const Tensors& inputs, const Tensors& values,
                                   const Tensors& outputs) const {
  switch (place.in) {
    case Found::In::input:
      return inputs[place.index];
    case Found::In::output:
      return outputs[place.index];
    case Found::In::captured:
      return captured_[place.index];
    case Found::In::base:
      return from_cpu(
          view_in_storage(to_cpu(inputs[aliasing_.input_of(place.index)]), place.geometry));
    case Found::In::view_of_captured:
      return from_cpu(view_in_storage(to_cpu(captured_[place.index]), place.geometry));
    case Found::In::unchanged:
    case Found::In::value:
      break;
  }
  const AnyTensor& value = values[place.index];
  if (const CpuTensor* const on_cpu = value.as<CpuTensor>()) {
    return from_cpu(view_of(on_cpu->value, place.geometry));
  }
  // The value may also be the value of an input or of another output, because operators that copy,
  // such as copy_, may reuse the value of their source. The program may rebind these tensors later,
  // so a shared value is cloned.
  const bool may_be_returned = place.in == Found::In::unchanged || value.handle_count() == 1;
  return may_be_returned ? value : call_for_one("clone", {value});
}

Tensors FunctionalRun::finish(const Tensors& inputs, Tensors values) const {
  WriteBack writes("functionalize");
  write_regions(inputs, values, writes);
  for (std::size_t index = first_output_; index < values.size(); ++index) {
    if (const CpuTensor* const value = values[index].as<CpuTensor>()) {
      values[index] = from_cpu(packed(value->value));
    }
  }
  Tensors outputs;
  for (const Found& place : outputs_) {
    outputs.push_back(tensor_at(place, inputs, values, outputs));
  }
  for (const auto& [input, place] : rebound_inputs_) {
    writes.rebind(inputs[input], tensor_at(place, inputs, values, outputs));
  }
  values.clear();
  writes.commit();
  return outputs;
}

}  // namespace byre::inline BYRE_ABI::functional
