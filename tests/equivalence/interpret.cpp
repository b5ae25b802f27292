// SPDX-License-Identifier: BSL-1.0
#include "interpret.hpp"

#include <byre/tensor/accessor.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/print.hpp>
#include <byre/tensor/tensor.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "worlds.hpp"

namespace byre::test {
namespace {

using Values = std::vector<std::int64_t>;

/// In row-major order. `first` is the first element of the tensor.
Values values_at(const std::int64_t* first, const Layout& layout) {
  Values values;
  for (const std::size_t place : places_of(layout)) {
    values.push_back(first[static_cast<std::int64_t>(place) - layout.offset]);
  }
  return values;
}

/// Of a tensor that nobody watches.
Values values_of(const Tensor& tensor) {
  return values_at(tensor.data<std::int64_t>(), tensor.layout());
}

/// The numbers of a printed tensor.
Values numbers_in(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '[' || c == ']'; }, ' ');
  Values numbers;
  const char* next = text.c_str();
  for (char* end = nullptr;; next = end) {
    const std::int64_t number = std::strtoll(next, &end, 10);
    if (end == next) {
      return numbers;
    }
    numbers.push_back(number);
  }
}

Values by_indices(const Tensor& tensor, CallSite site) {
  if (tensor.ndim() == 0) {
    return {tensor.at<std::int64_t>({}, site)};
  }
  Values values;
  for (const Tensor& part : tensor.unbind()) {
    const Values inner = by_indices(part, site);
    values.insert(values.end(), inner.begin(), inner.end());
  }
  return values;
}

Values by_accessor(const Tensor& tensor, CallSite site) {
  const Tensor flat = tensor.ndim() == 0 ? tensor.unsqueeze(0) : tensor;
  Values values;
  if (flat.ndim() == 1) {
    const auto elements = accessor<std::int64_t, 1>(flat, site);
    for (std::int64_t index = 0; index < elements.size(0); ++index) {
      values.push_back(elements(index));
    }
    return values;
  }
  for (const Tensor& part : flat.unbind()) {
    const Values inner = by_accessor(part, site);
    values.insert(values.end(), inner.begin(), inner.end());
  }
  return values;
}

Values by_copy(const Tensor& tensor, CallSite site) {
  Tensor copied = Tensor::empty(tensor.sizes(), DType::i64);
  return values_of(copy_(copied, tensor, site));
}

Values read_all(const Tensor& tensor, std::int64_t way, CallSite site) {
  switch (way) {
    case 0:
      return values_at(tensor.data<std::int64_t>(site), tensor.layout());
    case 1:
      return values_at(static_cast<const std::int64_t*>(tensor.raw_data(site)), tensor.layout());
    case 2:
      return by_indices(tensor, site);
    case 3:
      return by_accessor(tensor, site);
    case 4:
      return numbers_in(to_string(tensor, {}, site));
    case 5:
      return by_copy(tensor, site);
    case 6:
      return values_of(tensor.clone(site));
    case 7:
      return values_of(tensor.lazy_clone(site));
    case 8:
      return values_of(tensor.contiguous(site));
    case 9:
      return values_of(tensor.to(Device::cpu(), site));
    case 10:
      return values_of(add(tensor, 0, site));
    case 11:
      return values_of(neg(neg(tensor, site)));
    case 12:
      return values_of(sum(tensor, Dims{}, false, site));
    default:
      return values_of(where(Tensor::of<bool>({}, {true}), tensor, 0, site));
  }
}

/// For one program.
class Interpreter {
 public:
  void run(const Statement& statement, CallSite site);

  Reads reads;

 private:
  Tensor made(const Statement& statement, CallSite site) const;
  void write(Tensor& self, const Statement& statement, CallSite site);

  std::map<std::size_t, Tensor> tensors_;
};

Tensor Interpreter::made(const Statement& statement, CallSite site) const {
  const Dims& dims = statement.dims;
  if (statement.operation == Operation::make) {
    Values values(static_cast<std::size_t>(contiguous_layout(dims, "make").numel()));
    std::iota(values.begin(), values.end(), statement.value);
    return Tensor::of<std::int64_t>(dims, std::span<const std::int64_t>(values));
  }
  const Tensor& self = tensors_.at(statement.self);
  switch (statement.operation) {
    case Operation::alias:
      return self.alias();
    case Operation::transpose:
      return self.transpose(dims[0], dims[1]);
    case Operation::slice:
      return self.slice(dims[0], dims[1], dims[2], dims[3]);
    case Operation::select:
      return self.select(dims[0], dims[1]);
    case Operation::diagonal:
      return self.diagonal();
    case Operation::view:
      return self.view(dims);
    case Operation::reshape:
      return self.reshape(dims, site);
    case Operation::lazy_clone:
      return self.lazy_clone(site);
    default:
      return self.clone(site);
  }
}

void Interpreter::write(Tensor& self, const Statement& statement, CallSite site) {
  const Dims& dims = statement.dims;
  switch (statement.operation) {
    case Operation::fill:
      fill_(self, statement.value, site);
      break;
    case Operation::set_at:
      self.as_strided({}, {}, element_at(self.layout(), {dims.begin(), dims.size()}, "set_at"))
          .set_at<std::int64_t>({}, statement.value, site);
      break;
    case Operation::write_through: {
      std::int64_t* const first = self.mutable_data<std::int64_t>(Wait::allowed, site);
      std::int64_t value = statement.value;
      for (const std::size_t place : places_of(self.layout())) {
        first[static_cast<std::int64_t>(place) - self.storage_offset()] = value++;
      }
      break;
    }
    case Operation::add_number:
      add_(self, statement.value, site);
      break;
    case Operation::negate:
      neg_(self, site);
      break;
    case Operation::add:
      add_(self, tensors_.at(statement.other), site);
      break;
    default:
      copy_(self, tensors_.at(statement.other), site);
  }
}

void Interpreter::run(const Statement& statement, CallSite site) {
  const Dims& dims = statement.dims;
  if (statement.operation <= Operation::clone) {
    tensors_.emplace(statement.result, made(statement, site));
    return;
  }
  Tensor& self = tensors_.at(statement.self);
  switch (statement.operation) {
    case Operation::reshape_in_place:
      self.reshape_(dims, site);
      break;
    case Operation::drop:
      tensors_.erase(statement.self);
      break;
    case Operation::resize:
      self.resize(dims);
      break;
    case Operation::reserve:
      self.reserve(dims, site);
      break;
    case Operation::share_data:
      self.share_data(tensors_.at(statement.other));
      break;
    case Operation::read_at: {
      const std::int64_t place = element_at(self.layout(), {dims.begin(), dims.size()}, "at");
      const Tensor element = self.as_strided({}, {}, place);
      reads.push_back({site.line, {element.at<std::int64_t>({}, site)}});
      break;
    }
    case Operation::read:
      reads.push_back({site.line, read_all(self, statement.value, site)});
      break;
    default:
      write(self, statement, site);
  }
}

void tell_nobody(const shadow::Violation&) noexcept {}

}  // namespace

Outcome run(const Program& program, shadow::ReshapeMode mode) {
  const shadow::ReshapeModeScope scope(mode);
  const auto previous = shadow::set_violation_handler(&tell_nobody);
  shadow::reset_summary();
  Interpreter interpreter;
  std::uint32_t line = 0;
  try {
    for (const Statement& statement : program) {
      interpreter.run(statement, {program_file, ++line});
    }
  } catch (...) {
    shadow::set_violation_handler(previous);
    throw;
  }
  shadow::set_violation_handler(previous);
  return {std::move(interpreter.reads), shadow::summary()};
}

}  // namespace byre::test
