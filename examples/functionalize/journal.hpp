// SPDX-License-Identifier: BSL-1.0
/// Journal: what a program calls as it is, with what each operator's schema says it does.
#pragma once

#include "interpreter.hpp"

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace examples::functionalize {

/// Tensors are numbered as they come up, and called by their first name as well:
///
///   %1 x1: f32[1, 2] = view(%0, [1, 2])   view of %0
///   fill_(%2, 2)                          writes %2, a view of %0
class Journal final : public Observer {
 public:
  /// One of the CPU, before all else.
  void input(const byre::functional::AnyTensor& tensor, const std::string& name);
  void called(const byre::functional::Operator& op, const byre::functional::Arguments& arguments,
              const byre::functional::Tensors& results) override;
  void named(const byre::functional::AnyTensor& tensor, const std::string& name) override;

  std::size_t calls() const noexcept { return calls_; }
  std::size_t views() const noexcept { return views_; }
  std::size_t writes() const noexcept { return writes_; }

  /// A line for each input and call.
  std::string text() const;

 private:
  struct Known {
    byre::functional::AnyTensor tensor;
    std::string name;
    std::size_t base;  ///< itself, unless it is a view
    std::string meta;  ///< as it was made
  };
  struct Line {
    std::vector<std::size_t> made;
    std::string operation;
    std::string effect;
  };

  std::size_t number_of(const byre::functional::AnyTensor& tensor);
  std::string text_of(const byre::functional::Argument& argument);
  std::string effect_of(const byre::functional::Operator& op,
                        const byre::functional::Arguments& arguments);
  std::string results_of(const Line& line) const;

  std::vector<Known> known_;                                                      // by number
  std::unordered_map<const byre::functional::TensorImpl*, std::size_t> numbers_;  // of those
  std::vector<Line> lines_;
  std::size_t calls_ = 0;
  std::size_t views_ = 0;
  std::size_t writes_ = 0;
};

}  // namespace examples::functionalize
