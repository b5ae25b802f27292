// SPDX-License-Identifier: BSL-1.0
/// StepRunner: runs programs over real tensors.
#pragma once

#include <byre/tensor/tensor.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "model.hpp"

namespace byre::test {

/// The name of the file whose call sites are suppressed ends in this, after a `/`.
inline constexpr const char* suppressed_file = "suppressed";

/// For one program and one thread. If reshapes are tracked, there is one thread in all.
class StepRunner {
 public:
  /// A pointer to write, and the layout that its tensor had.
  struct Kept {
    std::int64_t* first = nullptr;
    Layout layout;
  };

  /// Reshape does as `mode` says, if a step says nothing else.
  StepRunner(shadow::ReshapeMode mode, const std::string& folder,
             std::map<Ref, Tensor> tensors = {})
      : mode_(mode),
        program_file_(folder + "program"),
        suppressed_(folder + suppressed_file),
        tensors_(std::move(tensors)) {}

  /// Takes a step that `model` took. An error of a tracked reshape refuses once, and the step is tried again. Throws if
  /// a step that the model refuses is not refused, and what the operations throw.
  void run(const Step& step, const Model& model);

  RunOutcome& outcome() { return outcome_; }
  const std::map<Ref, Tensor>& tensors() const { return tensors_; }

 private:
  static void fill(Tensor& self, std::int64_t value, CallSite site);
  void expect_refusal(const Step& step, CallSite site);
  void take(const Step& step, CallSite site, const Model& model);
  static std::optional<Tensor> made_of(const Tensor& self, const Step& step, CallSite site);
  void change(Tensor& self, const Step& step, CallSite site);
  static void change_memory(Tensor& self, const Step& step, CallSite site);

  const shadow::ReshapeMode mode_;
  const std::string program_file_;
  const std::string suppressed_;
  std::map<Ref, Tensor> tensors_;
  std::map<Ref, Kept> kept_;
  RunOutcome outcome_;
};

/// Runs a program all of whose steps the model took.
RunOutcome run(const Program& program, const Model& model, shadow::ReshapeMode mode);

}  // namespace byre::test
