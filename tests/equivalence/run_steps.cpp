// SPDX-License-Identifier: BSL-1.0
#include <byre/shadow/suppression.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/tensor.hpp>

#include <numeric>

#include "model.hpp"
#include "support/tensor/fake_device.hpp"

namespace byre::test {
namespace {

using shadow::ReshapeMode;
using Elements64 = std::vector<std::int64_t>;

/// The violation handler is a plain function without context, so these variables describe the
/// program that runs now.
RunOutcome* outcome = nullptr;
int number_of_step = 0;

void record_report(const shadow::Violation& violation) noexcept {
  outcome->reported.push_back(
      {number_of_step, triple_of(violation), violation.access_writes, violation.is_error()});
}

/// Repeats the access after each violation that it throws. A violation is thrown before anything
/// has changed, so the repeated access succeeds or throws the next violation.
template <class Act>
void retry_after_errors(const Act& act) {
  constexpr int most_accesses = 8;
  for (int refusals = 0;; ++refusals) {
    try {
      return act();
    } catch (const shadow::ReshapeViolation& violation) {
      record_report(violation.violation());
      if (refusals == most_accesses) {
        throw;
      }
    }
  }
}

/// The elements that begin at a pointer, in row-major order.
Elements64 values_at(const std::int64_t* first, const Layout& layout) {
  Elements64 values;
  for (const std::size_t place : places_of(layout)) {
    values.push_back(first[static_cast<std::int64_t>(place) - layout.offset]);
  }
  return values;
}

/// A view of the element at an index. The view has no dimension.
Tensor element_of(const Tensor& self, const Dims& at) {
  return self.as_strided({}, {}, element_at(self.layout(), {at.begin(), at.size()}, "at"));
}

/// A pointer to write, and the layout that its tensor had when the pointer was requested.
struct KeptPointer {
  std::int64_t* first = nullptr;
  Layout layout;
};

void write_through(const KeptPointer& kept, std::int64_t value) {
  for (const std::size_t place : places_of(kept.layout)) {
    kept.first[static_cast<std::int64_t>(place) - kept.layout.offset] = value++;
  }
}

Elements64 read(const Tensor& self, const Step& step, CallSite site) {
  if (step.op == "read_at") {
    return {element_of(self, dims_at(step, 1)).at<std::int64_t>({}, site)};
  }
  const Tensor on_host = self.device().is_cpu() ? self : self.to(Device::cpu(), site);
  return values_at(on_host.data<std::int64_t>(site), on_host.layout());
}

/// Runs one program, on one thread.
class StepRunner {
 public:
  /// `mode` is the mode of steps that do not have their own.
  StepRunner(shadow::ReshapeMode mode, const std::string& folder)
      : mode_(mode), program_file_(folder + "program"), suppressed_(folder + suppressed_file) {}

  /// Executes a step that the model did not skip. Repeats the step after an error of a tracked
  /// reshape. Throws StateError if a step succeeds although the model refuses it, or the errors of
  /// the operations.
  void run(const Step& step, const Expected& expected) {
    number_of_step = step.number;
    const CallSite site{(step.place.is_in_file ? suppressed_ : program_file_).c_str(),
                        static_cast<std::uint32_t>(line_of(step))};
    const auto& own_mode = step.place.mode;
    const bool applies_to_all_runs =
        own_mode == ReshapeMode::alias || own_mode == ReshapeMode::copy;
    const shadow::ReshapeModeScope scope(
        own_mode && (applies_to_all_runs || mode_ == ReshapeMode::warn) ? *own_mode : mode_);
    std::optional<shadow::ScopedSuppression> suppression;
    if (step.place.is_in_scope) {
      suppression.emplace();
    }
    if (expected.refused.contains(step.number)) {
      return expect_refusal(step, site, expected);
    }
    retry_after_errors([&] { take(step, site, expected); });
  }

  RunOutcome& outcome() { return outcome_; }

 private:
  void expect_refusal(const Step& step, CallSite site, const Expected& expected) {
    try {
      take(step, site, expected);
    } catch (const shadow::ReshapeViolation&) {
      throw;
    } catch (const Error&) {
      return;
    }
    throw StateError(
        format_text("%s succeeded, but the model refuses it", to_string(step).c_str()));
  }

  void take(const Step& step, CallSite site, const Expected& expected) {
    const Ref result{step.number, 0};
    if (step.op == "make") {
      Elements64 values(
          static_cast<std::size_t>(contiguous_layout(dims_at(step, 0), "make").numel()));
      std::iota(values.begin(), values.end(), integer_at(step, 1));
      tensors_.insert_or_assign(
          result,
          Tensor::of<std::int64_t>(dims_at(step, 0), std::span<const std::int64_t>(values)));
      return;
    }
    const Ref name = ref_at(step, 0);
    Tensor& self = tensors_.at(name);
    if (is_view(step)) {
      int part = 0;
      for (Tensor& made : views_of(self, step)) {
        tensors_.insert_or_assign({step.number, part++}, std::move(made));
      }
    } else if (step.op.starts_with("read")) {
      outcome_.reads[step.number] = read(self, step, site);
    } else if (step.op == "drop") {
      tensors_.erase(name);
    } else if (const std::optional<Tensor> made = make_tensor(self, step, site)) {
      if (expected.reads[0].contains(step.number)) {
        outcome_.reads[step.number] = {made->storage().shares_data_with(self.storage())};
      }
      tensors_.insert_or_assign(result, *made);
    } else {
      change(self, step, site);
    }
  }

  static std::optional<Tensor> make_tensor(const Tensor& self, const Step& step, CallSite site) {
    return step.op == "over"
               ? std::optional(Tensor::over(self.storage(), dims_at(step, 1), self.dtype()))
           : step.op == "reshape"    ? std::optional(self.reshape(dims_at(step, 1), site))
           : step.op == "lazy_clone" ? std::optional(self.lazy_clone(site))
           : step.op == "clone"      ? std::optional(self.clone(site))
           : step.op == "contiguous" ? std::optional(self.contiguous(site))
           : step.op == "moved"
               ? std::optional(self.to(
                     self.device().is_cpu() ? FakeDevice::first().device() : Device::cpu(), site))
               : std::nullopt;
  }

  void change(Tensor& self, const Step& step, CallSite site) {
    const Ref name = ref_at(step, 0);
    if (step.op == "reshape_") {
      self.reshape_(dims_at(step, 1), site);
    } else if (step.op == "share_data") {
      self.share_data(tensors_.at(ref_at(step, 1)));
    } else if (step.op == "fill_") {
      fill_(self, integer_at(step, 1), site);
    } else if (step.op == "set_at") {
      element_of(self, dims_at(step, 1)).set_at<std::int64_t>({}, integer_at(step, 2), site);
    } else if (step.op == "write_through") {
      std::int64_t* const first = self.mutable_data<std::int64_t>(Wait::allowed, site);
      write_through(kept_[name] = {first, self.layout()}, integer_at(step, 1));
    } else if (step.op == "write_kept") {
      write_through(kept_.at(name), integer_at(step, 1));
    } else if (step.op == "add_") {
      add_(self, tensors_.at(ref_at(step, 1)), site);
    } else if (step.op == "copy_") {
      copy_(self, tensors_.at(ref_at(step, 1)), site);
    } else {
      change_memory(self, step, site);
    }
  }

  static void change_memory(Tensor& self, const Step& step, CallSite site) {
    if (step.op == "extend") {
      const std::int64_t kept = self.storage_offset() + self.numel();
      self.extend(integer_at(step, 1), static_cast<unsigned>(integer_at(step, 2)), site);
      const auto cells = static_cast<std::int64_t>(self.storage().nbytes() / sizeof(std::int64_t));
      if (Tensor behind = self.as_strided({cells - kept}, {1}, kept); behind.numel() != 0) {
        fill(behind, integer_at(step, 3), site);
      }
      return;
    }
    if (step.op == "resize") {
      self.resize(dims_at(step, 1), std::get<bool>(step.arguments.at(3)) ? OnShrink::free_memory
                                                                         : OnShrink::keep_memory);
    } else {
      self.free_memory();
    }
    if (!self.is_storage_initialized()) {
      fill(self, integer_at(step, step.op == "resize" ? 2 : 1), site);
    }
  }

  /// Fills new memory.
  static void fill(Tensor& self, std::int64_t value, CallSite site) {
    write_through({self.mutable_data<std::int64_t>(Wait::allowed, site), self.layout()}, value);
  }

  const shadow::ReshapeMode mode_;
  const std::string program_file_;
  const std::string suppressed_;
  std::map<Ref, Tensor> tensors_;
  std::map<Ref, KeptPointer> kept_;
  RunOutcome outcome_;
};

}  // namespace

RunOutcome run(const Program& program, const Expected& expected, shadow::ReshapeMode mode) {
  static std::uint64_t runs = 0;
  shadow::reset_summary();
  const auto previous = shadow::set_violation_handler(&record_report);
  // Names are reused, so that there are few call sites in the process.
  StepRunner runner(mode, "folder" + std::to_string(runs++ % 2048) + "/");
  outcome = &runner.outcome();
  try {
    for (const Step& step : program.body) {
      runner.run(step, expected);
    }
  } catch (...) {
    shadow::set_violation_handler(previous);
    throw;
  }
  shadow::set_violation_handler(previous);
  runner.outcome().summary = shadow::summary();
  return runner.outcome();
}

}  // namespace byre::test
