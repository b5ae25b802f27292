// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/backends/cpu.hpp>
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/operators/twins.hpp>

#include <algorithm>

namespace byre::inline v0::functional {
namespace {

/// Whether a pure operator takes what `op` takes, and returns one tensor for the one that is written.
bool takes_the_same(const Operator& pure, const Operator& op) {
  const auto& of_pure = pure.schema().parameters;
  const auto& of_op = op.schema().parameters;
  const std::size_t count = of_op.size() - (is_out_form(op.schema()) ? 1 : 0);
  return of_pure.size() == count && pure.schema().returns.size() == 1 &&
         !pure.schema().returns_list() && written_parameters(op.schema()).size() == 1 &&
         std::equal(of_pure.begin(), of_pure.end(), of_op.begin(),
                    [](const Parameter& a, const Parameter& b) { return a.type == b.type; });
}

Schema derived_schema(const Operator& op, std::string name) {
  Schema derived = op.schema();
  derived.name = std::move(name);
  std::erase_if(derived.returns, [](const Return& returned) { return bool(returned.alias); });
  for (Parameter& parameter : derived.parameters) {
    if (parameter.alias.is_written) {
      derived.returns.push_back({});
    }
    parameter.alias = {};
  }
  return derived;
}

/// On copies of what is written, which are returned behind what is new.
Tensors write_copies(const Operator& op, const Call& call) {
  Arguments arguments(call.arguments.begin(), call.arguments.end());
  Tensors copies;
  for (const std::size_t index : written_parameters(op.schema())) {
    copies.push_back(from_cpu(to_cpu(arguments[index].tensor()).contiguous()));
    arguments[index] = copies.back();
  }
  Tensors returned = dispatch(op, arguments);
  Tensors results;
  for (std::size_t index = 0; index < returned.size(); ++index) {
    if (!op.schema().returns[index].alias) {
      results.push_back(std::move(returned[index]));
    }
  }
  results.insert(results.end(), copies.begin(), copies.end());
  return results;
}

}  // namespace

std::optional<std::string> name_of_twin(const Schema& schema) {
  std::string name = schema.name;
  std::string overload = schema.overload;
  if (name.size() > 1 && name.ends_with('_')) {
    name.pop_back();
  } else if (overload == "out") {
    overload.clear();
  } else if (overload.ends_with("_out")) {
    overload.resize(overload.size() - 4);
  } else {
    return std::nullopt;
  }
  return overload.empty() ? name : name + "." + overload;
}

bool is_out_form(const Schema& schema) {
  return (schema.overload == "out" || schema.overload.ends_with("_out")) &&
         !schema.parameters.empty() && schema.parameters.back().alias.is_written;
}

std::vector<std::size_t> written_parameters(const Schema& schema) {
  std::vector<std::size_t> written;
  for (std::size_t index = 0; index < schema.parameters.size(); ++index) {
    if (schema.parameters[index].alias.is_written) {
      written.push_back(index);
    }
  }
  return written;
}

const Operator* view_of_in_place(const Operator& op) {
  if (op.schema().effect() != Effect::write || !op.schema().name.ends_with('_')) {
    return nullptr;
  }
  const auto name = name_of_twin(op.schema());
  const Operator* const twin = name ? find_if_any(*name) : nullptr;
  return twin != nullptr && twin->view() != nullptr && !twin->schema().returns_list() ? twin
                                                                                      : nullptr;
}

const Operator* pure_twin(const Operator& op) {
  const auto name = name_of_twin(op.schema());
  const Operator* const twin = name ? find_if_any(*name) : nullptr;
  return twin != nullptr && twin->schema().is_pure() && takes_the_same(*twin, op) ? twin : nullptr;
}

const Operator& pure_form(const Operator& op) {
  if (const Operator* const twin = pure_twin(op)) {
    return *twin;
  }
  return define_or_find(derived_schema(op, op.schema().name + "_functional"), Key::cpu,
                        [&op](const Call& call) { return write_copies(op, call); });
}

}  // namespace byre::inline v0::functional
