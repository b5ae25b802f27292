// SPDX-License-Identifier: BSL-1.0
// Makes the views that its standard input names, one a line, each of the one before:
//   new f4 2 3       of this dtype and these sizes; byte n is 7n modulo 251
//   view_as u1       the bytes as another dtype
//   slice 0 1 9 2    a view and its arguments; after a refusal the tensor stays what it was
// and prints for each line its sizes, strides and the bytes of its elements, or "refused".
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using byre::Dims;
using byre::Tensor;

using Numbers = std::vector<std::int64_t>;
using View = std::function<Tensor(const Tensor&, const Numbers&)>;

Dims dims(const Numbers& numbers, std::size_t from, std::size_t to) {
  return {numbers.begin() + static_cast<std::ptrdiff_t>(from),
          numbers.begin() + static_cast<std::ptrdiff_t>(to)};
}
Dims dims(const Numbers& numbers) {
  return dims(numbers, 0, numbers.size());
}

const Tensor& part(const std::vector<Tensor>& parts, std::int64_t number) {
  return parts.at(static_cast<std::size_t>(number));
}

/// The first half to the places that are the second half.
Tensor movedim(const Tensor& tensor, const Numbers& numbers) {
  const std::size_t count = numbers.size() / 2;
  return tensor.movedim(dims(numbers, 0, count), dims(numbers, count, 2 * count));
}

/// An axis, which part, and the sizes of the parts.
Tensor split_sizes(const Tensor& tensor, const Numbers& numbers) {
  return part(tensor.split(dims(numbers, 2, numbers.size()), numbers.at(0)), numbers.at(1));
}

Tensor as_strided(const Tensor& tensor, const Numbers& numbers) {
  const std::size_t ndim = numbers.size() / 2;
  return tensor.as_strided(dims(numbers, 0, ndim), dims(numbers, ndim, 2 * ndim), numbers.back());
}

const std::map<std::string, View> views{
    {"permute", [](auto& x, auto& n) { return x.permute(dims(n)); }},
    {"transpose", [](auto& x, auto& n) { return x.transpose(n.at(0), n.at(1)); }},
    {"t", [](auto& x, auto&) { return x.t(); }},
    {"movedim", movedim},
    {"split_sizes", split_sizes},
    {"view_as_real", [](auto& x, auto&) { return x.view_as_real(); }},
    {"view_as_complex", [](auto& x, auto&) { return x.view_as_complex(); }},
    {"slice", [](auto& x, auto& n) { return x.slice(n.at(0), n.at(1), n.at(2), n.at(3)); }},
    {"narrow", [](auto& x, auto& n) { return x.narrow(n.at(0), n.at(1), n.at(2)); }},
    {"select", [](auto& x, auto& n) { return x.select(n.at(0), n.at(1)); }},
    {"unbind", [](auto& x, auto& n) { return part(x.unbind(n.at(0)), n.at(1)); }},
    {"split", [](auto& x, auto& n) { return part(x.split(n.at(1), n.at(0)), n.at(2)); }},
    {"chunk", [](auto& x, auto& n) { return part(x.chunk(n.at(1), n.at(0)), n.at(2)); }},
    {"expand", [](auto& x, auto& n) { return x.expand(dims(n)); }},
    {"unsqueeze", [](auto& x, auto& n) { return x.unsqueeze(n.at(0)); }},
    {"squeeze", [](auto& x, auto& n) { return n.empty() ? x.squeeze() : x.squeeze(n.at(0)); }},
    {"view", [](auto& x, auto& n) { return x.view(dims(n)); }},
    {"flatten", [](auto& x, auto& n) { return x.flatten(n.at(0), n.at(1)); }},
    {"diagonal", [](auto& x, auto& n) { return x.diagonal(n.at(0), n.at(1), n.at(2)); }},
    {"unfold", [](auto& x, auto& n) { return x.unfold(n.at(0), n.at(1), n.at(2)); }},
    {"as_strided", as_strided},
};

const std::map<std::string, byre::DType> dtypes{
    {"u1", byre::DType::u8},  {"i2", byre::DType::i16}, {"i4", byre::DType::i32},
    {"i8", byre::DType::i64}, {"f4", byre::DType::f32}, {"c8", byre::DType::complex64}};

Tensor counted(byre::DType dtype, const Numbers& sizes) {
  Tensor tensor = Tensor::empty(dims(sizes), dtype);
  auto* const bytes = static_cast<unsigned char*>(tensor.mutable_raw_data());
  for (std::size_t number = 0; number < tensor.nbytes(); ++number) {
    bytes[number] = static_cast<unsigned char>(number * 7 % 251);
  }
  return tensor;
}

void print(const Tensor& tensor) {
  std::cout << to_string(tensor.sizes()) << ';' << to_string(tensor.strides()) << ";[";
  const Tensor dense = tensor.contiguous();
  const auto* const bytes = static_cast<const unsigned char*>(dense.raw_data());
  for (std::size_t number = 0; number < dense.nbytes(); ++number) {
    std::cout << (number == 0 ? "" : ", ") << int{bytes[number]};
  }
  std::cout << "]\n";
}

}  // namespace

int main() {
  Tensor tensor;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    std::string dtype;
    if (name == "new" || name == "view_as") {
      words >> dtype;
    }
    Numbers numbers;
    for (std::int64_t number; words >> number;) {
      numbers.push_back(number);
    }
    try {
      tensor = name == "new"       ? counted(dtypes.at(dtype), numbers)
               : name == "view_as" ? tensor.view(dtypes.at(dtype))
                                   : views.at(name)(tensor, numbers);
      print(tensor);
    } catch (const byre::ShapeError&) {
      std::cout << "refused\n";
    }
  }
}
