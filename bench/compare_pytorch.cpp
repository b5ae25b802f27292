// SPDX-License-Identifier: BSL-1.0
/// byre-compare-pytorch: runs one operation of byre at a time, so that compare_pytorch.py can
/// alternate between byre and PyTorch. The program reads commands from standard input, one per
/// line, and answers each with one line:
///
///     set OPERATION DTYPE ROWS COLUMNS    ->  ok
///     run TIMES                           ->  nanoseconds per operation
///     check                               ->  the sum of the result's elements
#include <byre/tensor.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using byre::DType;
using byre::Tensor;

DType dtype_named(const std::string& name) {
  for (const DType dtype :
       {DType::u8, DType::i32, DType::i64, DType::f16, DType::f32, DType::f64}) {
    if (name == byre::name_of(dtype)) {
      return dtype;
    }
  }
  throw std::runtime_error("unsupported dtype '" + name + "'");
}

/// A tensor whose elements cycle through 0, 1/8, ..., 99/8. Every floating-point dtype represents
/// these numbers exactly; integer dtypes truncate them.
Tensor operand(DType dtype, std::int64_t rows, std::int64_t columns) {
  Tensor numbers = Tensor::empty({rows, columns}, DType::f32);
  auto* const elements = numbers.mutable_data<float>();
  for (std::int64_t i = 0; i < numbers.numel(); ++i) {
    elements[i] = static_cast<float>(i % 100) / 8;
  }
  Tensor converted = Tensor::empty({rows, columns}, dtype);
  return copy_(converted, numbers);
}

/// The tensors of an operation. `to` has the transposed sizes of `a`, and a's dtype or f32.
struct Operands {
  Tensor a;
  Tensor to;
  Tensor result;
};

using Operation = std::function<void(Operands&)>;

const std::map<std::string, Operation>& operations() {
  static const std::map<std::string, Operation> all{
      {"transposed_contiguous", [](Operands& o) { o.result = o.a.transpose(0, 1).contiguous(); }},
      {"transposed_copy", [](Operands& o) { o.result = copy_(o.to, o.a.transpose(0, 1)); }},
      {"transposed_to_f32", [](Operands& o) { o.result = copy_(o.to, o.a.transpose(0, 1)); }},
      {"add_number_in_place", [](Operands& o) { o.result = add_(o.a, 0); }},
      {"add_row_in_place",
       [](Operands& o) { o.result = add_(o.a, o.to.view({-1}).narrow(0, 0, o.a.sizes()[1])); }},
      {"add", [](Operands& o) { o.result = add(o.a, o.a); }},
      {"add_transposed", [](Operands& o) { o.result = add(o.a.transpose(0, 1), o.to); }},
      {"sum", [](Operands& o) { o.result = sum(o.a); }},
      {"sum_of_columns", [](Operands& o) { o.result = sum(o.a, {0}); }},
      {"sum_of_rows", [](Operands& o) { o.result = sum(o.a, {1}); }},
      {"exp", [](Operands& o) { o.result = exp(o.a); }},
  };
  return all;
}

struct Measured {
  Operation operation;
  Operands operands;

  static Measured of(std::istream& words) {
    std::string name, dtype_name;
    std::int64_t rows = 0, columns = 0;
    words >> name >> dtype_name >> rows >> columns;
    const auto found = operations().find(name);
    if (!words || found == operations().end()) {
      throw std::runtime_error("cannot set operation '" + name +
                               "': the operation is unknown, or its dtype or sizes are missing");
    }
    const DType dtype = dtype_named(dtype_name);
    const DType to = name == "transposed_to_f32" ? DType::f32 : dtype;
    return {found->second, {operand(dtype, rows, columns), operand(to, columns, rows), {}}};
  }

  double nanoseconds(int times) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) {
      operation(operands);
    }
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    return taken.count() / times;
  }

  double check() {
    operation(operands);
    Tensor wide = Tensor::empty(operands.result.sizes(), DType::f64);
    return sum(copy_(wide, operands.result)).at<double>({});
  }
};

void answer(const std::string& line, Measured& measured) {
  std::istringstream words(line);
  std::string order;
  words >> order;
  if (order == "set") {
    measured = Measured::of(words);
    std::puts("ok");
  } else if (int times = 0; order == "run" && words >> times && times > 0 && measured.operation) {
    std::printf("%.1f\n", measured.nanoseconds(times));
  } else if (order == "check" && measured.operation) {
    std::printf("%.17g\n", measured.check());
  } else {
    throw std::runtime_error("invalid command '" + line + "'");
  }
  std::fflush(stdout);
}

}  // namespace

int main() {
  try {
    Measured measured;
    for (std::string line; std::getline(std::cin, line);) {
      answer(line, measured);
    }
  } catch (const std::exception& error) {
    std::cerr << "byre-compare-pytorch: " << error.what() << '\n';
    return 1;
  }
}
