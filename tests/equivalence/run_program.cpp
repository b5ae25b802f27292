// SPDX-License-Identifier: BSL-1.0
#include <byre/shadow/suppression.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/tensor.hpp>

#include <map>
#include <numeric>

#include "model.hpp"
#include "support/tensor/fake_device.hpp"

namespace byre::test {
namespace {

using shadow::ReshapeMode;
using Values = std::vector<std::int64_t>;

/// Of the program that runs: a handler is a function.
Outcome* outcome = nullptr;
std::uint32_t number_of_statement = 0;

void keep_report(const shadow::Violation& violation) noexcept {
  outcome->reported.push_back({number_of_statement, violation.reshape.site.line,
                               violation.write.site.line, violation.access.site.line,
                               violation.access_writes, violation.is_error()});
}

/// Each error refuses before anything has changed, and the same goes through when it is tried again, but
/// for what is reported next.
template <class Act>
void insist(const Act& act) {
  constexpr int most_accesses = 8;
  for (int refusals = 0;; ++refusals) {
    try {
      return act();
    } catch (const shadow::ReshapeViolation& violation) {
      keep_report(violation.violation());
      if (refusals == most_accesses) {
        throw;
      }
    }
  }
}

/// Of what begins at a pointer, in row-major order.
Values values_at(const std::int64_t* first, const Layout& layout) {
  Values values;
  for (const std::size_t place : places_of(layout)) {
    values.push_back(first[static_cast<std::int64_t>(place) - layout.offset]);
  }
  return values;
}

/// Its element, at the index that a program says: a view of it, as that has any number of dimensions.
Tensor element_of(const Tensor& self, const Dims& at) {
  return self.as_strided({}, {}, element_at(self.layout(), {at.begin(), at.size()}, "at"));
}

/// A pointer to write, and the layout that its tensor had.
struct Kept {
  std::int64_t* first;
  Layout layout;
};

void write_through(const Kept& kept, std::int64_t value) {
  for (const std::size_t place : places_of(kept.layout)) {
    kept.first[static_cast<std::int64_t>(place) - kept.layout.offset] = value++;
  }
}

/// For one program.
class Interpreter {
 public:
  Interpreter(ReshapeMode mode, const std::string& folder)
      : mode_(mode), program_file_(folder + "program"), suppressed_(folder + suppressed_file) {}

  void run(const Statement& statement, std::uint32_t number) {
    number_of_statement = number;
    const CallSite site{(statement.is_in_file ? suppressed_ : program_file_).c_str(),
                        statement.line_at(number)};
    const shadow::ReshapeModeScope scope(mode_of(statement));
    std::optional<shadow::ScopedSuppression> suppression;
    if (statement.is_in_scope) {
      suppression.emplace();
    }
    insist([&] {
      if (statement.operation <= Operation::clone) {
        tensors_.insert_or_assign(statement.result, made(statement, site));
      } else if (statement.operation < Operation::read_at) {
        change(tensors_.at(statement.self), statement, site);
      } else {
        outcome->reads.push_back({number, read(tensors_.at(statement.self), statement, site)});
      }
    });
  }

 private:
  ReshapeMode mode_of(const Statement& statement) const {
    const bool is_of_every_run =
        statement.mode == ReshapeMode::alias || statement.mode == ReshapeMode::copy;
    return statement.mode && (is_of_every_run || mode_ == ReshapeMode::warn) ? *statement.mode
                                                                             : mode_;
  }
  Tensor made(const Statement& statement, CallSite site) const;
  void change(Tensor& self, const Statement& statement, CallSite site);
  static Values read(const Tensor& self, const Statement& statement, CallSite site) {
    if (statement.operation == Operation::read_at) {
      return {element_of(self, statement.dims).at<std::int64_t>({}, site)};
    }
    const Tensor on_host = self.device().is_cpu() ? self : self.to(Device::cpu(), site);
    return values_at(on_host.data<std::int64_t>(site), on_host.layout());
  }

  const ReshapeMode mode_;
  const std::string program_file_;
  const std::string suppressed_;
  std::map<std::size_t, Tensor> tensors_;
  std::map<std::size_t, Kept> kept_;
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
    case Operation::transpose:
      return self.transpose(dims[0], dims[1]);
    case Operation::slice:
      return self.slice(dims[0], dims[1], dims[2], dims[3]);
    case Operation::select:
      return self.select(dims[0], dims[1]);
    case Operation::view:
      return self.view(dims);
    case Operation::over:
      return Tensor::over(self.storage(), dims, self.dtype());
    case Operation::reshape:
      return self.reshape(dims, site);
    case Operation::lazy_clone:
      return self.lazy_clone(site);
    case Operation::moved:
      return self.to(self.device().is_cpu() ? FakeDevice::first().device() : Device::cpu(), site);
    case Operation::clone:
      return self.clone(site);
    default:
      return self.alias();
  }
}

void Interpreter::change(Tensor& self, const Statement& statement, CallSite site) {
  const std::int64_t value = statement.value;
  switch (statement.operation) {
    case Operation::reshape_in_place:
      self.reshape_(statement.dims, site);
      break;
    case Operation::share_data:
      self.share_data(tensors_.at(statement.other));
      break;
    case Operation::drop:
      tensors_.erase(statement.self);
      break;
    case Operation::fill:
      fill_(self, value, site);
      break;
    case Operation::set_at:
      element_of(self, statement.dims).set_at<std::int64_t>({}, value, site);
      break;
    case Operation::write_through: {
      std::int64_t* const first = self.mutable_data<std::int64_t>(Wait::allowed, site);
      write_through(kept_[statement.self] = {first, self.layout()}, value);
      break;
    }
    case Operation::write_kept:
      write_through(kept_.at(statement.self), value);
      break;
    case Operation::add:
      add_(self, tensors_.at(statement.other), site);
      break;
    default:
      copy_(self, tensors_.at(statement.other), site);
  }
}

}  // namespace

Outcome run(const Program& program, ReshapeMode mode) {
  static std::uint64_t runs = 0;
  Outcome of_this;
  outcome = &of_this;
  shadow::reset_summary();
  const auto previous = shadow::set_violation_handler(&keep_report);
  // Lines of few programs are those of one file.
  Interpreter interpreter(mode, "folder" + std::to_string(runs++ % 2048) + "/");
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
