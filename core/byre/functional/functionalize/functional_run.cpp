// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/backends/cpu.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/functionalize/functional_run.hpp>
#include <byre/functional/functionalize/functional_tensor.hpp>
#include <byre/functional/functionalize/pass_parts.hpp>

#include <algorithm>
#include <optional>

namespace byre::inline v0::functional {
namespace {

using Aliases = std::vector<FunctionalTensor::AliasHandle>;

FunctionalTensor* functional(const AnyTensor& tensor) noexcept {
  return tensor.as<FunctionalTensor>();
}

/// The inputs of the program: views of the bases. A tensor that is given twice is one.
Tensors functional_inputs(const InputAliasing& aliasing, const Aliases& aliases) {
  Tensors inputs;
  for (std::size_t input = 0; input < aliasing.input_count(); ++input) {
    if (const std::size_t first = aliasing.first_same(input); first < input) {
      inputs.push_back(inputs[first]);
      continue;
    }
    const std::size_t base = aliasing.base_of(input);
    inputs.push_back(make_counted<FunctionalTensor>(
        aliases[base], ViewPath(aliasing.meta(base), aliasing.window(input))));
  }
  return inputs;
}

}  // namespace

/// Finds what the program returned among what there was and what there is to compute.
class FunctionalRun::Finder {
 public:
  Finder(const Tensors& inputs, const Aliases& aliases, bool in_memory, Tensors& values)
      : inputs_(inputs), aliases_(aliases), in_memory_(in_memory), values_(values) {}

  Found output(const AnyTensor& tensor) {
    const auto earlier = place_in(outputs_, tensor);
    outputs_.push_back(tensor);
    if (const auto input = place_in(inputs_, tensor)) {
      return {Found::In::input, *input, {}};
    }
    if (earlier) {
      return {Found::In::output, *earlier, {}};
    }
    return contents(tensor);
  }

  Found contents(const AnyTensor& tensor) {
    FunctionalTensor* const seen = functional(tensor);
    const auto alias = seen == nullptr ? nullptr : seen->alias_if_any();
    if (alias == nullptr || !in_memory_) {
      values_.push_back(seen == nullptr ? tensor : seen->value());
      return {Found::In::value, values_.size() - 1, Window::of_all(tensor.sizes(), tensor.dtype())};
    }
    const Window& window = seen->path().window();
    if (const auto base = place_in(aliases_, alias)) {
      return {Found::In::base, *base, window};
    }
    const auto known = std::find_if(made_.begin(), made_.end(),
                                    [&alias](const Made& each) { return each.alias == alias; });
    if (known != made_.end()) {
      return {Found::In::value, known->value, window};
    }
    made_.push_back({alias, values_.size()});
    values_.push_back(alias->current().base);
    return {Found::In::value, made_.back().value, window};
  }

 private:
  struct Made {
    FunctionalTensor::AliasHandle alias;
    std::size_t value;
  };

  template <class T>
  static std::optional<std::size_t> place_in(const std::vector<T>& all, const T& one) {
    const auto found = std::find(all.begin(), all.end(), one);
    return found == all.end() ? std::nullopt
                              : std::optional(static_cast<std::size_t>(found - all.begin()));
  }

  const Tensors& inputs_;
  const Aliases& aliases_;
  const bool in_memory_;
  Tensors& values_;
  Tensors outputs_;
  std::vector<Made> made_;  // aliases that the program made, and their bases' values
};

FunctionalRun::FunctionalRun(const Program& f, const Tensors& originals, InputAliasing aliasing,
                             Tensors bases, KeySet backend, FunctionalizeOptions options)
    : aliasing_(std::move(aliasing)) {
  Aliases aliases;
  for (AnyTensor& base : bases) {
    aliases.push_back(make_counted<Alias>(std::move(base), options));
    if (aliasing_.is_seen_elsewhere(aliases.size() - 1)) {
      aliases.back()->add_tensor();  // for those that are no inputs
    }
  }
  const Tensors inputs = functional_inputs(aliasing_, aliases);
  Tensors returned;
  {
    const FunctionalizeOptionsScope heeded(options);
    const IncludeKeys pass(backend | Key::functionalize);
    const detail::RunningInputs running(originals);
    returned = f(inputs);
  }
  const IncludeKeys where_it_computes(backend);
  for (std::size_t base = 0; base < aliases.size(); ++base) {
    if (aliases[base]->generation() != 0) {
      written_.push_back(base);
      values_.push_back(aliases[base]->current().base);
    }
  }
  Finder finder(inputs, aliases, aliasing_.is_all_in_memory(), values_);
  for (const AnyTensor& tensor : returned) {
    outputs_.push_back(finder.output(tensor));
  }
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    const FunctionalTensor& now = *functional(inputs[input]);
    if (now.alias_if_any() != aliases[aliasing_.base_of(input)] ||
        now.path().window() != aliasing_.window(input)) {
      if (now.has_grown()) {
        grown_inputs_.push_back(input);
      }
      moved_inputs_.emplace_back(input, finder.contents(inputs[input]));
    }
  }
}

void FunctionalRun::expect_may_grow(const InputAliasing& inputs) const {
  for (const std::size_t input : grown_inputs_) {
    if (inputs.is_seen_elsewhere(inputs.base_of(input))) {
      throw StateError(
          format_text("input %zu is resized to more than its storage has, and has views that are "
                      "no inputs: they "
                      "would be left behind. Give a clone().",
                      input));
    }
  }
}

Tensors FunctionalRun::finish(const Tensors& inputs, const Tensors& values) const {
  std::vector<Tensor> memories;
  for (std::size_t nth = written_.size(); nth < values.size(); ++nth) {
    const CpuTensor* const value = values[nth].as<CpuTensor>();
    memories.push_back(value == nullptr ? Tensor() : independent(value->value));
  }
  Tensors outputs;
  const auto found = [&](const Found& place) -> AnyTensor {
    switch (place.in) {
      case Found::In::input:
        return inputs[place.index];
      case Found::In::output:
        return outputs[place.index];
      case Found::In::base: {
        const Tensor& memory = to_cpu(inputs[aliasing_.input_of(place.index)]);
        Window window = place.window;
        window.storage_nbytes = memory.storage().nbytes();
        return from_cpu(view_through(memory, window));
      }
      case Found::In::value:
        break;
    }
    const Tensor& memory = memories[place.index - written_.size()];
    return memory ? from_cpu(view_through(memory, place.window)) : values[place.index];
  };
  for (const Found& place : outputs_) {
    outputs.push_back(found(place));
  }
  std::vector<std::pair<std::size_t, AnyTensor>> moved;
  for (const auto& [input, place] : moved_inputs_) {
    moved.emplace_back(input, found(place));
  }
  aliasing_.write_back(written_, inputs, values);
  for (const auto& [input, tensor] : moved) {
    inputs[input].impl().rebind(tensor);
  }
  return outputs;
}

}  // namespace byre::inline v0::functional
