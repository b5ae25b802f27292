// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/guards.hpp>

#include <algorithm>
#include <new>

namespace byre::inline BYRE_ABI::functional {
namespace {

thread_local ThreadKeys keys_of_thread;

[[noreturn, gnu::cold]] void refuse_results(const Operator& op, Key key, std::size_t count) {
  const std::size_t expected = op.schema().new_count();
  const bool is_miscounted = !op.schema().returns_list() && count != expected;
  throw DispatchError(format_text(
      "%s: the kernel for %s returned %s: %s", op.name().c_str(), name_of(key),
      is_miscounted
          ? format_text("%zu new tensors, the schema has %zu", count, expected).chars.data()
          : "an empty handle, AnyTensor()",
      to_string(op.schema()).c_str()));
}

[[noreturn, gnu::cold]] void refuse_arguments(const Schema& schema, const Text& said) {
  throw ArgumentError(format_text("%s%s: %s", schema.full_name().c_str(), said.chars.data(),
                                  to_string(schema).c_str()));
}

[[noreturn, gnu::cold]] void refuse_empty_handle(const char* function, std::size_t index,
                                                 const char* whose) {
  throw ArgumentError(
      format_text("%s: number %zu of %s, counted from 0, is an empty handle, AnyTensor(). Pass a "
                  "tensor from from_cpu() or an operator.",
                  function, index, whose));
}

}  // namespace

void detail::expect_tensors(const Tensors& tensors, const char* function, const char* whose) {
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    if (!tensors[index]) {
      refuse_empty_handle(function, index, whose);
    }
  }
}

void detail::expect_program(const Program& program, const char* function) {
  if (!program) {
    throw ArgumentError(
        format_text("%s: the program is empty. Pass a function of Tensors.", function));
  }
}

ThreadKeys thread_keys() noexcept {
  return keys_of_thread;
}

void detail::set_thread_keys(ThreadKeys keys) noexcept {
  keys_of_thread = keys;
}

KeySet keys_of(std::span<const Argument> arguments) {
  KeySet keys;
  for (const Argument& argument : arguments) {
    argument.for_each_tensor([&](const AnyTensor& tensor) {
      if (!tensor) [[unlikely]] {
        refuse_empty_handle("dispatch", static_cast<std::size_t>(&argument - arguments.data()),
                            "its arguments");
      }
      keys = keys | tensor.keys();
    });
  }
  const ThreadKeys thread = thread_keys();
  keys = (keys | thread.included).without(thread.excluded);
  return keys.has_backend() ? keys : keys | Key::cpu;
}

void refuse_missing_kernel(const Operator& op, Key key) try {
  throw DispatchError(format_text(
      "%s has no kernel or fallback for %s. Registered: %s. Add one with "
      "extend(\"%s\").kernel(key, ...).",
      op.name().c_str(), name_of(key), to_string(op.registered_keys()).c_str(), op.name().c_str()));
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap(op.name().c_str());
}

bool detail::conform(Argument& argument, const Parameter& parameter) {
  if (argument.is_none()) {
    return parameter.is_optional;
  }
  const auto is_tensor = [](const AnyTensor& tensor) { return bool(tensor); };
  switch (parameter.type) {
    case Type::tensor:
      return argument.get<AnyTensor>() != nullptr && argument.tensor();
    case Type::tensors:
      if (argument.get<Dims>() != nullptr && argument.dims().empty()) {
        argument = Tensors();  // `{}` is an empty list of either type
      }
      return argument.get<Tensors>() != nullptr &&
             std::ranges::all_of(argument.tensors(), is_tensor);
    case Type::integer:
    case Type::axis:
      return argument.get<Scalar>() != nullptr && argument.scalar().as_integer() != nullptr;
    case Type::integers:
    case Type::axes:
      return argument.get<Dims>() != nullptr;
    case Type::scalar:
      if (const bool* const flag = argument.get<bool>()) {
        argument = Scalar(*flag);
      }
      return argument.get<Scalar>() != nullptr;
    case Type::boolean:
      return argument.get<bool>() != nullptr;
    case Type::dtype:
      return argument.get<DType>() != nullptr;
  }
  return false;
}

Arguments checked_arguments(const Schema& schema, Arguments arguments) try {
  const auto& parameters = schema.parameters;
  if (arguments.size() > parameters.size()) {
    refuse_arguments(schema, format_text(": %zu arguments were given, at most %zu",
                                         arguments.size(), parameters.size()));
  }
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    const Parameter& parameter = parameters[index];
    if (index == arguments.size()) {
      if (!parameter.default_value) {
        refuse_arguments(schema, format_text(": '%s', argument %zu, is missing and has no default",
                                             parameter.name.c_str(), index + 1));
      }
      arguments.emplace_back(*parameter.default_value);
    }
    if (!detail::conform(arguments[index], parameter)) {
      refuse_arguments(
          schema, format_text(": '%s', argument %zu, must be %s%s, not %s", parameter.name.c_str(),
                              index + 1, name_of(parameter.type), parameter.is_optional ? "?" : "",
                              describe(arguments[index]).c_str()));
    }
  }
  return arguments;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap(schema.name.c_str());
}

Tensors dispatch(const Operator& op, std::span<Argument> arguments) {
  const Key key = keys_of(arguments).highest();
  const Kernel* kernel = op.kernel(key);
  kernel = kernel == nullptr ? op.composite() : kernel;
  kernel = kernel == nullptr ? fallback(key) : kernel;
  if (kernel == nullptr) {
    refuse_missing_kernel(op, key);
  }
  const Schema& schema = op.schema();
  try {
    Tensors results;
    if (op.effect() == Effect::write) {
      results.reserve(schema.returns.size());  // before the write: nothing may fail after it
    }
    Tensors made = (*kernel)({op, arguments});
    const bool is_as_many = schema.returns_list() || made.size() == schema.new_count();
    if (!is_as_many || std::ranges::find(made, AnyTensor()) != made.end()) {
      refuse_results(op, key, made.size());
    }
    if (op.effect() != Effect::write) {
      return made;
    }
    // Returns written and new tensors in the order of the schema's results.
    auto next = made.begin();
    for (const Return& returned : schema.returns) {
      results.push_back(returned.alias ? arguments[schema.index_of(returned.alias)].tensor()
                                       : std::move(*next++));
    }
    return results;
  } catch (const MisreadArgument& misread) {
    throw DispatchError(
        format_text("%s: kernel for %s: %s", op.name().c_str(), name_of(key), misread.what()));
  } catch (const std::bad_alloc&) {
    throw OutOfMemory::of_heap(op.name().c_str());
  }
}

Tensors call(OperatorRef op, Arguments arguments) {
  const Operator& called = op;
  Arguments checked = checked_arguments(called.schema(), std::move(arguments));
  return dispatch(called, checked);
}

Tensors call(OperatorRef op, std::initializer_list<Argument> arguments) try {
  return call(op, Arguments(arguments));
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("a list of arguments");
}

AnyTensor call_for_one(OperatorRef op, Arguments arguments) {
  const Operator& called = op;
  Tensors results = call(called, std::move(arguments));
  if (results.size() != 1) {
    throw ArgumentError(format_text("%s returned %zu tensors, required 1: %s",
                                    called.name().c_str(), results.size(),
                                    to_string(called.schema()).c_str()));
  }
  return std::move(results.front());
}

AnyTensor call_for_one(OperatorRef op, std::initializer_list<Argument> arguments) try {
  return call_for_one(op, Arguments(arguments));
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("a list of arguments");
}

}  // namespace byre::inline BYRE_ABI::functional
