// SPDX-License-Identifier: BSL-1.0
// Makes the views that its standard input names, one a line, each of the one before:
//   new 2 3          elements 0, 1, ... of these sizes
//   slice 0 1 9 2    a view and its arguments; after a refusal the tensor stays what it was
// and prints for each line its sizes, strides and elements, or "refused".
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

Tensor as_strided(const Tensor& tensor, const Numbers& numbers) {
  const std::size_t ndim = numbers.size() / 2;
  return tensor.as_strided(dims(numbers, 0, ndim), dims(numbers, ndim, 2 * ndim), numbers.back());
}

const std::map<std::string, View> views{
    {"permute", [](auto& x, auto& n) { return x.permute(dims(n)); }},
    {"transpose", [](auto& x, auto& n) { return x.transpose(n.at(0), n.at(1)); }},
    {"t", [](auto& x, auto&) { return x.t(); }},
    {"movedim", [](auto& x, auto& n) { return x.movedim({n.at(0)}, {n.at(1)}); }},
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

Tensor counted(const Numbers& sizes) {
  Tensor tensor = Tensor::empty(dims(sizes), byre::DType::i32);
  auto* const elements = tensor.mutable_data<std::int32_t>();
  for (std::int64_t number = 0; number < tensor.numel(); ++number) {
    elements[number] = static_cast<std::int32_t>(number);
  }
  return tensor;
}

void print(const Tensor& tensor) {
  std::cout << to_string(tensor.sizes()) << ';' << to_string(tensor.strides()) << ";[";
  const Tensor dense = tensor.contiguous();
  for (std::int64_t number = 0; number < dense.numel(); ++number) {
    std::cout << (number == 0 ? "" : ", ") << dense.data<std::int32_t>()[number];
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
    Numbers numbers;
    for (std::int64_t number; words >> number;) {
      numbers.push_back(number);
    }
    try {
      tensor = name == "new" ? counted(numbers) : views.at(name)(tensor, numbers);
      print(tensor);
    } catch (const byre::ShapeError&) {
      std::cout << "refused\n";
    }
  }
}
