// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/functional/dispatch/detail/functional_variant.hpp>

#include <algorithm>

namespace byre::inline BYRE_ABI::functional::detail {
namespace {

/// Whether the operator `pure` takes the parameters of `op` (without `out`), and returns one tensor
/// for the only parameter that `op` writes.
bool takes_same_parameters(const Operator& pure, const Operator& op) {
  const auto& of_pure = pure.schema().parameters;
  const auto& of_op = op.schema().parameters;
  const std::size_t count = of_op.size() - (is_out_variant(op.schema()) ? 1 : 0);
  return of_pure.size() == count && pure.schema().returns.size() == 1 &&
         !pure.schema().returns_list() && op.written().size() == 1 &&
         std::equal(of_pure.begin(), of_pure.end(), of_op.begin(),
                    [](const Parameter& a, const Parameter& b) { return a.type == b.type; });
}

Schema functional_schema(const Operator& op, std::string name) {
  Schema functional = op.schema();
  functional.name = std::move(name);
  std::erase_if(functional.returns, [](const Return& returned) { return bool(returned.alias); });
  for (Parameter& parameter : functional.parameters) {
    if (parameter.alias.is_written) {
      functional.returns.push_back({});
    }
    parameter.alias = {};
  }
  return functional;
}

/// Calls `op` on copies of the tensors that it writes. Returns the new results, then the copies.
Tensors write_copies(const Operator& op, const Call& call) {
  Arguments arguments(call.arguments.begin(), call.arguments.end());
  Tensors copies;
  for (const std::size_t index : op.written()) {
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

/// Whether the overload is "out" or ends in "_out", such as "scalar_out".
bool is_out(const std::string& overload) noexcept {
  return overload == "out" || (overload.size() > 4 && overload.ends_with("_out"));
}

std::string full_name(const std::string& name, const std::string& overload) {
  return overload.empty() ? name : name + "." + overload;
}

}  // namespace

std::optional<std::string> name_of_variant(const Schema& schema) {
  const std::string& overload = schema.overload;
  if (schema.name.ends_with('_')) {
    return full_name(schema.name.substr(0, schema.name.size() - 1), overload);
  }
  if (is_out(overload)) {
    return full_name(schema.name,
                     overload.substr(0, overload.size() == 3 ? 0 : overload.size() - 4));
  }
  return std::nullopt;
}

std::vector<std::string> names_of_writing_variants(const Schema& schema) {
  return {full_name(schema.name + "_", schema.overload),
          full_name(schema.name, schema.overload.empty() ? "out" : schema.overload + "_out")};
}

bool is_out_variant(const Schema& schema) {
  return is_out(schema.overload) && !schema.parameters.empty() &&
         schema.parameters.back().alias.is_written;
}

bool is_variant_of(const Operator& variant, const Operator& op) {
  if (op.effect() != Effect::write) {
    return false;
  }
  return variant.effect() == Effect::view
             ? op.schema().name.ends_with('_') && !variant.schema().returns_list()
             : variant.effect() == Effect::none && takes_same_parameters(variant, op);
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

const Operator& generate_variant_of(const Operator& op) {
  return define_generated(op, functional_schema(op, op.schema().name + "_functional"),
                          [&op](const Call& call) { return write_copies(op, call); });
}

}  // namespace byre::inline BYRE_ABI::functional::detail
