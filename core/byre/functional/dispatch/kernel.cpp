// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/kernel.hpp>

#include <array>
#include <new>

namespace byre::inline v0::functional {
namespace {

std::string in_schema(Type type, bool is_optional) {
  return std::string(name_of(type)) + (is_optional ? "?" : "");
}

/// What a function that is boxed takes for that.
std::string in_function(const Parameter& parameter) {
  constexpr std::array names{
      "AnyTensor", "Tensors", "std::int64_t", "Dims",  "std::int64_t",
      "Dims",      "Scalar",  "bool",         "DType",
  };
  const std::string name = names[static_cast<std::size_t>(parameter.type)];
  return parameter.is_optional ? "std::optional<" + name + ">" : name;
}

/// A kernel takes an Axis as an int, and an Axis[] as an int[].
Type type_for_kernel(Type type) noexcept {
  return type == Type::axis ? Type::integer : type == Type::axes ? Type::integers : type;
}

bool fits_parameter(const KernelParameter& taken, const Parameter& given) noexcept {
  const Type type = type_for_kernel(given.type);
  const bool is_scalar_for_integer = taken.type == Type::scalar && type == Type::integer;
  return (taken.type == type || is_scalar_for_integer) && (taken.is_optional || !given.is_optional);
}

bool fits_results(KernelResult result, const Schema& schema) noexcept {
  if (schema.returns_list() || result == KernelResult::any_number) {
    return result == KernelResult::any_number;
  }
  return schema.new_count() == (result == KernelResult::one ? 1 : 0);
}

std::string counted_tensors(const Schema& schema) {
  const std::size_t count = schema.new_count();
  if (schema.returns_list()) {
    return "a list of tensors";
  }
  const std::string beside = count != schema.returns.size() ? " beside what is written" : "";
  return (count == 0   ? "none"
          : count == 1 ? "one tensor"
                       : std::to_string(count) + " tensors") +
         beside;
}

}  // namespace

void detail::expect_fits(const TypedKernel& kernel, const Operator& op, const char* what) try {
  const Schema& schema = op.schema();
  const auto& parameters = schema.parameters;
  if (kernel.parameters.size() != parameters.size()) {
    throw DispatchError(format_text(
        "%s: %s takes %zu argument%s, and the schema has %zu: %s. Have it take one for each of the "
        "schema's, in their order.",
        op.name().c_str(), what, kernel.parameters.size(), kernel.parameters.size() == 1 ? "" : "s",
        parameters.size(), to_string(schema).c_str()));
  }
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    const KernelParameter& taken = kernel.parameters[index];
    const Parameter& given = parameters[index];
    if (!fits_parameter(taken, given)) {
      throw DispatchError(
          format_text("%s: %s takes '%s', argument %zu, as %s, and the schema says %s: %s. "
                      "Have it take %s%s, or define the operator with what it takes.",
                      op.name().c_str(), what, given.name.c_str(), index + 1,
                      in_schema(taken.type, taken.is_optional).c_str(),
                      in_schema(given.type, given.is_optional).c_str(), to_string(schema).c_str(),
                      in_function(given).c_str(),
                      given.type == Type::tensor ? ", or the backend's own tensor" : ""));
    }
  }
  if (!fits_results(kernel.result, schema)) {
    const char* const instead = schema.returns_list() || schema.new_count() > 1 ? "Tensors"
                                : schema.new_count() == 1                       ? "AnyTensor"
                                                                                : "void";
    throw DispatchError(format_text(
        "%s: %s returns %s, and the schema says %s: %s. Have it return %s%s.", op.name().c_str(),
        what, kernel.result == KernelResult::one ? "one tensor" : "none",
        counted_tensors(schema).c_str(), to_string(schema).c_str(), instead,
        schema.new_count() == 0 ? "" : ", or the backend's own"));
  }
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap(op.name().c_str());
}

}  // namespace byre::inline v0::functional
