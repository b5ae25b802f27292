// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/functional/dispatch/kernel.hpp>

#include <array>
#include <new>

namespace byre::inline BYRE_ABI::functional {
namespace {

std::string type_in_schema(Type type, bool is_optional) {
  return std::string(name_of(type)) + (is_optional ? "?" : "");
}

/// Returns the C++ type that a boxed function has for the parameter.
std::string type_in_function(const Parameter& parameter) {
  constexpr std::array names{"AnyTensor", "Tensors", "std::int64_t", "Dims", "std::int64_t",
                             "Dims",      "Scalar",  "bool",         "DType"};
  const std::string name = names[static_cast<std::size_t>(parameter.type)];
  return parameter.is_optional ? "std::optional<" + name + ">" : name;
}

bool fits_parameter(const KernelParameter& taken, const Parameter& given) noexcept {
  // An Axis is read as an int, and an Axis[] as an int[].
  const Type type = given.type == Type::axis   ? Type::integer
                    : given.type == Type::axes ? Type::integers
                                               : given.type;
  const bool is_scalar_for_integer = taken.type == Type::scalar && type == Type::integer;
  return (taken.type == type || is_scalar_for_integer) && (taken.is_optional || !given.is_optional);
}

/// The tensors that a schema requires, and the C++ result type of a boxed function.
struct ExpectedResult {
  std::string tensors;
  const char* type;
  KernelResult result;
};

ExpectedResult expected_result_of(const Schema& schema) {
  const std::size_t count = schema.new_count();
  if (schema.returns_list()) {
    return {"a list of tensors", "Tensors", KernelResult::any_number};
  }
  // A kernel does not return the tensors that it writes.
  const std::string is_new = count != schema.returns.size() ? "new " : "";
  if (count > 1) {
    return {std::to_string(count) + " " + is_new + "tensors", "Tensors", KernelResult::any_number};
  }
  return count == 1 ? ExpectedResult{"one " + is_new + "tensor", "AnyTensor", KernelResult::one}
                    : ExpectedResult{"no " + is_new + "tensor", "void", KernelResult::nothing};
}

}  // namespace

void detail::expect_fits(const TypedKernel& kernel, const Operator& op, const char* what) try {
  if (!kernel.parameters) {
    return;
  }
  const auto refuse = [&](const Text& said, const Text& instead) {
    throw DispatchError(format_text("%s: the %s %s: %s. %s", op.name().c_str(), what,
                                    said.chars.data(), to_string(op.schema()).c_str(),
                                    instead.chars.data()));
  };
  const auto& parameters = op.schema().parameters;
  const std::size_t count = kernel.parameters->size();
  if (count != parameters.size()) {
    refuse(format_text("takes %zu argument%s, the schema has %zu", count, count == 1 ? "" : "s",
                       parameters.size()),
           format_text("Take one per parameter of the schema, in order."));
  }
  for (std::size_t index = 0; index < count; ++index) {
    const KernelParameter& taken = (*kernel.parameters)[index];
    const Parameter& given = parameters[index];
    if (!fits_parameter(taken, given)) {
      refuse(format_text("takes '%s', argument %zu, as %s, the schema has %s", given.name.c_str(),
                         index + 1, type_in_schema(taken.type, taken.is_optional).c_str(),
                         type_in_schema(given.type, given.is_optional).c_str()),
             format_text("Take %s%s, or change the schema.", type_in_function(given).c_str(),
                         given.type == Type::tensor ? " or the backend's tensor" : ""));
    }
  }
  const ExpectedResult expected = expected_result_of(op.schema());
  if (kernel.result != KernelResult::any_number && kernel.result != expected.result) {
    refuse(format_text("returns %s, the schema has %s",
                       kernel.result == KernelResult::one ? "one tensor" : "no tensor",
                       expected.tensors.c_str()),
           format_text("Return %s%s.", expected.type,
                       expected.result == KernelResult::nothing ? "" : " or the backend's type"));
  }
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap(op.name().c_str());
}

}  // namespace byre::inline BYRE_ABI::functional
