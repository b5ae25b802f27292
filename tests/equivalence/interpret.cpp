// SPDX-License-Identifier: BSL-1.0
#include "interpret.hpp"

#include <byre/shadow/silence.hpp>
#include <byre/tensor/elements.hpp>

#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "support/tensor/fake_device.hpp"
#include "worlds.hpp"

namespace byre::test {
namespace {

using shadow::ReshapeMode;

/// Of the program that runs: a handler is a function.
Outcome* outcome = nullptr;
std::uint32_t number_of_statement = 0;

void be_told(const shadow::Violation& violation) noexcept {
  outcome->told.push_back({number_of_statement, told_by(violation)});
}

/// Each error refuses before anything has changed, and the same goes through when it is tried again, but
/// for what is told next.
template <class Act>
void insist(const Act& act) {
  constexpr int most_accesses = 8;
  for (int refusals = 0;; ++refusals) {
    try {
      return act();
    } catch (const shadow::ReshapeViolation& violation) {
      be_told(violation.violation());
      if (refusals == most_accesses) {
        throw;
      }
    }
  }
}

/// True, false, true and so on.
Tensor in_turn(const Dims& sizes) {
  Tensor all = Tensor::empty(sizes, DType::boolean);
  bool* const first = all.mutable_data<bool>();
  for (std::int64_t index = 0; index < all.numel(); ++index) {
    first[index] = index % 2 == 0;
  }
  return all;
}

/// What a pointer to write left of its tensor.
struct Kept {
  void* first;
  Layout layout;
  DType dtype;
  bool is_on_device;
};

template <class T>
void write_from(const Kept& kept, std::int64_t value) {
  for (const std::size_t place : places_of(kept.layout)) {
    T* const to =
        static_cast<T*>(kept.first) + (static_cast<std::int64_t>(place) - kept.layout.offset);
    const T next = static_cast<T>(value++);
    if (kept.is_on_device) {
      FakeDevice::first().copy_from_host(to, &next, sizeof(T));
    } else {
      *to = next;
    }
  }
}

void write_through(const Kept& kept, std::int64_t value) {
  kept.dtype == DType::boolean ? write_from<bool>(kept, value)
  : kept.dtype == DType::i32   ? write_from<std::int32_t>(kept, value)
                               : write_from<std::int64_t>(kept, value);
}

/// For one program.
class Interpreter {
 public:
  Interpreter(ReshapeMode mode, const std::string& folder)
      : mode_(mode), program_file_(folder + program_file), listed_file_(folder + listed_file) {}
  void run(const Statement& statement, std::uint32_t number);

 private:
  Tensor made(const Statement& statement, CallSite site) const;
  void change(Tensor& self, const Statement& statement, CallSite site);
  void write(Tensor& self, const Statement& statement, CallSite site);
  void read(const Tensor& self, const Statement& statement, CallSite site);
  ReshapeMode mode_of(const Statement& statement) const;

  const ReshapeMode mode_;
  const std::string program_file_;
  const std::string listed_file_;
  std::map<std::size_t, Tensor> tensors_;
  std::map<std::size_t, Kept> kept_;
};

Tensor Interpreter::made(const Statement& statement, CallSite site) const {
  const Dims& dims = statement.dims;
  if (statement.operation == Operation::make) {
    std::vector<std::int64_t> values(
        static_cast<std::size_t>(contiguous_layout(dims, "make").numel()));
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
    case Operation::as_i32:
      return self.view(DType::i32);
    case Operation::as_i64:
      return self.view(DType::i64);
    case Operation::over:
      return Tensor::over(self.storage(), dims, self.dtype());
    case Operation::reshape:
      return self.reshape(dims, site);
    case Operation::lazy_clone:
      return self.lazy_clone(site);
    case Operation::cat:
      return cat({self, tensors_.at(statement.other)}, 0, site);
    case Operation::where:
      return where(in_turn(self.sizes()), self, tensors_.at(statement.other), site);
    case Operation::equal:
      return eq(self, tensors_.at(statement.other), site);
    case Operation::mask:
      return where(self, tensors_.at(statement.other), 0, site);
    case Operation::matmul:
      return matmul(self, tensors_.at(statement.other), site);
    case Operation::moved:
      return self.to(self.device().is_cpu() ? FakeDevice::first().device() : Device::cpu(), site);
    default:
      return self.clone(site);
  }
}

/// Of dims as they are written out in programs, the tensor's own element; of more, a view of it.
template <class T>
void set_element(Tensor& self, const Dims& at, T value, CallSite site) {
  switch (at.size()) {
    case 1:
      return self.set_at<T>({at[0]}, value, site);
    case 2:
      return self.set_at<T>({at[0], at[1]}, value, site);
    default:
      self.as_strided({}, {}, element_at(self.layout(), {at.begin(), at.size()}, "set_at"))
          .set_at<T>({}, value, site);
  }
}

template <class T>
T element_of(const Tensor& self, const Dims& at, CallSite site) {
  switch (at.size()) {
    case 1:
      return self.at<T>({at[0]}, site);
    case 2:
      return self.at<T>({at[0], at[1]}, site);
    default:
      return self.as_strided({}, {}, element_at(self.layout(), {at.begin(), at.size()}, "at"))
          .template at<T>({}, site);
  }
}

void Interpreter::write(Tensor& self, const Statement& statement, CallSite site) {
  const Dims& dims = statement.dims;
  switch (statement.operation) {
    case Operation::fill:
      fill_(self, statement.value, site);
      break;
    case Operation::set_at:
      self.dtype() == DType::boolean ? set_element(self, dims, statement.value != 0, site)
      : self.dtype() == DType::i32
          ? set_element(self, dims, static_cast<std::int32_t>(statement.value), site)
          : set_element(self, dims, statement.value, site);
      break;
    case Operation::write_through: {
      void* const first = self.mutable_raw_data(Wait::allowed, site);
      const Kept kept{first, self.layout(), self.dtype(), !self.device().is_cpu()};
      kept_.insert_or_assign(statement.self, kept);
      write_through(kept, statement.value);
      break;
    }
    case Operation::write_kept:
      write_through(kept_.at(statement.self), statement.value);
      break;
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

void Interpreter::change(Tensor& self, const Statement& statement, CallSite site) {
  const Dims& dims = statement.dims;
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
    case Operation::shrink:
      self.resize(dims, OnShrink::free_memory);
      break;
    case Operation::realize:
      fill_(self.realize(self.dtype()), statement.value, site);
      break;
    case Operation::reserve:
      self.reserve(dims, site);
      break;
    case Operation::extend: {
      const std::int64_t before = self.sizes()[0];
      insist([&] { self.extend(dims[0], static_cast<unsigned>(dims[1]), site); });
      Tensor added = self.narrow(0, before, dims[0]);
      insist([&] { fill_(added, statement.value, site); });
      break;
    }
    default:
      self.share_data(tensors_.at(statement.other));
  }
}

void Interpreter::read(const Tensor& self, const Statement& statement, CallSite site) {
  if (statement.operation == Operation::read) {
    outcome->reads.push_back({number_of_statement, read_all(self, statement.value, site)});
    return;
  }
  const std::int64_t value =
      self.dtype() == DType::boolean ? element_of<bool>(self, statement.dims, site)
      : self.dtype() == DType::i32   ? element_of<std::int32_t>(self, statement.dims, site)
                                     : element_of<std::int64_t>(self, statement.dims, site);
  outcome->reads.push_back({number_of_statement, {value}});
}

ReshapeMode Interpreter::mode_of(const Statement& statement) const {
  const bool is_of_every_run =
      statement.mode == ReshapeMode::alias || statement.mode == ReshapeMode::copy;
  return statement.mode && (is_of_every_run || mode_ == ReshapeMode::warn) ? *statement.mode
                                                                           : mode_;
}

void Interpreter::run(const Statement& statement, std::uint32_t number) {
  number_of_statement = number;
  const CallSite site{(statement.is_listed ? listed_file_ : program_file_).c_str(),
                      statement.line_at(number)};
  const shadow::ReshapeModeScope scope(mode_of(statement));
  std::optional<shadow::SilenceScope> silence;
  if (statement.is_silent) {
    silence.emplace();
  }
  const Operation operation = statement.operation;
  insist([&] {
    if (operation <= Operation::clone) {
      tensors_.insert_or_assign(statement.result, made(statement, site));
    } else if (operation <= Operation::share_data) {
      change(tensors_.at(statement.self), statement, site);
    } else if (operation < Operation::read_at) {
      write(tensors_.at(statement.self), statement, site);
    } else {
      read(tensors_.at(statement.self), statement, site);
    }
  });
}

/// Lines of few programs are those of one file: byre tells few ways apart to come from one line to
/// another, and has room for few lines.
std::string next_folder() {
  constexpr unsigned folders = 2048;
  static unsigned next = 0;
  return "folder" + std::to_string(next++ % folders) + "/";
}

}  // namespace

Outcome run(const Program& program, ReshapeMode mode) {
  Outcome of_this;
  outcome = &of_this;
  const auto previous = shadow::set_violation_handler(&be_told);
  shadow::reset_summary();
  Interpreter interpreter(mode, next_folder());
  std::uint32_t number = 0;
  try {
    for (const Statement& statement : program) {
      interpreter.run(statement, ++number);
    }
  } catch (...) {
    shadow::set_violation_handler(previous);
    throw;
  }
  shadow::set_violation_handler(previous);
  of_this.summary = shadow::summary();
  return of_this;
}

}  // namespace byre::test
