// SPDX-License-Identifier: BSL-1.0
/// The figures of a program as JSON, in the order in which they were put there.
#pragma once

#include <byre/files/output_file.hpp>

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace byre::test {

using Json = nlohmann::ordered_json;

/// Where figures go: nowhere, to a file, or, without a name, to standard output.
class JsonOutput {
 public:
  /// Opens the file: a long run is not to end with that error. Throws FileError.
  explicit JsonOutput(const std::optional<std::filesystem::path>& name)
      : is_standard_output_(name && name->empty()) {
    if (name && !is_standard_output_) {
      file_.emplace(*name);
    }
  }

  bool is_standard_output() const { return is_standard_output_; }
  /// Throws FileError.
  void write(const Json& figures) {
    const std::string text = figures.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
    if (is_standard_output_) {
      std::cout << text << std::flush;
    } else if (file_) {
      file_->write(text.data(), text.size());
      file_->commit();
    }
  }

 private:
  bool is_standard_output_;
  std::optional<OutputFile> file_;
};

}  // namespace byre::test
