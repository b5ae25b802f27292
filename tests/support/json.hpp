// SPDX-License-Identifier: BSL-1.0
/// The figures of a program as JSON, in the order in which they were put there.
#pragma once

#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

namespace byre::test {

using Json = nlohmann::ordered_json;

/// Where figures go: nowhere, to a file, or, without a name, to standard output.
class JsonOutput {
 public:
  /// Opens the file: a long run is not to end with that error. Throws std::runtime_error.
  explicit JsonOutput(std::optional<std::filesystem::path> name) : name_(std::move(name)) {
    if (is_file()) {
      file_.open(*name_);
      check();
    }
  }

  bool is_standard_output() const { return name_ && name_->empty(); }
  /// Throws std::runtime_error.
  void write(const Json& figures) {
    const std::string text = figures.dump(2, ' ', false, Json::error_handler_t::replace);
    if (is_standard_output()) {
      std::cout << text << std::endl;
    } else if (is_file()) {
      file_ << text << std::endl;
      check();
    }
  }

 private:
  bool is_file() const { return name_ && !name_->empty(); }
  void check() const {
    if (!file_) {
      throw std::runtime_error("cannot write " + name_->string());
    }
  }

  std::optional<std::filesystem::path> name_;
  std::ofstream file_;
};

}  // namespace byre::test
