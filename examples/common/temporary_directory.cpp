// SPDX-License-Identifier: BSL-1.0
#include "temporary_directory.hpp"

#include "failure.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace examples {

namespace fs = std::filesystem;

fs::path create_temporary_directory(const std::string& program, const std::string& advice) {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    throw Failure("There is no directory for temporary files: " + error.message() + ". " + advice);
  }
  std::string name = (parent / (program + ".XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) {
    fail_with_error("Cannot create a directory in " + parent.string(), errno);
  }
  return name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace examples
