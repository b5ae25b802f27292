// SPDX-License-Identifier: BSL-1.0
/// A .safetensors file that is made of an input, with the tensors that have to be read of it, or with one rule of
/// the format broken.
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
  /// A few small tensors, in this order, whose entries may be in another.
  explicit ModelFile(Choices& input);

  const NamedTensors& tensors() const noexcept { return tensors_; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const noexcept {
    return metadata_;
  }
  /// As the file is now.
  std::string bytes() const;

  /// Breaks a rule of the file, or of one of its entries: no reader may take it. Returns what was done.
  const char* break_a_rule(bool of_an_entry, std::size_t rule, std::size_t number_of_entry);

 private:
  struct Entry {
    std::string name;
    std::string shape;
    std::string dtype;
    std::string begin;
    std::string end;
    std::string more;  // keys
  };

  void add_tensor(Choices& input);
  const char* break_the_file(std::size_t rule);
  const char* break_an_entry(std::size_t rule, Entry& entry);
  const char* break_an_entry_with_data(std::size_t rule, std::size_t number);
  std::string text_of(const Entry& entry) const;
  std::string header() const;

  NamedTensors tensors_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<Entry> entries_;  // of the tensors, in their order
  std::string data_;
  std::size_t first_in_header_ = 0;
  std::string in_front_, behind_;  // of the entries, in the header
  std::string spaces_;
  std::uint64_t length_more_ = 0;  // than the header has
};

}  // namespace byre::fuzz
