// SPDX-License-Identifier: BSL-1.0
/// A .safetensors file that is built from an input, and the tensors that a reader of the file must
/// return. break_a_rule() makes the file invalid by breaking one rule of the format.
#pragma once

#include <byre/interop/named_tensors.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../target.hpp"

namespace byre::fuzz {

class ModelFile {
 public:
  /// Creates a few small tensors. The order of their entries in the header may differ from the
  /// order of the tensors.
  explicit ModelFile(Choices& input);

  const NamedTensors& tensors() const noexcept { return tensors_; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const noexcept {
    return metadata_;
  }
  /// The bytes of the file in its current state.
  std::string bytes() const;

  /// Breaks a rule of the file, or of one of its entries, so that every reader must reject the
  /// file. Returns a description of the change.
  const char* break_a_rule(bool of_an_entry, std::size_t rule, std::size_t number_of_entry);

 private:
  struct Entry {
    std::string name;
    std::string shape;
    std::string dtype;
    std::string begin;
    std::string end;
    std::string more;  // additional keys
  };

  void add_tensor(Choices& input);
  const char* break_the_file(std::size_t rule);
  const char* break_an_entry(std::size_t rule, Entry& entry);
  const char* break_an_entry_with_data(std::size_t rule, std::size_t number);
  std::string text_of(const Entry& entry) const;
  std::string header() const;

  NamedTensors tensors_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<Entry> entries_;  // one per tensor, in the order of tensors_
  std::string data_;
  std::size_t first_in_header_ = 0;
  std::string in_front_, behind_;  // text before and after the entries
  std::string spaces_;
  std::uint64_t length_more_ = 0;  // added to the true length
};

}  // namespace byre::fuzz
