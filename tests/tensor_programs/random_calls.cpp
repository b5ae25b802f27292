// SPDX-License-Identifier: BSL-1.0
#include "random_calls.hpp"

#include <algorithm>
#include <cstring>

#include "program.hpp"

namespace byre::test {

using functional::AnyTensor;
using functional::Argument;
using functional::Arguments;
using functional::Operator;
using functional::to_cpu;
using functional::Type;

bool are_same(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous();
  const Tensor y = b.contiguous();
  return x.dtype() == y.dtype() && x.sizes() == y.sizes() &&
         (x.nbytes() == 0 || std::memcmp(x.raw_data(), y.raw_data(), x.nbytes()) == 0);
}

std::vector<std::string> RandomCalls::all_names() {
  return operators_that([](const Operator& op) {
    return op.schema().is_pure() && op.meta() != nullptr && !op.name().starts_with("test_");
  });
}

std::vector<std::string> RandomCalls::names() {
  std::vector<std::string> some = all_names();
  std::erase_if(some, [](const std::string& name) {
    return !functional::find(name).schema().parameters.front().is_tensor();
  });
  return some;
}

Dims RandomCalls::sizes(std::int64_t least, std::int64_t most) {
  Dims dims(static_cast<std::size_t>(number(least, most)));
  std::generate(dims.begin(), dims.end(), [this] { return size(); });
  return dims;
}

Tensor RandomCalls::elements(const Dims& sizes, DType dtype) {
  std::vector<std::int64_t> numbers(
      static_cast<std::size_t>(byre::detail::element_count(sizes, "random")));
  for (std::int64_t& each : numbers) {
    const bool is_negative = dtype != DType::u8 && flag();
    each = dtype == DType::boolean ? number(0, 1) : is_negative ? number(-9, -1) : number(1, 9);
  }
  Tensor tensor = Tensor::empty(sizes, dtype);
  return copy_(tensor, Tensor::of<std::int64_t>(sizes, numbers));
}

Dims RandomCalls::broadcastable(const Dims& to) {
  Dims sizes(to.begin() + number(0, std::ssize(to)), to.end());
  for (std::int64_t& each : sizes) {
    each = number(0, 3) == 0 ? 1 : each;
  }
  return sizes;
}

/// Draws arguments until the CPU accepts them.
Arguments RandomCalls::arguments_of(const std::string& name) {
  const Operator& op = functional::find(name);
  for (int tries = 0; tries < 10'000; ++tries) {
    try {
      Arguments drawn = any_arguments_of(op);
      functional::call(op, drawn);
      return drawn;
    } catch (const Error&) {
    }
  }
  throw InvalidArgument(
      format_text("RandomCalls draws no valid arguments for %s. Extend RandomArguments.",
                  functional::to_string(op.schema()).c_str()));
}

Arguments RandomCalls::any_arguments_of(const Operator& op) {
  const std::string stem = stem_of(op.name());
  if (stem == "matmul") {
    return factors();
  }
  const bool is_exact_of_all = !stem.starts_with("sum");
  const auto any_dtype = [&] {
    return is_exact_of_all ? dtype()
                           : one_of({DType::f32, DType::f64, DType::i64, DType::i16, DType::f16});
  };
  const Dims all = sizes(0, 3);
  const Argument self = tensor(flag() ? all : broadcastable(all), any_dtype());
  const bool takes_tensors = op.schema().parameters.front().is_tensor();
  const Constants constants = this->constants(op, takes_tensors && self.tensor().sizes() == all
                                                      ? byre::geometry_of(to_cpu(self.tensor()))
                                                      : ViewGeometry::of_all(all, DType::f32));
  auto constant = constants.begin();
  Arguments arguments;
  for (const functional::Parameter& parameter : op.schema().parameters) {
    if (parameter.type == Type::tensors) {
      functional::Tensors tensors;
      const std::size_t along = below(std::max<std::size_t>(all.size(), 1));
      for (std::int64_t count = number(1, 3); count > 0; --count) {
        Dims other = all;
        if (along < other.size()) {
          other[along] = size();
        }
        tensors.push_back(tensor(other, any_dtype()).tensor());
      }
      arguments.emplace_back(tensors);
    } else if (!parameter.is_tensor()) {
      if (constant == constants.end()) {
        break;  // the remaining parameters have defaults
      }
      arguments.emplace_back(*constant++);
      if (parameter.type == Type::scalar) {
        arguments.back() = flag() ? Argument(number(1, 5)) : Argument(0.5);  // no division by 0
      }
    } else if (parameter.name == "condition") {
      arguments.push_back(tensor(broadcastable(all), DType::boolean));
    } else if (parameter.name == "source") {  // of a scatter: needs the sizes of the view
      Arguments seen = arguments;
      for (const functional::Constant& each : constants) {
        seen.emplace_back(each);
      }
      const AnyTensor part = functional::call(stem, seen).front();
      arguments.push_back(tensor(part.sizes(), part.dtype()));
    } else {
      arguments.push_back(
          arguments.empty() ? self : tensor(flag() ? all : broadcastable(all), any_dtype()));
    }
  }
  return arguments;
}

Arguments RandomCalls::factors() {
  const std::int64_t inner = size();
  const Dims stack = sizes(0, 2);
  const auto factor = [&](bool is_first) {
    Dims dims = flag() ? stack : broadcastable(stack);
    const bool is_vector = number(0, 3) == 0;
    if (is_vector) {
      dims = {inner};
    } else {
      dims.push_back(is_first ? size() : inner);
      dims.push_back(is_first ? inner : size());
    }
    return tensor(dims, one_of({DType::f32, DType::f64, DType::i64, DType::i16, DType::f16}));
  };
  const Argument a = factor(true);
  return {a, factor(false)};
}

}  // namespace byre::test
